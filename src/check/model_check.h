/* model_check.h - levels that are models of Elle's lattice, asked for among the levels: decided by Elle's way within
 * the same check.  The result of that belongs to the check. */
#ifndef ISO_CHECK_MODEL_CHECK_H
#define ISO_CHECK_MODEL_CHECK_H

#include "check/level_check.h"

/* Decides the asked levels of the engine ELLE, where there are any, as isoproof_check decides them as models.  Those of
 * a history whose values are not unique stay open. */
isoproof_status iso_check_models(iso_level_check *check, const isoproof_check_options *options, isoproof_task *task,
                                 isoproof_error *error);

/* Their verdict; unknown where nothing was decided. */
isoproof_verdict iso_model_verdict(const iso_level_check *check, const isoproof_level_info *level);

/* Chooses the anomalies of these levels to show: those whose codes `check->shown` and `check->told` do not have.  False
 * when memory is out. */
bool iso_model_choose_shown(iso_level_check *check);

#endif
