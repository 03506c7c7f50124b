/* Non-cycle anomalies of registers. */
#include "elle/scan_registers.h"

#include <stdlib.h>
#include <string.h>

/* What a transaction knows of a key on its way through its operations. */
typedef struct state {
  uint32_t txn;   /* whose state it is */
  uint32_t known; /* the latest operation that says what the key is; ISO_NO_OP none */
  bool later;     /* backwards: a write of the key is still to come */
} state;

typedef struct scan {
  const iso_registers *r;
  iso_noncycle_anomalies *found;
  bool garbage;
  state *states;     /* by key */
  uint8_t *replaced; /* by operation: a write with another one to its key after it in its transaction */
} scan;

static void add(const scan *s, iso_anomaly anomaly, uint32_t op, uint32_t other) {
  iso_noncycle_anomalies_add(s->found, anomaly, 1,
                             (iso_noncycle_anomaly){(uint32_t)anomaly, op, other, s->r->h->op_key[op], 0});
}

static state *state_of(scan *s, uint32_t txn, uint32_t key) {
  state *st = &s->states[key];
  if (st->txn != txn) *st = (state){txn, ISO_NO_OP, false};
  return st;
}

static void find_replaced(scan *s, uint32_t txn) {
  const isoproof_history *h = s->r->h;
  for (uint32_t op = h->txn_first_op[txn + 1]; op-- > h->txn_first_op[txn];) {
    if (h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
    state *st = state_of(s, txn, h->op_key[op]);
    s->replaced[op] = st->later;
    st->later = true;
  }
}

static void scan_read(scan *s, uint32_t txn, uint32_t op, state *st) {
  const iso_registers *r = s->r;
  uint32_t writer = r->resolution->writer[op];
  if (writer < r->h->ops) {
    uint32_t from = r->op_txn[writer];
    if (r->h->txn_status[from] == ISOPROOF_TXN_ABORTED) add(s, ISO_ANOMALY_G1A, op, writer);
    if (from != txn && r->counts[from] && s->replaced[writer]) add(s, ISO_ANOMALY_G1B, op, writer);
    if (from == txn && writer > op) add(s, ISO_ANOMALY_FUTURE_READ, op, writer);
  } else if (writer == ISO_FROM_NOBODY && s->garbage) {
    add(s, ISO_ANOMALY_GARBAGE_READ, op, ISO_NO_OP);
  }
  bool future = writer < r->h->ops && r->op_txn[writer] == txn && writer > op;
  bool differs = st->known != ISO_NO_OP && r->h->op_value[op] != r->h->op_value[st->known];
  if (differs && !future) add(s, ISO_ANOMALY_INTERNAL, op, st->known);
}

static void scan_txn(scan *s, uint32_t txn) {
  const isoproof_history *h = s->r->h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    bool reads = h->op_kind[op] == ISOPROOF_OP_READ && h->op_value[op] != ISO_VALUE_NONE;
    if (!reads && h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
    state *st = state_of(s, txn, h->op_key[op]);
    if (reads) scan_read(s, txn, op, st);
    st->known = op;
  }
}

static int by_version(const void *a, const void *b) {
  const iso_key_access *x = a, *y = b;
  if (x->read != y->read) return x->read < y->read ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

/* Transactions that found one version of a key and wrote the key. */
static bool scan_lost_updates(scan *s) {
  const iso_registers *r = s->r;
  ISO_VEC(iso_key_access) updates = {NULL, 0, 0};
  for (uint32_t i = 0; i < r->access_first[r->h->keys]; i++) {
    const iso_key_access *access = &r->accesses[i];
    if (access->read != ISO_NO_VERSION && access->wrote && !iso_vec_push(&updates, *access)) {
      iso_vec_free(&updates);
      return false;
    }
  }
  if (updates.count > 1) qsort(updates.items, updates.count, sizeof *updates.items, by_version);
  for (size_t i = 0; i < updates.count;) {
    size_t end = i + 1;
    for (; end < updates.count && updates.items[end].read == updates.items[i].read; end++) {
      add(s, ISO_ANOMALY_LOST_UPDATE, updates.items[i].read_op, updates.items[end].read_op);
    }
    i = end;
  }
  iso_vec_free(&updates);
  return true;
}

static void scan_versions(scan *s) {
  const iso_registers *r = s->r;
  for (uint32_t k = 0; k < r->h->keys; k++) {
    if (r->cyclic[k] == 0) continue;
    iso_noncycle_anomaly one = {ISO_ANOMALY_CYCLIC_VERSIONS, r->cyclic_one[k], r->cyclic_other[k], k, 0};
    iso_noncycle_anomalies_add(s->found, ISO_ANOMALY_CYCLIC_VERSIONS, r->cyclic[k], one);
  }
}

static isoproof_status run(scan *s, isoproof_task *task, isoproof_error *error) {
  const isoproof_history *h = s->r->h;
  s->states = iso_alloc(h->keys, sizeof *s->states);
  s->replaced = iso_alloc_zero(h->ops, 1);
  if (s->states == NULL || s->replaced == NULL) return iso_fail_memory(error);
  memset(s->states, 0xff, (size_t)h->keys * sizeof *s->states);
  for (uint32_t t = 0; t < h->txns; t++) find_replaced(s, t);
  memset(s->states, 0xff, (size_t)h->keys * sizeof *s->states);
  for (uint32_t t = 0; t < h->txns; t++) {
    if ((t & 8191) == 0) ISO_TRY(iso_task_check(task, error));
    if (s->r->counts[t]) scan_txn(s, t);
  }
  if (!scan_lost_updates(s)) return iso_fail_memory(error);
  scan_versions(s);
  return s->found->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

isoproof_status iso_elle_scan_registers(const iso_registers *registers, bool garbage, isoproof_task *task,
                                        iso_noncycle_anomalies *found, isoproof_error *error) {
  scan s = {.r = registers, .found = found, .garbage = garbage};
  isoproof_status status = run(&s, task, error);
  free(s.states);
  free(s.replaced);
  return status;
}
