/* counters.h - dependencies from reads of counters.
 *
 * As long as nobody takes anything away a counter only grows: who saw less came before who saw more, who saw nothing
 * before everybody who added, who saw everything after them.  Keys of which somebody takes away tell nothing.  The
 * struct owns its columns until iso_counters_free and refers to the history and to `counts`.
 */
#ifndef ISO_ELLE_INFER_COUNTERS_H
#define ISO_ELLE_INFER_COUNTERS_H

#include "graph/dependencies.h"
#include "history/history.h"

/* The first read of a key by a transaction that counts, its own increments before it taken away. */
typedef struct iso_counter_read {
  uint32_t key, txn, op;
  int64_t value;
} iso_counter_read;

typedef struct iso_counters {
  const isoproof_history *h;
  const uint8_t *counts;
  ISO_VEC(iso_counter_read) reads; /* by key, value, transaction */
  uint8_t *shrinks;                /* by key: somebody takes away, or a number is too large to add up */
  int64_t *total;                  /* by key: all increments that may have happened */
} iso_counters;

isoproof_status iso_counters_make(const isoproof_history *history, const uint8_t *counts, iso_counters *counters,
                                  isoproof_error *error);
void iso_counters_free(iso_counters *counters);
/* The number that an increment or a read is about; nil is 0.  False when it is no number. */
bool iso_counter_number(const isoproof_history *history, uint32_t op, int64_t *number);
isoproof_status iso_counters_edges(const iso_counters *counters, iso_dependency_list *edges, isoproof_error *error);

#endif
