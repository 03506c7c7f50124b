/* parallel.h - does a sequence explain every read under parallel snapshot isolation, or update atomicity?
 *
 * Here a reader need not come before the writer that overtook it: two RW in a cycle are allowed.  So the versions of
 * each key are taken in the order of the sequence, and what must not be is that a writer s of x, later than the version
 * t of x that r read, comes before r: by any path of SO, WR and WW (parallel snapshot isolation), or by one edge
 * (update atomicity).  Then s has to come before t, or one of the WW orders on the path has to be turned round.
 */
#ifndef ISO_CHECK_STRONG_RULES_PARALLEL_H
#define ISO_CHECK_STRONG_RULES_PARALLEL_H

#include "check/order/event_clock.h"
#include "check/strong/execute.h"

/* As iso_execute.  `clocks` has the clocks of all that is known; the graph is left as it was. */
isoproof_status iso_examine_parallel(iso_event_graph *events, const iso_event_clocks *clocks,
                                     const iso_sequence *sequence, isoproof_task *task, iso_requirements *requirements,
                                     uint64_t *broken, isoproof_error *error);

isoproof_status iso_examine_update_atomic(const iso_event_graph *events, const iso_sequence *sequence,
                                          iso_executor *executor, iso_requirements *requirements, uint64_t *broken,
                                          isoproof_error *error);

#endif
