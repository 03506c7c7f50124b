/* hash.h - seeded hashing, so that a hostile history cannot choose its collisions.  Nothing is owned. */
#ifndef ISO_BASE_HASH_H
#define ISO_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A fresh seed from the system. */
uint64_t iso_hash_seed(void);
/* XXH3 of bytes. */
uint64_t iso_hash_bytes(const void *bytes, size_t length, uint64_t seed);
/* The same of a mapped file that is larger than what may be in memory: pages are let go once they were read. */
uint64_t iso_hash_mapped(const void *bytes, size_t length, uint64_t seed);

/* A bijective mixer of 64 bits (the finalizer of MurmurHash3, keyed by the seed). */
static inline uint64_t iso_hash_u64(uint64_t x, uint64_t seed) {
  x ^= seed;
  x ^= x >> 33;
  x *= UINT64_C(0xff51afd7ed558ccd);
  x ^= x >> 33;
  x *= UINT64_C(0xc4ceb9fe1a85ec53);
  x ^= x >> 33;
  return x;
}

#endif
