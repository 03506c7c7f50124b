/* implied.h - of derived edges, those that say more than the others together with the clocks. */
#ifndef ISO_CHECK_STRONG_IMPLIED_H
#define ISO_CHECK_STRONG_IMPLIED_H

#include "check/order/event_clock.h"

/* Keeps, in any order, the edges of which the rest follow: one to an event goes where its origin comes before that of
 * another one to it, and one from an event where it leads to what comes behind the end of another one from it.  The
 * sequence and the clocks are those before the edges.  Edges x log of the most at one event, and chains x edges kept.
 */
isoproof_status iso_drop_implied(const iso_event_graph *events, const iso_sequence *sequence,
                                 const iso_event_clocks *clocks, iso_derived *edges, size_t *count, isoproof_task *task,
                                 isoproof_error *error);

#endif
