/* judge.h - which levels a small history satisfies: by the engines, and by the oracles. */
#ifndef DISTINGUISH_JUDGE_H
#define DISTINGUISH_JUDGE_H

#include "level/levels.h"
#include "tests/distinguish/small.h"

/* The levels and models that histories tell apart, and those of them that can be asked of such a history. */
iso_level_set judge_levels(void);
iso_level_set judge_asked(const small_history *history, const small_frame *frame);

/* What was decided of that which can be asked, and what of it is satisfied.  Models that are decided by Elle's way
 * alone may stay undecided. */
typedef struct judgement {
  iso_level_set decided, holds;
} judgement;

/* False when a level was not decided, or when the two ways to decide a model contradict each other. */
bool judge_by_engines(const small_history *history, const small_frame *frame, judgement *out);
/* The levels and models on which the oracles disagree with that; all of them when the oracles have to pass. */
iso_level_set judge_by_oracles(const small_history *history, const small_frame *frame, const judgement *engines);

#endif
