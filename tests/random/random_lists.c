/* Small random histories of lists. */
#include "tests/random/random_history.h"

#include <string.h>

enum { LONGEST = SKETCH_TXNS * SKETCH_OPS };

/* What a key holds in the end, and how much of it was there after how many transactions. */
typedef struct {
  uint8_t items[SKETCH_KEYS][LONGEST];
  uint8_t owner[SKETCH_KEYS][LONGEST]; /* the transaction that appended it */
  uint8_t count[SKETCH_KEYS];
  uint8_t after[SKETCH_KEYS][SKETCH_TXNS + 1];
} store;

static void set_elements(sketch_op *op, const uint8_t *items, unsigned count) {
  op->count = (uint8_t)(count < SKETCH_ELEMENTS ? count : SKETCH_ELEMENTS);
  memcpy(op->elements, items, op->count);
}

/* Adds what the transaction appended to the key before operation `end`. */
static void add_own(const sketch_txn *txn, unsigned end, sketch_op *to) {
  for (unsigned i = 0; i < end; i++) {
    const sketch_op *op = &txn->ops[i];
    if (op->write && op->key == to->key && to->count < SKETCH_ELEMENTS) to->elements[to->count++] = op->value;
  }
}

static void number_appends(sketch *s) {
  uint8_t next[SKETCH_KEYS] = {0};
  for (unsigned t = 0; t < s->count; t++) {
    for (unsigned i = 0; i < s->txns[t].count; i++) {
      sketch_op *op = &s->txns[t].ops[i];
      if (op->write && sketch_is_list(s, op->key)) op->value = ++next[op->key];
    }
  }
}

/* Lets transaction t be the next whose appends land. */
static void land(const sketch *s, store *st, unsigned t, unsigned now) {
  const sketch_txn *txn = &s->txns[t];
  for (unsigned i = 0; i < txn->count; i++) {
    const sketch_op *op = &txn->ops[i];
    if (!op->write || !sketch_is_list(s, op->key) || txn->status == ISOPROOF_TXN_ABORTED) continue;
    st->owner[op->key][st->count[op->key]] = (uint8_t)t;
    st->items[op->key][st->count[op->key]++] = op->value;
  }
  for (unsigned key = 0; key < SKETCH_KEYS; key++) st->after[key][now + 1] = st->count[key];
}

/* Every read shows the first part of the list, as it was after `base` transactions, and the own appends so far. */
static void read_all(const sketch *s, const store *st, sketch_txn *txn, unsigned base) {
  for (unsigned i = 0; i < txn->count; i++) {
    sketch_op *op = &txn->ops[i];
    if (op->write || !sketch_is_list(s, op->key)) continue;
    set_elements(op, st->items[op->key], st->after[op->key][base]);
    add_own(txn, i, op);
  }
}

/* A random part of what the list holds in the end, mostly up to the end of some transaction's appends; a transaction
 * that has appended sees what was there before it, and its own. */
static void read_any(uint64_t *state, sketch *s, const store *st, unsigned t, unsigned number) {
  sketch_txn *txn = &s->txns[t];
  sketch_op *op = &txn->ops[number];
  unsigned key = op->key, count = (unsigned)sketch_below(state, st->count[key] + 1u), own = st->count[key];
  for (unsigned i = st->count[key]; i-- > 0;) {
    if (st->owner[key][i] == t) own = i;
  }
  bool exact = sketch_below(state, 8) != 0;
  while (exact && count > 0 && count < st->count[key] && st->owner[key][count - 1] == st->owner[key][count]) count++;
  if (exact && count > own) count = own;
  sketch_op mine = {.key = op->key};
  add_own(txn, number, &mine);
  if (exact && mine.count > 0) count = own;
  set_elements(op, st->items[key], count);
  if (exact) add_own(txn, number, op);
}

/* Something that no list does: an element lost, doubled, swapped with another, or from nowhere. */
static void damage(uint64_t *state, sketch_op *op) {
  unsigned at = op->count > 0 ? (unsigned)sketch_below(state, op->count) : 0;
  switch (sketch_below(state, 5)) {
  case 0:
    if (op->count > 0) memmove(&op->elements[at], &op->elements[at + 1], (size_t)(--op->count - at));
    break;
  case 1:
    if (op->count > 0 && op->count < SKETCH_ELEMENTS) op->elements[op->count++] = op->elements[at];
    break;
  case 2:
    if (op->count < SKETCH_ELEMENTS) op->elements[op->count++] = (uint8_t)(1 + sketch_below(state, 6));
    break;
  default:
    if (op->count > 1) {
      unsigned other = (unsigned)sketch_below(state, op->count);
      uint8_t swapped = op->elements[at];
      op->elements[at] = op->elements[other];
      op->elements[other] = swapped;
    }
  }
}

/* A last transaction, in a session of its own or not, that reads every list. */
static void add_final_reads(uint64_t *state, sketch *s) {
  if (s->count == SKETCH_TXNS) return;
  sketch_txn *last = &s->txns[s->count++];
  *last = (sketch_txn){.session = (uint8_t)sketch_below(state, SKETCH_SESSIONS), .status = ISOPROOF_TXN_COMMITTED};
  for (uint8_t key = 0; key < SKETCH_KEYS; key++) {
    if (sketch_is_list(s, key)) last->ops[last->count++] = (sketch_op){.key = key};
  }
}

/* The order in which appends land: as the transactions are written down, or any other. */
static void draw_order(uint64_t *state, const sketch *s, bool shuffled, unsigned order[SKETCH_TXNS]) {
  for (unsigned t = 0; t < s->count; t++) {
    unsigned at = shuffled ? (unsigned)sketch_below(state, t + 1) : t;
    order[t] = order[at];
    order[at] = t;
  }
}

static void fill_lists(uint64_t *state, sketch *s, sketch_style style) {
  store st;
  unsigned order[SKETCH_TXNS] = {0};
  memset(&st, 0, sizeof st);
  number_appends(s);
  draw_order(state, s, style == SKETCH_RANDOM && sketch_below(state, 2) == 0, order);
  for (unsigned i = 0; i < s->count; i++) land(s, &st, order[i], i);
  for (unsigned t = 0; t < s->count; t++) {
    unsigned base = style == SKETCH_SNAPSHOT && t > 0 ? (unsigned)sketch_below(state, t + 1) : t;
    read_all(s, &st, &s->txns[t], base);
    for (unsigned i = 0; i < s->txns[t].count; i++) {
      sketch_op *op = &s->txns[t].ops[i];
      if (op->write || !sketch_is_list(s, op->key)) continue;
      if (style == SKETCH_RANDOM || (style == SKETCH_PERTURBED && sketch_below(state, 5) == 0)) {
        read_any(state, s, &st, t, i);
      }
      if (style >= SKETCH_PERTURBED && sketch_below(state, 40) == 0) damage(state, op);
    }
  }
}

void sketch_draw_lists(uint64_t *state, sketch *out) {
  memset(out, 0, sizeof *out);
  sketch_shape(state, out);
  out->lists =
      (uint8_t)(sketch_below(state, 3) == 0 ? sketch_below(state, 1u << SKETCH_KEYS) : (1u << SKETCH_KEYS) - 1);
  if (sketch_below(state, 2) == 0) add_final_reads(state, out);
  sketch_style style = (sketch_style)sketch_below(state, SKETCH_STYLES);
  sketch_fill_registers(state, out, style);
  fill_lists(state, out, style);
}
