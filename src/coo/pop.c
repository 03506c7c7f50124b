/* pop.c - partial order pairs: which steps of two transactions on one object have an order, and of which kind. */
#include "coo/pop.h"

#include <stdlib.h>

const char *isolde_pop_kind_name(isolde_pop_kind kind) {
  static const char *const names[ISOLDE_POP_KINDS] = {
#define ISOLDE_X(name, id, committed, text) [ISOLDE_POP_##name] = id,
      ISOLDE_POP_LIST(ISOLDE_X)
#undef ISOLDE_X
  };
  return (unsigned)kind < ISOLDE_POP_KINDS ? names[kind] : "?";
}

const char *isolde_pop_kind_meaning(isolde_pop_kind kind) {
  static const char *const meanings[ISOLDE_POP_KINDS] = {
#define ISOLDE_X(name, id, committed, text) [ISOLDE_POP_##name] = text,
      ISOLDE_POP_LIST(ISOLDE_X)
#undef ISOLDE_X
  };
  return (unsigned)kind < ISOLDE_POP_KINDS ? meanings[kind] : "?";
}

bool iso_pop_is_end(isolde_pop_kind kind) {
  return kind == ISOLDE_POP_RA || kind == ISOLDE_POP_WC || kind == ISOLDE_POP_WA;
}

uint32_t iso_pop_closed(const isolde_pop *pop) { return pop->from_step > pop->to_step ? pop->from_step : pop->to_step; }

/* Two steps on one object, `p` before `q` in the order of versions. */
typedef struct pair {
  const isolde_step *p, *q;
  uint32_t p_at, q_at;
} pair;

/* Puts two steps into the order of versions: a write comes before the reads that saw it or a later version.  In time a
 * read of an old version may come after the write that made it old. */
static pair order_pair(const isolde_schedule *schedule, uint32_t a, uint32_t b) {
  const isolde_step *s = schedule->steps;
  bool forward;
  if (s[a].kind == ISOLDE_STEP_WRITE)
    forward = s[a].version <= s[b].version;
  else
    forward = s[a].version < s[b].version;
  return forward ? (pair){&s[a], &s[b], a, b} : (pair){&s[b], &s[a], b, a};
}

/* Whether a rollback took the pair away: of either transaction before both steps were there, or of the second one
 * while the first was still active.  A read that saw the version all the same keeps it. */
static bool is_undone(const isolde_schedule *schedule, const pair *x) {
  uint32_t late = x->p_at > x->q_at ? x->p_at : x->q_at;
  bool seen = x->p->kind == ISOLDE_STEP_WRITE && x->q->kind == ISOLDE_STEP_READ && x->p->version == x->q->version;
  if (iso_schedule_ended(schedule, x->q->txn, ISOLDE_STEP_ABORT, late)) return true;
  if (iso_schedule_ended(schedule, x->p->txn, ISOLDE_STEP_ABORT, late)) return !seen;
  uint32_t q_end = schedule->end[x->q->txn];
  if (q_end == ISO_NO_STEP || schedule->steps[q_end].kind != ISOLDE_STEP_ABORT) return false;
  return schedule->end[x->p->txn] > q_end;
}

static isolde_pop_kind kind_of(const pair *x, bool committed) {
  if (x->p->kind == ISOLDE_STEP_READ) return committed ? ISOLDE_POP_RCW : ISOLDE_POP_RW;
  if (x->q->kind == ISOLDE_STEP_READ) return committed ? ISOLDE_POP_WCR : ISOLDE_POP_WR;
  return committed ? ISOLDE_POP_WCW : ISOLDE_POP_WW;
}

/* A dirty read that the writer's rollback makes false, or a dirty overwrite that the writer's end collides with, leads
 * back: RA, WC or WA. */
static bool add_end(isolde_pop_graph *graph, const pair *x, isolde_pop_kind kind) {
  const isolde_schedule *schedule = graph->schedule;
  uint32_t end = schedule->end[x->p->txn];
  if (end == ISO_NO_STEP || (kind != ISOLDE_POP_WR && kind != ISOLDE_POP_WW)) return true;
  bool aborted = schedule->steps[end].kind == ISOLDE_STEP_ABORT;
  if (kind == ISOLDE_POP_WR && !aborted) return true;
  isolde_pop_kind back = kind == ISOLDE_POP_WR ? ISOLDE_POP_RA : aborted ? ISOLDE_POP_WA : ISOLDE_POP_WC;
  isolde_pop pop = {back, x->q->txn, x->p->txn, x->p->object, x->q_at, end};
  return iso_vec_push(&graph->pops, pop);
}

