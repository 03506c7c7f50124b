/* scenario.h - tests that are scripts of statements, with what makes them an anomaly.
 * Scenarios are constant and owned by nobody. */
#ifndef ISO_COO_SCENARIO_H
#define ISO_COO_SCENARIO_H

#include <isoproof/coo.h>

#include "coo/stepper.h"

enum { ISO_SCENARIO_CONDITIONS = 4 };

typedef struct iso_coo_scenario {
  isoproof_coo_suite suite;
  unsigned number;
  const char *name, *kind;
  const char *forbidden_by; /* the weakest level that does not allow it */
  const char *script;
  const char *conditions[ISO_SCENARIO_CONDITIONS]; /* NULL after the last */
} iso_coo_scenario;

/* `number` from 0; NULL after the last. */
const iso_coo_scenario *iso_coo_scenario_at(size_t number);

/* Puts the rows of the scenarios into the table, on every node. */
isoproof_status iso_coo_scenario_reset(iso_stepper *stepper, isoproof_error *error);
isoproof_status iso_coo_scenario_script(const iso_coo_scenario *scenario, const iso_database *database,
                                        iso_script *script, isoproof_error *error);
/* After the script has run: whether the anomaly happened. */
isoproof_status iso_coo_scenario_happened(iso_stepper *stepper, const iso_coo_scenario *scenario, bool *happened,
                                          isoproof_error *error);

#endif
