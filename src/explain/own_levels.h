/* own_levels.h - whose own level a scenario of mixed levels breaks, in words.  The words belong to the caller. */
#ifndef ISO_EXPLAIN_OWN_LEVELS_H
#define ISO_EXPLAIN_OWN_LEVELS_H

#include "explain/witness.h"
#include "result/scenario.h"

/* "s2t0 runs at serializable, and so has to see everything that commits before it." for each that missed a write. */
void iso_words_add_own_levels(iso_words *words, const isoproof_history *history, const iso_scenario *scenario);

#endif
