/* exact_checkers.h - registers: what no order of versions explains, and what one does, by the exact checkers.
 * The results that they make belong to the report. */
#ifndef ISO_ELLE_EXACT_CHECKERS_H
#define ISO_ELLE_EXACT_CHECKERS_H

#include "elle/elle.h"

/* Asks about every model that was asked for and is still open.  A model that is violated counts as an anomaly of its
 * "cycle exists" kind. */
isoproof_status iso_elle_ask_exact_checkers(iso_elle *elle, isoproof_task *task, isoproof_error *error);
/* The result that shows that anomaly; NULL when there is none. */
const isoproof_result *iso_elle_exact_result(const iso_elle *elle, iso_anomaly anomaly);

#endif
