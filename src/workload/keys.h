/* keys.h - which key an operation touches: uniform, Zipf, hotspot and exponential distributions.
 *
 * A key source is a plain value that owns nothing; a draw takes constant time and no table, however many keys.
 */
#ifndef ISO_WORKLOAD_KEYS_H
#define ISO_WORKLOAD_KEYS_H

#include <isoproof/simulate.h>

#include "base/error.h"
#include "workload/random.h"

typedef struct iso_key_source {
  isoproof_key_distribution kind;
  uint32_t keys;
  /* hotspot */
  uint32_t hot_keys;
  double hot_share;
  /* Zipf by rejection-inversion; exponential */
  double skew;
  double tail;       /* exponential: the weight of the keys that there are, of all powers to infinity */
  double area_first; /* of the hat left of rank 1, where the sampling interval begins */
  double area_last;
  double shortcut; /* closer than this to its rank, a sample needs no test */
} iso_key_source;

/* ISOPROOF_ERR_USAGE names the option that makes no sense. */
isoproof_status iso_keys_init(iso_key_source *source, isoproof_key_distribution kind, uint32_t keys, double skew,
                              double hot_share, double hot_keys_share, isoproof_error *error);
/* A key in [0, keys); 0 is the likeliest one. */
uint32_t iso_keys_draw(const iso_key_source *source, iso_random *random);

#endif
