/* histogram.h - latencies in logarithmic buckets, eight to a power of two: off by 6 % at most.
 *
 * A histogram is a plain value; one thread adds to it, any thread may read it meanwhile.
 */
#ifndef ISO_RUN_HISTOGRAM_H
#define ISO_RUN_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

enum { ISO_HISTOGRAM_BUCKETS = 64 * 8 };

typedef struct iso_histogram {
  _Atomic uint64_t buckets[ISO_HISTOGRAM_BUCKETS];
  _Atomic int64_t most;
} iso_histogram;

void iso_histogram_add(iso_histogram *histogram, int64_t nanoseconds);

/* Several of them together. */
typedef struct iso_histogram_sum {
  uint64_t buckets[ISO_HISTOGRAM_BUCKETS];
  uint64_t count;
  int64_t most;
} iso_histogram_sum;

void iso_histogram_gather(iso_histogram_sum *sum, const iso_histogram *histogram);
/* The value that a share of all (0 to 1) do not exceed, to the end of its bucket; 0 when there are none. */
int64_t iso_histogram_quantile(const iso_histogram_sum *sum, double share);

#endif
