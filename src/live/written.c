/* A set of pairs of key and value, by open addressing. */
#include "live/written.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vector.h"

enum { FIRST_SLOTS = 64 };
#define FREE_SLOT UINT64_MAX

static size_t place_of(const iso_written *set, uint64_t pair) {
  size_t at = (size_t)iso_hash_u64(pair, set->seed) & set->mask;
  while (set->slots[at] != FREE_SLOT && set->slots[at] != pair) at = (at + 1) & set->mask;
  return at;
}

static bool grow(iso_written *set) {
  iso_written larger = {.seed = set->slots == NULL ? iso_hash_seed() : set->seed};
  size_t slots = set->slots == NULL ? FIRST_SLOTS : 2 * (set->mask + 1);
  larger.slots = iso_alloc(slots, sizeof *larger.slots);
  if (larger.slots == NULL) return false;
  memset(larger.slots, 0xff, slots * sizeof *larger.slots);
  larger.mask = slots - 1;
  larger.count = set->count;
  for (size_t i = 0; set->slots != NULL && i <= set->mask; i++) {
    if (set->slots[i] != FREE_SLOT) larger.slots[place_of(&larger, set->slots[i])] = set->slots[i];
  }
  free(set->slots);
  *set = larger;
  return true;
}

static uint64_t pair_of(iso_value key, iso_value value) { return (uint64_t)key << 32 | value; }

bool iso_written_add(iso_written *set, iso_value key, iso_value value, bool *had) {
  if ((set->slots == NULL || 2 * (set->count + 1) > set->mask) && !grow(set)) return false;
  size_t at = place_of(set, pair_of(key, value));
  if (had != NULL) *had = set->slots[at] != FREE_SLOT;
  if (set->slots[at] == FREE_SLOT) set->slots[at] = pair_of(key, value), set->count++;
  return true;
}

bool iso_written_has(const iso_written *set, iso_value key, iso_value value) {
  return set->slots != NULL && set->slots[place_of(set, pair_of(key, value))] != FREE_SLOT;
}

void iso_written_clear(iso_written *set) {
  if (set->slots != NULL) memset(set->slots, 0xff, (set->mask + 1) * sizeof *set->slots);
  set->count = 0;
}

void iso_written_free(iso_written *set) {
  free(set->slots);
  *set = (iso_written){0};
}
