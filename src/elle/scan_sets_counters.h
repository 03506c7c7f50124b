/* scan_sets_counters.h - the non-cycle anomalies of sets and counters.
 * What is passed in belongs to the caller. */
#ifndef ISO_ELLE_SCAN_SETS_COUNTERS_H
#define ISO_ELLE_SCAN_SETS_COUNTERS_H

#include "elle/infer/counters.h"
#include "elle/infer/sets.h"
#include "elle/noncycle.h"

isoproof_status iso_elle_scan_sets(const iso_sets *sets, isoproof_task *task, iso_noncycle_anomalies *found,
                                   isoproof_error *error);
isoproof_status iso_elle_scan_counters(const iso_counters *counters, isoproof_task *task, iso_noncycle_anomalies *found,
                                       isoproof_error *error);

#endif
