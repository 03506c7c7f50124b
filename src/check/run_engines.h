/* run_engines.h - which engines have to run for what was asked, and in which order.  What they find goes into the
 * check. */
#ifndef ISO_CHECK_RUN_ENGINES_H
#define ISO_CHECK_RUN_ENGINES_H

#include "check/level_check.h"

/* Within transactions first; then, between them, the strong levels before the axioms, as what is satisfied there
 * implies the rest; then other levels than those asked for, where the options say so. */
isoproof_status iso_run_engines(iso_level_check *check, const isoproof_check_options *options, isoproof_task *task,
                                isoproof_error *error);

/* Makes ready for levels between transactions. */
isoproof_status iso_begin_between(iso_level_check *check, isoproof_task *task, isoproof_error *error);
/* Makes the scenario of a decision that found its level violated, unless something weaker explains it already. */
isoproof_status iso_explain_strong(iso_level_check *check, size_t decision, isoproof_task *task, isoproof_error *error);

#endif
