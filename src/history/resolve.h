/* resolve.h - which write does each read observe, and who put each element into a list or a set?
 *
 * A partitioned hash join: operations are split by a hash of (key, value) into partitions small enough for the cache,
 * and each partition is joined by one thread.  One giant table would miss the cache at every probe.  The history owns
 * the result.  Expected time is linear in operations and elements of lists, each list of a key counted once with all
 * its prefixes.
 */
#ifndef ISO_HISTORY_RESOLVE_H
#define ISO_HISTORY_RESOLVE_H

#include "base/task.h"
#include "history/history.h"

/* Makes the resolution when it is not there yet; any number of threads may ask at once. */
isoproof_status iso_history_resolve(isoproof_history *history, isoproof_task *task, const iso_resolution **resolution,
                                    isoproof_error *error);
void iso_resolution_free(iso_resolution *resolution);

/* Makes the column operation -> transaction when it is not there yet. */
isoproof_status iso_history_op_txns(isoproof_history *history, const uint32_t **op_txn, isoproof_error *error);
/* The same in a tenth of the memory; for those who ask for some operations only. */
isoproof_status iso_history_op_index(isoproof_history *history, iso_op_index *index, isoproof_error *error);
/* ISOPROOF_ERR_FORMAT that names both writes when two writes or appends of the history share key and value. */
isoproof_status iso_history_require_unique(const isoproof_history *history, const iso_resolution *resolution,
                                           isoproof_error *error);

#endif
