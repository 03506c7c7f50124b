/* shrink_paths.h - building clauses for a reducer, and the clauses of the rule that looks at paths.
 * Everything belongs to the reducer. */
#ifndef ISO_CHECK_SCENARIO_SHRINK_PATHS_H
#define ISO_CHECK_SCENARIO_SHRINK_PATHS_H

#include "check/scenario/shrink.h"

/* A clause is opened, added to, and closed, which gives it to the solver. */
void iso_reducer_open(iso_reducer *reducer);
void iso_reducer_add(iso_reducer *reducer, iso_lit lit);
/* "Unless it is switched off": the transaction, or the link. */
void iso_reducer_if_txn(iso_reducer *reducer, uint32_t txn);
void iso_reducer_if_link(iso_reducer *reducer, size_t link);
isoproof_status iso_reducer_close(iso_reducer *reducer, isoproof_error *error);

/* After SAT, for PARALLEL: adds a clause for each writer that a reader missed although a path leads from the one to the
 * other.  *refined is false when there is none, so that the solution stands. */
isoproof_status iso_reducer_refine(iso_reducer *reducer, bool *refined, isoproof_error *error);

#endif
