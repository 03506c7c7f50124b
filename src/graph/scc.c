/* Tarjan's algorithm with a stack of its own. */
#include "graph/scc.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

typedef struct frame {
  uint32_t node, edge;
} frame;

typedef struct search {
  const uint32_t *first, *to;
  uint32_t *low;       /* 0 not seen; else the smallest number reachable so far; DONE once its component is known */
  uint32_t *component; /* the node's own number until its component is known */
  uint32_t *open;      /* nodes whose component is not known yet */
  frame *frames;
  uint32_t open_count, frame_count, next, components;
} search;

#define DONE UINT32_MAX

static void enter(search *s, uint32_t node) {
  s->low[node] = s->component[node] = ++s->next;
  s->open[s->open_count++] = node;
  s->frames[s->frame_count++] = (frame){node, s->first[node]};
}

/* Everything above `node` on the stack of open nodes is its component. */
static void close_component(search *s, uint32_t node) {
  bool alone = s->open[s->open_count - 1] == node;
  uint32_t number = alone ? ISO_ALONE : s->components++;
  uint32_t popped;
  do {
    popped = s->open[--s->open_count];
    s->component[popped] = number;
    s->low[popped] = DONE;
  } while (popped != node);
}

static void leave(search *s) {
  uint32_t node = s->frames[--s->frame_count].node, low = s->low[node];
  if (low == s->component[node]) {
    close_component(s, node);
    return;
  }
  uint32_t *above = &s->low[s->frames[s->frame_count - 1].node];
  if (low < *above) *above = low;
}

static void explore(search *s, uint32_t root) {
  enter(s, root);
  while (s->frame_count > 0) {
    frame *top = &s->frames[s->frame_count - 1];
    if (top->edge == s->first[top->node + 1]) {
      leave(s);
      continue;
    }
    uint32_t target = s->to[top->edge++];
    if (s->low[target] == 0) {
      enter(s, target);
    } else if (s->low[target] != DONE && s->component[target] < s->low[top->node]) {
      s->low[top->node] = s->component[target];
    }
  }
}

isoproof_status iso_scc(const uint32_t *first, const uint32_t *to, uint32_t nodes, isoproof_task *task,
                        uint32_t *component, uint32_t *count, isoproof_error *error) {
  search s = {.first = first, .to = to, .component = component};
  s.low = iso_alloc_zero(nodes, sizeof *s.low);
  s.open = iso_alloc(nodes, sizeof *s.open);
  s.frames = iso_alloc((size_t)nodes + 1, sizeof *s.frames);
  isoproof_status status = ISOPROOF_OK;
  if (s.low == NULL || s.open == NULL || s.frames == NULL) status = iso_fail_memory(error);
  for (uint32_t v = 0; status == ISOPROOF_OK && v < nodes; v++) {
    if ((v & 65535) == 0) status = iso_task_check(task, error);
    if (status == ISOPROOF_OK && s.low[v] == 0) explore(&s, v);
  }
  free(s.low);
  free(s.open);
  free(s.frames);
  *count = s.components;
  return status;
}

isoproof_status iso_members_make(const uint32_t *component, uint32_t nodes, uint32_t count, iso_members *members,
                                 isoproof_error *error) {
  uint64_t total = 0;
  members->first = iso_alloc_zero((size_t)count + 2, sizeof *members->first);
  for (uint32_t v = 0; v < nodes; v++) total += component[v] != ISO_ALONE;
  members->node = iso_alloc(total, sizeof *members->node);
  if (members->first == NULL || members->node == NULL) {
    iso_members_free(members);
    return iso_fail_memory(error);
  }
  uint32_t *next = members->first + 1;
  for (uint32_t v = 0; v < nodes; v++) {
    if (component[v] != ISO_ALONE) next[component[v] + 1]++;
  }
  for (uint32_t c = 0; c < count; c++) next[c + 1] += next[c];
  for (uint32_t v = 0; v < nodes; v++) {
    if (component[v] != ISO_ALONE) members->node[next[component[v]]++] = v;
  }
  return ISOPROOF_OK;
}

void iso_members_free(iso_members *members) {
  free(members->first);
  free(members->node);
  *members = (iso_members){NULL, NULL};
}
