/* sweep_plan.c - which combinations a sweep has, and which one it tries next. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/sweep.h"

static const isoproof_workload_kind workloads[] = {
    ISOPROOF_WORKLOAD_FIRST_INSERT, ISOPROOF_WORKLOAD_DELETE_UPDATE, ISOPROOF_WORKLOAD_UPSERT,
    ISOPROOF_WORKLOAD_RANGE_SKEW,   ISOPROOF_WORKLOAD_PHANTOM,       ISOPROOF_WORKLOAD_COUNTER_BY_READ,
    ISOPROOF_WORKLOAD_MINI,         ISOPROOF_WORKLOAD_MIXED,         ISOPROOF_WORKLOAD_LIST_APPEND,
    ISOPROOF_WORKLOAD_PREDICATE,
};
static const double jitters[] = {-1, 0, 150};
static const uint32_t session_factors[] = {1, 2};

const char *sweep_state_name(sweep_state state) {
  static const char *const names[] = {
#define SWEEP_X(name, id, text) id,
      SWEEP_STATE_LIST(SWEEP_X)
#undef SWEEP_X
  };
  return names[state];
}

/* ---- combinations ---- */

static bool is(const char *name, const char *other) { return strcmp(name, other) == 0; }

/* What a workload has by itself. */
static const char *usual_layout(isoproof_workload_kind kind) {
  return kind == ISOPROOF_WORKLOAD_FIRST_INSERT ? "indexed" : "keyed";
}
static const char *usual_access(isoproof_workload_kind kind) {
  return kind == ISOPROOF_WORKLOAD_FIRST_INSERT ? "index" : "auto";
}

static const char *usual_trips(isoproof_workload_kind kind) {
  return isoproof_workload_meets(kind) ? "both" : "single";
}

/* Whether it makes sense at all; what a database lacks turns up when it is tried. */
static bool is_sensible(const sweep_combination *c) {
  bool blind = isoproof_workload_needs(c->workload) != ISOPROOF_NEED_ROWS || c->workload == ISOPROOF_WORKLOAD_UPSERT;
  if (blind && !is(c->layout, "keyed")) return false;
  if (!isoproof_workload_meets(c->workload) && (c->jitter != -1 || is(c->round_trips, "both"))) return false;
  return !is(c->layout, "heap") || is(c->access, "auto") || is(c->access, "sequential");
}

static bool add(sweep *s, sweep_combination c) {
  if (!is_sensible(&c)) return true;
  c.unusual += (uint32_t)(c.jitter != -1) + !is(c.layout, usual_layout(c.workload)) +
               !is(c.access, usual_access(c.workload)) + !is(c.statements, isoproof_statements_at(0)) +
               !is(c.round_trips, usual_trips(c.workload));
  c.turn = s->count > 0 && s->items[s->count - 1].rank == c.rank ? s->items[s->count - 1].turn + 1 : 0;
  if (s->count == s->room) {
    size_t room = s->room == 0 ? 256 : 2 * s->room;
    sweep_combination *grown = realloc(s->items, room * sizeof *grown);
    if (grown == NULL) return false;
    s->items = grown;
    s->room = room;
  }
  s->items[s->count++] = c;
  return true;
}

/* The names of a dimension, or only the one that the command line has. */
static bool wanted(const option_value *given, const char *name) { return !given->given || is(given->text, name); }

static bool add_ways(sweep *s, const option_value *v, sweep_combination c) {
  for (size_t l = 0; isoproof_layout_at(l) != NULL; l++) {
    for (size_t a = 0; isoproof_access_at(a) != NULL; a++) {
      for (size_t i = 0; isoproof_statements_at(i) != NULL; i++) {
        for (size_t b = 0; isoproof_round_trips_at(b) != NULL; b++) {
          c.layout = isoproof_layout_at(l);
          c.access = isoproof_access_at(a);
          c.statements = isoproof_statements_at(i);
          c.round_trips = isoproof_round_trips_at(b);
          if (!wanted(&v[RUN_LAYOUT], c.layout) || !wanted(&v[RUN_ACCESS], c.access) ||
              !wanted(&v[RUN_STATEMENTS], c.statements) || !wanted(&v[RUN_ROUND_TRIPS], c.round_trips))
            continue;
          if (!add(s, c)) return false;
        }
      }
    }
  }
  return true;
}

