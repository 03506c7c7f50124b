/* retrace.h - an order in which every read finds its class, by a search that goes back where it is stuck.
 *
 * A private header of placement.c.  Where keys are few, a version that somebody still has to read stands in the way of
 * nearly all others, so that there is hardly ever more than one transaction that can go next; and where there is, the
 * wrong one leads into a dead end within a few steps.
 */
#ifndef ISO_CHECK_ORDER_RETRACE_H
#define ISO_CHECK_ORDER_RETRACE_H

#include "check/order/events.h"
#include "check/order/value_classes.h"

/* Looks for an order of whole transactions that keeps to sessions and derived edges and in which every read is right;
 * turn[event] becomes its place there.  *found is false where there is none, or the search takes long; then `turn` is
 * as it was.  place[event] says of commits who goes first where nothing else does. */
isoproof_status iso_retrace(const iso_event_graph *events, const iso_value_classes *classes, const double *place,
                            isoproof_task *task, int64_t *turn, bool *found, isoproof_error *error);

#endif
