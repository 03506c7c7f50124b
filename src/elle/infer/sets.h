/* sets.h - dependencies from reads of sets that only grow.
 *
 * An element that only one transaction adds is recoverable: who saw it came after who added it, who missed it before.
 * Reads of a key that contain one another are levels of a chain, so that all of this costs as much as the reads are
 * long; a read that does not fit into the chain is set against every element.  The struct owns its columns until
 * iso_sets_free and refers to the history and to `counts`.
 */
#ifndef ISO_ELLE_INFER_SETS_H
#define ISO_ELLE_INFER_SETS_H

#include "graph/dependencies.h"
#include "history/history.h"

typedef struct iso_set_read {
  uint32_t key, op, size;
  uint32_t level; /* in the chain of its key; ISO_OFF_CHAIN */
} iso_set_read;

#define ISO_OFF_CHAIN UINT32_MAX

typedef struct iso_sets {
  const isoproof_history *h;
  const iso_resolution *resolution;
  const uint32_t *op_txn;
  const uint8_t *counts;
  uint8_t *unique;             /* by operation: an addition that counts, of an element that nobody else adds */
  uint32_t *level;             /* by operation: the level at which a unique addition was first seen; 0 not seen */
  uint32_t *levels;            /* by key */
  bool ambiguous;              /* an element was added by several transactions */
  ISO_VEC(iso_set_read) reads; /* by key, then by size */
} iso_sets;

isoproof_status iso_sets_make(isoproof_history *history, const uint8_t *counts, isoproof_task *task, iso_sets *sets,
                              isoproof_error *error);
void iso_sets_free(iso_sets *sets);
/* Who added the elements of a read, or marks. */
const uint32_t *iso_sets_writers(const iso_sets *sets, uint32_t op, uint32_t *count);
isoproof_status iso_sets_edges(const iso_sets *sets, isoproof_task *task, iso_dependency_list *edges,
                               isoproof_error *error);

#endif
