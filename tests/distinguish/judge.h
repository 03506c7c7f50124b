/* judge.h - which levels a small history satisfies: by the engines, and by the oracles. */
#ifndef DISTINGUISH_JUDGE_H
#define DISTINGUISH_JUDGE_H

#include "level/levels.h"
#include "tests/distinguish/small.h"

/* The levels that histories tell apart, and those of them that can be asked of such a history. */
iso_level_set judge_levels(void);
iso_level_set judge_asked(const small_history *history, const small_frame *frame);

/* Each fills `holds` with what is satisfied of the levels asked, and returns false when one of them was not decided. */
bool judge_by_engines(const small_history *history, const small_frame *frame, iso_level_set *holds);
bool judge_by_oracles(const small_history *history, const small_frame *frame, iso_level_set *holds);

#endif
