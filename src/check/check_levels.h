/* check_levels.h - a check by levels: runs the engines, and makes the result.  The result belongs to the caller. */
#ifndef ISO_CHECK_CHECK_LEVELS_H
#define ISO_CHECK_CHECK_LEVELS_H

#include "check/order/sequence.h"
#include "check/quick/quick.h"
#include "result/result.h"

/* isoproof_check by levels or patterns, under the choices at hand where values are not unique (check/duplicates); the
 * options are complete. */
isoproof_status iso_check_levels(isoproof_history *history, const isoproof_check_options *options, isoproof_task *task,
                                 isoproof_result **result, isoproof_error *error);
/* The same with a sequence to try first, where a level is one of such sequences; may be NULL. */
isoproof_status iso_check_levels_from(isoproof_history *history, const isoproof_check_options *options,
                                      const iso_first_sequence *first, isoproof_task *task, isoproof_result **result,
                                      isoproof_error *error);
/* The same where it is known that the levels asked for are violated, so that what shows that soonest is enough. */
isoproof_status iso_check_levels_violated(isoproof_history *history, const isoproof_check_options *options,
                                          isoproof_task *task, isoproof_result **result, isoproof_error *error);
/* The same with what is known already; where all that was asked for follows from that, nothing is left to do. */
isoproof_status iso_check_levels_knowing(isoproof_history *history, const isoproof_check_options *options,
                                         const iso_quick_proof *proof, isoproof_task *task, isoproof_result **result,
                                         isoproof_error *error);

#endif
