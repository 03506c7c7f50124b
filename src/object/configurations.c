/* A set of configurations: a hash table by state and linearized calls, from which dominated ones are left out. */
#include "object/configurations.h"

#include <string.h>

#include "base/hash.h"

enum { FIRST_SLOTS = 64 };

bool iso_configurations_init(iso_configurations *set) {
  memset(set, 0, sizeof *set);
  set->slots = iso_alloc_zero(FIRST_SLOTS, sizeof *set->slots);
  set->slot_mask = FIRST_SLOTS - 1;
  set->seed = iso_hash_seed();
  return set->slots != NULL;
}

void iso_configurations_free(iso_configurations *set) {
  iso_vec_free(&set->list);
  iso_vec_free(&set->used);
  free(set->slots);
  memset(set, 0, sizeof *set);
}

static size_t slot_of(const iso_configurations *set, iso_value state, iso_call_set done) {
  uint64_t x = (uint64_t)done * UINT64_C(0x9e3779b97f4a7c15) ^ (state + set->seed);
  x = (x ^ x >> 31) + (uint64_t)(done >> 64) * UINT64_C(0x94d049bb133111eb);
  x ^= x >> 29;
  x *= UINT64_C(0xbf58476d1ce4e5b9);
  return (size_t)(x ^ x >> 32) & set->slot_mask;
}

void iso_configurations_clear(iso_configurations *set) {
  /* Of a large table only what was used is cleared. */
  for (size_t i = 0; i < set->list.count; i++) {
    set->slots[slot_of(set, set->list.items[i].state, set->list.items[i].done)] = 0;
  }
  set->list.count = set->used.count = 0;
}

static bool grow(iso_configurations *set) {
  size_t count = (set->slot_mask + 1) * 2;
  uint32_t *slots = iso_alloc_zero(count, sizeof *slots);
  if (slots == NULL) return false;
  free(set->slots);
  set->slots = slots;
  set->slot_mask = count - 1;
  for (uint32_t i = 0; i < set->list.count; i++) {
    uint32_t *slot = &slots[slot_of(set, set->list.items[i].state, set->list.items[i].done)];
    set->list.items[i].next = *slot;
    *slot = i + 1;
  }
  return true;
}

/* Whether every use of the first is one of the second; both are ascending. */
static bool is_within(const uint32_t *few, uint32_t few_count, const uint32_t *many, uint32_t many_count) {
  uint32_t k = 0;
  for (uint32_t i = 0; i < few_count; i++, k++) {
    while (k < many_count && many[k] < few[i]) k++;
    if (k == many_count || many[k] != few[i]) return false;
  }
  return true;
}

bool iso_configurations_add(iso_configurations *set, iso_value state, iso_call_set done, const uint32_t *used,
                            uint32_t used_count) {
  if (set->list.count > set->slot_mask && !grow(set)) return false;
  uint32_t *slot = &set->slots[slot_of(set, state, done)];
  for (uint32_t at = *slot; at != 0; at = set->list.items[at - 1].next) {
    iso_configuration *other = &set->list.items[at - 1];
    if (other->gone || other->state != state || other->done != done) continue;
    const uint32_t *theirs = set->used.items + other->used_first;
    if (is_within(theirs, other->used_count, used, used_count)) return true;
    if (is_within(used, used_count, theirs, other->used_count)) other->gone = true;
  }
  iso_configuration one = {done, state, (uint32_t)set->used.count, used_count, *slot, false};
  if (set->list.count >= UINT32_MAX - 1 || set->used.count >= UINT32_MAX - used_count) return false;
  if (!iso_vec_reserve(&set->used, used_count)) return false;
  for (uint32_t i = 0; i < used_count; i++) set->used.items[set->used.count++] = used[i];
  if (!iso_vec_push(&set->list, one)) return false;
  *slot = (uint32_t)set->list.count;
  return true;
}
