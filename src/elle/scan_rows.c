/* Non-cycle anomalies of rows and queries. */
#include "elle/scan_rows.h"

#include <stdlib.h>
#include <string.h>

/* What a transaction knows of a key on its way through its operations. */
typedef struct state {
  uint32_t txn; /* whose state it is */
  uint32_t op;  /* that says it */
  iso_value value;
} state;

/* A write of a value to a key. */
typedef struct written {
  uint64_t what; /* key << 32 | value */
  uint32_t op;
} written;

typedef struct scan {
  const iso_predicates *p;
  iso_noncycle_anomalies *found;
  bool garbage;
  state *states; /* by key */
  ISO_VEC(written) writes;
} scan;

static void add(const scan *s, iso_anomaly anomaly, uint32_t op, uint32_t other, uint32_t key, uint32_t element) {
  iso_noncycle_anomalies_add(s->found, anomaly, 1, (iso_noncycle_anomaly){(uint32_t)anomaly, op, other, key, element});
}

static int by_what(const void *a, const void *b) {
  const written *x = a, *y = b;
  if (x->what != y->what) return x->what < y->what ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

static bool collect_writes(scan *s) {
  const isoproof_history *h = s->p->h;
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
    written one = {(uint64_t)h->op_key[op] << 32 | h->op_value[op], op};
    if (!iso_vec_push(&s->writes, one)) return false;
  }
  if (s->writes.count > 1) qsort(s->writes.items, s->writes.count, sizeof *s->writes.items, by_what);
  return true;
}

/* Whether the transaction of a write writes the key again. */
static bool is_replaced(const scan *s, uint32_t write) {
  const isoproof_history *h = s->p->h;
  for (uint32_t op = write + 1; op < h->txn_first_op[s->p->op_txn[write] + 1]; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE && h->op_key[op] == h->op_key[write]) return true;
  }
  return false;
}

/* Who wrote what was seen: nobody, somebody who aborted, the reader itself later on, or not as its last word. */
static void judge_value(scan *s, uint32_t txn, uint32_t op, uint32_t key, iso_value value, uint32_t element) {
  const isoproof_history *h = s->p->h;
  uint64_t what = (uint64_t)key << 32 | value;
  size_t low = 0, high = s->writes.count, aborted = 0;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (s->writes.items[middle].what < what) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (high = low; high < s->writes.count && s->writes.items[high].what == what; high++) {
    aborted += h->txn_status[s->p->op_txn[s->writes.items[high].op]] == ISOPROOF_TXN_ABORTED;
  }
  if (low == high) {
    if (s->garbage) add(s, ISO_ANOMALY_GARBAGE_READ, op, ISO_NO_OP, key, element);
    return;
  }
  uint32_t write = s->writes.items[low].op, writer = s->p->op_txn[write];
  if (aborted == high - low) {
    add(s, ISO_ANOMALY_G1A, op, write, key, element);
  } else if (high - low == 1 && writer == txn && write > op) {
    add(s, ISO_ANOMALY_FUTURE_READ, op, write, key, element);
  } else if (high - low == 1 && writer != txn && is_replaced(s, write)) {
    add(s, ISO_ANOMALY_G1B, op, write, key, element);
  }
}

/* Compares what is seen of a key with what the transaction knows of it. */
static void learn(scan *s, uint32_t txn, uint32_t op, uint32_t key, iso_value value) {
  state *st = &s->states[key];
  if (st->txn == txn && st->value != value) add(s, ISO_ANOMALY_INTERNAL, op, st->op, key, 0);
  *st = (state){txn, op, value};
}

static void scan_query(scan *s, uint32_t txn, uint32_t op) {
  uint32_t count, key;
  const iso_value *rows = iso_history_list(s->p->h, op, &count);
  for (uint32_t i = 0; rows != NULL && i + 1 < count; i += 2) {
    if (iso_predicates_key(s->p, rows[i], &key)) judge_value(s, txn, op, key, rows[i + 1], i);
  }
}

static void scan_txn(scan *s, uint32_t txn) {
  const isoproof_history *h = s->p->h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    uint32_t key = h->op_key[op];
    iso_value value = h->op_value[op];
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) {
      s->states[key] = (state){txn, op, value == s->p->dead ? ISO_VALUE_NIL : value};
    } else if (value == ISO_VALUE_NONE) {
      continue;
    } else if (h->op_kind[op] == ISOPROOF_OP_READ_PREDICATE) {
      scan_query(s, txn, op);
    } else if (h->op_kind[op] == ISOPROOF_OP_READ) {
      if (value != ISO_VALUE_NIL) judge_value(s, txn, op, key, value, 0);
      learn(s, txn, op, key, value);
    }
  }
}

static isoproof_status run(scan *s, isoproof_task *task, isoproof_error *error) {
  const isoproof_history *h = s->p->h;
  s->states = iso_alloc(h->keys, sizeof *s->states);
  if (s->states == NULL || !collect_writes(s)) return iso_fail_memory(error);
  memset(s->states, 0xff, (size_t)h->keys * sizeof *s->states);
  for (uint32_t t = 0; t < h->txns; t++) {
    if ((t & 8191) == 0) ISO_TRY(iso_task_check(task, error));
    if (s->p->counts[t]) scan_txn(s, t);
  }
  return s->found->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

isoproof_status iso_elle_scan_rows(const iso_predicates *predicates, bool garbage, isoproof_task *task,
                                   iso_noncycle_anomalies *found, isoproof_error *error) {
  scan s = {.p = predicates, .found = found, .garbage = garbage};
  isoproof_status status = run(&s, task, error);
  free(s.states);
  iso_vec_free(&s.writes);
  return status;
}
