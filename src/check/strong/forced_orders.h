/* forced_orders.h - where transactions have levels of their own: what the axioms of the weaker ones force.
 *
 * Read committed, read atomic and causal speak of SO and WR alone, so that what they force is known before anything is
 * searched for.  The orders become derived edges of the graph, which owns them.
 */
#ifndef ISO_CHECK_STRONG_FORCED_ORDERS_H
#define ISO_CHECK_STRONG_FORCED_ORDERS_H

#include "check/order/events.h"

/* A reader of an initial version that somebody has overwritten whom its level does not let it miss. */
typedef struct iso_forced_miss {
  bool found;
  uint32_t seen, reader;
} iso_forced_miss;

/* Adds the orders to the graph.  Where *miss is found they contradict the history by themselves. */
isoproof_status iso_add_forced_orders(iso_event_graph *events, isoproof_task *task, iso_forced_miss *miss,
                                      isoproof_error *error);

#endif
