/* Tarjan's algorithm with a stack of its own, compiled once for rows and once for neighbours given by a function. */
#include "graph/components.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* A node on the path from the root, and the edge to go on with where there are rows. */
typedef struct frame {
  uint32_t node, edge;
} frame;

typedef struct tarjan {
  const uint32_t *first, *to;       /* rows */
  const iso_neighbours *neighbours; /* where there are no rows */
  uint64_t *cursors;                /* by place on the path, likewise */
  uint32_t *low;      /* 0 not seen; else the smallest number reachable so far; CLOSED once its component is known */
  uint32_t *of;       /* the number in order of discovery until the component is known, which then takes its place */
  uint32_t *sequence; /* may be NULL */
  uint32_t *open;     /* nodes whose component is not known yet */
  frame *path;
  uint32_t open_count, path_count, discovered, closed, components;
} tarjan;

enum { CHECK_EVERY = 65536 }; /* nodes between two looks at the task */
#define CLOSED UINT32_MAX
/* What takes `rows` is inlined into two callers, so that it is a constant there: a template, without macros. */
#define TEMPLATE static inline __attribute__((always_inline))

TEMPLATE void enter(tarjan *t, uint32_t node, bool rows) {
  t->low[node] = t->of[node] = ++t->discovered;
  t->open[t->open_count++] = node;
  if (!rows) t->cursors[t->path_count] = 0;
  t->path[t->path_count++] = (frame){node, rows ? t->first[node] : 0};
}

/* The next neighbour of the last node of the path; false after the last. */
TEMPLATE bool next_neighbour(tarjan *t, frame *top, bool rows, uint32_t *neighbour) {
  if (rows) {
    if (top->edge == t->first[top->node + 1]) return false;
    *neighbour = t->to[top->edge++];
    return true;
  }
  *neighbour = t->neighbours->next(t->neighbours->graph, top->node, &t->cursors[t->path_count - 1]);
  return *neighbour != UINT32_MAX;
}

/* Everything above `root` on the stack of open nodes is its component; a single node is none. */
static void close_component(tarjan *t, uint32_t root) {
  bool single = t->open[t->open_count - 1] == root;
  uint32_t component = single ? ISO_NO_COMPONENT : t->components++;
  uint32_t node;
  do {
    node = t->open[--t->open_count];
    t->of[node] = component;
    t->low[node] = CLOSED;
    if (t->sequence != NULL) t->sequence[t->closed++] = node;
  } while (node != root);
}

static void leave(tarjan *t) {
  uint32_t node = t->path[--t->path_count].node, low = t->low[node];
  if (low == t->of[node]) {
    close_component(t, node);
    return;
  }
  uint32_t *above = &t->low[t->path[t->path_count - 1].node];
  if (low < *above) *above = low;
}

TEMPLATE isoproof_status explore(tarjan *t, uint32_t root, bool rows, isoproof_task *task, isoproof_error *error) {
  enter(t, root, rows);
  while (t->path_count > 0) {
    frame *top = &t->path[t->path_count - 1];
    uint32_t neighbour;
    if (!next_neighbour(t, top, rows, &neighbour)) {
      leave(t);
    } else if (t->low[neighbour] == 0) {
      enter(t, neighbour, rows);
      if (t->discovered % CHECK_EVERY == 0) ISO_TRY(iso_task_check(task, error));
    } else if (t->low[neighbour] != CLOSED && t->of[neighbour] < t->low[top->node]) {
      t->low[top->node] = t->of[neighbour];
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status explore_rows(tarjan *t, uint32_t nodes, isoproof_task *task, isoproof_error *error) {
  for (uint32_t v = 0; v < nodes; v++) {
    if (v % CHECK_EVERY == 0) ISO_TRY(iso_task_check(task, error));
    if (t->low[v] == 0) ISO_TRY(explore(t, v, true, task, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status explore_members(tarjan *t, const uint32_t *members, uint32_t count, isoproof_task *task,
                                       isoproof_error *error) {
  for (uint32_t i = 0; i < count; i++) {
    if (i % CHECK_EVERY == 0) ISO_TRY(iso_task_check(task, error));
    if (t->low[members[i]] == 0) ISO_TRY(explore(t, members[i], false, task, error));
  }
  return ISOPROOF_OK;
}

/* `most` is how many nodes there are to be looked at. */
static isoproof_status prepare(tarjan *t, uint32_t nodes, uint32_t most, isoproof_error *error) {
  t->low = iso_alloc_zero(nodes, sizeof *t->low);
  t->open = iso_alloc(most, sizeof *t->open);
  t->path = iso_alloc(most, sizeof *t->path);
  bool made = t->low != NULL && t->open != NULL && t->path != NULL;
  if (made && t->first == NULL) made = (t->cursors = iso_alloc(most, sizeof *t->cursors)) != NULL;
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

static void finish(tarjan *t, iso_components *out) {
  out->count = t->components;
  free(t->cursors);
  free(t->low);
  free(t->open);
  free(t->path);
}

isoproof_status iso_components_of_rows(const uint32_t *first, const uint32_t *to, uint32_t nodes, isoproof_task *task,
                                       iso_components *out, isoproof_error *error) {
  tarjan t = {.first = first, .to = to, .of = out->of, .sequence = out->sequence};
  isoproof_status status = prepare(&t, nodes, nodes, error);
  if (status == ISOPROOF_OK) status = explore_rows(&t, nodes, task, error);
  finish(&t, out);
  return status;
}

isoproof_status iso_components_of_members(const iso_neighbours *neighbours, uint32_t nodes, const uint32_t *members,
                                          uint32_t member_count, isoproof_task *task, iso_components *out,
                                          isoproof_error *error) {
  tarjan t = {.neighbours = neighbours, .of = out->of, .sequence = out->sequence};
  isoproof_status status = prepare(&t, nodes, member_count, error);
  if (status == ISOPROOF_OK) {
    memset(out->of, 0xff, (size_t)nodes * sizeof *out->of);
    status = explore_members(&t, members, member_count, task, error);
  }
  finish(&t, out);
  return status;
}

/* ---- components as rows ---- */

isoproof_status iso_component_rows_make(const iso_components *components, uint32_t nodes, iso_component_rows *rows,
                                        isoproof_error *error) {
  const uint32_t *of = components->of;
  uint64_t total = 0;
  rows->first = iso_alloc_zero((size_t)components->count + 2, sizeof *rows->first);
  for (uint32_t v = 0; v < nodes; v++) total += of[v] != ISO_NO_COMPONENT;
  rows->node = iso_alloc(total, sizeof *rows->node);
  if (rows->first == NULL || rows->node == NULL) {
    iso_component_rows_free(rows);
    return iso_fail_memory(error);
  }
  /* Rows begin one place late, and filling moves every beginning to where it belongs. */
  uint32_t *next = rows->first + 1;
  for (uint32_t v = 0; v < nodes; v++) {
    if (of[v] != ISO_NO_COMPONENT) next[of[v] + 1]++;
  }
  for (uint32_t c = 0; c < components->count; c++) next[c + 1] += next[c];
  for (uint32_t v = 0; v < nodes; v++) {
    if (of[v] != ISO_NO_COMPONENT) rows->node[next[of[v]]++] = v;
  }
  return ISOPROOF_OK;
}

void iso_component_rows_free(iso_component_rows *rows) {
  free(rows->first);
  free(rows->node);
  *rows = (iso_component_rows){NULL, NULL};
}
