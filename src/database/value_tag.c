/* value_tag.c - the tag of a run in the values that it writes. */
#include "database/value_tag.h"

#include "base/hash.h"

iso_value_tag iso_value_tag_of(uint64_t run, uint32_t bits) {
  iso_value_tag made = {.bits = bits, .run = run};
  if (bits > 0) made.tag = (int64_t)(iso_hash_u64(run, bits) >> (64 - bits) | UINT64_C(1) << (bits - 1));
  return made;
}

static bool put(int64_t value, uint32_t bits, int64_t tag, int64_t *stored) {
  int64_t most = INT64_MAX >> bits, least = INT64_MIN >> bits;
  bool fits = value >= least && value <= most;
  int64_t kept = value < least ? least : value > most ? most : value;
  *stored = (int64_t)((uint64_t)kept << bits | (uint64_t)tag);
  return fits;
}

static int64_t low_bits(int64_t stored, uint32_t bits) { return stored & ((INT64_C(1) << bits) - 1); }

bool iso_value_tag_put(const iso_value_tag *tag, int64_t value, int64_t *stored) {
  return put(value, tag->bits, tag->tag, stored);
}

bool iso_value_tag_get(const iso_value_tag *tag, int64_t stored, int64_t *value) {
  *value = stored >> tag->bits;
  return low_bits(stored, tag->bits) == tag->tag;
}

static int64_t tag_of_element(const iso_value_tag *tag, int64_t value) {
  uint64_t hash = iso_hash_u64((uint64_t)value, tag->run);
  return (int64_t)(hash >> (64 - ISO_LIST_TAG_BITS) | UINT64_C(1) << (ISO_LIST_TAG_BITS - 1));
}

bool iso_value_tag_put_element(const iso_value_tag *tag, int64_t value, int64_t *stored) {
  *stored = value;
  return tag->bits == 0 || put(value, ISO_LIST_TAG_BITS, tag_of_element(tag, value), stored);
}

bool iso_value_tag_get_element(const iso_value_tag *tag, int64_t stored, int64_t *value) {
  *value = tag->bits == 0 ? stored : stored >> ISO_LIST_TAG_BITS;
  return tag->bits == 0 || low_bits(stored, ISO_LIST_TAG_BITS) == tag_of_element(tag, *value);
}
