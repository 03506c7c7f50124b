/* observations.h - the reads of a certificate whose values do not tell which write they observed, and which one it was.
 */
#ifndef ISO_CHECK_OBSERVATIONS_H
#define ISO_CHECK_OBSERVATIONS_H

#include <isoproof/check.h>

#include "base/task.h"
#include "history/history.h"

/* Lists what the resolution says of every read of another transaction's version that several writes left, among those
 * who took effect.  The caller frees *observed. */
isoproof_status iso_observations_list(isoproof_history *history, isoproof_task *task, isoproof_edge **observed,
                                      size_t *count, isoproof_error *error);

#endif
