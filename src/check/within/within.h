/* within.h - the patterns that show within one transaction: TAP-a to TAP-f and TAP-j.
 *
 * One scan over the transactions, in parallel.  Registers are judged by the write that each read observed; a list
 * read observes the append of its last element that is not the reader's own; sets and counters are judged as far as
 * a read of them can be.
 */
#ifndef ISO_CHECK_WITHIN_WITHIN_H
#define ISO_CHECK_WITHIN_WITHIN_H

#include "base/task.h"
#include "result/finding.h"

/* Fills *findings (keep_all is taken from it), which the caller frees. */
isoproof_status iso_check_within(isoproof_history *history, isoproof_task *task, iso_findings *findings,
                                 isoproof_error *error);

#endif
