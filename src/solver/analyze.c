/* Conflict analysis: the clause of the first unique implication point, minimised by dropping literals that follow from
 * the others (Soerensson and Biere 2009). */
#include "solver/solver_internal.h"

const iso_lit *iso_sat_reason_of(const iso_solver *s, uint32_t var, uint32_t *count) {
  const iso_var_state *state = &s->var[var];
  const iso_clause *clause;
  switch ((iso_reason_kind)state->kind) {
  case ISO_REASON_BINARY:
    *count = 1;
    return &state->value;
  case ISO_REASON_CLAUSE:
    clause = iso_clause_at(s, state->value);
    *count = clause->size - 1;
    return clause->literals + 1;
  case ISO_REASON_GRAPH:
    *count = s->reasons.items[state->value];
    return &s->reasons.items[state->value + 1];
  case ISO_REASON_NONE:
    break;
  }
  *count = 0;
  return NULL;
}

uint32_t iso_sat_glue(iso_solver *s, const iso_lit *literals, uint32_t count) {
  uint32_t glue = 0;
  if (s->level_stamp == UINT32_MAX) {
    for (size_t i = 0; i < s->level_room; i++) s->level_mark[i] = 0;
    s->level_stamp = 0;
  }
  s->level_stamp++;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t level = iso_var_of(s, literals[i])->level;
    if (level == 0 || s->level_mark[level - 1] == s->level_stamp) continue;
    s->level_mark[level - 1] = s->level_stamp;
    glue++;
  }
  return glue;
}

/* A learned clause that takes part in a conflict is worth keeping, more so when its glue is less than before. */
static void note_use(iso_solver *s, uint32_t number) {
  iso_clause *clause = iso_clause_at(s, number);
  if (clause->glue == 0) return;
  clause->used = 2;
  if (clause->glue <= 2) return;
  uint32_t glue = iso_sat_glue(s, clause->literals, clause->size);
  if (glue < clause->glue) clause->glue = glue;
}

static void mark(iso_solver *s, uint32_t var) {
  s->seen[var] = 1;
  s->cleanup[s->cleanup_count++] = var;
}

/* Takes up the literals of a conflict or a reason; returns how many of them are of the present level. */
static uint32_t resolve(iso_solver *s, const iso_lit *literals, uint32_t count) {
  uint32_t open = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t var = iso_lit_var(literals[i]), level = s->var[var].level;
    if (s->seen[var] || level == 0) continue;
    mark(s, var);
    iso_heap_bump(&s->heap, var, s->vars);
    if (level == s->level) {
      open++;
    } else {
      s->clause[s->clause_count++] = literals[i];
    }
  }
  return open;
}

/* Resolves backward along the trail until one literal of the present level is left, the first unique implication point:
 * the clause begins with its negation. */
static void find_first_uip(iso_solver *s) {
  if (s->conflict_clause != ISO_NONE) note_use(s, s->conflict_clause);
  s->clause_count = 1;
  uint32_t open = resolve(s, s->conflict, s->conflict_count), at = s->trail_count;
  for (;;) {
    do at--;
    while (!s->seen[iso_lit_var(s->trail[at])] || iso_var_of(s, s->trail[at])->level != s->level);
    uint32_t var = iso_lit_var(s->trail[at]), count;
    s->seen[var] = 0; /* not in the clause */
    if (--open == 0) break;
    if (s->var[var].kind == ISO_REASON_CLAUSE) note_use(s, s->var[var].value);
    const iso_lit *reason = iso_sat_reason_of(s, var, &count);
    open += resolve(s, reason, count);
  }
  s->clause[0] = iso_lit_not(s->trail[at]);
}

/* Levels as bits of a set that errs on the side of yes. */
static uint32_t level_bit(const iso_solver *s, uint32_t var) { return UINT32_C(1) << (s->var[var].level & 31); }

/* Whether a literal of the clause follows from the others: all ways back from it end in literals of the clause. */
static bool is_implied(iso_solver *s, uint32_t start, uint32_t levels) {
  uint32_t top = s->cleanup_count, height = 0;
  s->stack[height++] = start;
  while (height > 0) {
    uint32_t count;
    const iso_lit *reason = iso_sat_reason_of(s, s->stack[--height], &count);
    for (uint32_t i = 0; i < count; i++) {
      uint32_t var = iso_lit_var(reason[i]);
      if (s->seen[var] || s->var[var].level == 0) continue;
      if (s->var[var].kind != ISO_REASON_NONE && (level_bit(s, var) & levels) != 0) {
        mark(s, var);
        s->stack[height++] = var;
        continue;
      }
      while (s->cleanup_count > top) s->seen[s->cleanup[--s->cleanup_count]] = 0;
      return false;
    }
  }
  return true;
}

static void minimize(iso_solver *s) {
  uint32_t levels = 0, kept = 1;
  for (uint32_t i = 1; i < s->clause_count; i++) levels |= level_bit(s, iso_lit_var(s->clause[i]));
  for (uint32_t i = 1; i < s->clause_count; i++) {
    uint32_t var = iso_lit_var(s->clause[i]);
    if (s->var[var].kind == ISO_REASON_NONE || !is_implied(s, var, levels)) s->clause[kept++] = s->clause[i];
  }
  s->stats.minimized_literals += s->clause_count - kept;
  s->clause_count = kept;
}

void iso_sat_analyze(iso_solver *s, uint32_t *back, uint32_t *glue) {
  find_first_uip(s);
  minimize(s);
  *back = 0;
  for (uint32_t i = 1; i < s->clause_count; i++) {
    uint32_t level = iso_var_of(s, s->clause[i])->level;
    if (level <= *back) continue;
    *back = level;
    iso_lit deepest = s->clause[i];
    s->clause[i] = s->clause[1];
    s->clause[1] = deepest;
  }
  *glue = iso_sat_glue(s, s->clause, s->clause_count);
  s->stats.learned++;
  s->stats.learned_literals += s->clause_count;
  while (s->cleanup_count > 0) s->seen[s->cleanup[--s->cleanup_count]] = 0;
  iso_heap_decay(&s->heap);
}
