/* orders.h - what is known without looking at data: the order of each session, and real time (Elle, section 4.1).
 *
 * Both add edges to a list that the caller owns.
 */
#ifndef ISO_ELLE_INFER_ORDERS_H
#define ISO_ELLE_INFER_ORDERS_H

#include "graph/dependencies.h"
#include "history/history.h"

/* In all of these, `counts` says who takes part: one byte per transaction, 1 where it is committed or committed in
 * effect. */

/* An instant of real time: one between the end of some transaction and the next beginning of one, numbered in order.
 * A transaction that ended at or before instant i came before all that began at i or later. */
typedef struct iso_instants {
  uint32_t *begun; /* by transaction: the last instant before it began; ISO_NO_INSTANT for none, or not known */
  uint32_t *ended; /* by transaction: the first instant after it ended; ISO_NO_INSTANT for none, or not known */
  uint32_t count;
} iso_instants;
#define ISO_NO_INSTANT UINT32_MAX

/* By the indexes of invocations and completions where there are any, else by times, of the transactions that count.
 * Linear for indexes, and for times that come sorted; sorts otherwise.  The caller frees with iso_instants_free. */
isoproof_status iso_instants_make(const isoproof_history *history, const uint8_t *counts, iso_instants *instants,
                                  isoproof_error *error);
void iso_instants_free(iso_instants *instants);

/* Each committed transaction before the next one of its session, where the instants (may be NULL) do not say so
 * already. What became of a transaction of unknown outcome is not known when the next one begins: it comes after its
 * predecessors, and before nobody. */
void iso_session_edges(const isoproof_history *history, const uint8_t *counts, const iso_instants *instants,
                       iso_dependency_list *edges);
/* Real time by a chain of auxiliary nodes, one per instant: linear, whatever the concurrency, where the transitive
 * reduction of Elle (section 4.1) costs the number of operations times that of concurrent processes. */
void iso_realtime_edges(const isoproof_history *history, const iso_instants *instants, iso_dependency_list *edges);

#endif
