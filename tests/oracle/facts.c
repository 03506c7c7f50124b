/* Reads a small history through the public API into relations, and finds what is wrong within single transactions. */
#include "tests/oracle/facts.h"

#include <string.h>

/* ---- the history in fixed arrays ---- */

typedef struct item {
  unsigned txn, position, key;
  isoproof_op_kind kind;
  isoproof_scalar value;
  unsigned first_element, elements;
} item;

typedef struct book {
  const isoproof_history *history;
  isoproof_txn txns[FACTS_TXNS];
  unsigned first_op[FACTS_TXNS + 1];
  unsigned txn_count, op_count, element_count;
  item ops[FACTS_OPS];
  isoproof_scalar elements[FACTS_ELEMENTS];
  isoproof_scalar keys[FACTS_KEYS];
  unsigned key_count;
  bool in_effect[FACTS_TXNS];
  unsigned node[FACTS_TXNS];
} book;

static bool is_write(const item *op) { return op->kind == ISOPROOF_OP_WRITE || op->kind == ISOPROOF_OP_APPEND; }

static bool find_key(book *b, isoproof_scalar key, unsigned *number) {
  for (*number = 0; *number < b->key_count; ++*number)
    if (isoproof_scalar_equal(b->keys[*number], key)) return true;
  if (b->key_count == FACTS_KEYS) return false;
  b->keys[b->key_count++] = key;
  return true;
}

static bool load_op(book *b, unsigned txn, unsigned position, uint64_t number) {
  isoproof_op op = {.struct_size = sizeof op};
  if (b->op_count == FACTS_OPS || !isoproof_history_op_at(b->history, number, &op)) return false;
  if (op.kind > ISOPROOF_OP_APPEND) return false;
  item *to = &b->ops[b->op_count++];
  *to = (item){txn, position, 0, op.kind, op.value, b->element_count, 0};
  if (!find_key(b, op.key, &to->key)) return false;
  if (op.kind != ISOPROOF_OP_READ_LIST) return true;
  if (op.element_count > FACTS_ELEMENTS - b->element_count) return false;
  to->elements = (unsigned)op.element_count;
  for (unsigned i = 0; i < to->elements; i++)
    if (!isoproof_history_element_at(b->history, number, i, &b->elements[b->element_count++])) return false;
  return true;
}

static bool load(book *b) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(b->history, &counts);
  if (counts.transactions > FACTS_TXNS) return false;
  b->txn_count = (unsigned)counts.transactions;
  for (unsigned t = 0; t < b->txn_count; t++) {
    b->txns[t].struct_size = sizeof b->txns[t];
    isoproof_history_txn_at(b->history, t, &b->txns[t]);
    b->first_op[t] = b->op_count;
    for (unsigned i = 0; i < b->txns[t].op_count; i++)
      if (!load_op(b, t, i, b->txns[t].first_op + i)) return false;
    b->first_op[t + 1] = b->op_count;
  }
  return true;
}

/* The write of a value to a key; NULL when nobody wrote it. */
static const item *writer_of(const book *b, unsigned key, isoproof_scalar value) {
  for (unsigned i = 0; i < b->op_count; i++)
    if (b->ops[i].key == key && is_write(&b->ops[i]) && isoproof_scalar_equal(b->ops[i].value, value))
      return &b->ops[i];
  return NULL;
}

/* Every write must be the one that is found for its value. */
static bool values_are_unique(const book *b) {
  for (unsigned i = 0; i < b->op_count; i++)
    if (is_write(&b->ops[i]) && writer_of(b, b->ops[i].key, b->ops[i].value) != &b->ops[i]) return false;
  return true;
}

/* ---- who took effect ---- */

static bool observe(book *b, unsigned reader, const item *write) {
  if (write == NULL || write->txn == reader || b->in_effect[write->txn]) return false;
  if (b->txns[write->txn].status != ISOPROOF_TXN_UNKNOWN) return false;
  return b->in_effect[write->txn] = true;
}

static bool observe_op(book *b, const item *op) {
  bool changed = false;
  if (op->kind == ISOPROOF_OP_READ && op->value.type != ISOPROOF_NIL && op->value.type != ISOPROOF_NONE)
    changed = observe(b, op->txn, writer_of(b, op->key, op->value));
  for (unsigned i = 0; op->kind == ISOPROOF_OP_READ_LIST && i < op->elements; i++)
    changed |= observe(b, op->txn, writer_of(b, op->key, b->elements[op->first_element + i]));
  return changed;
}

/* Committed ones did; unknown ones did when one that did has read from them. */
static void find_effects(book *b) {
  for (unsigned t = 0; t < b->txn_count; t++) b->in_effect[t] = b->txns[t].status == ISOPROOF_TXN_COMMITTED;
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = 0; i < b->op_count; i++)
      if (b->in_effect[b->ops[i].txn]) changed |= observe_op(b, &b->ops[i]);
  }
}

