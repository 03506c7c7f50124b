/* txn_id_set.h - a set of transaction ids: a bitmap where they are dense, a hash table for the rest; adding is O(1)
 * amortized.  The set owns its memory until iso_txn_id_set_free. */
#ifndef ISO_FORMAT_TXN_ID_SET_H
#define ISO_FORMAT_TXN_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct iso_txn_id_set {
  uint64_t *bits;
  size_t words;
  uint64_t *slots; /* id + 1; open addressing */
  size_t slot_mask, slot_used;
  bool has_largest; /* UINT64_MAX, which id + 1 cannot hold */
  size_t count;
  uint64_t seed;
} iso_txn_id_set;

typedef enum iso_txn_id_set_result { ISO_ID_NEW, ISO_ID_SEEN, ISO_ID_NO_MEMORY } iso_txn_id_set_result;

void iso_txn_id_set_init(iso_txn_id_set *set);
void iso_txn_id_set_free(iso_txn_id_set *set);
iso_txn_id_set_result iso_txn_id_set_add(iso_txn_id_set *set, uint64_t id);

#endif
