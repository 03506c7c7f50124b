/* single.h - an order of transactions that are single operations on registers, in real time, without a search.
 *
 * By clusters (history/clusters.h).  An order owns its array until it is freed.
 */
#ifndef ISO_CHECK_STRONG_SINGLE_H
#define ISO_CHECK_STRONG_SINGLE_H

#include "check/strong/blame.h"

typedef struct iso_single_order {
  bool violated; /* by the transactions of `suspects` */
  int64_t *when; /* by event: its place; NULL where it is violated, or some transaction has several operations */
} iso_single_order;

/* For a graph of whole transactions with times, of registers.  n log n in the transactions.  The order respects real
 * time; what else is known of the order of events (sessions whose transactions overlap) is for the caller to see to. */
isoproof_status iso_single_order_find(const iso_event_graph *events, isoproof_task *task, iso_single_order *order,
                                      iso_txn_set *suspects, isoproof_error *error);
void iso_single_order_free(iso_single_order *order);

#endif
