/* replay.h - a sequence in which every version lasts until its readers have come, as far as that goes.
 *
 * A private header of placement.c.  Where keys are few, a transaction meets most of them, and what it read tells nearly
 * the whole state in which it ran: carrying the history out step by step leaves little choice, where moving
 * transactions about would have to move all of them.
 */
#ifndef ISO_CHECK_ORDER_REPLAY_H
#define ISO_CHECK_ORDER_REPLAY_H

#include "check/order/events.h"
#include "check/order/value_classes.h"

/* Carries the history out: of the transactions that find what they read, and whose writes nobody has to wait for, the
 * one with the least place goes next.  With begins of their own, readers that hold somebody up may begin early.  When
 * nobody can go, whoever takes a class away from the fewest does; a class that is written again is not taken away from
 * those who only read it.  turn[event] becomes the number of its turn.  Of known orders, sessions and derived edges
 * that leave a commit are looked at.  Linear in the operations, plus a heap of transactions, and where values repeat
 * the readers of a class as often as it comes and goes. */
isoproof_status iso_replay(const iso_event_graph *events, const iso_value_classes *classes, const double *place,
                           isoproof_task *task, int64_t *turn, isoproof_error *error);

#endif
