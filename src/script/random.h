/* random.h - the random functions of scripts: xoroshiro128** (Blackman and Vigna 2018) and pgbench's distributions.
 *
 * The caller owns the generator.  permute and the hashes give what pgbench gives for the same arguments. */
#ifndef ISO_SCRIPT_RANDOM_H
#define ISO_SCRIPT_RANDOM_H

#include <stdint.h>

typedef struct iso_script_random {
  uint64_t state[2];
} iso_script_random;

void iso_script_random_seed(iso_script_random *random, uint64_t seed);
uint64_t iso_script_random_next(iso_script_random *random);
/* Uniform from 0 to `most`. */
uint64_t iso_script_random_upto(iso_script_random *random, uint64_t most);

/* From low to high, both included; high - low + 1 fits an int64_t. */
int64_t iso_script_random_uniform(iso_script_random *random, int64_t low, int64_t high);
/* The parameter is at least 2. */
int64_t iso_script_random_gaussian(iso_script_random *random, int64_t low, int64_t high, double parameter);
/* The parameter is greater than 0. */
int64_t iso_script_random_exponential(iso_script_random *random, int64_t low, int64_t high, double parameter);
/* The parameter is from 1.001 to 1000. */
int64_t iso_script_random_zipfian(iso_script_random *random, int64_t low, int64_t high, double parameter);

int64_t iso_script_hash_fnv1a(int64_t value, int64_t seed);
int64_t iso_script_hash_murmur2(int64_t value, int64_t seed);
/* The place of `value` modulo size in a permutation of 0 .. size - 1 that the seed chooses; size is greater than 0. */
int64_t iso_script_permute(int64_t value, int64_t size, int64_t seed);

#endif
