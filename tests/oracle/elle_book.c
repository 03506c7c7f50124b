/* Loads a small history, and looks for what single transactions and single keys give away. */
#include "tests/oracle/elle_book.h"

#include <string.h>

/* ---- loading ---- */

static bool to_number(isoproof_scalar s, int64_t *out) {
  if (s.type == ISOPROOF_NIL || s.type == ISOPROOF_NONE) {
    *out = BOOK_NIL;
    return true;
  }
  if (s.type != ISOPROOF_INTEGER) return false;
  *out = s.integer;
  return true;
}

static bool load_op(const isoproof_history *history, uint64_t number, unsigned txn, book *b, int64_t *keys) {
  isoproof_op op = {.struct_size = sizeof op};
  int64_t key;
  if (b->ops == BOOK_OPS || !isoproof_history_op_at(history, number, &op) || !to_number(op.key, &key)) return false;
  unsigned k = 0;
  while (k < b->keys && keys[k] != key) k++;
  if (k == BOOK_KEYS) return false;
  if (k == b->keys) keys[b->keys++] = key;
  book_op *to = &b->op[b->ops++];
  *to = (book_op){.txn = txn, .key = k, .reads = isoproof_op_kind_observes(op.kind)};
  to->known = op.value.type != ISOPROOF_NONE;
  to->value = BOOK_NIL;
  if (op.kind != ISOPROOF_OP_READ_LIST) return to_number(op.value, &to->value);
  if (op.element_count > BOOK_ELEMENTS) return false;
  for (uint64_t i = 0; i < op.element_count; i++) {
    isoproof_scalar one;
    if (!isoproof_history_element_at(history, number, i, &one) || !to_number(one, &to->element[i])) return false;
  }
  to->elements = (unsigned)op.element_count;
  return true;
}

int book_writer(const book *b, unsigned key, int64_t value) {
  for (unsigned i = 0; i < b->ops; i++)
    if (!b->op[i].reads && b->op[i].key == key && b->op[i].value == value) return (int)i;
  return -1;
}

bool book_shows(const book_op *read, int64_t value) {
  for (unsigned i = 0; i < read->elements; i++)
    if (read->element[i] == value) return true;
  return false;
}

static bool saw(const book_op *read, const book_op *write) {
  if (!read->reads || write->reads || read->key != write->key) return false;
  return read->elements > 0 ? book_shows(read, write->value) : read->value == write->value && read->known;
}

static void find_counting(book *b) {
  for (unsigned t = 0; t < b->txns; t++) b->counts[t] = b->txn[t].status == ISOPROOF_TXN_COMMITTED;
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned r = 0; r < b->ops; r++) {
      for (unsigned w = 0; w < b->ops; w++) {
        unsigned reader = b->op[r].txn, writer = b->op[w].txn;
        bool newly = b->counts[reader] && !b->counts[writer] && b->txn[writer].status == ISOPROOF_TXN_UNKNOWN;
        if (newly && saw(&b->op[r], &b->op[w])) b->counts[writer] = changed = true;
      }
    }
  }
}

bool book_load(const isoproof_history *history, book *b) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  int64_t keys[BOOK_KEYS];
  memset(b, 0, sizeof *b);
  isoproof_history_counts(history, &counts);
  if (counts.transactions > BOOK_TXNS) return false;
  b->txns = (unsigned)counts.transactions;
  for (unsigned t = 0; t < b->txns; t++) {
    b->txn[t].struct_size = sizeof b->txn[t];
    if (!isoproof_history_txn_at(history, t, &b->txn[t])) return false;
    b->first_op[t] = b->ops;
    for (uint64_t i = 0; i < b->txn[t].op_count; i++)
      if (!load_op(history, b->txn[t].first_op + i, t, b, keys)) return false;
    b->first_op[t + 1] = b->ops;
  }
  find_counting(b);
  return true;
}

/* ---- anomalies without cycles ---- */

const char *book_anomaly_code(book_anomaly anomaly) {
  static const char *const codes[] = {
#define ORACLE_X(name, code) code,
      BOOK_ANOMALY_LIST(ORACLE_X)
#undef ORACLE_X
  };
  return codes[anomaly];
}

bool book_is_replaced(const book *b, unsigned write) {
  for (unsigned i = write + 1; i < b->first_op[b->op[write].txn + 1]; i++)
    if (!b->op[i].reads && b->op[i].key == b->op[write].key) return true;
  return false;
}

/* What one element, or the value of a register, says; `ends` where it is the version that was read. */
static unsigned judge_value(const book *b, unsigned read, int64_t value, bool ends) {
  unsigned reader = b->op[read].txn;
  if (value == BOOK_NIL) return 0;
  int writer = book_writer(b, b->op[read].key, value);
  if (writer < 0) return 1u << BOOK_GARBAGE;
  unsigned from = b->op[writer].txn, found = 0;
  if (b->txn[from].status == ISOPROOF_TXN_ABORTED) found |= 1u << BOOK_G1A;
  if (from == reader && writer > (int)read) found |= 1u << BOOK_FUTURE_READ;
  if (ends && from != reader && book_is_replaced(b, (unsigned)writer)) found |= 1u << BOOK_G1B;
  return found;
}

