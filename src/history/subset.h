/* subset.h - a part of a history, as a history of its own.
 *
 * What is kept stays in its order, with names, ids, times and nodes.  Positions in the input are not kept, as the part
 * stands in no file.  Reads follow what was left out: an element of a list or set whose append or addition is left out
 * is left out too, and so is a read of a register, counter or predicate that would have nobody to read from any more,
 * so that no part shows an anomaly that the whole does not have.  The caller owns the new history.
 */
#ifndef ISO_HISTORY_SUBSET_H
#define ISO_HISTORY_SUBSET_H

#include "base/task.h"
#include "history/history.h"

/* `keep_txn` has one byte per transaction and `keep_op` one per operation; an operation of a transaction that is left
 * out is left out whatever its own byte says. */
isoproof_status iso_history_subset(isoproof_history *history, const uint8_t *keep_txn, const uint8_t *keep_op,
                                   isoproof_task *task, isoproof_history **out, isoproof_error *error);

#endif
