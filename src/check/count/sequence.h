/* sequence.h - all transactions in an order that respects what is known, near to the one in which they ran.
 *
 * Any order is right for those who use it; in a good one few reads miss a version that comes before them.  The sequence
 * owns its arrays until iso_run_sequence_free.
 */
#ifndef ISO_CHECK_COUNT_SEQUENCE_H
#define ISO_CHECK_COUNT_SEQUENCE_H

#include "check/order/commit_order.h"

typedef struct iso_run_sequence {
  uint32_t *txn;   /* those that take part, in order */
  uint32_t *place; /* by transaction; UINT32_MAX for those that do not take part */
  uint32_t count;
  bool is_respectful; /* session order, reads and what lists show have no cycle, and the sequence respects them */
} iso_run_sequence;

isoproof_status iso_run_sequence_make(const iso_view *view, const iso_versions *versions, iso_run_sequence *out,
                                      isoproof_error *error);
void iso_run_sequence_free(iso_run_sequence *sequence);

#endif
