/* txn_id_set.h - a set of transaction ids: a bitmap where they are dense, a hash table for the rest.
 * The set owns its memory until iso_idset_free. */
#ifndef ISO_FORMAT_TXN_ID_SET_H
#define ISO_FORMAT_TXN_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct iso_idset {
  uint64_t *bits;
  size_t words;
  uint64_t *slots; /* id + 1; open addressing */
  size_t slot_mask, slot_used;
  bool has_largest; /* UINT64_MAX, which id + 1 cannot hold */
  size_t count;
  uint64_t seed;
} iso_idset;

typedef enum iso_idset_result { ISO_ID_NEW, ISO_ID_SEEN, ISO_ID_NO_MEMORY } iso_idset_result;

void iso_idset_init(iso_idset *set);
void iso_idset_free(iso_idset *set);
iso_idset_result iso_idset_add(iso_idset *set, uint64_t id);

#endif
