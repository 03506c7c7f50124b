/* Numbers 0, 1, 2, ... for codes in order of first appearance: an array for small codes, a hash table for the
 * others. */
#include "history/numbering.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vector.h"
#include "history/history.h"

void iso_numbering_init(iso_numbering *numbering) {
  memset(numbering, 0, sizeof *numbering);
  numbering->seed = iso_hash_seed();
}

void iso_numbering_free(iso_numbering *numbering) {
  free(numbering->direct);
  free(numbering->interned);
  free(numbering->slots);
  free(numbering->names);
  memset(numbering, 0, sizeof *numbering);
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
static size_t find_slot(const iso_numbering *numbering, const uint32_t *slots, size_t mask, iso_value code) {
  size_t at = iso_hash_u64(code, numbering->seed) & mask;
  while (slots[at] != 0 && numbering->names[slots[at] - 1] != code) at = (at + 1) & mask;
  return at;
}

static bool slots_make_room(iso_numbering *numbering) {
  size_t size = numbering->slots == NULL ? 0 : numbering->slot_mask + 1;
  if (numbering->slot_used + 1 < size / 3 * 2) return true;
  size_t grown = size == 0 ? 64 : 2 * size;
  uint32_t *slots = iso_alloc_zero(grown, sizeof *slots);
  if (slots == NULL) return false;
  for (size_t i = 0; i < size; i++) {
    if (numbering->slots[i] == 0) continue;
    slots[find_slot(numbering, slots, grown - 1, numbering->names[numbering->slots[i] - 1])] = numbering->slots[i];
  }
  free(numbering->slots);
  numbering->slots = slots;
  numbering->slot_mask = grown - 1;
  return true;
}

/* The place that holds the number of `code` (0 while it has none); NULL when memory is out. */
static uint32_t *place_of(iso_numbering *numbering, iso_value code) {
  if (code >= ISO_VALUE_INTERNED && code != ISO_VALUE_NONE) {
    size_t entry = code & ~ISO_VALUE_INTERNED;
    if (entry >= numbering->interned_count && !grow_zero(&numbering->interned, &numbering->interned_count, entry))
      return NULL;
    return &numbering->interned[entry];
  }
  if (code >= numbering->direct_count || numbering->direct[code] == 0) {
    /* Perhaps it came while the direct array was too short for it. */
    if (numbering->slot_used > 0) {
      size_t at = find_slot(numbering, numbering->slots, numbering->slot_mask, code);
      if (numbering->slots[at] != 0) return &numbering->slots[at];
    }
    if (code >= numbering->direct_count && code / 16 < numbering->count + 4096 &&
        !grow_zero(&numbering->direct, &numbering->direct_count, code)) {
      return NULL;
    }
  }
  if (code < numbering->direct_count) return &numbering->direct[code];
  if (!slots_make_room(numbering)) return NULL;
  numbering->slot_used++;
  return &numbering->slots[find_slot(numbering, numbering->slots, numbering->slot_mask, code)];
}

isoproof_status iso_numbering_add_slow(iso_numbering *numbering, iso_value code, uint32_t *number,
                                       isoproof_error *error) {
  if (numbering->count == numbering->capacity &&
      !iso_vec_grow((void **)&numbering->names, &numbering->capacity, numbering->count + 1, sizeof *numbering->names)) {
    return iso_fail_memory(error);
  }
  uint32_t *place = place_of(numbering, code);
  if (place == NULL) return iso_fail_memory(error);
  if (*place == 0) {
    if (numbering->count >= ISO_MAX_KEYS) {
      return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %u keys or sessions", (unsigned)ISO_MAX_KEYS);
    }
    numbering->names[numbering->count++] = code;
    *place = (uint32_t)numbering->count;
  }
  *number = *place - 1;
  return ISOPROOF_OK;
}
