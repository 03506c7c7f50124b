/* orders.h - what is known without looking at data: the order of each session, and real time.
 *
 * Both add edges to a list that the caller owns.
 */
#ifndef ISO_ELLE_INFER_ORDERS_H
#define ISO_ELLE_INFER_ORDERS_H

#include "graph/dependencies.h"
#include "history/history.h"

/* In all of these, `counts` says who takes part: one byte a transaction, 1 where it is committed or committed in
 * effect. */

/* Each committed transaction before the next one of its session.  What became of a transaction of unknown outcome is
 * not known when the next one begins: it comes after its predecessors, and before nobody. */
void iso_process_edges(const isoproof_history *history, const uint8_t *counts, iso_dependency_list *edges);

struct iso_moments;
/* The same where real time does not say it already. */
void iso_process_edges_beside(const isoproof_history *history, const uint8_t *counts, const struct iso_moments *moments,
                              iso_dependency_list *edges);

/* A moment between which and the next no transaction both ends and another begins; numbered in order.  A transaction
 * that ended at or before moment m came before all that began at m or later. */
typedef struct iso_moments {
  uint32_t *begun; /* by transaction: the last moment before it began; ISO_NO_MOMENT for none, or not known */
  uint32_t *ended; /* by transaction: the first moment after it ended; ISO_NO_MOMENT for none, or not known */
  uint32_t count;
} iso_moments;
#define ISO_NO_MOMENT UINT32_MAX

/* Whether the history says anything about real time. */
bool iso_has_realtime(const isoproof_history *history);
/* By the indexes of invocations and completions where there are any, else by times, of the transactions that count.
 * The caller frees with iso_moments_free. */
isoproof_status iso_moments_make(const isoproof_history *history, const uint8_t *counts, iso_moments *moments,
                                 isoproof_error *error);
void iso_moments_free(iso_moments *moments);
/* Real time by a chain of auxiliary nodes, one a moment: linear, whatever the concurrency. */
void iso_realtime_edges(const isoproof_history *history, const iso_moments *moments, iso_dependency_list *edges);

#endif
