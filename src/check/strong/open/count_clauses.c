/* A sequential counter over literals. */
#include "check/strong/open/count_clauses.h"

#include <stdlib.h>

#include "base/vector.h"

static isoproof_status imply(iso_solver *solver, iso_lit a, iso_lit b, isoproof_error *error) {
  iso_lit both[2] = {iso_lit_not(a), b};
  return iso_solver_clause(solver, both, 2, error);
}

/* Of literals [0, i], more than j are true: `now`, from those of [0, i). */
static isoproof_status step(iso_solver *solver, iso_lit literal, const iso_lit *at, size_t i, size_t j, iso_lit *now,
                            isoproof_error *error) {
  iso_lit clause[3];
  bool was = j<i, more = j> 0;
  ISO_TRY(iso_solver_var(solver, now, error));
  /* now <-> was[j], or was[j - 1] and the literal; for j = 0 the latter is the literal, for j = i there is no former.
   */
  if (was) ISO_TRY(imply(solver, at[j], *now, error));
  clause[0] = iso_lit_not(literal), clause[1] = *now, clause[2] = more ? iso_lit_not(at[j - 1]) : *now;
  ISO_TRY(iso_solver_clause(solver, clause, more ? 3 : 2, error));
  clause[0] = iso_lit_not(*now), clause[1] = literal, clause[2] = was ? at[j] : literal;
  ISO_TRY(iso_solver_clause(solver, clause, was ? 3 : 2, error));
  clause[1] = more ? at[j - 1] : literal;
  return more ? iso_solver_clause(solver, clause, was ? 3 : 2, error) : ISOPROOF_OK;
}

static isoproof_status require(iso_solver *solver, iso_lit literal, const iso_lit *only_if, isoproof_error *error) {
  return only_if != NULL ? imply(solver, *only_if, literal, error) : iso_solver_clause(solver, &literal, 1, error);
}

static isoproof_status count_up(iso_solver *solver, const iso_lit *literals, size_t count, size_t number, iso_lit *at,
                                const iso_lit *only_if, isoproof_error *error) {
  for (size_t i = 0; i < count; i++) {
    for (size_t j = number + 1; j-- > 0;) {
      iso_lit now;
      if (j > i) continue;
      ISO_TRY(step(solver, literals[i], at, i, j, &now, error));
      at[j] = now;
    }
  }
  if (number < count) ISO_TRY(require(solver, iso_lit_not(at[number]), only_if, error));
  return number > 0 ? require(solver, at[number - 1], only_if, error) : ISOPROOF_OK;
}

isoproof_status iso_count_clauses(iso_solver *solver, iso_lit *literals, size_t count, int64_t number,
                                  const iso_lit *only_if, isoproof_error *error) {
  if (number < 0 || (uint64_t)number > count) {
    iso_lit never = only_if != NULL ? iso_lit_not(*only_if) : 0;
    return iso_solver_clause(solver, &never, only_if != NULL, error);
  }
  if ((uint64_t)number > count / 2) { /* those that are false are fewer */
    for (size_t i = 0; i < count; i++) literals[i] = iso_lit_not(literals[i]);
    number = (int64_t)count - number;
  }
  if (count == 0) return ISOPROOF_OK;
  iso_lit *at = iso_alloc((size_t)number + 1, sizeof *at);
  if (at == NULL) return iso_fail_memory(error);
  isoproof_status status = count_up(solver, literals, count, (size_t)number, at, only_if, error);
  free(at);
  return status;
}
