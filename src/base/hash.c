/* Hashing bytes with XXH3, and fresh seeds from the kernel. */
#include "base/hash.h"

#include <sys/random.h>
#include <time.h>
#include <xxhash.h>

#include "base/pages.h"

uint64_t iso_hash_seed(void) {
  uint64_t seed;
  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed) return seed;
  /* No entropy this early in the machine's life: an address and the clock are the next best thing. */
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return iso_hash_u64((uint64_t)now.tv_nsec ^ ((uint64_t)now.tv_sec << 32), (uint64_t)(uintptr_t)&seed);
}

uint64_t iso_hash_bytes(const void *bytes, size_t length, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, length, seed);
}

uint64_t iso_hash_mapped(const void *bytes, size_t length, uint64_t seed) {
  enum { STEP = 8 << 20 };
  XXH3_state_t *state = length > STEP ? XXH3_createState() : NULL;
  if (state == NULL) return iso_hash_bytes(bytes, length, seed);
  XXH3_64bits_reset_withSeed(state, seed);
  for (size_t at = 0; at < length; at += STEP) {
    size_t step = length - at < STEP ? length - at : STEP;
    XXH3_64bits_update(state, (const char *)bytes + at, step);
    iso_pages_let_go(bytes, at, at + step);
  }
  uint64_t sum = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return sum;
}
