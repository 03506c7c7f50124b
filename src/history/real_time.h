/* real_time.h - when transactions began and ended, as far as the history says.  Nothing is owned. */
#ifndef ISO_HISTORY_REAL_TIME_H
#define ISO_HISTORY_REAL_TIME_H

#include "history/history.h"

/* Whether the history carries what the order in real time needs: times, or positions of invocation and completion.
 * Linear in the transactions at worst. */
bool iso_has_real_time(const isoproof_history *history);
/* When a transaction began and ended; INT64_MIN and INT64_MAX where that is not known.  Only for histories with columns
 * of times or positions. */
int64_t iso_real_start(const isoproof_history *history, uint32_t txn);
int64_t iso_real_end(const isoproof_history *history, uint32_t txn);

#endif