/* What a transaction must see of a key: a list that ends in `list`, or is exactly that. */
typedef struct expectation {
  bool known, exact;
  int64_t list[BOOK_ELEMENTS * 2];
  unsigned count;
} expectation;

static bool contradicts(const expectation *e, const book_op *op) {
  if (!e->known && e->count == 0) return false;
  if (op->elements < e->count || (e->exact && op->elements != e->count)) return true;
  for (unsigned i = 0; i < e->count; i++)
    if (op->element[op->elements - e->count + i] != e->list[i]) return true;
  return false;
}

static unsigned judge_inside(const book *b, unsigned txn, bool lists) {
  expectation expect[BOOK_KEYS];
  unsigned found = 0;
  memset(expect, 0, sizeof expect);
  for (unsigned i = b->first_op[txn]; i < b->first_op[txn + 1]; i++) {
    const book_op *op = &b->op[i];
    expectation *e = &expect[op->key];
    if (!op->known) continue;
    if (!lists) {
      if (op->reads && e->known && e->list[0] != op->value) found |= 1u << BOOK_INTERNAL;
      e->known = true;
      e->list[0] = op->value;
    } else if (!op->reads) {
      e->list[e->count++] = op->value;
    } else {
      if (contradicts(e, op)) found |= 1u << BOOK_INTERNAL;
      *e = (expectation){.known = true, .exact = true, .count = op->elements};
      memcpy(e->list, op->element, op->elements * sizeof *op->element);
    }
  }
  return found;
}

static bool same_value(const book_op *a, const book_op *b, bool lists) {
  if (!lists) return a->value == b->value;
  return a->elements == b->elements && memcmp(a->element, b->element, a->elements * sizeof *a->element) == 0;
}

/* The first read of a key, where a write of it comes after it and none before; -1. */
static int update_of(const book *b, unsigned txn, unsigned key) {
  int read = -1;
  for (unsigned i = b->first_op[txn]; i < b->first_op[txn + 1]; i++) {
    if (b->op[i].key != key || !b->op[i].known) continue;
    if (b->op[i].reads && read < 0) read = (int)i;
    if (!b->op[i].reads) return read;
  }
  return -1;
}

static bool has_lost_update(const book *b, bool lists) {
  for (unsigned k = 0; k < b->keys; k++)
    for (unsigned t = 0; t < b->txns; t++)
      for (unsigned u = t + 1; u < b->txns; u++) {
        if (!b->counts[t] || !b->counts[u]) continue;
        int one = update_of(b, t, k), other = update_of(b, u, k);
        if (one >= 0 && other >= 0 && same_value(&b->op[one], &b->op[other], lists)) return true;
      }
  return false;
}

static bool is_prefix(const book_op *a, const book_op *b) {
  return a->elements <= b->elements && memcmp(a->element, b->element, a->elements * sizeof *a->element) == 0;
}

static unsigned judge_list_read(const book *b, unsigned read) {
  const book_op *op = &b->op[read];
  unsigned found = 0;
  int aborted = 0;
  for (unsigned i = 0; i < op->elements; i++) {
    found |= judge_value(b, read, op->element[i], i + 1 == op->elements);
    for (unsigned j = 0; j < i; j++)
      if (op->element[i] == op->element[j]) found |= 1u << BOOK_DUPLICATES;
    int writer = book_writer(b, op->key, op->element[i]);
    if (writer < 0) continue;
    isoproof_txn_status status = b->txn[b->op[writer].txn].status;
    if (status == ISOPROOF_TXN_ABORTED) aborted = 1;
    if (status == ISOPROOF_TXN_COMMITTED && aborted) found |= 1u << BOOK_DIRTY_UPDATE;
  }
  for (unsigned i = 0; i < b->ops; i++) {
    const book_op *other = &b->op[i];
    if (!other->reads || other->key != op->key || !b->counts[other->txn]) continue;
    if (!is_prefix(op, other) && !is_prefix(other, op)) found |= 1u << BOOK_INCOMPATIBLE;
  }
  return found;
}

unsigned book_anomalies(const book *b, bool lists) {
  unsigned found = has_lost_update(b, lists) ? 1u << BOOK_LOST_UPDATE : 0;
  for (unsigned t = 0; t < b->txns; t++)
    if (b->counts[t]) found |= judge_inside(b, t, lists);
  for (unsigned i = 0; i < b->ops; i++) {
    if (!b->op[i].reads || !b->op[i].known || !b->counts[b->op[i].txn]) continue;
    found |= lists ? judge_list_read(b, i) : judge_value(b, i, b->op[i].value, true);
  }
  return found;
}
