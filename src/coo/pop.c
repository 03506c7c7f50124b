/* pop.c - partial order pairs (POPs) after Coo: which steps of two transactions on one object have an order, and of
 * which kind. */
#include "coo/pop.h"

#include <stdlib.h>

const char *isoproof_pop_kind_name(isoproof_pop_kind kind) {
  static const char *const names[ISOPROOF_POP_KINDS] = {
#define ISOPROOF_X(name, id, committed, text) [ISOPROOF_POP_##name] = id,
      ISOPROOF_POP_LIST(ISOPROOF_X)
#undef ISOPROOF_X
  };
  return (unsigned)kind < ISOPROOF_POP_KINDS ? names[kind] : "?";
}

const char *isoproof_pop_kind_meaning(isoproof_pop_kind kind) {
  static const char *const meanings[ISOPROOF_POP_KINDS] = {
#define ISOPROOF_X(name, id, committed, text) [ISOPROOF_POP_##name] = text,
      ISOPROOF_POP_LIST(ISOPROOF_X)
#undef ISOPROOF_X
  };
  return (unsigned)kind < ISOPROOF_POP_KINDS ? meanings[kind] : "?";
}

bool iso_pop_is_end(isoproof_pop_kind kind) {
  return kind == ISOPROOF_POP_RA || kind == ISOPROOF_POP_WC || kind == ISOPROOF_POP_WA;
}

uint32_t iso_pop_closed(const isoproof_pop *pop) {
  return pop->from_step > pop->to_step ? pop->from_step : pop->to_step;
}

/* Two steps on one object, `p` before `q` in the order of versions. */
typedef struct pair {
  const isoproof_schedule_step *p, *q;
  uint32_t p_at, q_at;
} pair;

/* Puts two steps into the order of versions: a write comes before the reads that saw it or a later version.  In time a
 * read of an old version may come after the write that made it old. */
static pair order_pair(const isoproof_schedule *schedule, uint32_t a, uint32_t b) {
  const isoproof_schedule_step *s = schedule->steps;
  bool forward;
  if (s[a].kind == ISOPROOF_STEP_WRITE)
    forward = s[a].version <= s[b].version;
  else
    forward = s[a].version < s[b].version;
  return forward ? (pair){&s[a], &s[b], a, b} : (pair){&s[b], &s[a], b, a};
}

/* Whether a rollback took the pair away: of either transaction before both steps were there, or of the second one
 * while the first was still active.  A read that saw the version all the same keeps it. */
static bool is_undone(const isoproof_schedule *schedule, const pair *x) {
  uint32_t late = x->p_at > x->q_at ? x->p_at : x->q_at;
  bool seen = x->p->kind == ISOPROOF_STEP_WRITE && x->q->kind == ISOPROOF_STEP_READ && x->p->version == x->q->version;
  if (iso_schedule_ended(schedule, x->q->txn, ISOPROOF_STEP_ABORT, late)) return true;
  if (iso_schedule_ended(schedule, x->p->txn, ISOPROOF_STEP_ABORT, late)) return !seen;
  uint32_t q_end = schedule->end[x->q->txn];
  if (q_end == ISO_NO_STEP || schedule->steps[q_end].kind != ISOPROOF_STEP_ABORT) return false;
  return schedule->end[x->p->txn] > q_end;
}

static isoproof_pop_kind kind_of(const pair *x, bool committed) {
  if (x->p->kind == ISOPROOF_STEP_READ) return committed ? ISOPROOF_POP_RCW : ISOPROOF_POP_RW;
  if (x->q->kind == ISOPROOF_STEP_READ) return committed ? ISOPROOF_POP_WCR : ISOPROOF_POP_WR;
  return committed ? ISOPROOF_POP_WCW : ISOPROOF_POP_WW;
}

/* A dirty read that the writer's rollback makes false, or a dirty overwrite that the writer's end collides with, leads
 * back: RA, WC or WA. */
static bool add_end(isoproof_pop_graph *graph, const pair *x, isoproof_pop_kind kind) {
  const isoproof_schedule *schedule = graph->schedule;
  uint32_t end = schedule->end[x->p->txn];
  if (end == ISO_NO_STEP || (kind != ISOPROOF_POP_WR && kind != ISOPROOF_POP_WW)) return true;
  bool aborted = schedule->steps[end].kind == ISOPROOF_STEP_ABORT;
  if (kind == ISOPROOF_POP_WR && !aborted) return true;
  isoproof_pop_kind back = kind == ISOPROOF_POP_WR ? ISOPROOF_POP_RA : aborted ? ISOPROOF_POP_WA : ISOPROOF_POP_WC;
  isoproof_pop pop = {back, x->q->txn, x->p->txn, x->p->object, x->q_at, end};
  return iso_vec_push(&graph->pops, pop);
}

