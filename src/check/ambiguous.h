/* ambiguous.h - levels of a history in which several writes could explain a read.
 *
 * Such a history satisfies a level when some choice of the observed writes does.  Each level is searched for together
 * with the choice (check/decide_open.h), or choice by choice (check/choice_search.h), the strongest first.
 */
#ifndef ISO_CHECK_AMBIGUOUS_H
#define ISO_CHECK_AMBIGUOUS_H

#include <isoproof/check.h>

/* isoproof_check of a history whose written values are not unique; the options are complete. */
isoproof_status iso_check_ambiguous(isoproof_history *history, const isoproof_check_options *options,
                                    isoproof_task *task, isoproof_result **result, isoproof_error *error);

#endif
