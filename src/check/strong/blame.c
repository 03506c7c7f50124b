/* From a contradiction back to the transactions that it rests on, reason by reason. */
#include "check/strong/blame.h"

#include <stdlib.h>
#include <string.h>

#include "check/order/event_path.h"

typedef struct {
  const iso_event_graph *e;
  iso_path_finder finder;
  uint8_t *explained;        /* by derived edge */
  ISO_VEC(uint32_t) reasons; /* derived edges to explain */
  iso_txn_set *txns;
  iso_path path;
  bool failed;
} blamer;

static void blame_txn(blamer *b, uint32_t txn) {
  if (txn < b->e->view->h->txns && !iso_vec_push(b->txns, txn)) b->failed = true;
}

/* Blames the ends of every step that is not one of a chain, and puts derived steps down to be explained. */
static void blame_path(blamer *b) {
  for (size_t i = 0; i < b->path.count && !b->failed; i++) {
    const iso_path_step *step = &b->path.items[i];
    if (step->of_chain) continue;
    blame_txn(b, iso_event_txn(b->e, step->from));
    blame_txn(b, iso_event_txn(b->e, step->to));
    if (step->derived == 0 || b->explained[step->derived - 1]) continue;
    b->explained[step->derived - 1] = 1;
    if (!iso_vec_push(&b->reasons, step->derived - 1)) b->failed = true;
  }
}

static isoproof_status blame_order(blamer *b, uint32_t from, uint32_t to, isoproof_error *error) {
  blame_txn(b, iso_event_txn(b->e, from));
  blame_txn(b, iso_event_txn(b->e, to));
  if (from == to) return ISOPROOF_OK;
  if (iso_path_find(&b->finder, from, to, &b->path) == UINT32_MAX) {
    if (b->finder.failed) return iso_fail_memory(error);
    return iso_fail(error, ISOPROOF_ERR_INTERNAL, "an order that was derived has no reason");
  }
  blame_path(b);
  return ISOPROOF_OK;
}

/* By the axiom of its own level, a transaction that reads has another one behind it.  Read committed and read atomic
 * speak of a single step between the two. */
static isoproof_status blame_forced(blamer *b, uint32_t seen, uint32_t reader, isoproof_error *error) {
  const iso_event_graph *e = b->e;
  blame_txn(b, seen);
  blame_txn(b, reader);
  b->finder.before_round = 0; /* by SO and WR alone */
  if (e->shape.own[reader] != ISO_ISOLATION_CAUSAL) return ISOPROOF_OK;
  return blame_order(b, iso_event_commit(e, seen), iso_event_begin(e, reader), error);
}

/* The path that a derived edge rests on; see iso_reason. */
static isoproof_status explain_edge(blamer *b, const iso_derived *d, isoproof_error *error) {
  const iso_event_graph *e = b->e;
  const iso_view *v = e->view;
  b->finder.before_round = d->round;
  if (d->reason == ISO_OVERLAP) {
    return blame_order(b, iso_event_version(e, iso_event_txn(e, d->from)), iso_event_commit(e, iso_event_txn(e, d->to)),
                       error);
  }
  if (d->reason == ISO_LIST) return ISOPROOF_OK;
  const iso_external_read *read = &v->reads[d->read];
  uint32_t reader = iso_history_txn_of(v->h, read->op);
  blame_txn(b, reader);
  if (d->reason == ISO_FORCED) return blame_forced(b, iso_event_txn(e, d->from), reader, error);
  if (d->reason == ISO_SEEN) return blame_order(b, d->from, iso_event_begin(e, reader), error);
  if (read->from == ISO_INITIAL) return ISOPROOF_OK;
  return blame_order(b, iso_event_version(e, read->from), d->to, error);
}

