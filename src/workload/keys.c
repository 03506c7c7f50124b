/* keys.c - key distributions.
 *
 * Zipf: rejection-inversion after Hoermann and Derflinger (1996), O(1) expected per draw.  The weights k^-s lie under
 * the hat x^-s, whose integral and inverse integral are elementary; a sample of the hat is rounded to a rank and nearly
 * always accepted.
 */
#include "workload/keys.h"

#include <math.h>

/* (e^t - 1) / t, which is 1 at 0. */
static double expm1_over(double t) { return fabs(t) > 1e-8 ? expm1(t) / t : 1 + t / 2; }

/* ln(1 + t) / t, which is 1 at 0. */
static double log1p_over(double t) { return fabs(t) > 1e-8 ? log1p(t) / t : 1 - t / 2; }

/* The integral of x^-s from 1 to x, also where s is 1. */
static double hat_area(double x, double skew) {
  double log_x = log(x);
  return skew == 1 ? log_x : expm1_over((1 - skew) * log_x) * log_x;
}

static double hat_inverse(double area, double skew) {
  if (skew == 1) return exp(area);
  double t = area * (1 - skew);
  if (t <= -1) t = -1 + 1e-15; /* rounding must not leave the domain of the logarithm */
  return exp(log1p_over(t) * area);
}

static double weight(double rank, double skew) { return skew == 1 ? 1 / rank : exp(-skew * log(rank)); }

static isoproof_status check_skew(double skew, isoproof_error *error) {
  if (skew >= 0 && skew <= 100) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_USAGE, "skew: expected a number from 0 to 100, found %g", skew);
}

isoproof_status iso_keys_init(iso_key_source *source, isoproof_key_distribution kind, uint32_t keys, double skew,
                              double hot_share, double hot_keys_share, isoproof_error *error) {
  *source = (iso_key_source){.kind = kind, .keys = keys};
  if (keys == 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "keys: expected at least 1, found 0");
  switch (kind) {
  case ISOPROOF_KEYS_UNIFORM:
    return ISOPROOF_OK;
  case ISOPROOF_KEYS_ZIPF:
    ISO_TRY(check_skew(skew, error));
    source->skew = skew;
    source->area_first = hat_area(1.5, skew) - 1;
    source->area_last = hat_area(keys + 0.5, skew);
    source->shortcut = 2 - hat_inverse(hat_area(2.5, skew) - weight(2, skew), skew);
    return ISOPROOF_OK;
  case ISOPROOF_KEYS_HOTSPOT:
    if (!(hot_share >= 0 && hot_share <= 1))
      return iso_fail(error, ISOPROOF_ERR_USAGE, "hot_share: expected a number from 0 to 1, found %g", hot_share);
    if (!(hot_keys_share >= 0 && hot_keys_share <= 1))
      return iso_fail(error, ISOPROOF_ERR_USAGE, "hot_keys_share: expected a number from 0 to 1, found %g",
                      hot_keys_share);
    source->hot_share = hot_share;
    source->hot_keys = (uint32_t)ceil(hot_keys_share * keys);
    if (source->hot_keys == 0) source->hot_keys = 1;
    if (source->hot_keys > keys) source->hot_keys = keys;
    return ISOPROOF_OK;
  case ISOPROOF_KEYS_EXPONENTIAL:
    ISO_TRY(check_skew(skew, error));
    source->skew = skew;
    source->tail = -expm1(-skew * keys * log(2));
    return ISOPROOF_OK;
  case ISOPROOF_KEY_DISTRIBUTIONS:
    break;
  }
  return iso_fail(error, ISOPROOF_ERR_USAGE, "distribution: %u is no key distribution", (unsigned)kind);
}

static uint32_t draw_zipf(const iso_key_source *source, iso_random *random) {
  double skew = source->skew;
  for (;;) {
    double area = source->area_last + iso_random_double(random) * (source->area_first - source->area_last);
    double x = hat_inverse(area, skew);
    double rank = floor(x + 0.5);
    if (!(rank >= 1)) rank = 1;
    if (rank > source->keys) rank = source->keys;
    if (rank - x <= source->shortcut || area >= hat_area(rank + 0.5, skew) - weight(rank, skew))
      return (uint32_t)rank - 1;
  }
}

/* The inverse of the distribution function 1 - 2^(-s i), cut where the keys end. */
static uint32_t draw_exponential(const iso_key_source *source, iso_random *random) {
  if (source->tail <= 0) return iso_random_below(random, source->keys); /* skew 0 */
  double rank = floor(-log1p(-iso_random_double(random) * source->tail) / (source->skew * log(2)));
  return rank < source->keys ? (uint32_t)rank : source->keys - 1;
}

uint32_t iso_keys_draw(const iso_key_source *source, iso_random *random) {
  switch (source->kind) {
  case ISOPROOF_KEYS_ZIPF:
    return draw_zipf(source, random);
  case ISOPROOF_KEYS_HOTSPOT:
    if (source->hot_keys == source->keys || iso_random_chance(random, source->hot_share))
      return iso_random_below(random, source->hot_keys);
    return source->hot_keys + iso_random_below(random, source->keys - source->hot_keys);
  case ISOPROOF_KEYS_EXPONENTIAL:
    return draw_exponential(source, random);
  case ISOPROOF_KEYS_UNIFORM:
  case ISOPROOF_KEY_DISTRIBUTIONS:
    break;
  }
  return iso_random_below(random, source->keys);
}
