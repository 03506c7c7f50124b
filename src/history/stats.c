/* Statistics of a history: its shape, its mix of operations, the skew of its keys, and its concurrency. */
#include <isoproof/stats.h>
#include <math.h>
#include <stdlib.h>

#include "base/abi.h"
#include "base/task.h"
#include "base/vector.h"
#include "history/history.h"

static int descending_u32(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x < y) - (x > y);
}

static int ascending_i64(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The exponent s of frequency ~ rank^-s: the weighted least-squares line through the logarithms of the mean frequencies
 * of the ranks 1, 2-3, 4-7, 8-15, ...  Doubling ranges keep the long tail of rare keys from drowning the head. */
static double zipf_exponent(const uint32_t *sorted, size_t keys) {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  unsigned points = 0;
  for (size_t low = 1; low <= keys; low *= 2) {
    size_t high = 2 * low - 1 < keys ? 2 * low - 1 : keys;
    double sum = 0;
    for (size_t rank = low; rank <= high; rank++) sum += sorted[rank - 1];
    if (sum <= 0) break;
    double lx = log(sqrt((double)low * (double)high)), ly = log(sum / (double)(high - low + 1));
    w += sum, x += sum * lx, y += sum * ly, xx += sum * lx * lx, xy += sum * lx * ly;
    points++;
  }
  double spread = w * xx - x * x;
  if (points < 3 || spread <= 0) return -1;
  double slope = (w * xy - x * y) / spread;
  return slope < 0 ? -slope : 0;
}

/* How unevenly the operations fall on the keys. */
static isoproof_status measure_keys(const isoproof_history *h, isoproof_stats *s, isoproof_error *error) {
  s->zipf_exponent = -1;
  if (h->ops == 0 || h->keys == 0) return ISOPROOF_OK;
  uint32_t *counts = iso_alloc_zero(h->keys, sizeof *counts);
  if (counts == NULL) return iso_fail_memory(error);
  for (uint32_t op = 0; op < h->ops; op++) counts[h->op_key[op]]++;
  uint32_t top = 0;
  for (uint32_t k = 1; k < h->keys; k++) {
    if (counts[k] > counts[top]) top = k;
  }
  s->top_key = iso_history_scalar(h, h->key_name[top]);
  qsort(counts, h->keys, sizeof *counts, descending_u32);
  double ops = h->ops, seen = 0;
  size_t percent = h->keys / 100 > 0 ? h->keys / 100 : 1;
  s->top_key_share = counts[0] / ops;
  for (size_t k = 0; k < h->keys; k++) {
    if (seen < ops / 2) s->keys_for_half_share = (double)(k + 1) / h->keys;
    seen += counts[k];
    if (k + 1 == percent) s->top_percent_share = seen / ops;
  }
  s->zipf_exponent = zipf_exponent(counts, h->keys);
  free(counts);
  return ISOPROOF_OK;
}

/* Transactions open at once, by sweeping over sorted starts and ends.  One whose end is unknown stays open. */
static isoproof_status measure_concurrency(const isoproof_history *h, isoproof_stats *s, isoproof_error *error) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  s->first_start = s->last_end = ISOPROOF_NO_TIME;
  if (!isoproof_history_counts(h, &counts) || !counts.has_times) return ISOPROOF_OK;
  int64_t *starts = iso_alloc(h->txns, sizeof *starts), *ends = iso_alloc(h->txns, sizeof *ends);
  if (starts == NULL || ends == NULL) {
    free(starts);
    free(ends);
    return iso_fail_memory(error);
  }
  size_t known = 0;
  for (uint32_t t = 0; t < h->txns; t++) {
    starts[t] = h->txn_start_opt[t];
    if (h->txn_end_opt[t] != ISOPROOF_NO_TIME) ends[known++] = h->txn_end_opt[t];
  }
  qsort(starts, h->txns, sizeof *starts, ascending_i64);
  qsort(ends, known, sizeof *ends, ascending_i64);
  s->first_start = starts[0];
  s->last_end = known > 0 && ends[known - 1] > starts[h->txns - 1] ? ends[known - 1] : starts[h->txns - 1];
  uint64_t open = 0;
  double area = 0;
  int64_t last = starts[0];
  for (size_t i = 0, j = 0; i < h->txns || j < known;) {
    bool starting = i < h->txns && (j >= known || starts[i] <= ends[j]);
    int64_t now = starting ? starts[i] : ends[j];
    area += (double)open * ((double)now - (double)last);
    last = now;
    if (starting) {
      i++, open++;
    } else {
      j++, open -= open > 0;
    }
    if (open > s->concurrency_max) s->concurrency_max = open;
  }
  double duration = (double)s->last_end - (double)s->first_start;
  s->concurrency_mean = duration > 0 ? area / duration : (double)s->concurrency_max;
  free(starts);
  free(ends);
  return ISOPROOF_OK;
}

