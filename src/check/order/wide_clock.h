/* wide_clock.h - bringing clocks over many chains up to date.
 *
 * A private header of event_clock.c.
 */
#ifndef ISO_CHECK_ORDER_WIDE_CLOCK_H
#define ISO_CHECK_ORDER_WIDE_CLOCK_H

#include "check/order/event_clock.h"

/* As iso_event_clocks_update, for rows so long that to go over one is dear: of the events right before another one,
 * the nearest are merged first, and those that came with them are not. */
isoproof_status iso_wide_clocks_update(const iso_event_graph *events, const iso_sequence *sequence, isoproof_task *task,
                                       iso_event_clocks *clocks, isoproof_error *error);

#endif
