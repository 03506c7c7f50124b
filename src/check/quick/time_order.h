/* time_order.h - transactions in the order of their times: a guess at the order in which they were carried out. */
#ifndef ISO_CHECK_QUICK_TIME_ORDER_H
#define ISO_CHECK_QUICK_TIME_ORDER_H

#include "history/history.h"

/* What can be taken for times: of ends, of starts, and places in the file. */
enum { ISO_QUICK_ENDS, ISO_QUICK_STARTS, ISO_QUICK_PLACES, ISO_QUICK_TIMES };

/* By transaction; NULL where a history does not have them, or they say no more than the sessions do. */
void iso_quick_find_times(const isoproof_history *history, const int64_t *times[ISO_QUICK_TIMES]);

/* Of every session the transactions [first, end), with their times. */
typedef struct iso_quick_times {
  const isoproof_history *h;
  const int64_t *time;
  const uint32_t *first, *end;
} iso_quick_times;

/* Makes *order of *count transactions, to be freed; NULL where the times of a session do not ascend, or too many are
 * about equal.  Transactions of one session stay in their order.  False when memory is out. */
bool iso_quick_time_order(const iso_quick_times *times, uint32_t **order, size_t *count);

#endif