static bool add_pair(isolde_pop_graph *graph, uint32_t a, uint32_t b) {
  pair x = order_pair(graph->schedule, a, b);
  if (is_undone(graph->schedule, &x)) return true;
  isolde_pop_kind kind = kind_of(&x, iso_schedule_ended(graph->schedule, x.p->txn, ISOLDE_STEP_COMMIT, x.q_at));
  isolde_pop pop = {kind, x.p->txn, x.q->txn, x.p->object, x.p_at, x.q_at};
  graph->next[pop.from] |= UINT64_C(1) << pop.to;
  return iso_vec_push(&graph->pops, pop) && add_end(graph, &x, kind);
}

static bool is_access(const isolde_step *step) {
  return step->kind == ISOLDE_STEP_READ || step->kind == ISOLDE_STEP_WRITE;
}

/* ---- one POP of each sort ---- */

static uint32_t group_of(const isolde_pop *pop) { return pop->from * ISOLDE_SCHEDULE_TXNS + pop->to; }

static int compare_sorts(const void *a, const void *b, void *context) {
  const isolde_pop *pops = context;
  uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
  const isolde_pop *x = &pops[i], *y = &pops[k];
  if (group_of(x) != group_of(y)) return group_of(x) < group_of(y) ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->object != y->object) return x->object < y->object ? -1 : 1;
  return i < k ? -1 : i > k;
}

static bool same_sort(const isolde_pop *x, const isolde_pop *y) {
  return group_of(x) == group_of(y) && x->kind == y->kind && x->object == y->object;
}

/* POPs come in the order in which they close, so that the first of a sort is the one that closes first. */
static bool find_distinct(isolde_pop_graph *graph) {
  isolde_pop *pops = graph->pops.items;
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
  while (group <= ISOLDE_SCHEDULE_TXNS * ISOLDE_SCHEDULE_TXNS) graph->group[group++] = kept;
  return true;
}

isolde_status iso_pops_find(isolde_pop_graph *graph, isolde_error *error) {
  const isolde_step *s = graph->schedule->steps;
  for (uint32_t b = 0; b < graph->schedule->step_count; b++) {
    for (uint32_t a = 0; a < b && is_access(&s[b]); a++) {
      if (!is_access(&s[a]) || s[a].object != s[b].object || s[a].txn == s[b].txn) continue;
      if (s[a].kind == ISOLDE_STEP_READ && s[b].kind == ISOLDE_STEP_READ) continue;
      if (!add_pair(graph, a, b)) return iso_fail_memory(error);
    }
  }
  return find_distinct(graph) ? ISOLDE_OK : iso_fail_memory(error);
}

/* ---- the handle ---- */

isolde_status isolde_pop_graph_new(const isolde_schedule *schedule, isolde_pop_graph **graph, isolde_error *error) {
  *graph = NULL;
  isolde_pop_graph *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->schedule = schedule;
  isolde_status status = iso_pops_find(made, error);
  if (status == ISOLDE_OK) status = iso_cycles_find(made, error);
  if (status != ISOLDE_OK) {
    isolde_pop_graph_free(made);
    return status;
  }
  *graph = made;
  return ISOLDE_OK;
}

void isolde_pop_graph_free(isolde_pop_graph *graph) {
  if (graph == NULL) return;
  iso_vec_free(&graph->pops);
  iso_vec_free(&graph->distinct);
  iso_vec_free(&graph->members);
  iso_vec_free(&graph->cycles);
  free(graph);
}

size_t isolde_pop_graph_pops(const isolde_pop_graph *graph) { return graph->pops.count; }

bool isolde_pop_graph_pop(const isolde_pop_graph *graph, size_t number, isolde_pop *out) {
  if (number >= graph->pops.count) return false;
  *out = graph->pops.items[number];
  return true;
}

size_t isolde_pop_graph_cycles(const isolde_pop_graph *graph) { return graph->cycles.count; }
bool isolde_pop_graph_more(const isolde_pop_graph *graph) { return graph->more; }
