/* value_walk.h - transactions moved, one at a time, to where the fewest reads find another value than they saw.
 *
 * A private header of placement.c.  Where keys are few a transaction meets most others, and the one place that is best
 * for it may be anywhere that its session and real time leave to it; where they are many, that is near the place that
 * it has, if the order is nearly right.  All those places are weighed at once, key by key, in one pass over the
 * accesses of its keys.
 */
#ifndef ISO_CHECK_ORDER_VALUE_WALK_H
#define ISO_CHECK_ORDER_VALUE_WALK_H

#include "check/order/events.h"
#include "check/order/value_classes.h"

typedef struct iso_value_walk {
  uint64_t seed;
  uint64_t most_steps, patience; /* accesses and places looked at: in all, and since it last got better at most */
  uint32_t reach;                /* how far a transaction goes at a time; 0: as far as it can */
  bool mends;                    /* what is left then is mended in windows (value_mend.h), where it is little */
} iso_value_walk;

/* Improves an order of whole transactions, which has those of a chain in order: when[event] becomes the place of its
 * transaction.  Of known edges only those of chains and of real time are kept, which the
 * order at hand has to respect: what follows from reads costs reads. */
isoproof_status iso_value_walk_all(const iso_event_graph *events, const iso_value_classes *classes, iso_value_walk how,
                                   isoproof_task *task, int64_t *when, isoproof_error *error);

#endif
