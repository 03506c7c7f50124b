/* The axioms of read committed, read atomic and causal, each for the reads of the transactions at that level. */
#include "check/strong/forced_orders.h"

#include <stdlib.h>

#include "check/axioms/scan.h"

/* The levels that are axioms of SO and WR. */
static const struct {
  iso_txn_isolation level;
  iso_axiom axiom;
} axioms[] = {{ISO_ISOLATION_READ_COMMITTED, ISO_AXIOM_READ_COMMITTED},
              {ISO_ISOLATION_READ_ATOMIC, ISO_AXIOM_READ_ATOMIC},
              {ISO_ISOLATION_CAUSAL, ISO_AXIOM_CAUSAL}};

typedef struct {
  iso_event_graph *e;
  iso_txn_isolation level; /* whose reads are looked at */
  iso_forced_miss *miss;
  uint32_t last_from, last_to; /* neighbouring reads often force the same */
  isoproof_status status;
  isoproof_error *error;
} collector;

static void take(void *context, uint32_t t2, uint32_t t3, uint32_t read) {
  collector *c = context;
  const iso_event_graph *e = c->e;
  uint32_t t1 = e->view->reads[read].from;
  if (c->status != ISOPROOF_OK || e->shape.own[t3] != c->level) return;
  if (t1 == ISO_INITIAL) {
    if (!c->miss->found) *c->miss = (iso_forced_miss){true, t2, t3};
    return;
  }
  if (c->last_from == t2 && c->last_to == t1) return;
  c->last_from = t2;
  c->last_to = t1;
  iso_derived edge = {
      .from = iso_event_commit(e, t2), .to = iso_event_version(e, t1), .read = read, .reason = ISO_FORCED};
  c->status = iso_event_graph_add(c->e, edge, c->error);
}

/* Causal needs clocks, which are made for some sessions at a time. */
static isoproof_status scan_causal(const iso_scan_request *request, collector *c, isoproof_task *task,
                                   isoproof_error *error) {
  enum { MOST_ENTRIES = 64 << 20, FEWEST = 16 };
  iso_view *view = (iso_view *)(uintptr_t)request->view;
  uint32_t sessions = view->h->sessions;
  uint64_t width = view->h->txns > 0 ? MOST_ENTRIES / view->h->txns : sessions;
  if (width < FEWEST) width = FEWEST;
  iso_order order;
  ISO_TRY(iso_view_need_readers(view, error));
  ISO_TRY(iso_order_make(view, NULL, true, task, &order, error));
  /* What is cyclic already needs nothing forced. */
  bool acyclic = iso_order_is_acyclic(view, &order);
  isoproof_status status = ISOPROOF_OK;
  for (uint64_t first = 0; acyclic && status == ISOPROOF_OK && first < sessions; first += width) {
    iso_clocks clocks;
    uint32_t columns = sessions - first < width ? sessions - (uint32_t)first : (uint32_t)width;
    status = iso_clocks_make(view, &order, (uint32_t)first, columns, task, &clocks, error);
    if (status != ISOPROOF_OK) break;
    iso_scan_request block = *request;
    block.clocks = &clocks;
    status = iso_scan_causal(&block, 0, view->h->keys, c, task, error);
    iso_clocks_free(&clocks);
    if (status == ISOPROOF_OK) status = iso_task_check(task, error);
  }
  iso_order_free(&order);
  return status;
}

static isoproof_status scan(iso_scan_request *request, collector *c, isoproof_task *task, isoproof_error *error) {
  const iso_view *v = request->view;
  if (request->axiom == ISO_AXIOM_CAUSAL) return scan_causal(request, c, task, error);
  uint8_t *only = iso_alloc_zero(v->read_first[v->h->txns], sizeof *only);
  if (only == NULL) return iso_fail_memory(error);
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) only[i] = c->e->shape.own[txn] == c->level;
  }
  request->only = only;
  isoproof_status status = iso_scan_sessions(request, 0, v->h->sessions, c, task, error);
  free(only);
  return status;
}

static bool is_there(const iso_event_graph *e, iso_txn_isolation level) {
  for (uint32_t txn = 0; txn < e->view->h->txns; txn++) {
    if (e->view->counts[txn] && e->shape.own[txn] == level) return true;
  }
  return false;
}

isoproof_status iso_add_forced_orders(iso_event_graph *events, isoproof_task *task, iso_forced_miss *miss,
                                      isoproof_error *error) {
  *miss = (iso_forced_miss){.found = false};
  for (size_t i = 0; i < sizeof axioms / sizeof axioms[0]; i++) {
    if (!is_there(events, axioms[i].level)) continue;
    collector c = {.e = events,
                   .level = axioms[i].level,
                   .miss = miss,
                   .last_from = ISO_NO_TXN,
                   .last_to = ISO_NO_TXN,
                   .error = error};
    iso_scan_request request = {.view = events->view, .axiom = axioms[i].axiom, .forced = take};
    ISO_TRY(scan(&request, &c, task, error));
    if (c.status != ISOPROOF_OK) return c.status;
  }
  return ISOPROOF_OK;
}