static bool number_nodes(book *b, facts *f) {
  f->nodes = 1;
  for (unsigned t = 0; t < b->txn_count; t++) {
    if (!b->in_effect[t]) continue;
    if (f->nodes == FACTS_NODES) return false;
    f->txn[f->nodes] = t;
    b->node[t] = f->nodes++;
  }
  return true;
}

static void relate(relation *r, unsigned from, unsigned to) { r->row[from] |= 1u << to; }

/* Session order and real-time order. */
static void order_nodes(const book *b, facts *f) {
  for (unsigned i = 1; i < f->nodes; i++) {
    for (unsigned j = 1; j < f->nodes; j++) {
      const isoproof_txn *first = &b->txns[f->txn[i]], *second = &b->txns[f->txn[j]];
      if (first->session == second->session && first->index < second->index) relate(&f->so, i, j);
      /* When a transaction of unknown outcome committed, nobody knows: perhaps long after its client gave up. */
      bool timed = first->status == ISOPROOF_TXN_COMMITTED && first->end != ISOPROOF_NO_TIME &&
                   first->end >= first->start && second->start != ISOPROOF_NO_TIME;
      if (timed && first->end < second->start) relate(&f->rt, i, j);
    }
  }
}

/* ---- reads ---- */

static void add_read(const book *b, facts *f, const item *op, unsigned writer) {
  unsigned reader = b->node[op->txn];
  f->reads[f->read_count++] = (external_read){reader, writer, op->key, op->position};
  if (writer != 0) relate(&f->wr, writer, reader);
}

/* The last own write of the key before an operation; NULL when there is none. */
static const item *own_write_before(const book *b, const item *op) {
  for (unsigned i = b->first_op[op->txn] + op->position; i-- > b->first_op[op->txn];)
    if (b->ops[i].key == op->key && is_write(&b->ops[i])) return &b->ops[i];
  return NULL;
}

static const item *last_write_of(const book *b, unsigned txn, unsigned key) {
  for (unsigned i = b->first_op[txn + 1]; i-- > b->first_op[txn];)
    if (b->ops[i].key == key && is_write(&b->ops[i])) return &b->ops[i];
  return NULL;
}

static void judge_register_read(const book *b, facts *f, const item *op) {
  const item *own = own_write_before(b, op);
  if (op->value.type == ISOPROOF_NONE) return;
  if (op->value.type == ISOPROOF_NIL) {
    f->tap[ORACLE_TAP_NOT_MY_OWN] |= own != NULL;
    add_read(b, f, op, 0);
    return;
  }
  const item *source = writer_of(b, op->key, op->value);
  if (source == NULL) {
    f->tap[ORACLE_TAP_THIN_AIR] = true;
  } else if (source->txn == op->txn) {
    f->tap[ORACLE_TAP_FUTURE_READ] |= source->position > op->position;
    f->tap[ORACLE_TAP_NOT_MY_LAST] |= source->position < op->position && source != own;
  } else {
    f->tap[ORACLE_TAP_NOT_MY_OWN] |= own != NULL;
    f->tap[ORACLE_TAP_INTERMEDIATE] |= source != last_write_of(b, source->txn, op->key);
    if (b->in_effect[source->txn])
      add_read(b, f, op, b->node[source->txn]);
    else
      f->tap[ORACLE_TAP_ABORTED_READ] = true;
  }
}

/* The elements of a list read must be: all appends of one transaction, in program order, all of the next, and so on;
 * last, the reader's own appends so far. */
typedef struct list_scan {
  const item *op;
  unsigned external;          /* how many elements come before the trailing own ones */
  unsigned order[FACTS_TXNS]; /* transactions in effect, in order of their elements */
  unsigned count;
} list_scan;

static const item *element_writer(const book *b, const item *op, unsigned position) {
  return writer_of(b, op->key, b->elements[op->first_element + position]);
}

static void judge_elements(const book *b, facts *f, list_scan *scan) {
  const item *op = scan->op;
  for (unsigned i = 0; i < op->elements; i++) {
    const item *source = element_writer(b, op, i);
    for (unsigned j = 0; j < i; j++)
      f->tap[ORACLE_TAP_BROKEN_LIST] |=
          isoproof_scalar_equal(b->elements[op->first_element + i], b->elements[op->first_element + j]);
    if (source == NULL)
      f->tap[ORACLE_TAP_THIN_AIR] = true;
    else if (source->txn == op->txn)
      f->tap[ORACLE_TAP_FUTURE_READ] |= source->position > op->position;
    else
      f->tap[ORACLE_TAP_ABORTED_READ] |= !b->in_effect[source->txn];
  }
}

