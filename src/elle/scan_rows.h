/* scan_rows.h - the non-cycle anomalies of rows and queries.
 * What is passed in belongs to the caller. */
#ifndef ISO_ELLE_SCAN_ROWS_H
#define ISO_ELLE_SCAN_ROWS_H

#include "elle/infer/predicates.h"
#include "elle/noncycle.h"

/* Values that nobody wrote may have been there before the history began: they are anomalies only when `garbage` is set.
 */
isoproof_status iso_elle_scan_rows(const iso_predicates *predicates, bool garbage, isoproof_task *task,
                                   iso_noncycle_anomalies *found, isoproof_error *error);

#endif
