/* The clause database: an arena of clauses, the lists of their watched literals, and its compaction. */
#include <string.h>

#include "solver/solver_internal.h"

bool iso_sat_watch_add(iso_solver *s, iso_lit literal, iso_watch watch) {
  iso_watches *list = &s->watches[literal];
  if (list->count == list->room) {
    /* Most lists stay short, so they start small. */
    uint32_t room = list->room == 0 ? 2 : list->room > UINT32_MAX / 2 ? UINT32_MAX : list->room * 2;
    if (room == list->room) return false;
    iso_watch *grown = iso_realloc(list->items, room, sizeof *grown);
    if (grown == NULL) return false;
    list->items = grown;
    list->room = room;
  }
  list->items[list->count++] = watch;
  return true;
}

/* Watches two literals for a clause, or neither. */
static bool watch_both(iso_solver *s, iso_lit a, iso_lit b, uint32_t clause) {
  if (!iso_sat_watch_add(s, a, (iso_watch){b, clause})) return false;
  if (iso_sat_watch_add(s, b, (iso_watch){a, clause})) return true;
  s->watches[a].count--;
  return false;
}

isoproof_status iso_clause_store(iso_solver *s, const iso_lit *literals, uint32_t count, uint32_t glue,
                                 uint32_t *clause, isoproof_error *error) {
  *clause = ISO_NONE;
  if (count == 2) {
    uint32_t kind = glue > 0 ? ISO_BINARY_LEARNED : ISO_BINARY_GIVEN;
    return watch_both(s, literals[0], literals[1], kind) ? ISOPROOF_OK : iso_fail_memory(error);
  }
  size_t words = ISO_CLAUSE_WORDS + (size_t)count;
  if (s->arena.count + words >= ISO_BINARY_LEARNED) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "clauses of more than 2^32 literals in total");
  }
  if (!iso_vec_reserve(&s->arena, words)) return iso_fail_memory(error);
  if (glue > 0 && !iso_vec_reserve(&s->learned, 1)) return iso_fail_memory(error);
  uint32_t at = (uint32_t)s->arena.count;
  if (!watch_both(s, literals[0], literals[1], at)) return iso_fail_memory(error);
  s->arena.count += words;
  iso_clause *made = iso_clause_at(s, at);
  *made = (iso_clause){.size = count, .glue = glue, .used = 1};
  memcpy(made->literals, literals, count * sizeof *literals);
  if (glue > 0) s->learned.items[s->learned.count++] = at;
  *clause = at;
  return ISOPROOF_OK;
}

/* Decides where each clause that stays will be. */
static uint32_t plan_moves(iso_solver *s) {
  uint32_t to = 0;
  for (uint32_t at = 0; at < s->arena.count;) {
    iso_clause *clause = iso_clause_at(s, at);
    uint32_t words = ISO_CLAUSE_WORDS + clause->size;
    clause->forward = to;
    if (!clause->garbage) to += words;
    at += words;
  }
  return to;
}

static void update_watches(iso_solver *s) {
  for (uint32_t literal = 0; literal < 2 * s->vars; literal++) {
    iso_watches *list = &s->watches[literal];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
      iso_watch watch = list->items[i];
      if (watch.clause >= ISO_BINARY_LEARNED) {
        if (iso_sat_holds_always(s, literal) || iso_sat_holds_always(s, watch.blocker)) continue;
      } else {
        const iso_clause *clause = iso_clause_at(s, watch.clause);
        if (clause->garbage) continue;
        watch.clause = clause->forward;
      }
      list->items[kept++] = watch;
    }
    list->count = kept;
  }
}

void iso_clause_collect(iso_solver *s) {
  uint32_t end = plan_moves(s);
  update_watches(s);
  for (uint32_t i = 0; i < s->trail_count; i++) {
    iso_var_state *var = iso_var_of(s, s->trail[i]);
    if (var->kind == ISO_REASON_CLAUSE) var->value = iso_clause_at(s, var->value)->forward;
  }
  size_t kept = 0;
  for (size_t i = 0; i < s->learned.count; i++) {
    const iso_clause *clause = iso_clause_at(s, s->learned.items[i]);
    if (!clause->garbage) s->learned.items[kept++] = clause->forward;
  }
  s->learned.count = kept;
  for (uint32_t at = 0; at < s->arena.count;) {
    const iso_clause *clause = iso_clause_at(s, at);
    uint32_t words = ISO_CLAUSE_WORDS + clause->size;
    if (!clause->garbage) memmove(&s->arena.items[clause->forward], clause, words * sizeof(uint32_t));
    at += words;
  }
  s->arena.count = end;
}
