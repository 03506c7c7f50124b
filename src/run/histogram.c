/* A histogram of latencies: buckets of a logarithmic scale, with percentiles read off their ends. */
#include "run/histogram.h"

enum { SUB_BITS = 3, SUB = 1 << SUB_BITS };

/* Below 16 the value itself; above, its power of two and the three bits after the first. */
static unsigned bucket_of(uint64_t value) {
  if (value < 2 * SUB) return (unsigned)value;
  unsigned power = 63 - (unsigned)__builtin_clzll(value);
  return (power - SUB_BITS) * SUB + (unsigned)(value >> (power - SUB_BITS));
}

/* The largest value of a bucket. */
static int64_t bucket_end(unsigned bucket) {
  if (bucket < 2 * SUB) return (int64_t)bucket;
  unsigned shift = bucket / SUB - 1;
  uint64_t first = SUB;
  first += bucket % SUB;
  return (int64_t)(((first + 1) << shift) - 1);
}

void iso_histogram_add(iso_histogram *histogram, int64_t nanoseconds) {
  uint64_t value = nanoseconds > 0 ? (uint64_t)nanoseconds : 0;
  _Atomic uint64_t *bucket = &histogram->buckets[bucket_of(value)];
  /* One thread writes: no need for an atomic addition. */
  atomic_store_explicit(bucket, atomic_load_explicit(bucket, memory_order_relaxed) + 1, memory_order_relaxed);
  if ((int64_t)value > atomic_load_explicit(&histogram->most, memory_order_relaxed))
    atomic_store_explicit(&histogram->most, (int64_t)value, memory_order_relaxed);
}

void iso_histogram_gather(iso_histogram_sum *sum, const iso_histogram *histogram) {
  for (unsigned i = 0; i < ISO_HISTOGRAM_BUCKETS; i++) {
    uint64_t count = atomic_load_explicit(&histogram->buckets[i], memory_order_relaxed);
    sum->buckets[i] += count;
    sum->count += count;
  }
  int64_t most = atomic_load_explicit(&histogram->most, memory_order_relaxed);
  if (most > sum->most) sum->most = most;
}

int64_t iso_histogram_quantile(const iso_histogram_sum *sum, double share) {
  if (sum->count == 0) return 0;
  double wanted = share * (double)sum->count;
  uint64_t seen = 0;
  for (unsigned i = 0; i < ISO_HISTOGRAM_BUCKETS; i++) {
    seen += sum->buckets[i];
    if (seen == 0 || (double)seen < wanted) continue;
    int64_t end = bucket_end(i);
    return end < sum->most ? end : sum->most;
  }
  return sum->most;
}
