/* The trail: assigning literals, and backtracking, which may be chronological (Nadel and Ryvchin 2018).
 *
 * A literal that a conflict makes true at a level far below the present one does not undo everything in between: the
 * search goes back by one level only, and the literal enters the trail above literals of higher levels, out of order.
 * Going back keeps such literals: they move down the trail, in the same order, and are propagated again. */
#include <string.h>

#include "solver/solver_internal.h"

void iso_sat_assign(iso_solver *s, iso_lit literal, uint32_t level, iso_reason_kind kind, uint32_t value) {
  s->value[literal] = 1;
  s->value[iso_lit_not(literal)] = -1;
  /* What holds at level 0 needs no reason: nothing asks for it. */
  if (level == 0) kind = ISO_REASON_NONE;
  *iso_var_of(s, literal) = (iso_var_state){level, kind, value};
  s->trail[s->trail_count++] = literal;
  if (level < s->level) s->out_of_order++;
}

void iso_sat_decide(iso_solver *s, iso_lit literal) {
  s->levels[s->level++] = (iso_decision_level){s->trail_count, (uint32_t)s->reasons.count};
  if (literal != ISO_LIT_NONE) iso_sat_assign(s, literal, s->level, ISO_REASON_NONE, 0);
}

uint32_t iso_sat_level_of(const iso_solver *s, const iso_lit *literals, uint32_t count) {
  if (s->out_of_order == 0) return s->level;
  uint32_t highest = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t level = iso_var_of(s, literals[i])->level;
    if (level > highest) highest = level;
  }
  return highest;
}

/* The edge of a literal, if its truth puts one into the graph. */
static uint32_t edge_of(const iso_solver *s, iso_lit literal) {
  return (literal & 1) != 0 ? ISO_NONE : s->edge[iso_lit_var(literal)];
}

static void unassign(iso_solver *s, iso_lit literal) {
  uint32_t var = iso_lit_var(literal);
  s->value[literal] = s->value[iso_lit_not(literal)] = 0;
  s->phase[var] = (literal & 1) != 0 ? -1 : 1;
  iso_heap_add(&s->heap, var);
}

/* Moves the reason that the graph gave for a literal down to the end of the reasons. */
static void keep_reason(iso_solver *s, iso_var_state *var) {
  uint32_t words = s->reasons.items[var->value] + 1;
  memmove(&s->reasons.items[s->reasons.count], &s->reasons.items[var->value], words * sizeof(iso_lit));
  var->value = (uint32_t)s->reasons.count;
  s->reasons.count += words;
}

/* Moves the literals above the end of the trail that keep their values down to it.  The graph knew of those before
 * `known`; their edges fit the order, so that they need no search. */
static void keep_rest(iso_solver *s, uint32_t old_end, uint32_t known) {
  for (uint32_t i = s->trail_count; i < old_end; i++) {
    iso_lit literal = s->trail[i];
    iso_var_state *var = iso_var_of(s, literal);
    if (s->value[literal] == 0) continue;
    if (var->kind == ISO_REASON_GRAPH) keep_reason(s, var);
    if (var->level < s->level) s->out_of_order++;
    s->trail[s->trail_count++] = literal;
    if (i >= known) continue;
    if (edge_of(s, literal) != ISO_NONE) iso_dag_link(&s->graph, edge_of(s, literal));
    s->graph_head = s->trail_count;
  }
}

void iso_sat_backtrack(iso_solver *s, uint32_t level) {
  if (level >= s->level) return;
  iso_decision_level start = s->levels[level];
  uint32_t old_end = s->trail_count, known = s->graph_head, block = s->level, kept = 0;
  while (s->trail_count > start.trail) {
    iso_lit literal = s->trail[--s->trail_count];
    const iso_var_state *var = iso_var_of(s, literal);
    if (s->trail_count < known && edge_of(s, literal) != ISO_NONE) iso_dag_leave(&s->graph, edge_of(s, literal));
    while (s->trail_count < s->levels[block - 1].trail) block--;
    if (var->level < block) s->out_of_order--;
    if (var->level <= level) {
      kept++;
    } else {
      unassign(s, literal);
    }
  }
  s->level = level;
  s->reasons.count = start.reasons;
  if (s->clause_head > start.trail) s->clause_head = start.trail;
  if (s->graph_head > start.trail) s->graph_head = start.trail;
  if (kept > 0) keep_rest(s, old_end, known);
}
