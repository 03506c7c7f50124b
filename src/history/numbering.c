#include "history/numbering.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vector.h"
#include "history/history.h"

void iso_dense_init(iso_dense *dense) {
  memset(dense, 0, sizeof *dense);
  dense->seed = iso_hash_seed();
}

void iso_dense_free(iso_dense *dense) {
  free(dense->direct);
  free(dense->interned);
  free(dense->slots);
  free(dense->names);
  memset(dense, 0, sizeof *dense);
}

/* Grows an array of numbers to hold index `at`, new places zero. */
static bool grow_zero(uint32_t **items, size_t *count, size_t at) {
  size_t grown = *count < 1024 ? 1024 : *count;
  while (grown <= at) grown *= 2;
  uint32_t *moved = iso_realloc(*items, grown, sizeof **items);
  if (moved == NULL) return false;
  memset(moved + *count, 0, (grown - *count) * sizeof *moved);
  *items = moved;
  *count = grown;
  return true;
}

/* Where the outlier `code` is, or belongs, in the hash table. */
static size_t find_slot(const iso_dense *dense, const uint32_t *slots, size_t mask, iso_value code) {
  size_t at = iso_hash_u64(code, dense->seed) & mask;
  while (slots[at] != 0 && dense->names[slots[at] - 1] != code) at = (at + 1) & mask;
  return at;
}

static bool slots_make_room(iso_dense *dense) {
  size_t size = dense->slots == NULL ? 0 : dense->slot_mask + 1;
  if (dense->slot_used + 1 < size / 3 * 2) return true;
  size_t grown = size == 0 ? 64 : 2 * size;
  uint32_t *slots = iso_alloc_zero(grown, sizeof *slots);
  if (slots == NULL) return false;
  for (size_t i = 0; i < size; i++) {
    if (dense->slots[i] == 0) continue;
    slots[find_slot(dense, slots, grown - 1, dense->names[dense->slots[i] - 1])] = dense->slots[i];
  }
  free(dense->slots);
  dense->slots = slots;
  dense->slot_mask = grown - 1;
  return true;
}

/* The place that holds the number of `code` (0 while it has none); NULL when memory is out. */
static uint32_t *place_of(iso_dense *dense, iso_value code) {
  if (code >= ISO_VALUE_INTERNED && code != ISO_VALUE_NONE) {
    size_t entry = code & ~ISO_VALUE_INTERNED;
    if (entry >= dense->interned_count && !grow_zero(&dense->interned, &dense->interned_count, entry)) return NULL;
    return &dense->interned[entry];
  }
  if (code >= dense->direct_count || dense->direct[code] == 0) {
    /* Perhaps it came while the direct array was too short for it. */
    if (dense->slot_used > 0) {
      size_t at = find_slot(dense, dense->slots, dense->slot_mask, code);
      if (dense->slots[at] != 0) return &dense->slots[at];
    }
    if (code >= dense->direct_count && code / 16 < dense->count + 4096 &&
        !grow_zero(&dense->direct, &dense->direct_count, code)) {
      return NULL;
    }
  }
  if (code < dense->direct_count) return &dense->direct[code];
  if (!slots_make_room(dense)) return NULL;
  dense->slot_used++;
  return &dense->slots[find_slot(dense, dense->slots, dense->slot_mask, code)];
}

isoproof_status iso_dense_add_slow(iso_dense *dense, iso_value code, uint32_t *number, isoproof_error *error) {
  if (dense->count == dense->capacity &&
      !iso_vec_grow((void **)&dense->names, &dense->capacity, dense->count + 1, sizeof *dense->names)) {
    return iso_fail_memory(error);
  }
  uint32_t *place = place_of(dense, code);
  if (place == NULL) return iso_fail_memory(error);
  if (*place == 0) {
    if (dense->count >= ISO_MAX_KEYS) {
      return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %u keys or sessions", (unsigned)ISO_MAX_KEYS);
    }
    dense->names[dense->count++] = code;
    *place = (uint32_t)dense->count;
  }
  *number = *place - 1;
  return ISOPROOF_OK;
}
