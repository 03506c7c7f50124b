/* The life of a part: made of shipments, settled once it is known who takes part, and freed. */
#include "parts/part.h"

#include <stdlib.h>
#include <string.h>

static void unsettle(iso_part *part) {
  iso_version_store_free(&part->store);
  iso_versions_free(&part->versions);
  iso_view_free(&part->view);
  part->settled = false;
}

void iso_part_free(iso_part *part) {
  unsettle(part);
  isoproof_history_free(part->h);
  free(part->place);
  memset(part, 0, sizeof *part);
}

/* Whoever takes part counts as committed from here on, and whoever of unknown outcome does not as rolled back: nobody
 * who takes part has read from it. */
static void decide_outcomes(isoproof_history *h, const uint8_t *counts) {
  for (uint32_t t = 0; t < h->txns; t++) {
    if (h->txn_status[t] != ISOPROOF_TXN_UNKNOWN) continue;
    h->txn_status[t] = counts[t] ? ISOPROOF_TXN_COMMITTED : ISOPROOF_TXN_ABORTED;
  }
  iso_history_count(h);
}

isoproof_status iso_part_settle(iso_part *part, const uint8_t *counts, isoproof_task *task, isoproof_error *error) {
  if (part->settled) return ISOPROOF_OK;
  decide_outcomes(part->h, counts);
  ISO_TRY(iso_view_make(part->h, task, &part->view, error));
  isoproof_status status = iso_versions_make(&part->view, &part->versions, error);
  if (status == ISOPROOF_OK) status = iso_version_store_make(&part->view, &part->store, error);
  part->settled = true;
  if (status != ISOPROOF_OK) unsettle(part);
  return status;
}
