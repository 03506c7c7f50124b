/* A set of 64-bit ids: a bitmap that grows with the ids seen, and open addressing for those beyond it. */
#include "format/txn_id_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vector.h"

void iso_txn_id_set_init(iso_txn_id_set *set) {
  memset(set, 0, sizeof *set);
  set->seed = iso_hash_seed();
}

void iso_txn_id_set_free(iso_txn_id_set *set) {
  free(set->bits);
  free(set->slots);
  memset(set, 0, sizeof *set);
}

/* Grows the bitmap to hold word `at`. */
static bool grow_bits(iso_txn_id_set *set, size_t at) {
  size_t grown = set->words < 1024 ? 1024 : set->words;
  while (grown <= at) grown *= 2;
  uint64_t *bits = iso_realloc(set->bits, grown, sizeof *bits);
  if (bits == NULL) return false;
  memset(bits + set->words, 0, (grown - set->words) * sizeof *bits);
  set->bits = bits;
  set->words = grown;
  return true;
}

static size_t find_slot(const iso_txn_id_set *set, const uint64_t *slots, size_t mask, uint64_t id) {
  size_t at = iso_hash_u64(id, set->seed) & mask;
  while (slots[at] != 0 && slots[at] != id + 1) at = (at + 1) & mask;
  return at;
}

static bool grow_slots(iso_txn_id_set *set) {
  size_t size = set->slots == NULL ? 0 : set->slot_mask + 1;
  if (set->slot_used + 1 < size / 3 * 2) return true;
  size_t grown = size == 0 ? 64 : 2 * size;
  uint64_t *slots = iso_alloc_zero(grown, sizeof *slots);
  if (slots == NULL) return false;
  for (size_t i = 0; i < size; i++) {
    if (set->slots[i] != 0) slots[find_slot(set, slots, grown - 1, set->slots[i] - 1)] = set->slots[i];
  }
  free(set->slots);
  set->slots = slots;
  set->slot_mask = grown - 1;
  return true;
}

static iso_txn_id_set_result add_sparse(iso_txn_id_set *set, uint64_t id) {
  if (id == UINT64_MAX) {
    if (set->has_largest) return ISO_ID_SEEN;
    set->has_largest = true;
    return ISO_ID_NEW;
  }
  if (!grow_slots(set)) return ISO_ID_NO_MEMORY;
  size_t at = find_slot(set, set->slots, set->slot_mask, id);
  if (set->slots[at] != 0) return ISO_ID_SEEN;
  set->slots[at] = id + 1;
  set->slot_used++;
  return ISO_ID_NEW;
}

/* Whether an id that the bitmap now covers came while it did not. */
static bool seen_sparse(const iso_txn_id_set *set, uint64_t id) {
  if (set->slot_used == 0 || id == UINT64_MAX) return false;
  return set->slots[find_slot(set, set->slots, set->slot_mask, id)] != 0;
}

iso_txn_id_set_result iso_txn_id_set_add(iso_txn_id_set *set, uint64_t id) {
  /* The bitmap may spend up to 64 bits per id seen, so that one huge id cannot make it huge. */
  uint64_t word = id / 64;
  if (word >= set->words && word < set->count + 4096 && !grow_bits(set, (size_t)word)) return ISO_ID_NO_MEMORY;
  iso_txn_id_set_result result;
  if (word < set->words) {
    uint64_t bit = UINT64_C(1) << (id % 64);
    bool seen = (set->bits[word] & bit) != 0 || seen_sparse(set, id);
    set->bits[word] |= bit;
    result = seen ? ISO_ID_SEEN : ISO_ID_NEW;
  } else {
    result = add_sparse(set, id);
  }
  if (result == ISO_ID_NEW) set->count++;
  return result;
}