static bool add_workload(sweep *s, const tester *t, isoproof_workload_kind kind, uint32_t rank) {
  const option_value *v = t->parsed->values, *jitter = &v[RUN_WORKLOAD + WORKLOAD_JITTER];
  isoproof_workload_options usual = {.struct_size = sizeof usual};
  isoproof_workload_defaults(kind, &usual);
  bool fixed = v[RUN_WORKLOAD + WORKLOAD_SESSIONS].given;
  for (size_t f = 0; f < (fixed ? 1 : sizeof session_factors / sizeof *session_factors); f++) {
    for (size_t i = 0; i < (jitter->given ? 1 : sizeof jitters / sizeof *jitters); i++) {
      sweep_combination c = {.workload = kind,
                             .sessions = fixed ? t->plan.workload.sessions : usual.sessions * session_factors[f],
                             .jitter = jitter->given && isoproof_workload_meets(kind) ? jitter->number : jitters[i],
                             .more_sessions = f > 0,
                             .unusual = f > 0,
                             .rank = rank};
      if (!add_ways(s, v, c)) return false;
    }
  }
  return true;
}

/* The usual ones first, else one of each workload in turn. */
static int by_unusual(const void *a, const void *b) {
  const sweep_combination *x = a, *y = b;
  if (x->unusual != y->unusual) return (x->unusual > y->unusual) - (x->unusual < y->unusual);
  if (x->turn != y->turn) return (x->turn > y->turn) - (x->turn < y->turn);
  return (x->rank > y->rank) - (x->rank < y->rank);
}

bool sweep_make(sweep *s, const tester *t) {
  const option_value *named = &t->parsed->values[RUN_WORKLOAD + WORKLOAD_WORKLOAD];
  *s = (sweep){.random = t->first_seed, .violation = SIZE_MAX};
  for (size_t i = 0; !named->given && i < sizeof workloads / sizeof *workloads; i++)
    if (!add_workload(s, t, workloads[i], (uint32_t)i)) return false;
  if (named->given && !add_workload(s, t, t->plan.workload.kind, 0)) return false;
  if (s->count > 0) qsort(s->items, s->count, sizeof *s->items, by_unusual);
  return true;
}

void sweep_free(sweep *s) { free(s->items); }

static void append(char *text, size_t size, const char *more) {
  size_t used = strlen(text);
  snprintf(text + used, size - used, ", %s", more);
}

void sweep_describe(const sweep_combination *c, char *text, size_t size) {
  char number[64];
  snprintf(text, size, "%s", isoproof_workload_at(c->workload));
  snprintf(number, sizeof number, "%u sessions", c->sessions);
  if (c->more_sessions) append(text, size, number);
  snprintf(number, sizeof number, "jitter %g us", c->jitter);
  if (c->jitter >= 0) append(text, size, number);
  if (!is(c->layout, usual_layout(c->workload))) append(text, size, c->layout);
  if (!is(c->access, usual_access(c->workload))) append(text, size, c->access);
  if (!is(c->statements, isoproof_statements_at(0))) append(text, size, c->statements);
  if (!is(c->round_trips, usual_trips(c->workload))) append(text, size, c->round_trips);
}

/* ---- choosing ---- */

