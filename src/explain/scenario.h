/* scenario.h - a scenario as people tell it: its name, and a witness with sentences.  What is made belongs to the
 * arena. */
#ifndef ISO_EXPLAIN_SCENARIO_H
#define ISO_EXPLAIN_SCENARIO_H

#include <isoproof/check.h>

#include "base/arena.h"
#include "level/anomalies.h"
#include "result/scenario.h"

/* What people call it; in histories of rows, by what happened to the rows. */
iso_anomaly iso_scenario_name(const isoproof_history *history, const iso_scenario *scenario);

/* Fills everything of *out but code, name, level and count. */
isoproof_status iso_explain_scenario(const isoproof_history *history, const iso_scenario *scenario, iso_arena *arena,
                                     isoproof_anomaly *out, isoproof_error *error);

#endif
