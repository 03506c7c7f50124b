/* judge.h - the verdict on every level, read off what the engines found.  Nothing is owned. */
#ifndef ISO_CHECK_JUDGE_H
#define ISO_CHECK_JUDGE_H

#include "check/level_check.h"

/* Whether the options ask for the level. */
bool iso_is_level_asked(const isoproof_check_options *options, const isoproof_level_info *level);
/* Whether the options ask for the pattern. */
bool iso_is_tap_asked(const isoproof_check_options *options, iso_tap tap);

/* Whether a violation of the axiom is one of the level. */
bool iso_axiom_breaks(iso_axiom axiom, const isoproof_level_info *level);

/* Whether single reads, or known cycles, break the level, whatever the order of anything else. */
bool iso_is_broken_outright(const iso_level_check *check, const isoproof_level_info *level);
/* The same, or the axiom of a weaker level. */
bool iso_is_broken_weakly(const iso_level_check *check, const isoproof_level_info *level);

/* Whether the level is about transactions of one operation, and the history is not. */
bool iso_is_beside_the_point(const iso_level_check *check, const isoproof_level_info *level);

/* Whether the level follows from what was proved without the engines. */
bool iso_is_proved(const iso_level_check *check, const isoproof_level_info *level);

/* The verdict on a level. */
isoproof_verdict iso_judge(const iso_level_check *check, const isoproof_level_info *level);

#endif
