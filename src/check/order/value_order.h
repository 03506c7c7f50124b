/* value_order.h - a first sequence for clients that count: who writes a larger value into a key writes it later.
 *
 * Many clients that make histories count the values that they write, for a key or for all, so that the versions of a
 * key are in the order of their values, and whoever read one comes before the next one is written.  Neither is known,
 * so these are hints: a sequence is made that keeps to every known edge, and to the hints but for those that close a
 * cycle.  Of a value that was written several times it is only taken that it comes after the next smaller one.  Nothing
 * here proves anything: the sequence is examined like any other.
 */
#ifndef ISO_CHECK_ORDER_VALUE_ORDER_H
#define ISO_CHECK_ORDER_VALUE_ORDER_H

#include "check/order/sequence.h"
#include "check/order/value_hints.h"

typedef struct iso_value_order {
  iso_sequence sequence; /* event is NULL where values tell nothing, or contradict too much of what is known */
  iso_hints hints;       /* those that the sequence keeps to */
  size_t dropped;        /* how many it does not keep to */
  bool readers;          /* hints of readers are among them: the history may well be one of a level that has them */
} iso_value_order;

/* Each event stands as near to the middle between the earliest and the latest place that all these edges leave to it as
 * the others let it; the begin of a split transaction right before what has to come after it.  n log n in the
 * operations.  The caller frees it with iso_value_order_free, also where this fails. */
isoproof_status iso_value_order_make(const iso_event_graph *events, isoproof_task *task, iso_value_order *counting,
                                     isoproof_error *error);
void iso_value_order_free(iso_value_order *counting);

/* Adds the hints to the derived edges of the events; the caller drops them (iso_event_graph_drop). */
isoproof_status iso_value_order_assume(const iso_value_order *counting, iso_event_graph *events, isoproof_error *error);

#endif
