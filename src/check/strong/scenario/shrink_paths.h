/* shrink_paths.h - the clauses of the rule that looks at paths.
 * Everything belongs to the shrinker. */
#ifndef ISO_CHECK_STRONG_SCENARIO_SHRINK_PATHS_H
#define ISO_CHECK_STRONG_SCENARIO_SHRINK_PATHS_H

#include "check/strong/scenario/shrink.h"

/* After SAT: adds a clause for each writer that a reader missed although a path leads from the one to the
 * other.  *refined is false when there is none, so that the solution stands. */
isoproof_status iso_shrinker_refine(iso_shrinker *shrinker, bool *refined, isoproof_error *error);

#endif
