/* The edges of an anomaly that hold whatever the order of writes is: its own, and those of its cases that need none. */
#include <string.h>

#include "report/document/document.h"
#include "report/draw/layout.h"

enum { MOST_INITIAL = 6 };

/* Who wrote what an edge's transaction read of a key; the anomaly's number of transactions for nobody known. */
static uint32_t read_from(const isoproof_document_anomaly *a, uint32_t txn, const char *key) {
  for (uint32_t i = 0; i < a->edge_count; i++) {
    const isoproof_document_edge *e = &a->edges[i];
    if (e->to == txn && strcmp(e->kind, "WR") == 0 && e->key != NULL && strcmp(e->key, key) == 0) return e->from;
  }
  return a->txn_count;
}

/* Who read a version and overwrote it comes after everybody who read the same version and did not see the new one: no
 * order of other writes is needed for that.  Two such edges are the cycle of a lost update. */
static bool is_certain(const isoproof_document_anomaly *a, const isoproof_document_edge *e) {
  if (e->assumed || e->key == NULL || strcmp(e->kind, "RW") != 0) return false;
  uint32_t from = read_from(a, e->from, e->key);
  return from < a->txn_count && from == read_from(a, e->to, e->key);
}

/* Edges from the initial transaction say that reads found what was there at first, which the values say, too: where
 * there are many of them they would only hide the others. */
static bool is_noise(const isoproof_document_anomaly *a, const isoproof_document_edge *e, uint32_t initial) {
  return initial > MOST_INITIAL && a->txns[e->from].number == ISOPROOF_INITIAL_TXN && strcmp(e->kind, "WR") == 0;
}

static uint32_t count_initial(const isoproof_document_anomaly *a) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < a->edge_count; i++) count += a->txns[a->edges[i].from].number == ISOPROOF_INITIAL_TXN;
  return count;
}

bool iso_certain_edges(iso_arena *arena, const isoproof_document_anomaly *a, const isoproof_document_edge **edges,
                       uint32_t *count) {
  uint32_t most = a->edge_count, initial = count_initial(a);
  for (uint32_t i = 0; i < a->case_count; i++) {
    for (uint32_t k = 0; k < a->cases[i].edge_count; k++) most += is_certain(a, &a->cases[i].edges[k]);
  }
  *edges = a->edges;
  *count = a->edge_count;
  if (most == a->edge_count && initial <= MOST_INITIAL) return true;
  isoproof_document_edge *all = iso_arena_alloc(arena, most, sizeof *all);
  if (all == NULL) return false;
  *count = 0;
  for (uint32_t i = 0; i < a->edge_count; i++)
    if (!is_noise(a, &a->edges[i], initial)) all[(*count)++] = a->edges[i];
  for (uint32_t i = 0; i < a->case_count; i++) {
    for (uint32_t k = 0; k < a->cases[i].edge_count; k++) {
      if (is_certain(a, &a->cases[i].edges[k])) iso_document_add_edge(all, count, a->cases[i].edges[k]);
    }
  }
  *edges = all;
  return true;
}
