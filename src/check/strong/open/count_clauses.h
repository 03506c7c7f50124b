/* count_clauses.h - exactly so many of some literals are true, as clauses. */
#ifndef ISO_CHECK_STRONG_OPEN_COUNT_CLAUSES_H
#define ISO_CHECK_STRONG_OPEN_COUNT_CLAUSES_H

#include "solver/solver.h"

/* Count x number variables at most, where `number` or what it leaves is the smaller one.  No solution is left when
 * `number` is negative, or more than there are.  All of it holds only if *only_if is true, where that is not NULL. */
isoproof_status iso_count_clauses(iso_solver *solver, iso_lit *literals, size_t count, int64_t number,
                                  const iso_lit *only_if, isoproof_error *error);

#endif
