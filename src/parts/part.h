/* part.h - the operations on some of the keys of a history, as a history of its own.
 *
 * A part has all transactions under the numbers of the whole, and of their operations those on its keys: so patterns
 * within transactions, views, versions of lists and stores of versions are made of it as of any history.  Sessions,
 * names and times stay with the coordinator.  A part owns everything in it until iso_part_free.
 */
#ifndef ISO_PARTS_PART_H
#define ISO_PARTS_PART_H

#include "check/order/version_store.h"
#include "check/view/versions.h"
#include "parts/ship.h"

typedef struct iso_part {
  isoproof_history *h; /* without sessions and without a pool */
  uint16_t *place;     /* by operation: its place in its transaction in the whole */
  bool settled;        /* it is known who takes part, and so the view is made */
  iso_view view;
  iso_versions versions;
  iso_version_store store;
} iso_part;

/* What one process shipped to this part. */
typedef struct iso_shipment {
  iso_bytes ops, lists;
} iso_shipment;

/* What all parts know of the whole. */
typedef struct iso_part_frame {
  uint32_t txns;
  const uint8_t *txn_status;
  bool initial_is_zero;
  bool common_lists; /* the lists of all shipments together are those that each one's reads are prefixes of */
} iso_part_frame;

/* Makes a part of what was shipped to it, which stays with the caller.  ISOPROOF_ERR_INTERNAL for a shipment that is
 * none. */
isoproof_status iso_part_make(const iso_part_frame *frame, const iso_shipment *shipments, size_t count,
                              isoproof_task *task, iso_part *part, isoproof_error *error);
void iso_part_free(iso_part *part);

/* Says who takes part (a byte per transaction), once, and makes the view and the versions of lists. */
isoproof_status iso_part_settle(iso_part *part, const uint8_t *counts, isoproof_task *task, isoproof_error *error);

#endif
