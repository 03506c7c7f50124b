/* shrink_paths.h - building clauses for a reducer, and the clauses of the rule that looks at paths.
 * Everything belongs to the reducer. */
#ifndef ISO_CHECK_STRONG_SCENARIO_SHRINK_PATHS_H
#define ISO_CHECK_STRONG_SCENARIO_SHRINK_PATHS_H

#include "check/strong/scenario/shrink.h"

/* A clause is opened, added to, and closed, which gives it to the solver. */
void iso_shrinker_open(iso_shrinker *shrinker);
void iso_shrinker_add(iso_shrinker *shrinker, iso_lit lit);
/* "Unless it is switched off": the transaction, or the link. */
void iso_shrinker_if_txn(iso_shrinker *shrinker, uint32_t txn);
void iso_shrinker_if_link(iso_shrinker *shrinker, size_t link);
isoproof_status iso_shrinker_close(iso_shrinker *shrinker, isoproof_error *error);

/* After SAT, for PARALLEL: adds a clause for each writer that a reader missed although a path leads from the one to the
 * other.  *refined is false when there is none, so that the solution stands. */
isoproof_status iso_shrinker_refine(iso_shrinker *shrinker, bool *refined, isoproof_error *error);

#endif
