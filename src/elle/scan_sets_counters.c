/* Non-cycle anomalies of sets and counters. */
#include "elle/scan_sets_counters.h"

#include <stdlib.h>
#include <string.h>

typedef ISO_VEC(iso_value) values;

static void add(iso_noncycle_anomalies *found, const isoproof_history *h, iso_anomaly anomaly, uint32_t op,
                uint32_t other, uint32_t element) {
  iso_noncycle_anomalies_add(found, anomaly, 1,
                             (iso_noncycle_anomaly){(uint32_t)anomaly, op, other, h->op_key[op], element});
}

/* ---- sets ---- */

/* Of a key in a transaction: its latest read, and where its own additions since begin. */
typedef struct state {
  uint32_t txn, read;
} state;

typedef struct scan {
  const iso_sets *s;
  iso_noncycle_anomalies *found;
  state *states;
  values expected, shown;
} scan;

static int by_value(const void *a, const void *b) {
  iso_value x = *(const iso_value *)a, y = *(const iso_value *)b;
  return (x > y) - (x < y);
}

static void sort_unique(values *v) {
  if (v->count > 1) qsort(v->items, v->count, sizeof *v->items, by_value);
  size_t kept = 0;
  for (size_t i = 0; i < v->count; i++) {
    if (i == 0 || v->items[i] != v->items[i - 1]) v->items[kept++] = v->items[i];
  }
  v->count = kept;
}

static bool take(const isoproof_history *h, uint32_t op, values *out) {
  uint32_t count;
  const iso_value *list = iso_history_list(h, op, &count);
  for (uint32_t i = 0; list != NULL && i < count; i++) {
    if (!iso_vec_push(out, list[i])) return false;
  }
  return true;
}

static bool holds(const values *sorted, iso_value value) {
  return sorted->count > 0 && bsearch(&value, sorted->items, sorted->count, sizeof value, by_value) != NULL;
}

/* Compares a read with the one before it in its transaction and with what the transaction added itself; *culprit is
 * the operation that it contradicts, ISO_NO_OP when there is none. */
static bool compare(scan *s, uint32_t txn, uint32_t op, uint32_t earlier, uint32_t *culprit) {
  const isoproof_history *h = s->s->h;
  uint32_t first = h->txn_first_op[txn];
  s->expected.count = s->shown.count = 0;
  *culprit = ISO_NO_OP;
  if (!take(h, op, &s->shown)) return false;
  sort_unique(&s->shown);
  bool read_before = earlier != ISO_NO_OP;
  if (read_before && !take(h, earlier, &s->expected)) return false;
  for (uint32_t own = first; own < op; own++) {
    if (h->op_kind[own] != ISOPROOF_OP_ADD || h->op_key[own] != h->op_key[op]) continue;
    if (!holds(&s->shown, h->op_value[own])) *culprit = own;
    if (!iso_vec_push(&s->expected, h->op_value[own])) return false;
  }
  sort_unique(&s->expected);
  bool same =
      s->expected.count == s->shown.count &&
      (s->shown.count == 0 || memcmp(s->expected.items, s->shown.items, s->shown.count * sizeof *s->shown.items) == 0);
  if (read_before && !same && *culprit == ISO_NO_OP) *culprit = earlier;
  return true;
}

static void judge_elements(scan *s, uint32_t txn, uint32_t op) {
  const isoproof_history *h = s->s->h;
  uint32_t count;
  const uint32_t *writers = iso_sets_writers(s->s, op, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (writers[i] == ISO_FROM_SEVERAL) continue;
    if (writers[i] >= h->ops) {
      add(s->found, h, ISO_ANOMALY_GARBAGE_READ, op, ISO_NO_OP, i);
    } else if (s->s->op_txn[writers[i]] == txn && writers[i] > op) {
      add(s->found, h, ISO_ANOMALY_FUTURE_READ, op, writers[i], i);
    } else if (h->txn_status[s->s->op_txn[writers[i]]] == ISOPROOF_TXN_ABORTED) {
      add(s->found, h, ISO_ANOMALY_G1A, op, writers[i], i);
    }
  }
}