/* The trailing own elements are exactly the own appends so far. */
static void judge_own_elements(const book *b, facts *f, list_scan *scan) {
  const item *op = scan->op, *own = own_write_before(b, op);
  unsigned end = op->elements;
  const item *source = end > 0 ? element_writer(b, op, end - 1) : NULL;
  bool ends_own = source != NULL && source->txn == op->txn;
  if (own != NULL && !ends_own) f->tap[ORACLE_TAP_NOT_MY_OWN] = true;
  while (end > 0) {
    source = element_writer(b, op, end - 1);
    if (source == NULL || source->txn != op->txn) break;
    if (source->position < op->position && source != own) f->tap[ORACLE_TAP_NOT_MY_LAST] = true;
    if (own != NULL) own = own_write_before(b, own);
    end--;
  }
  if (ends_own && own != NULL) f->tap[ORACLE_TAP_NOT_MY_LAST] = true;
  scan->external = end;
}

/* One transaction's elements from `at` on; returns how many. */
static unsigned scan_group(const book *b, facts *f, list_scan *scan, unsigned at) {
  const item *op = scan->op, *source = element_writer(b, op, at);
  if (source == NULL || !b->in_effect[source->txn]) return 1; /* judged already */
  unsigned txn = source->txn, length = 0;
  if (txn == op->txn) f->tap[ORACLE_TAP_NOT_MY_LAST] = true; /* others appended between own elements */
  for (unsigned i = 0; i < scan->count; i++) f->tap[ORACLE_TAP_BROKEN_LIST] |= scan->order[i] == txn;
  for (unsigned i = b->first_op[txn]; i < b->first_op[txn + 1]; i++) {
    if (b->ops[i].key != op->key || !is_write(&b->ops[i])) continue;
    bool here = at + length < scan->external && element_writer(b, op, at + length) == &b->ops[i];
    if (here) {
      length++;
    } else {
      bool at_end = at + length == scan->external;
      f->tap[at_end && length > 0 ? ORACLE_TAP_INTERMEDIATE : ORACLE_TAP_BROKEN_LIST] = true;
      break;
    }
  }
  if (scan->count < FACTS_TXNS) scan->order[scan->count++] = txn;
  return length > 0 ? length : 1;
}

/* A list read fixes the versions up to the one it observes: every other writer comes later. */
static void order_writers(const book *b, facts *f, const list_scan *scan, bool own) {
  const item *op = scan->op;
  relation *order = &f->list_order[op->key];
  uint32_t seen = own ? 1u << b->node[op->txn] : 0;
  unsigned last = own ? b->node[op->txn] : 0;
  for (unsigned i = 0; i < scan->count; i++) {
    unsigned node = b->node[scan->order[i]];
    seen |= 1u << node;
    if (i + 1 < scan->count)
      relate(order, node, b->node[scan->order[i + 1]]);
    else if (own)
      relate(order, node, last);
    else
      last = node;
  }
  if (last == 0) return;
  for (unsigned node = 1; node < f->nodes; node++)
    if ((f->writers[op->key] & ~seen) >> node & 1) relate(order, last, node);
}

static void judge_list_read(const book *b, facts *f, const item *op) {
  if (op->value.type == ISOPROOF_NONE) return;
  list_scan scan = {.op = op};
  judge_elements(b, f, &scan);
  judge_own_elements(b, f, &scan);
  for (unsigned at = 0; at < scan.external;) at += scan_group(b, f, &scan, at);
  order_writers(b, f, &scan, scan.external < op->elements);
  /* Below own appends the list still shows whose version they were made on: that one was read, and a transaction whose
   * reads show different ones there did read from two others.  As with a register, nobody's version, or that of one
   * that took no effect, is not read from anybody. */
  const item *source = scan.external > 0 ? element_writer(b, op, scan.external - 1) : NULL;
  if (scan.external == 0)
    add_read(b, f, op, 0);
  else if (source != NULL && b->in_effect[source->txn])
    add_read(b, f, op, b->node[source->txn]);
}

/* A transaction that reads a key from two others. */
static void find_non_repeatable(facts *f) {
  for (unsigned i = 0; i < f->read_count; i++)
    for (unsigned j = 0; j < i; j++) {
      const external_read *a = &f->reads[i], *b = &f->reads[j];
      if (a->reader == b->reader && a->key == b->key && a->writer != b->writer)
        f->tap[ORACLE_TAP_NON_REPEATABLE] = true;
    }
}

bool facts_gather(const isoproof_history *history, facts *out) {
  static const book empty;
  book b = empty;
  b.history = history;
  memset(out, 0, sizeof *out);
  if (!load(&b) || !values_are_unique(&b)) return false;
  find_effects(&b);
  if (!number_nodes(&b, out)) return false;
  out->keys = b.key_count;
  order_nodes(&b, out);
  for (unsigned i = 0; i < b.op_count; i++)
    if (b.in_effect[b.ops[i].txn] && is_write(&b.ops[i])) out->writers[b.ops[i].key] |= 1u << b.node[b.ops[i].txn];
  for (unsigned i = 0; i < b.op_count; i++) {
    const item *op = &b.ops[i];
    if (!b.in_effect[op->txn]) continue;
    if (op->kind == ISOPROOF_OP_READ) judge_register_read(&b, out, op);
    if (op->kind == ISOPROOF_OP_READ_LIST) judge_list_read(&b, out, op);
  }
  find_non_repeatable(out);
  return true;
}
