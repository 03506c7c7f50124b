/* walk.h - items moved, alone or with what must stay before or behind them, until hardly anything is contradicted.
 *
 * A private header of placement.c.
 */
#ifndef ISO_CHECK_ORDER_WALK_H
#define ISO_CHECK_ORDER_WALK_H

#include "check/order/accesses.h"

/* Moves what is contradicted to the nearest better place.  The places stay in an order that the known edges allow. */
isoproof_status iso_walk_nearby(iso_line *line, isoproof_task *task, isoproof_error *error);

typedef struct iso_walk {
  uint64_t seed;     /* another one leads elsewhere */
  uint64_t patience; /* how much may be done in vain, by the number of accesses */
} iso_walk;

/* Settles contradictions one by one: one of the two sides goes past the other with all that is in its way, whichever
 * contradicts the least, now and then also for the worse, and what stays contradicted counts more and more.  Ends when
 * nothing is left or when it does not get better; the places are then the best ones. */
isoproof_status iso_walk_groups(iso_line *line, iso_walk how, isoproof_task *task, isoproof_error *error);

#endif