static bool scan_read(scan *s, uint32_t txn, uint32_t op) {
  const isoproof_history *h = s->s->h;
  state *st = &s->states[h->op_key[op]];
  uint32_t culprit;
  if (st->txn != txn) *st = (state){txn, ISO_NO_OP};
  judge_elements(s, txn, op);
  bool alike = st->read != ISO_NO_OP && h->op_value[op] == h->op_value[st->read];
  if (!compare(s, txn, op, alike ? ISO_NO_OP : st->read, &culprit)) return false;
  if (culprit != ISO_NO_OP) add(s->found, h, ISO_ANOMALY_INTERNAL, op, culprit, 0);
  st->read = op;
  return true;
}

static isoproof_status run_sets(scan *s, isoproof_task *task, isoproof_error *error) {
  const isoproof_history *h = s->s->h;
  s->states = iso_alloc(h->keys, sizeof *s->states);
  if (s->states == NULL) return iso_fail_memory(error);
  memset(s->states, 0xff, (size_t)h->keys * sizeof *s->states);
  for (uint32_t t = 0; t < h->txns; t++) {
    if (!s->s->counts[t]) continue;
    if ((t & 1023) == 0) ISO_TRY(iso_task_check(task, error));
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) {
      bool reads = h->op_kind[op] == ISOPROOF_OP_READ_SET && h->op_value[op] != ISO_VALUE_NONE;
      if (reads && !scan_read(s, t, op)) return iso_fail_memory(error);
    }
  }
  return s->found->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

isoproof_status iso_elle_scan_sets(const iso_sets *sets, isoproof_task *task, iso_noncycle_anomalies *found,
                                   isoproof_error *error) {
  scan s = {.s = sets, .found = found};
  isoproof_status status = run_sets(&s, task, error);
  free(s.states);
  iso_vec_free(&s.expected);
  iso_vec_free(&s.shown);
  return status;
}

/* ---- counters ---- */

/* What a transaction knows of a counter. */
typedef struct tally {
  uint32_t txn;
  uint32_t read; /* ISO_NO_OP */
  int64_t expected;
} tally;

static void scan_counter_op(const iso_counters *c, tally *known, uint32_t txn, uint32_t op,
                            iso_noncycle_anomalies *found) {
  const isoproof_history *h = c->h;
  int64_t number;
  bool reads = h->op_kind[op] == ISOPROOF_OP_READ_COUNTER, adds = h->op_kind[op] == ISOPROOF_OP_INCREMENT;
  if ((!reads && !adds) || !iso_counter_number(h, op, &number)) return;
  uint32_t key = h->op_key[op];
  tally *t = &known[key];
  if (t->txn != txn) *t = (tally){txn, ISO_NO_OP, 0};
  if (adds) {
    if (__builtin_add_overflow(t->expected, number, &t->expected)) t->read = ISO_NO_OP;
    return;
  }
  if (t->read != ISO_NO_OP && number != t->expected) add(found, h, ISO_ANOMALY_INTERNAL, op, t->read, 0);
  bool impossible = !c->shrinks[key] && (number < 0 || number > c->total[key]);
  if (impossible) add(found, h, ISO_ANOMALY_GARBAGE_READ, op, ISO_NO_OP, 0);
  t->read = op;
  t->expected = number;
}

isoproof_status iso_elle_scan_counters(const iso_counters *c, isoproof_task *task, iso_noncycle_anomalies *found,
                                       isoproof_error *error) {
  const isoproof_history *h = c->h;
  tally *known = iso_alloc(h->keys, sizeof *known);
  if (known == NULL) return iso_fail_memory(error);
  for (uint32_t k = 0; k < h->keys; k++) known[k] = (tally){UINT32_MAX, ISO_NO_OP, 0};
  isoproof_status status = ISOPROOF_OK;
  for (uint32_t t = 0; t < h->txns && status == ISOPROOF_OK; t++) {
    if ((t & 8191) == 0) status = iso_task_check(task, error);
    if (!c->counts[t]) continue;
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) scan_counter_op(c, known, t, op, found);
  }
  free(known);
  if (status == ISOPROOF_OK && found->failed) status = iso_fail_memory(error);
  return status;
}
