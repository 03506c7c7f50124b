/* other_levels.h - the levels that nobody asked for, after those that somebody did.  Nothing is owned. */
#ifndef ISO_CHECK_OTHER_LEVELS_H
#define ISO_CHECK_OTHER_LEVELS_H

#include "base/task.h"
#include "check/level_check.h"

/* The task of the caller, whose deadline comes earlier for a while; or one of our own where there is none. */
typedef struct iso_budget {
  isoproof_task own, *task;
  double deadline; /* before */
} iso_budget;

/* From now on `task` of the budget, which must stay where it is, ends after that many seconds (0: no limit). */
void iso_budget_begin(iso_budget *budget, isoproof_task *task, double seconds);
void iso_budget_end(iso_budget *budget);
/* Why levels are left when one could not be decided; NULL where the status is an error. */
const char *iso_budget_reason(const iso_budget *budget, isoproof_status status);

/* Decides the levels that are not decided yet, the cheapest first: axioms, then what has to be searched for, from the
 * weakest up.  A limit (the budget, that of the task, memory) or a cancellation is no error: it ends this, and the
 * check says in left_reason why levels are left. */
isoproof_status iso_decide_others(iso_level_check *check, const isoproof_check_options *options, isoproof_task *task,
                                  isoproof_error *error);

#endif
