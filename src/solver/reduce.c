/* Reduction of the clause database: of the learned clauses that were not used lately, the half with the higher LBD
 * (glue) goes. */
#include "solver/solver_internal.h"

/* Conflicts between two reductions: a first number, and how it grows with the square root of the conflicts so far. */
enum { REDUCE_EVERY = 1000, REDUCE_MORE = 20, KEEP_GLUE = 2 };

/* Whether the clause explains the value of its first literal. */
static bool is_reason(const iso_solver *s, uint32_t number) {
  iso_lit first = iso_clause_at(s, number)->literals[0];
  const iso_var_state *var = iso_var_of(s, first);
  return s->value[first] > 0 && var->kind == ISO_REASON_CLAUSE && var->value == number;
}

static bool is_satisfied_always(const iso_solver *s, const iso_clause *clause) {
  for (uint32_t i = 0; i < clause->size; i++) {
    if (iso_sat_holds_always(s, clause->literals[i])) return true;
  }
  return false;
}

/* Clauses that level 0 satisfies are of no more use, the given ones included. */
static void drop_satisfied(iso_solver *s) {
  uint32_t settled = s->level > 0 ? s->levels[0].trail : s->trail_count;
  if (settled == s->simplified) return;
  s->simplified = settled;
  for (uint32_t at = 0; at < s->arena.count;) {
    iso_clause *clause = iso_clause_at(s, at);
    if (!is_reason(s, at) && is_satisfied_always(s, clause)) clause->garbage = 1;
    at += ISO_CLAUSE_WORDS + clause->size;
  }
}

/* A clause that may go, with what makes it worse than others: glue, then size. */
typedef struct {
  uint64_t badness;
  uint32_t clause;
} candidate;

static int compare_candidates(const void *a, const void *b) {
  const candidate *left = a, *right = b;
  if (left->badness != right->badness) return left->badness < right->badness ? 1 : -1;
  return (left->clause > right->clause) - (left->clause < right->clause);
}

static size_t gather(iso_solver *s, candidate *candidates) {
  size_t count = 0;
  for (size_t i = 0; i < s->learned.count; i++) {
    uint32_t number = s->learned.items[i];
    iso_clause *clause = iso_clause_at(s, number);
    if (clause->garbage || clause->glue <= KEEP_GLUE || is_reason(s, number)) continue;
    if (clause->used > 0) {
      clause->used--;
      continue;
    }
    candidates[count++] = (candidate){(uint64_t)clause->glue << 32 | clause->size, number};
  }
  return count;
}

static uint64_t square_root(uint64_t number) {
  uint64_t root = 0;
  while ((root + 1) * (root + 1) <= number) root++;
  return root;
}

isoproof_status iso_sat_reduce(iso_solver *s, isoproof_error *error) {
  candidate *candidates = iso_alloc(s->learned.count, sizeof *candidates);
  if (candidates == NULL) return iso_fail_memory(error);
  drop_satisfied(s);
  size_t count = gather(s, candidates);
  if (count > 1) qsort(candidates, count, sizeof *candidates, compare_candidates);
  for (size_t i = 0; i < count / 2; i++) iso_clause_at(s, candidates[i].clause)->garbage = 1;
  free(candidates);
  iso_clause_collect(s);
  s->stats.deleted += count / 2;
  s->stats.reductions++;
  s->next_reduction = s->stats.conflicts + REDUCE_EVERY + REDUCE_MORE * square_root(s->stats.conflicts);
  return ISOPROOF_OK;
}
