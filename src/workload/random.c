/* random.c - seeding, and the parts of random.h that are not worth inlining. */
#include "workload/random.h"

static uint64_t splitmix(uint64_t *x) {
  uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

void iso_random_seed(iso_random *random, uint64_t seed, uint64_t stream) {
  uint64_t x = seed;
  /* Hash the seed before the stream is mixed in: seed 1 stream 0 must not be seed 0 stream 1. */
  x = splitmix(&x) ^ (stream * UINT64_C(0xd1342543de82ef95));
  for (int i = 0; i < 4; i++) random->state[i] = splitmix(&x);
}

uint64_t iso_random_below64(iso_random *random, uint64_t bound) {
  if (bound <= UINT32_MAX) return iso_random_below(random, (uint32_t)bound);
  uint64_t surplus = (UINT64_MAX % bound + 1) % bound; /* how many of the 2^64 values are one too many */
  uint64_t x;
  do x = iso_random_next(random);
  while (x > UINT64_MAX - surplus);
  return x % bound;
}
