/* Paths in a solution that a rule forbids become clauses. */
#include "check/strong/scenario/shrink_paths.h"

#include <stdlib.h>

#define NO_EDGE UINT32_MAX

/* The graph of a solution. */
typedef struct {
  uint32_t *head, *next; /* by node; by edge */
  uint32_t *via, *queue; /* by node: the edge that led there, or NO_EDGE */
  uint8_t *seen;         /* by node */
} graph;

static void graph_free(graph *g) {
  free(g->head);
  free(g->next);
  free(g->via);
  free(g->queue);
  free(g->seen);
}

static bool graph_make(const iso_shrinker *r, graph *g) {
  uint32_t nodes = r->problem->count;
  *g = (graph){.head = iso_alloc(nodes, sizeof *g->head),
               .next = iso_alloc(r->edge_count, sizeof *g->next),
               .via = iso_alloc(nodes, sizeof *g->via),
               .queue = iso_alloc(nodes, sizeof *g->queue),
               .seen = iso_alloc_zero(nodes, sizeof *g->seen)};
  if (g->head == NULL || g->next == NULL || g->via == NULL || g->queue == NULL || g->seen == NULL) return false;
  for (uint32_t i = 0; i < nodes; i++) g->head[i] = NO_EDGE;
  for (size_t i = 0; i < r->edge_count; i++) {
    if (r->edges[i].lit != ISO_LIT_NONE && !iso_solver_value(r->solver, r->edges[i].lit)) continue;
    g->next[i] = g->head[r->edges[i].from];
    g->head[r->edges[i].from] = (uint32_t)i;
  }
  return true;
}

/* Marks everything that a path leads to, breadth first. */
static void walk(const iso_shrinker *r, graph *g, uint32_t from) {
  uint32_t head = 0, tail = 0;
  for (uint32_t i = 0; i < r->problem->count; i++) g->seen[i] = 0;
  g->seen[from] = 1;
  g->via[from] = NO_EDGE;
  g->queue[tail++] = from;
  while (head < tail) {
    for (uint32_t e = g->head[g->queue[head++]]; e != NO_EDGE; e = g->next[e]) {
      uint32_t to = r->edges[e].to;
      if (g->seen[to]) continue;
      g->seen[to] = 1;
      g->via[to] = e;
      g->queue[tail++] = to;
    }
  }
}

/* Whether the switches of the open clause are all on, so that the clause would be of use. */
static bool is_on(const iso_shrinker *r) {
  for (size_t i = 0; i < r->guard_count; i++) {
    if (iso_solver_value(r->solver, r->guards[i])) return false;
  }
  return true;
}

/* The read `link` missed `writer`, to which the walk was made: not all of the path, and the order, and the read. */
static isoproof_status forbid(iso_shrinker *r, const graph *g, size_t link, uint32_t writer, bool *refined,
                              isoproof_error *error) {
  const iso_link *l = &r->problem->links.items[link];
  iso_shrinker_open(r);
  iso_shrinker_if_link(r, link);
  iso_shrinker_if_txn(r, writer);
  if (l->from != ISO_INITIAL) {
    /* One of the two orders is there; that the writer is not before the version read says which. */
    iso_lit before;
    ISO_TRY(iso_solver_edge(r->solver, writer, l->from, &before, error));
    iso_shrinker_add(r, before);
  }
  if (!is_on(r)) return ISOPROOF_OK;
  for (uint32_t node = l->to; g->via[node] != NO_EDGE; node = r->edges[g->via[node]].from) {
    if (r->edges[g->via[node]].lit != ISO_LIT_NONE) iso_shrinker_add(r, iso_lit_not(r->edges[g->via[node]].lit));
  }
  *refined = true;
  return iso_shrinker_close(r, error);
}

isoproof_status iso_shrinker_refine(iso_shrinker *r, bool *refined, isoproof_error *error) {
  const iso_polygraph *s = r->problem;
  graph g;
  *refined = false;
  isoproof_status status = graph_make(r, &g) ? ISOPROOF_OK : iso_fail_memory(error);
  for (uint32_t writer = 0; status == ISOPROOF_OK && writer < s->count; writer++) {
    walk(r, &g, writer);
    for (size_t i = 0; status == ISOPROOF_OK && i < s->links.count; i++) {
      const iso_link *l = &s->links.items[i];
      if (l->kind != ISO_EDGE_WR || l->to == writer || l->from == writer || !g.seen[l->to]) continue;
      if (iso_polygraph_is_writer(s, writer, l->key)) status = forbid(r, &g, i, writer, refined, error);
    }
  }
  graph_free(&g);
  return status;
}