/* A number from 0 to 1, by splitmix64. */
static double draw(sweep *s) {
  uint64_t z = (s->random += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static bool was_tried(const sweep_combination *c) { return c->state != SWEEP_UNTRIED && c->state != SWEEP_UNAVAILABLE; }

/* How tight races are: the transactions that got in each other's way, and those that the database refused, per
 * transaction; and a little for those that had none, which may have been unlucky. */
static double tightness(uint64_t conflicts, uint64_t aborts, uint64_t transactions) {
  return 0.25 + (transactions > 0 ? (double)(conflicts + aborts) / (double)transactions : 0);
}

/* What a workload has had and given so far. */
typedef struct workload_share {
  double spent;
  uint64_t slices, transactions, conflicts, aborts;
  bool is_open; /* something of it is left to try */
} workload_share;

/* The workload that has had least for what it gives. */
static uint32_t poorest_workload(const sweep *s, uint64_t *slices) {
  workload_share shares[sizeof workloads / sizeof *workloads] = {{0}};
  for (size_t i = 0; i < s->count; i++) {
    const sweep_combination *c = &s->items[i];
    workload_share *w = &shares[c->rank];
    w->is_open |= c->state != SWEEP_UNAVAILABLE;
    w->spent += c->spent;
    w->slices += c->slices;
    w->transactions += c->transactions;
    w->conflicts += c->conflicts;
    w->aborts += c->aborts;
  }
  uint32_t best = UINT32_MAX;
  double least = 0;
  for (uint32_t i = 0; i < sizeof shares / sizeof *shares; i++) {
    const workload_share *w = &shares[i];
    double had = w->spent / tightness(w->conflicts, w->aborts, w->transactions);
    if (!w->is_open || (best != UINT32_MAX && had >= least)) continue;
    best = i;
    least = had;
    *slices = w->slices;
  }
  return best;
}

/* Of a workload one that was tried: rather where races were tight, and rather what is usual, which is what the workload
 * was made for. */
static double weight(const sweep_combination *c, uint32_t rank) {
  if (c->rank != rank || !was_tried(c)) return 0;
  return tightness(c->conflicts, c->aborts, c->transactions) / (1 + c->unusual);
}

static size_t draw_tried(sweep *s, uint32_t rank) {
  double total = 0;
  size_t last = SIZE_MAX;
  for (size_t i = 0; i < s->count; i++) total += weight(&s->items[i], rank);
  double at = draw(s) * total;
  for (size_t i = 0; i < s->count; i++) {
    if (weight(&s->items[i], rank) == 0) continue;
    last = i;
    at -= weight(&s->items[i], rank);
    if (at < 0) break;
  }
  return last;
}

size_t sweep_next(sweep *s) {
  uint64_t slices = 0;
  uint32_t rank = poorest_workload(s, &slices);
  if (rank == UINT32_MAX) return SIZE_MAX;
  size_t fresh = 0;
  while (fresh < s->count && (s->items[fresh].rank != rank || s->items[fresh].state != SWEEP_UNTRIED)) fresh++;
  size_t tried = draw_tried(s, rank);
  if (fresh == s->count) return tried;
  return tried == SIZE_MAX || slices % 2 == 0 ? fresh : tried;
}

void sweep_learn(sweep_combination *c, const judgement *j) {
  const isoproof_run_counts *counts = isoproof_run_summary_counts(j->report);
  static const sweep_state states[] = {[ISOPROOF_SATISFIED] = SWEEP_SATISFIED,
                                       [ISOPROOF_VIOLATED] = SWEEP_VIOLATED,
                                       [ISOPROOF_UNDECIDED] = SWEEP_UNKNOWN,
                                       [ISOPROOF_VERDICT_NONE] = SWEEP_SATISFIED};
  sweep_state state = j->result != NULL ? states[isoproof_result_verdict(j->result)] : SWEEP_UNKNOWN;
  if (state > c->state) c->state = state;
  c->slices++;
  c->transactions += counts->committed + counts->aborted + counts->unknown;
  c->aborts += counts->aborted;
  if (j->has_effort) c->conflicts += j->effort.conflicting;
  c->seconds += counts->seconds;
}

void sweep_unavailable(sweep *s, const sweep_combination *without) {
  sweep_combination key = *without;
  for (size_t i = 0; i < s->count; i++) {
    sweep_combination *c = &s->items[i];
    if (c->state == SWEEP_UNTRIED && c->workload == key.workload && is(c->layout, key.layout) &&
        is(c->access, key.access))
      c->state = SWEEP_UNAVAILABLE;
  }
}
