/* ambiguous.h - levels of a history in which several writes could explain a read.
 *
 * Such a history satisfies a level when some choice of the observed writes does.  A choice is tried; when it violates
 * the level, the witness names a few transactions that do so by themselves, and as long as their reads are chosen in
 * this way the level stays violated, whatever else is chosen: so one of these reads must have observed another write.
 * A solver collects what was learned in this way and proposes the next choice, until one fits or none is left.
 */
#ifndef ISO_CHECK_AMBIGUOUS_H
#define ISO_CHECK_AMBIGUOUS_H

#include <isoproof/check.h>

/* isoproof_check of a history whose written values are not unique; the options are complete. */
isoproof_status iso_check_ambiguous(isoproof_history *history, const isoproof_check_options *options,
                                    isoproof_task *task, isoproof_result **result, isoproof_error *error);

#endif