static bool add_pair(isoproof_pop_graph *graph, uint32_t a, uint32_t b) {
  pair x = order_pair(graph->schedule, a, b);
  if (is_undone(graph->schedule, &x)) return true;
  isoproof_pop_kind kind = kind_of(&x, iso_schedule_ended(graph->schedule, x.p->txn, ISOPROOF_STEP_COMMIT, x.q_at));
  isoproof_pop pop = {kind, x.p->txn, x.q->txn, x.p->object, x.p_at, x.q_at};
  graph->next[pop.from] |= UINT64_C(1) << pop.to;
  return iso_vec_push(&graph->pops, pop) && add_end(graph, &x, kind);
}

static bool is_access(const isoproof_schedule_step *step) {
  return step->kind == ISOPROOF_STEP_READ || step->kind == ISOPROOF_STEP_WRITE;
}

/* ---- one POP of each sort ---- */

static uint32_t group_of(const isoproof_pop *pop) { return pop->from * ISOPROOF_SCHEDULE_TXNS + pop->to; }

static int compare_sorts(const void *a, const void *b, void *context) {
  const isoproof_pop *pops = context;
  uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
  const isoproof_pop *x = &pops[i], *y = &pops[k];
  if (group_of(x) != group_of(y)) return group_of(x) < group_of(y) ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->object != y->object) return x->object < y->object ? -1 : 1;
  return i < k ? -1 : i > k;
}

static bool same_sort(const isoproof_pop *x, const isoproof_pop *y) {
  return group_of(x) == group_of(y) && x->kind == y->kind && x->object == y->object;
}

/* POPs come in the order in which they close, so that the first of a sort is the one that closes first. */
static bool find_distinct(isoproof_pop_graph *graph) {
  isoproof_pop *pops = graph->pops.items;
  for (uint32_t i = 0; i < graph->pops.count; i++) {
    if (!iso_pop_is_end(pops[i].kind) && !iso_vec_push(&graph->distinct, i)) return false;
  }
  uint32_t *items = graph->distinct.items;
  if (graph->distinct.count > 0) qsort_r(items, graph->distinct.count, sizeof *items, compare_sorts, pops);
  uint32_t kept = 0, group = 0;
  for (uint32_t i = 0; i < graph->distinct.count; i++) {
    if (kept > 0 && same_sort(&pops[items[kept - 1]], &pops[items[i]])) continue;
    while (group <= group_of(&pops[items[i]])) graph->group[group++] = kept;
    items[kept++] = items[i];
  }
  graph->distinct.count = kept;
  while (group <= ISOPROOF_SCHEDULE_TXNS * ISOPROOF_SCHEDULE_TXNS) graph->group[group++] = kept;
  return true;
}

isoproof_status iso_pops_find(isoproof_pop_graph *graph, isoproof_error *error) {
  const isoproof_schedule_step *s = graph->schedule->steps;
  for (uint32_t b = 0; b < graph->schedule->step_count; b++) {
    for (uint32_t a = 0; a < b && is_access(&s[b]); a++) {
      if (!is_access(&s[a]) || s[a].object != s[b].object || s[a].txn == s[b].txn) continue;
      if (s[a].kind == ISOPROOF_STEP_READ && s[b].kind == ISOPROOF_STEP_READ) continue;
      if (!add_pair(graph, a, b)) return iso_fail_memory(error);
    }
  }
  return find_distinct(graph) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- the handle ---- */

isoproof_status isoproof_pop_graph_new(const isoproof_schedule *schedule, isoproof_pop_graph **graph,
                                       isoproof_error *error) {
  *graph = NULL;
  isoproof_pop_graph *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->schedule = schedule;
  isoproof_status status = iso_pops_find(made, error);
  if (status == ISOPROOF_OK) status = iso_cycles_find(made, error);
  if (status != ISOPROOF_OK) {
    isoproof_pop_graph_free(made);
    return status;
  }
  *graph = made;
  return ISOPROOF_OK;
}

void isoproof_pop_graph_free(isoproof_pop_graph *graph) {
  if (graph == NULL) return;
  iso_vec_free(&graph->pops);
  iso_vec_free(&graph->distinct);
  iso_vec_free(&graph->members);
  iso_vec_free(&graph->cycles);
  free(graph);
}

size_t isoproof_pop_graph_pop_count(const isoproof_pop_graph *graph) { return graph->pops.count; }

bool isoproof_pop_graph_pop_at(const isoproof_pop_graph *graph, size_t number, isoproof_pop *out) {
  if (number >= graph->pops.count) return false;
  *out = graph->pops.items[number];
  return true;
}

size_t isoproof_pop_graph_cycle_count(const isoproof_pop_graph *graph) { return graph->cycles.count; }
bool isoproof_pop_graph_truncated(const isoproof_pop_graph *graph) { return graph->more; }
