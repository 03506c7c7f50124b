/* blame.h - the transactions that a contradiction rests on.
 *
 * A contradiction is a cycle of known and derived edges, or a core of requirements with known orders between their
 * events.  Each derived edge has a reason: a read, and a path of edges that were known before it.  Following the
 * reasons back to the history gives a set of transactions that contradict the level by themselves, whatever the rest
 * of the history says.  The set belongs to the caller, as a vector of numbers.
 */
#ifndef ISO_CHECK_STRONG_BLAME_H
#define ISO_CHECK_STRONG_BLAME_H

#include "check/order/event_clock.h"
#include "check/strong/execute.h"

typedef struct iso_txn_set {
  uint32_t *items; /* ascending */
  size_t count, capacity;
} iso_txn_set;

/* There is a cycle among all edges.  `clocks` has the clocks of all edges but those of the last round, or is NULL. */
isoproof_status iso_blame_cycle(const iso_event_graph *events, const iso_event_clocks *clocks, isoproof_task *task,
                                iso_txn_set *txns, isoproof_error *error);

/* The requirements and edges contradict each other; the edges follow from what is known.  Without `clocks` the edges
 * are looked for. */
isoproof_status iso_blame_core(const iso_event_graph *events, const iso_event_clocks *clocks,
                               const iso_requirements *core, const iso_event_edges *edges, isoproof_task *task,
                               iso_txn_set *txns, isoproof_error *error);

/* Where transactions have levels of their own: the one that is read from is the initial one, and the axiom of the
 * reader's level has `seen`, who overwrote it, come before that. */
isoproof_status iso_blame_forced(const iso_event_graph *events, uint32_t seen, uint32_t reader, iso_txn_set *txns,
                                 isoproof_error *error);

#endif
