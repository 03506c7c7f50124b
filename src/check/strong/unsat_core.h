/* unsat_core.h - which of many requirements cannot be met together, and because of which known orders.
 *
 * The requirements become assumptions of a fresh solver, whose failed assumptions are a subset that still fails; this
 * is repeated while it gets smaller.  In the end the known edges between the events that are left become assumptions
 * too.  The results belong to the caller.
 */
#ifndef ISO_CHECK_STRONG_UNSAT_CORE_H
#define ISO_CHECK_STRONG_UNSAT_CORE_H

#include "check/order/event_clock.h"
#include "check/strong/execute.h"

/* `all` cannot be met. */
isoproof_status iso_unsat_core_find(const iso_event_graph *events, const iso_event_clocks *clocks,
                                    const iso_requirements *all, isoproof_task *task, iso_requirements *core,
                                    iso_event_edges *core_edges, isoproof_error *error);

#endif
