/* Restarts: when the glue of recent clauses is high (as in Glucose), in turn with stable phases by the Luby sequence,
 * and keeping the part of the trail that would be decided alike. */
#include "solver/solver_internal.h"

/* Two modes take turns.  In the quick one a restart comes when the glue of the clauses learned lately is clearly above
 * the average, which suits contradictions; in the stable one restarts are rare, which suits solutions. */
enum { QUICK_GAP = 2, STABLE_GAP = 256, MODE_CONFLICTS = 1000 };
#define FAST_SHARE 0.03
#define SLOW_SHARE 1e-4
#define MARGIN 1.1

/* The Luby sequence 1, 1, 2, 1, 1, 2, 4, ... from index 0 on. */
static uint64_t luby(uint32_t index) {
  uint64_t size = 1, number = 1;
  while (size < (uint64_t)index + 1) {
    size = 2 * size + 1;
    number *= 2;
  }
  while (size - 1 != index) {
    size = (size - 1) / 2;
    number /= 2;
    if (index >= size) index -= (uint32_t)size;
  }
  return number;
}

static bool is_stable(const iso_restarts *r) { return r->mode % 2 == 1; }

static void plan_next(iso_solver *s) {
  iso_restarts *r = &s->restarts;
  r->last = s->stats.propagations;
  r->next = s->stats.conflicts + (is_stable(r) ? STABLE_GAP * luby(r->luby++) : QUICK_GAP);
}

void iso_sat_restart_begin(iso_solver *s) {
  iso_restarts *r = &s->restarts;
  if (r->mode_end == 0) {
    r->fast_left = r->slow_left = 1;
    r->mode_end = MODE_CONFLICTS;
  }
  r->luby = 0;
  plan_next(s);
}

static void average(double *mean, double *left, double share, double value) {
  *mean += share * (value - *mean);
  *left *= 1 - share;
}

void iso_sat_restart_note(iso_solver *s, uint32_t glue) {
  iso_restarts *r = &s->restarts;
  average(&r->fast, &r->fast_left, FAST_SHARE, glue);
  average(&r->slow, &r->slow_left, SLOW_SHARE, glue);
  if (s->stats.conflicts < r->mode_end) return;
  r->mode++;
  uint64_t turn = r->mode / 2 + 1;
  r->mode_end = s->stats.conflicts + MODE_CONFLICTS * turn * turn;
  r->luby = 0;
  plan_next(s);
}

bool iso_sat_restart_due(const iso_solver *s) {
  const iso_restarts *r = &s->restarts;
  /* Beginning again costs about a trail of propagations: at most as much as was spent since the last time. */
  if (s->stats.propagations - r->last < UINT64_C(4) * s->trail_count) return false;
  if (s->stats.conflicts < r->next || s->level <= s->assumptions.count) return false;
  if (is_stable(r)) return true;
  /* The moving averages begin at 0, which is divided out again. */
  return r->fast / (1 - r->fast_left) > MARGIN * r->slow / (1 - r->slow_left);
}

void iso_sat_restart(iso_solver *s) {
  uint32_t keep = (uint32_t)s->assumptions.count;
  while (s->heap.count > 0 && s->value[2 * s->heap.items[0]] != 0) iso_heap_take(&s->heap);
  if (s->heap.count > 0) {
    uint32_t next = s->heap.items[0];
    while (keep < s->level && iso_heap_before(&s->heap, iso_lit_var(s->trail[s->levels[keep].trail]), next)) keep++;
  }
  iso_sat_backtrack(s, keep);
  s->stats.restarts++;
  plan_next(s);
}
