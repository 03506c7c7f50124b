/* resolve_direct.h - who wrote what was read, where values are small numbers: by a table instead of a hash join.
 *
 * Clients count their values up, per key or over all keys.  Then a table with a place for every value there can be is
 * hardly larger than the writes, and every write and every read looks at one place of it.  The resolution belongs to
 * the caller, who frees it with iso_resolution_free.
 */
#ifndef ISO_HISTORY_RESOLVE_DIRECT_H
#define ISO_HISTORY_RESOLVE_DIRECT_H

#include "base/task.h"
#include "history/history.h"

/* Gives NULL, and ISOPROOF_OK, where the history is none for a table: other things than registers, values that are
 * large, sparse or not numbers, or values that were written twice. */
isoproof_status iso_resolve_direct(const isoproof_history *history, isoproof_task *task, iso_resolution **out,
                                   isoproof_error *error);

#endif
