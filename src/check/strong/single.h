/* single.h - histories of single operations on registers, in real time: one sort decides.
 *
 * Where every transaction is one operation and every read says which write it observed, a write and its reads are a
 * cluster, whose operations stand next to each other in any order that explains the reads (Gibbons and Korach, SIAM J.
 * Computing 1997).  One cluster must come before another one of its key when some operation of it ended before one of
 * the other began.  There is an order when no two clusters must each come before the other; and orders of the keys can
 * always be joined to one (locality, Herlihy and Wing 1990).  An order owns its array until it is freed.
 */
#ifndef ISO_CHECK_STRONG_SINGLE_H
#define ISO_CHECK_STRONG_SINGLE_H

#include "check/strong/blame.h"

typedef struct iso_single_order {
  bool applies;  /* no transaction that takes part has more than one operation */
  bool violated; /* by the transactions of `suspects`, which are few and at least as many as that takes */
  int64_t *when; /* by event: its place; NULL where it is violated or does not apply */
} iso_single_order;

/* For a graph of whole transactions with times, of registers.  n log n in the transactions.  The order respects real
 * time; what else is known of the order of events (sessions whose transactions overlap) is for the caller to see to. */
isoproof_status iso_single_order_find(const iso_event_graph *events, isoproof_task *task, iso_single_order *order,
                                      iso_txn_set *suspects, isoproof_error *error);
void iso_single_order_free(iso_single_order *order);

#endif
