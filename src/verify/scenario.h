/* scenario.h - an independent judge of scenarios.  Nothing is owned. */
#ifndef ISO_VERIFY_SCENARIO_H
#define ISO_VERIFY_SCENARIO_H

#include "result/scenario.h"

/* Whether the history bears the scenario out: every link, every case, every cycle.  `counts` says which transactions of
 * unknown outcome committed in effect (history/effect.h). */
bool iso_verify_scenario(const isoproof_history *history, const uint8_t *counts, const iso_scenario *scenario);

#endif