static void measure_shape(const isoproof_history *h, isoproof_stats *s) {
  s->ops_per_txn_min = s->txns_per_session_min = UINT64_MAX;
  for (uint32_t i = 0; i < h->sessions; i++) {
    uint64_t txns = h->session_first_txn[i + 1] - h->session_first_txn[i];
    if (txns == 0) s->empty_sessions++;
    if (txns < s->txns_per_session_min) s->txns_per_session_min = txns;
    if (txns > s->txns_per_session_max) s->txns_per_session_max = txns;
  }
  for (uint32_t t = 0; t < h->txns; t++) {
    uint64_t ops = h->txn_first_op[t + 1] - h->txn_first_op[t];
    if (ops == 0) s->empty_transactions++;
    if (ops < s->ops_per_txn_min) s->ops_per_txn_min = ops;
    if (ops > s->ops_per_txn_max) s->ops_per_txn_max = ops;
    iso_txn_isolation own = iso_history_isolation(h, t);
    if (own != ISO_ISOLATION_NONE) s->by_isolation[own - 1]++;
  }
  if (h->sessions == 0) s->txns_per_session_min = 0;
  if (h->txns == 0) s->ops_per_txn_min = 0;
  if (h->sessions > 0) s->txns_per_session_mean = (double)h->txns / h->sessions;
  if (h->txns > 0) s->ops_per_txn_mean = (double)iso_history_operations(h) / h->txns;
  if (h->txns > 0) s->abort_ratio = (double)h->aborted / h->txns;
}

static void measure_ops(const isoproof_history *h, isoproof_stats *s) {
  for (uint32_t op = 0; op < h->ops; op++) s->by_kind[h->op_kind[op]]++;
  s->by_kind[ISOPROOF_OP_READ] -= h->ops - iso_history_operations(h);
  for (int kind = 0; kind < ISOPROOF_OP_KINDS; kind++) {
    if (isoproof_op_kind_observes((isoproof_op_kind)kind)) {
      s->reads += s->by_kind[kind];
    } else {
      s->writes += s->by_kind[kind];
    }
  }
  if (h->ops > 0) s->read_ratio = (double)s->reads / (double)iso_history_operations(h);
  uint64_t lists =
      s->by_kind[ISOPROOF_OP_READ_LIST] + s->by_kind[ISOPROOF_OP_READ_SET] + s->by_kind[ISOPROOF_OP_READ_PREDICATE];
  for (uint32_t op = 0; lists > 0 && op < h->ops; op++) {
    uint32_t count;
    if (!iso_kind_is_list((isoproof_op_kind)h->op_kind[op])) continue;
    (void)iso_history_list(h, op, &count);
    if (count > s->longest_list) s->longest_list = count;
  }
}

isoproof_status isoproof_history_stats(const isoproof_history *history, isoproof_task *task, isoproof_stats *stats,
                                       isoproof_error *error) {
  isoproof_stats made = {.struct_size = sizeof made};
  ISO_TRY(ISO_STRUCT_CHECK(isoproof_stats, stats, error));
  measure_shape(history, &made);
  measure_ops(history, &made);
  ISO_TRY(iso_task_check(task, error));
  ISO_TRY(measure_keys(history, &made, error));
  ISO_TRY(iso_task_check(task, error));
  ISO_TRY(measure_concurrency(history, &made, error));
  (void)ISO_STRUCT_GIVE(stats, made);
  return ISOPROOF_OK;
}
