/* random.c - the random functions of scripts. */
#include "script/random.h"

#include <math.h>

static uint64_t rotate(uint64_t x, unsigned by) { return x << by | x >> (64 - by); }

static uint64_t splitmix(uint64_t *x) {
  uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

void iso_script_random_seed(iso_script_random *random, uint64_t seed) {
  random->state[0] = splitmix(&seed);
  random->state[1] = splitmix(&seed);
  /* All zeros would stay so. */
  if (random->state[0] == 0 && random->state[1] == 0) random->state[0] = 1;
}

uint64_t iso_script_random_next(iso_script_random *random) {
  uint64_t a = random->state[0], b = random->state[1] ^ a, drawn = rotate(a * 5, 7) * 9;
  random->state[0] = rotate(a, 24) ^ b ^ b << 16;
  random->state[1] = rotate(b, 37);
  return drawn;
}

static unsigned highest_bit(uint64_t x) {
  unsigned bit = 0;
  while (x >>= 1) bit++;
  return bit;
}

/* The upper bits, as few as are needed; what is too large is drawn again. */
uint64_t iso_script_random_upto(iso_script_random *random, uint64_t most) {
  if (most == 0) return 0;
  unsigned shift = 63 - highest_bit(most);
  uint64_t drawn;
  do drawn = iso_script_random_next(random) >> shift;
  while (drawn > most);
  return drawn;
}

/* ---- distributions ---- */

/* In [0, 1). */
static double fraction(iso_script_random *random) {
  return ldexp((double)(iso_script_random_next(random) >> (64 - 52)), -52);
}

/* The part of the range that a fraction in [0, 1) falls on. */
static int64_t within(int64_t low, int64_t high, double part) {
  int64_t offset = (int64_t)((double)(high - low + 1) * part);
  return low + (offset > high - low ? high - low : offset);
}

int64_t iso_script_random_uniform(iso_script_random *random, int64_t low, int64_t high) {
  return (int64_t)((uint64_t)low + iso_script_random_upto(random, (uint64_t)high - (uint64_t)low));
}

/* A standard normal number by Box and Muller, drawn again when it is farther out than the parameter. */
int64_t iso_script_random_gaussian(iso_script_random *random, int64_t low, int64_t high, double parameter) {
  double normal;
  do {
    double u = 1 - fraction(random), v = 1 - fraction(random);
    normal = sqrt(-2 * log(u)) * sin(2 * M_PI * v);
  } while (normal < -parameter || normal >= parameter);
  return within(low, high, (normal + parameter) / (2 * parameter));
}

int64_t iso_script_random_exponential(iso_script_random *random, int64_t low, int64_t high, double parameter) {
  double cut = exp(-parameter), u = 1 - fraction(random);
  return within(low, high, -log(cut + (1 - cut) * u) / parameter);
}

/* By rejection: Luc Devroye, Non-Uniform Random Variate Generation (1986), pages 550 and 551. */
int64_t iso_script_random_zipfian(iso_script_random *random, int64_t low, int64_t high, double parameter) {
  double exponent = parameter - 1, b = pow(2, exponent), most = (double)(high - low + 1);
  if (high <= low) return low;
  for (;;) {
    double u = fraction(random), v = fraction(random), x = floor(pow(u, -1 / exponent)), t = pow(1 + 1 / x, exponent);
    if (x <= most && v * x * (t - 1) / (b - 1) <= t / b) return low + (int64_t)x - 1;
  }
}

/* ---- functions of their arguments alone ---- */

int64_t iso_script_hash_fnv1a(int64_t value, int64_t seed) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)seed, rest = (uint64_t)value;
  for (int i = 0; i < 8; i++) {
    hash = (hash ^ (rest & 0xff)) * UINT64_C(0x100000001b3);
    /* The last octets of a negative number are its sign, shifted in. */
    rest = rest >> 8 | (value < 0 ? UINT64_C(0xff) << 56 : 0);
  }
  return (int64_t)hash;
}

int64_t iso_script_hash_murmur2(int64_t value, int64_t seed) {
  const uint64_t factor = UINT64_C(0xc6a4a7935bd1e995);
  uint64_t hash = (uint64_t)seed ^ factor * 8, k = (uint64_t)value * factor;
  k = (k ^ k >> 47) * factor;
  hash = (hash ^ k) * factor;
  hash = (hash ^ hash >> 47) * factor;
  return (int64_t)(hash ^ hash >> 47);
}

/* A bijection of 0 .. mask, a power of two less one: an odd factor, a mask of bits, a rotation by one. */
static uint64_t scramble(uint64_t x, uint64_t factor, uint64_t bits, uint64_t mask, unsigned width) {
  x = (x * factor ^ bits) & mask;
  return (x << 1 & mask) | x >> (width - 1);
}

/* Six rounds on the lower and the upper end of the range, which overlap, each followed by a shift of all of it. */
int64_t iso_script_permute(int64_t value, int64_t size, int64_t seed) {
  if (size < 2) return 0;
  uint64_t n = (uint64_t)size, x = (uint64_t)value % n;
  unsigned width = highest_bit(n);
  uint64_t mask = (UINT64_C(1) << width) - 1;
  iso_script_random random;
  iso_script_random_seed(&random, (uint64_t)seed);
  for (int round = 0; round < 6; round++) {
    for (int upper = 0; upper < 2; upper++) {
      uint64_t factor = (iso_script_random_next(&random) & mask) | 1, bits = iso_script_random_next(&random) & mask;
      uint64_t from = upper ? n - 1 - x : x;
      if (from > mask) continue;
      uint64_t to = scramble(from, factor, bits, mask, width);
      x = upper ? n - 1 - to : to;
    }
    x = (x + iso_script_random_upto(&random, n - 1)) % n;
  }
  return (int64_t)x;
}
