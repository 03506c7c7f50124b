/* springs.h - places of transactions on a line, by how far apart a writer and its readers are likely to be.
 *
 * A private header of placement.c.
 */
#ifndef ISO_CHECK_ORDER_SPRINGS_H
#define ISO_CHECK_ORDER_SPRINGS_H

#include "check/order/events.h"

/* Improves place[txn], from 0 to the number of transactions, of those that take part.  Linear in the operations, plus
 * a sort of the transactions, a fixed number of times. */
isoproof_status iso_springs_relax(const iso_event_graph *events, double *place, isoproof_task *task,
                                  isoproof_error *error);

#endif
