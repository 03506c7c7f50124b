/* The memory of a store of versions. */
#include "check/order/version_store.h"

#include <stdlib.h>
#include <string.h>

void iso_version_store_free(iso_version_store *x) {
  free(x->slot_txn);
  free(x->slot_last);
  free(x->current);
  memset(x, 0, sizeof *x);
}

isoproof_status iso_version_store_make(const iso_view *v, iso_version_store *x, isoproof_error *error) {
  uint32_t txns = v->h->txns, slots = v->write_first[txns];
  x->slot_txn = iso_alloc(slots, sizeof *x->slot_txn);
  x->slot_last = iso_alloc(slots, sizeof *x->slot_last);
  x->current = iso_alloc(v->h->keys, sizeof *x->current);
  if (x->slot_txn == NULL || x->slot_last == NULL || x->current == NULL) {
    iso_version_store_free(x);
    return iso_fail_memory(error);
  }
  for (uint32_t txn = 0; txn < txns; txn++) {
    for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) x->slot_txn[i] = txn;
  }
  return ISOPROOF_OK;
}
