#include "graph/components.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

typedef struct {
  const iso_walk *walk;
  uint32_t *index; /* 0 while unvisited */
  uint32_t *low;
  uint32_t *at; /* where the visit of a transaction goes on */
  uint32_t *path, *stack;
  uint32_t path_count, stack_count, visited, closed;
  iso_components *out;
} tarjan;

static void visit(tarjan *t, uint32_t txn) {
  t->index[txn] = t->low[txn] = ++t->visited;
  t->at[txn] = 0;
  t->path[t->path_count++] = txn;
  t->stack[t->stack_count++] = txn;
}

/* Takes a complete component off the stack; one of a single transaction is no cycle. */
static void close_component(tarjan *t, uint32_t root) {
  bool single = t->stack[t->stack_count - 1] == root;
  uint32_t member;
  do {
    member = t->stack[--t->stack_count];
    t->low[member] = UINT32_MAX; /* no longer on the stack */
    if (t->out->sequence != NULL) t->out->sequence[t->closed++] = member;
    if (!single) t->out->of[member] = t->out->count;
  } while (member != root);
  t->out->count += !single;
}

static void explore(tarjan *t, uint32_t root) {
  visit(t, root);
  while (t->path_count > 0) {
    uint32_t txn = t->path[t->path_count - 1];
    uint32_t next = t->walk->next(t->walk->graph, txn, &t->at[txn]);
    if (next == UINT32_MAX) {
      t->path_count--;
      if (t->path_count > 0) {
        uint32_t parent = t->path[t->path_count - 1];
        if (t->low[txn] < t->low[parent]) t->low[parent] = t->low[txn];
      }
      if (t->low[txn] == t->index[txn]) close_component(t, txn);
    } else if (t->index[next] == 0) {
      visit(t, next);
    } else if (t->low[next] != UINT32_MAX && t->index[next] < t->low[txn]) {
      t->low[txn] = t->index[next];
    }
  }
}

bool iso_components_find(const iso_walk *walk, uint32_t txns, const uint32_t *members, uint32_t member_count,
                         iso_components *out) {
  tarjan t = {.walk = walk,
              .index = iso_alloc_zero(txns, sizeof *t.index),
              .low = iso_alloc(txns, sizeof *t.low),
              .at = iso_alloc(txns, sizeof *t.at),
              .path = iso_alloc(member_count, sizeof *t.path),
              .stack = iso_alloc(member_count, sizeof *t.stack),
              .out = out};
  bool made = t.index != NULL && t.low != NULL && t.at != NULL && t.path != NULL && t.stack != NULL;
  out->count = 0;
  if (made) {
    memset(out->of, 0xff, txns * sizeof *out->of);
    for (uint32_t i = 0; i < member_count; i++) {
      if (t.index[members[i]] == 0) explore(&t, members[i]);
    }
  }
  free(t.index);
  free(t.low);
  free(t.at);
  free(t.path);
  free(t.stack);
  return made;
}
