/* Throughput and latency over time, in buckets of a round width by the length of the run; quantiles are exact. */
#include <string.h>

#include "history/history.h"
#include "report/page/page_data.h"

/* Few enough that a bucket of a short run has transactions in it, many enough that a long one shows its faults. */
enum { MOST_BUCKETS = 120, PER_BUCKET = 8, FEWEST_BUCKETS = 24, STATUSES = 3 };

typedef struct series {
  const isoproof_history *history;
  int64_t first;
  uint64_t width; /* of a bucket */
  uint32_t buckets;
  uint64_t counts[STATUSES][MOST_BUCKETS];
  uint64_t begin[MOST_BUCKETS + 1]; /* latencies of committed transactions by bucket, one after the other */
  uint64_t *latency;
} series;

/* The least width that cuts the run into fewer than `most` buckets: 1, 2 or 5 times a power of ten nanoseconds, or such
 * a number of minutes. */
static uint64_t nice_width(uint64_t span, uint64_t most) {
  static const uint64_t factors[] = {1, 2, 5}, minute = UINT64_C(60000000000);
  uint64_t unit = 1;
  for (uint64_t power = 1;; power *= 10) {
    for (int i = 0; i < 3; i++) {
      uint64_t width = unit * power * factors[i];
      if (unit == 1 && width >= minute) {
        unit = minute;
        power = 1;
        i = 0;
        width = minute;
      }
      if (span / width < most || width > UINT64_MAX / 50) return width;
    }
  }
}

/* A bucket in which next to nothing ended says nothing about a rate. */
static uint64_t most_buckets(const isoproof_history *h) {
  uint64_t most = h->txns / PER_BUCKET;
  return most < FEWEST_BUCKETS ? FEWEST_BUCKETS : most > MOST_BUCKETS ? MOST_BUCKETS : most;
}

/* When a transaction counts: at its end, or at its start where it has none. */
static bool bucket_of(const series *s, uint32_t txn, uint32_t *bucket) {
  int64_t at = s->history->txn_end_opt[txn];
  if (at == ISOPROOF_NO_TIME) at = s->history->txn_start_opt[txn];
  if (at == ISOPROOF_NO_TIME || at < s->first) return false;
  uint64_t number = ((uint64_t)at - (uint64_t)s->first) / s->width;
  *bucket = number < s->buckets ? (uint32_t)number : s->buckets - 1;
  return true;
}

static bool latency_of(const series *s, uint32_t txn, uint64_t *latency) {
  int64_t start = s->history->txn_start_opt[txn], end = s->history->txn_end_opt[txn];
  if (s->history->txn_status[txn] != ISOPROOF_TXN_COMMITTED || start == ISOPROOF_NO_TIME || end == ISOPROOF_NO_TIME ||
      end < start)
    return false;
  *latency = (uint64_t)end - (uint64_t)start;
  return true;
}

static int by_size(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* Counting, then a second pass that puts each latency into its bucket. */
static bool gather(series *s) {
  const isoproof_history *h = s->history;
  uint32_t bucket;
  uint64_t latency, next[MOST_BUCKETS];
  for (uint32_t t = 0; t < h->txns; t++) {
    if (!bucket_of(s, t, &bucket)) continue;
    s->counts[h->txn_status[t]][bucket]++;
    if (latency_of(s, t, &latency)) s->begin[bucket + 1]++;
  }
  for (uint32_t i = 0; i < s->buckets; i++) {
    s->begin[i + 1] += s->begin[i];
    next[i] = s->begin[i];
  }
  s->latency = iso_alloc(s->begin[s->buckets] + 1, sizeof *s->latency);
  if (s->latency == NULL) return false;
  for (uint32_t t = 0; t < h->txns; t++) {
    if (bucket_of(s, t, &bucket) && latency_of(s, t, &latency)) s->latency[next[bucket]++] = latency;
  }
  for (uint32_t i = 0; i < s->buckets; i++)
    qsort(s->latency + s->begin[i], s->begin[i + 1] - s->begin[i], sizeof *s->latency, by_size);
  return true;
}

static void put_counts(const iso_page_data *page, const series *s, const char *name, isoproof_txn_status status) {
  iso_json_field_list(page->json, name);
  for (uint32_t i = 0; i < s->buckets; i++) isoproof_json_u64(page->json, s->counts[status][i]);
  isoproof_json_end(page->json);
}

/* The smallest latency that `percent` of those in the bucket do not exceed. */
static void put_quantile(const iso_page_data *page, const series *s, const char *name, uint64_t percent) {
  iso_json_field_list(page->json, name);
  for (uint32_t i = 0; i < s->buckets; i++) {
    uint64_t count = s->begin[i + 1] - s->begin[i], rank = (count * percent + 99) / 100;
    if (count == 0)
      isoproof_json_null(page->json);
    else
      isoproof_json_u64(page->json, s->latency[s->begin[i] + (rank > 0 ? rank - 1 : 0)]);
  }
  isoproof_json_end(page->json);
}

static void put_series(const iso_page_data *page, const series *s) {
  isoproof_json_object(page->json);
  iso_json_field_u64(page->json, "start", 0);
  iso_json_field_u64(page->json, "bucket", s->width);
  put_counts(page, s, "committed", ISOPROOF_TXN_COMMITTED);
  put_counts(page, s, "aborted", ISOPROOF_TXN_ABORTED);
  put_counts(page, s, "unknown", ISOPROOF_TXN_UNKNOWN);
  put_quantile(page, s, "p50", 50);
  put_quantile(page, s, "p95", 95);
  put_quantile(page, s, "p99", 99);
  put_quantile(page, s, "max", 100);
  isoproof_json_end(page->json);
}

bool iso_page_data_time_series(const iso_page_data *page) {
  const isoproof_document *d = page->document;
  series *s = NULL;
  bool possible = d->history != NULL && d->has_times && d->history->txn_start_opt != NULL;
  if (possible) s = iso_alloc_zero(1, sizeof *s);
  bool good = !possible || s != NULL;
  if (s != NULL) {
    uint64_t span = (uint64_t)d->last_end - (uint64_t)d->first_start;
    s->history = d->history;
    s->first = d->first_start;
    s->width = nice_width(span, most_buckets(d->history));
    s->buckets = (uint32_t)(span / s->width) + 1;
    if (s->buckets > MOST_BUCKETS) s->buckets = MOST_BUCKETS;
    good = gather(s);
  }
  iso_json_field(page->json, "series");
  if (s != NULL && good)
    put_series(page, s);
  else
    isoproof_json_null(page->json);
  if (s != NULL) free(s->latency);
  free(s);
  return good;
}
