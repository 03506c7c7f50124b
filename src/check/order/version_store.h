/* version_store.h - the versions of each key while a sequence is carried out: the last one, and those before it.
 * A store owns its arrays until iso_version_store_free. */
#ifndef ISO_CHECK_ORDER_VERSION_STORE_H
#define ISO_CHECK_ORDER_VERSION_STORE_H

#include "check/order/sequence.h"

/* A slot is a place in view->write_key: the version of that key by one transaction. */
typedef struct iso_version_store {
  uint32_t *slot_txn;  /* by slot: who writes it */
  uint32_t *slot_last; /* by slot: the version before, + 1 */
  uint32_t *current;   /* by key: the slot of the last version, + 1; 0 for the initial one */
} iso_version_store;

isoproof_status iso_version_store_make(const iso_view *view, iso_version_store *store, isoproof_error *error);
void iso_version_store_free(iso_version_store *store);

#endif