static isoproof_status explain_all(blamer *b, isoproof_error *error) {
  while (b->reasons.count > 0 && !b->failed) {
    uint32_t edge = b->reasons.items[--b->reasons.count];
    ISO_TRY(explain_edge(b, &b->e->derived.items[edge], error));
  }
  return b->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void sort_unique(iso_txn_set *txns) {
  if (txns->count == 0) return;
  qsort(txns->items, txns->count, sizeof *txns->items, ascending);
  size_t kept = 1;
  for (size_t i = 1; i < txns->count; i++) {
    if (txns->items[i] != txns->items[kept - 1]) txns->items[kept++] = txns->items[i];
  }
  txns->count = kept;
}

static isoproof_status begin(blamer *b, const iso_event_clocks *clocks, isoproof_error *error) {
  ISO_TRY(iso_path_finder_make(b->e, clocks, &b->finder, error));
  b->explained = iso_alloc_zero(b->e->derived.count, 1);
  return b->explained == NULL ? iso_fail_memory(error) : ISOPROOF_OK;
}

static isoproof_status finish(blamer *b, isoproof_status status) {
  sort_unique(b->txns);
  iso_path_finder_free(&b->finder);
  free(b->explained);
  iso_vec_free(&b->reasons);
  iso_vec_free(&b->path);
  if (status != ISOPROOF_OK) iso_vec_free(b->txns);
  return status;
}

/* ---- cycles ---- */

/* The cheapest of a few cycles: through events of the smallest component, derived edges of late rounds first as they
 * are what closed it. */
static isoproof_status find_cycle(blamer *b, const uint32_t *component, uint32_t components, iso_path *best,
                                  isoproof_error *error) {
  enum { TRIES = 64, EFFORT = 4000000 };
  const iso_event_graph *e = b->e;
  uint32_t *size = iso_alloc_zero(components, sizeof *size), least = UINT32_MAX, smallest = 0;
  if (size == NULL) return iso_fail_memory(error);
  for (uint32_t event = 0; event < e->count; event++) {
    if (component[event] != ISO_NO_EVENT) size[component[event]]++;
  }
  for (uint32_t c = 1; c < components; c++) {
    if (size[c] < size[smallest]) smallest = c;
  }
  free(size);
  b->finder.component = component;
  int tries = 0;
  for (size_t i = e->derived.count; i-- > 0 && tries < TRIES && least > 2;) {
    const iso_derived *d = &e->derived.items[i];
    if (component[d->from] != smallest || component[d->to] != smallest) continue;
    b->finder.effort_limit = tries == 0 ? UINT64_MAX : EFFORT / TRIES;
    uint32_t cost = iso_path_find(&b->finder, d->from, d->from, &b->path);
    tries++;
    if (cost >= least) continue;
    least = cost;
    iso_path swap = *best;
    *best = b->path;
    b->path = swap;
  }
  for (uint32_t event = 0; event < e->count && tries < TRIES && least == UINT32_MAX; event++) {
    if (component[event] != smallest) continue;
    b->finder.effort_limit = UINT64_MAX;
    least = iso_path_find(&b->finder, event, event, best);
    tries++;
  }
  b->finder.component = NULL;
  b->finder.effort_limit = UINT64_MAX;
  if (least < UINT32_MAX) return ISOPROOF_OK;
  return b->finder.failed ? iso_fail_memory(error) : iso_fail(error, ISOPROOF_ERR_INTERNAL, "a component has no cycle");
}

static isoproof_status blame_components(blamer *b, const iso_event_clocks *clocks, isoproof_error *error) {
  uint32_t *component, components;
  iso_path cycle = {.items = NULL};
  ISO_TRY(iso_event_components(b->e, &component, &components, error));
  isoproof_status status = components == 0 ? iso_fail(error, ISOPROOF_ERR_INTERNAL, "there is no cycle") : ISOPROOF_OK;
  /* The clocks do not know the last edges, so the cycle is looked for without them. */
  b->finder.clocks = NULL;
  if (status == ISOPROOF_OK) status = find_cycle(b, component, components, &cycle, error);
  b->finder.clocks = clocks;
  free(component);
  iso_path spent = b->path;
  b->path = cycle;
  iso_vec_free(&spent);
  if (status != ISOPROOF_OK) return status;
  blame_path(b);
  return explain_all(b, error);
}

isoproof_status iso_blame_cycle(const iso_event_graph *events, const iso_event_clocks *clocks, isoproof_task *task,
                                iso_txn_set *txns, isoproof_error *error) {
  blamer b = {.e = events, .txns = txns};
  isoproof_status status = begin(&b, clocks, error);
  if (status == ISOPROOF_OK) status = blame_components(&b, clocks, error);
  if (status == ISOPROOF_OK) status = iso_task_check(task, error);
  return finish(&b, status);
}

/* ---- cores ---- */

/* Without clocks: every order between two events of the core, one search each. */
static isoproof_status blame_pairs(blamer *b, const iso_requirements *core) {
  for (size_t i = 0; i < core->edges.count && !b->failed; i++) {
    for (size_t k = 0; k < core->edges.count && !b->failed; k++) {
      uint32_t ends[2][2] = {{core->edges.items[i].from, core->edges.items[k].from},
                             {core->edges.items[i].to, core->edges.items[k].from}};
      for (int n = 0; n < 2; n++) {
        if (ends[n][0] == ends[n][1]) continue;
        if (iso_path_find(&b->finder, ends[n][0], ends[n][1], &b->path) != UINT32_MAX) blame_path(b);
        if (iso_path_find(&b->finder, ends[n][1], ends[n][0], &b->path) != UINT32_MAX) blame_path(b);
      }
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status blame_all(blamer *b, const iso_requirements *core, const iso_event_edges *edges,
                                 isoproof_error *error) {
  for (size_t i = 0; i < core->edges.count; i++) {
    blame_txn(b, iso_event_txn(b->e, core->edges.items[i].from));
    blame_txn(b, iso_event_txn(b->e, core->edges.items[i].to));
  }
  b->finder.before_round = UINT32_MAX;
  for (size_t i = 0; i < core->also.count; i++) {
    ISO_TRY(blame_order(b, core->also.items[i].from, core->also.items[i].to, error));
  }
  for (size_t i = 0; i < edges->count; i++) {
    ISO_TRY(blame_order(b, edges->items[i].from, edges->items[i].to, error));
  }
  if (b->finder.clocks == NULL) ISO_TRY(blame_pairs(b, core));
  return explain_all(b, error);
}

isoproof_status iso_blame_core(const iso_event_graph *events, const iso_event_clocks *clocks,
                               const iso_requirements *core, const iso_event_edges *edges, isoproof_task *task,
                               iso_txn_set *txns, isoproof_error *error) {
  blamer b = {.e = events, .txns = txns};
  isoproof_status status = begin(&b, clocks, error);
  if (status == ISOPROOF_OK) status = blame_all(&b, core, edges, error);
  if (status == ISOPROOF_OK) status = iso_task_check(task, error);
  return finish(&b, status);
}

isoproof_status iso_blame_forced(const iso_event_graph *events, uint32_t seen, uint32_t reader, iso_txn_set *txns,
                                 isoproof_error *error) {
  blamer b = {.e = events, .txns = txns};
  isoproof_status status = begin(&b, NULL, error);
  if (status == ISOPROOF_OK) status = blame_forced(&b, seen, reader, error);
  return finish(&b, status);
}
