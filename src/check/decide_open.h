/* decide_open.h - one level of a history with open reads, where observations and orders can be searched for together
 * (check/strong/open). */
#ifndef ISO_CHECK_DECIDE_OPEN_H
#define ISO_CHECK_DECIDE_OPEN_H

#include "check/choice_search.h"

/* Tries to decide the one level of the options.  Satisfied: the outcome has a result, which was checked like any other
 * under the choices that were found.  Otherwise it has none, and *violated says whether that is known of the level. The
 * resolution of the history is what it was afterwards. */
isoproof_status iso_decide_open(isoproof_history *history, const isoproof_check_options *options,
                                const isoproof_level_info *level, isoproof_task *task, iso_outcome *outcome,
                                bool *violated, isoproof_error *error);

/* Leaves the choices in the resolution that satisfy a level which the given one implies, the strongest for which some
 * are found; what is there where none are. */
isoproof_status iso_choose_weaker(isoproof_history *history, const isoproof_level_info *level, isoproof_task *task,
                                  isoproof_error *error);

#endif
