/* scan_lists.h - the non-cycle anomalies of lists: what their reads give away without looking at dependencies.
 * The lists and what is found belong to the caller. */
#ifndef ISO_ELLE_SCAN_LISTS_H
#define ISO_ELLE_SCAN_LISTS_H

#include "elle/infer/lists.h"
#include "elle/noncycle.h"

isoproof_status iso_elle_scan_lists(const iso_lists *lists, isoproof_task *task, iso_noncycle_anomalies *found,
                                    isoproof_error *error);

#endif
