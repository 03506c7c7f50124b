/* resolve_join.h - the partitioned hash join behind history/resolve.h.
 * The resolution it makes belongs to the caller, who frees it with iso_resolution_free. */
#ifndef ISO_HISTORY_RESOLVE_JOIN_H
#define ISO_HISTORY_RESOLVE_JOIN_H

#include "base/task.h"
#include "history/history.h"

isoproof_status iso_resolve_join(const isoproof_history *history, isoproof_task *task, iso_resolution **out,
                                 isoproof_error *error);

#endif
