/* random.h - reproducible random numbers: xoshiro256** seeded through splitmix64.  The caller owns the generator. */
#ifndef ISO_WORKLOAD_RANDOM_H
#define ISO_WORKLOAD_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct iso_random {
  uint64_t state[4];
} iso_random;

/* Different streams of one seed are independent, so that a change in one consumer does not shift another. */
void iso_random_seed(iso_random *random, uint64_t seed, uint64_t stream);

static inline uint64_t iso_random_rotate(uint64_t x, unsigned by) { return (x << by) | (x >> (64 - by)); }

static inline uint64_t iso_random_next(iso_random *random) {
  uint64_t *s = random->state;
  uint64_t result = iso_random_rotate(s[1] * 5, 7) * 9, shifted = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= shifted;
  s[3] = iso_random_rotate(s[3], 45);
  return result;
}

/* Uniform in [0, bound), 0 when bound is 0.  The multiplication maps 2^32 values on the bound; the few that would make
 * some results likelier are drawn again. */
static inline uint32_t iso_random_below(iso_random *random, uint32_t bound) {
  uint64_t product = (iso_random_next(random) >> 32) * bound;
  if ((uint32_t)product < bound) {
    uint32_t surplus = (uint32_t)(-bound) % bound;
    while ((uint32_t)product < surplus) product = (iso_random_next(random) >> 32) * bound;
  }
  return (uint32_t)(product >> 32);
}

/* The same for 64 bits. */
uint64_t iso_random_below64(iso_random *random, uint64_t bound);

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double iso_random_double(iso_random *random) { return (double)(iso_random_next(random) >> 11) * 0x1p-53; }

/* True with that probability: never for 0, always for 1. */
static inline bool iso_random_chance(iso_random *random, double probability) {
  return iso_random_double(random) < probability;
}

#endif
