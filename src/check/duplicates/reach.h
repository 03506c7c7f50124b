/* reach.h - who comes before whom whatever the open reads observed: along session order and the reads that are certain.
 *
 * One number per committed transaction and session: how many transactions of that session come before it.  A table owns
 * its numbers until iso_reach_free and refers to the history.
 */
#ifndef ISO_CHECK_DUPLICATES_REACH_H
#define ISO_CHECK_DUPLICATES_REACH_H

#include "base/task.h"
#include "history/history.h"

typedef struct iso_reach {
  const isoproof_history *h;
  uint32_t *clock; /* txns * sessions; NULL: too large, and nothing is known */
  uint8_t *known;  /* by transaction: its row is filled in */
} iso_reach;

/* `certain` has one bit per operation: a read whose writer is known. */
isoproof_status iso_reach_make(const isoproof_history *history, const uint32_t *op_txn,
                               const iso_resolution *resolution, const uint64_t *certain, iso_reach *reach,
                               isoproof_error *error);
void iso_reach_free(iso_reach *reach);

/* Whether `a` comes before `b`; false where that is not known. */
static inline bool iso_reach_before(const iso_reach *reach, uint32_t a, uint32_t b) {
  if (a == b || reach->clock == NULL || !reach->known[b]) return false;
  const isoproof_history *h = reach->h;
  uint32_t session = h->txn_session[a];
  return reach->clock[(size_t)b * h->sessions + session] > a - h->session_first_txn[session];
}

#endif
