/* Unit propagation by two watched literals, with blocking literals, in turn with propagation in the graph. */
#include "solver/solver_internal.h"

/* The watches of one literal that became false, while they are looked at: those before `kept` stay. */
typedef struct {
  iso_solver *s;
  iso_lit falsified;
  iso_watches *list;
  uint32_t at, kept;
} visit;

static void fill_conflict(iso_solver *s, const iso_lit *literals, uint32_t count, uint32_t clause) {
  for (uint32_t i = 0; i < count; i++) s->conflict[i] = literals[i];
  s->conflict_count = count;
  s->conflict_clause = clause;
}

/* The other literals of the clause from the third on: one that is not false is watched from now on.  Returns its place,
 * or 0. */
static uint32_t find_watchable(const iso_solver *s, const iso_clause *clause) {
  for (uint32_t i = 2; i < clause->size; i++) {
    if (s->value[clause->literals[i]] >= 0) return i;
  }
  return 0;
}

/* Looks at one clause of more than two literals.  Returns false when all of them are false. */
static bool visit_clause(visit *v, iso_watch watch, bool *memory_out) {
  iso_solver *s = v->s;
  iso_clause *clause = iso_clause_at(s, watch.clause);
  iso_lit other = clause->literals[0] ^ clause->literals[1] ^ v->falsified;
  watch.blocker = other;
  if (s->value[other] <= 0) {
    clause->literals[0] = other;
    clause->literals[1] = v->falsified;
    uint32_t found = find_watchable(s, clause);
    if (found > 0) {
      iso_lit literal = clause->literals[found];
      if (!iso_sat_watch_add(s, literal, watch)) {
        *memory_out = true;
        v->list->items[v->kept++] = watch;
        return true;
      }
      clause->literals[1] = literal;
      clause->literals[found] = v->falsified;
      return true;
    }
    if (s->value[other] < 0) {
      fill_conflict(s, clause->literals, clause->size, watch.clause);
      v->list->items[v->kept++] = watch;
      return false;
    }
    uint32_t level = iso_sat_level_of(s, clause->literals + 1, clause->size - 1);
    iso_sat_assign(s, other, level, ISO_REASON_CLAUSE, watch.clause);
  }
  v->list->items[v->kept++] = watch;
  return true;
}

/* Looks at everything that watches a literal that became false.  Returns false at a conflict. */
static bool visit_all(visit *v, bool *memory_out) {
  iso_solver *s = v->s;
  bool fine = true;
  while (fine && !*memory_out && v->at < v->list->count) {
    iso_watch watch = v->list->items[v->at++];
    int8_t blocker = s->value[watch.blocker];
    if (blocker > 0) {
      v->list->items[v->kept++] = watch;
    } else if (watch.clause < ISO_BINARY_LEARNED) {
      fine = visit_clause(v, watch, memory_out);
    } else {
      v->list->items[v->kept++] = watch;
      if (blocker < 0) {
        iso_lit both[2] = {v->falsified, watch.blocker};
        fill_conflict(s, both, 2, ISO_NONE);
        fine = false;
      } else {
        uint32_t level = iso_sat_level_of(s, &v->falsified, 1);
        iso_sat_assign(s, watch.blocker, level, ISO_REASON_BINARY, v->falsified);
      }
    }
  }
  while (v->at < v->list->count) v->list->items[v->kept++] = v->list->items[v->at++];
  v->list->count = v->kept;
  return fine;
}

isoproof_status iso_sat_propagate(iso_solver *s, bool *conflict, isoproof_error *error) {
  bool memory_out = false;
  *conflict = false;
  do {
    while (s->clause_head < s->trail_count) {
      iso_lit falsified = iso_lit_not(s->trail[s->clause_head++]);
      visit v = {s, falsified, &s->watches[falsified], 0, 0};
      s->stats.propagations++;
      *conflict = !visit_all(&v, &memory_out);
      if (memory_out) return iso_fail_memory(error);
      if (*conflict) return ISOPROOF_OK;
    }
    ISO_TRY(iso_sat_propagate_graph(s, conflict, error));
  } while (!*conflict && s->clause_head < s->trail_count);
  return ISOPROOF_OK;
}
