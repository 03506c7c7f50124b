/* Transactions that access every key once: nearly all, and hardly anything can be wrong within one. */
#include "check/within/scan.h"

bool iso_scan_is_plain(iso_scan *scan, uint32_t txn) {
  const isoproof_history *h = scan->shared->h;
  uint32_t first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  if (end - first > ISO_SCAN_MOST_PLAIN) return false;
  bool plain = true;
  for (uint32_t op = first; op < end; op++) {
    uint32_t *stamp = &scan->stamps[h->op_key[op] * UINT32_C(2654435769) >> (32 - ISO_SCAN_STAMP_BITS)];
    plain &= (*stamp != txn + 1) & ((h->op_kind[op] == ISOPROOF_OP_READ) | (h->op_kind[op] == ISOPROOF_OP_WRITE));
    *stamp = txn + 1;
  }
  return plain;
}

/* It is so when every read saw the initial version, or the last write of somebody who was not rolled back. */
bool iso_scan_is_sound(const iso_scan *scan, uint32_t txn) {
  const iso_scan_shared *shared = scan->shared;
  const isoproof_history *h = shared->h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    uint32_t seen = shared->resolution->writer[op]; /* nothing for a write */
    if (seen < h->ops ? (shared->suspect[seen / 64] >> (seen % 64) & 1) != 0 : seen == ISO_FROM_NOBODY) return false;
  }
  return true;
}
