/* Draws small random histories of registers, of mixed validity, and shrinks those that make a test fail. */
#include "tests/random/random_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/mixed.h"

uint64_t sketch_below(uint64_t *state, uint64_t bound) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (*state * UINT64_C(2685821657736338717) >> 16) % bound;
}

/* Versions of a key as transactions leave them behind, in serial order. */
typedef struct {
  uint8_t value[SKETCH_KEYS][SKETCH_TXNS + 1]; /* after how many transactions which value is there */
  uint8_t next[SKETCH_KEYS];                   /* the next fresh value */
} versions;

void sketch_shape(uint64_t *state, sketch *out) {
  uint64_t sessions = 1 + sketch_below(state, SKETCH_SESSIONS), keys = 1 + sketch_below(state, SKETCH_KEYS);
  uint64_t longest = 1 + sketch_below(state, SKETCH_OPS), reads = 2 + sketch_below(state, 5);
  out->count = (uint8_t)(1 + sketch_below(state, SKETCH_TXNS - 1));
  for (unsigned t = 0; t < out->count; t++) {
    sketch_txn *txn = &out->txns[t];
    txn->session = (uint8_t)sketch_below(state, sessions);
    uint64_t fate = sketch_below(state, 24);
    txn->status = fate == 0 ? ISOPROOF_TXN_ABORTED : fate == 1 ? ISOPROOF_TXN_UNKNOWN : ISOPROOF_TXN_COMMITTED;
    txn->count = (uint8_t)(sketch_below(state, 20) == 0 ? 0 : 1 + sketch_below(state, longest));
    for (unsigned i = 0; i < txn->count; i++) {
      txn->ops[i] = (sketch_op){.write = sketch_below(state, 8) >= reads, .key = (uint8_t)sketch_below(state, keys)};
    }
  }
}

/* Runs one transaction: writes get fresh values, reads see `base` (how many transactions came before) or own writes. */
static void run_txn(const sketch *s, sketch_txn *txn, versions *v, unsigned base, unsigned now) {
  uint8_t own[SKETCH_KEYS] = {0};
  for (unsigned i = 0; i < txn->count; i++) {
    sketch_op *op = &txn->ops[i];
    if (sketch_is_list(s, op->key)) continue;
    if (op->write) {
      op->value = own[op->key] = ++v->next[op->key];
    } else {
      op->value = own[op->key] != 0 ? own[op->key] : v->value[op->key][base];
    }
  }
  for (unsigned key = 0; key < SKETCH_KEYS; key++) {
    bool lands = own[key] != 0 && txn->status != ISOPROOF_TXN_ABORTED;
    v->value[key][now + 1] = lands ? own[key] : v->value[key][now];
  }
}

void sketch_fill_registers(uint64_t *state, sketch *out, sketch_style style) {
  versions v = {.next = {0}};
  unsigned session_base[SKETCH_SESSIONS] = {0};
  for (unsigned t = 0; t < out->count; t++) {
    unsigned base = t;
    if (style == SKETCH_SNAPSHOT && t > 0) {
      /* An old snapshot, sometimes even older than what the session saw before. */
      unsigned floor = sketch_below(state, 4) == 0 ? 0 : session_base[out->txns[t].session];
      base = floor + (unsigned)sketch_below(state, t - floor + 1);
      session_base[out->txns[t].session] = base;
    }
    run_txn(out, &out->txns[t], &v, base, t);
  }
  for (unsigned t = 0; t < out->count; t++) {
    for (unsigned i = 0; i < out->txns[t].count; i++) {
      sketch_op *op = &out->txns[t].ops[i];
      if (op->write || sketch_is_list(out, op->key)) continue;
      bool change = style == SKETCH_RANDOM || (style == SKETCH_PERTURBED && sketch_below(state, 5) == 0);
      if (change) op->value = (uint8_t)sketch_below(state, v.next[op->key] + (sketch_below(state, 12) == 0 ? 2u : 1u));
    }
  }
}

static void put(sketch_txn *txn, bool write, unsigned key, unsigned value) {
  if (txn->count == SKETCH_OPS) return;
  txn->ops[txn->count++] = (sketch_op){.write = write, .key = (uint8_t)key, .value = (uint8_t)value};
}

/* Breaks any of the session guarantees, and perhaps something within a transaction beside them: at random, several of
 * them hardly ever meet in a few transactions.  A session writes key 0, then key 1; another one sees the first and then
 * writes keys 2 and 3; whoever reads key 0 afterwards sees its initial version. */
static void draw_quarrel(uint64_t *state, sketch *out) {
  static const uint8_t session[] = {0, 0, 1, 1, 2, 3, 2};
  uint64_t broken = sketch_below(state, 16), inside = sketch_below(state, 8);
  out->count = sizeof session;
  for (unsigned t = 0; t < out->count; t++) out->txns[t].session = session[t];
  sketch_txn *txns = out->txns;
  put(&txns[0], true, 0, 1);
  put(&txns[1], true, 1, 1);
  if (broken & 1) put(&txns[1], false, 0, 0); /* its own write is gone */
  put(&txns[2], false, 0, 1);
  if (broken & 2) put(&txns[3], false, 0, 0); /* it saw more before */
  put(&txns[3], true, 2, 1);
  put(&txns[3], true, 3, 1);
  if (broken & 4) put(&txns[4], false, 1, 1), put(&txns[4], false, 0, 0); /* the second of two writes only */
  if (broken & 8) put(&txns[5], false, 2, 1), put(&txns[5], false, 0, 0); /* a write without what came before it */
  if (inside & 1) put(&txns[6], false, 0, 0), put(&txns[6], false, 0, 1); /* two versions of a key */
  /* Half of a transaction, the new half last or first. */
  if (inside & 2) put(&txns[6], false, inside & 4 ? 2 : 3, inside & 4 ? 1 : 0);
  if (inside & 2) put(&txns[6], false, inside & 4 ? 3 : 2, inside & 4 ? 0 : 1);
  if (sketch_below(state, 2) == 0) txns[sketch_below(state, out->count)].count = 0;
}

void sketch_draw(uint64_t *state, sketch *out) {
  memset(out, 0, sizeof *out);
  if (sketch_below(state, 16) == 0) {
    draw_quarrel(state, out);
    return;
  }
  sketch_shape(state, out);
  sketch_fill_registers(state, out, (sketch_style)sketch_below(state, SKETCH_STYLES));
}

void sketch_draw_times(uint64_t *state, sketch *s) {
  unsigned clock = 10, last[SKETCH_SESSIONS] = {0};
  uint64_t spread = 1 + sketch_below(state, 10);
  s->timed = true;
  for (unsigned t = 0; t < s->count; t++) {
    sketch_txn *txn = &s->txns[t];
    clock += 1 + (unsigned)sketch_below(state, 3);
    unsigned start = clock - (unsigned)sketch_below(state, spread), *before = &last[txn->session % SKETCH_SESSIONS];
    if (start <= *before) start = *before + 1;
    unsigned end = (clock > start ? clock : start) + (unsigned)sketch_below(state, 4);
    *before = end;
    txn->start = (uint8_t)start;
    txn->end = (uint8_t)end;
  }
}

static void add_op(isoproof_builder *builder, const sketch *s, const sketch_op *op) {
  isoproof_scalar key = isoproof_integer(op->key), value = isoproof_integer(op->value), elements[SKETCH_ELEMENTS];
  isoproof_status status;
  if (!sketch_is_list(s, op->key)) {
    if (!op->write && op->value == 0) value = isoproof_nil();
    status = isoproof_builder_op(builder, op->write ? ISOPROOF_OP_WRITE : ISOPROOF_OP_READ, key, value, NULL);
  } else if (op->write) {
    status = isoproof_builder_op(builder, ISOPROOF_OP_APPEND, key, value, NULL);
  } else {
    for (unsigned i = 0; i < op->count; i++) elements[i] = isoproof_integer(op->elements[i]);
    status = isoproof_builder_elements(builder, ISOPROOF_OP_READ_LIST, key, elements, op->count, NULL);
  }
  if (status != ISOPROOF_OK) abort();
}

isoproof_history *sketch_history(const sketch *s) {
  isoproof_builder *builder;
  isoproof_history *history = NULL;
  if (isoproof_builder_new(&builder, NULL) != ISOPROOF_OK) abort();
  for (unsigned t = 0; t < s->count; t++) {
    const sketch_txn *txn = &s->txns[t];
    uint32_t session;
    if (isoproof_builder_session(builder, isoproof_integer(txn->session), &session, NULL) != ISOPROOF_OK) abort();
    if (isoproof_builder_begin(builder, session, txn->status, NULL) != ISOPROOF_OK) abort();
    if (s->timed && isoproof_builder_times(builder, txn->start, txn->end, NULL) != ISOPROOF_OK) abort();
    if (txn->level != MIXED_NONE &&
        isoproof_builder_isolation(builder, mixed_level_id((mixed_level)txn->level), NULL) != ISOPROOF_OK)
      abort();
    for (unsigned i = 0; i < txn->count; i++) add_op(builder, s, &txn->ops[i]);
  }
  if (isoproof_builder_finish(builder, &history, NULL) != ISOPROOF_OK) abort();
  isoproof_builder_free(builder);
  return history;
}

static size_t print_op(const sketch *s, const sketch_op *op, char *out, size_t size) {
  bool list = sketch_is_list(s, op->key);
  if (!list || op->write) {
    char letter = !op->write ? 'r' : list ? 'a' : 'w';
    return (size_t)snprintf(out, size, " %c(%u,%u)", letter, op->key, op->value);
  }
  size_t used = (size_t)snprintf(out, size, " r(%u,[", op->key);
  for (unsigned i = 0; i < op->count && used < size; i++) {
    used += (size_t)snprintf(out + used, size - used, "%s%u", i > 0 ? " " : "", op->elements[i]);
  }
  if (used < size) used += (size_t)snprintf(out + used, size - used, "])");
  return used;
}

void sketch_print(const sketch *s, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (unsigned t = 0; t < s->count && used < size; t++) {
    const sketch_txn *txn = &s->txns[t];
    used += (size_t)snprintf(out + used, size - used, "s%u %s", txn->session, isoproof_txn_status_name(txn->status));
    if (s->timed && used < size) used += (size_t)snprintf(out + used, size - used, " %u-%u", txn->start, txn->end);
    if (txn->level != MIXED_NONE && used < size)
      used += (size_t)snprintf(out + used, size - used, " %s", mixed_level_id((mixed_level)txn->level));
    if (used < size) used += (size_t)snprintf(out + used, size - used, ":");
    for (unsigned i = 0; i < txn->count && used < size; i++) used += print_op(s, &txn->ops[i], out + used, size - used);
    if (used < size) used += (size_t)snprintf(out + used, size - used, "\n");
  }
}

static void drop_txn(sketch *s, unsigned t) {
  memmove(&s->txns[t], &s->txns[t + 1], (size_t)(s->count - t - 1) * sizeof s->txns[0]);
  s->count--;
}

static void drop_op(sketch_txn *txn, unsigned i) {
  memmove(&txn->ops[i], &txn->ops[i + 1], (size_t)(txn->count - i - 1) * sizeof txn->ops[0]);
  txn->count--;
}

static bool drop_element(sketch *s, bool (*fails)(const sketch *s, void *user), void *user) {
  bool shrunk = false;
  for (unsigned t = 0; t < s->count; t++) {
    for (unsigned i = 0; i < s->txns[t].count; i++) {
      for (unsigned k = 0; k < s->txns[t].ops[i].count; k++) {
        sketch smaller = *s;
        sketch_op *op = &smaller.txns[t].ops[i];
        memmove(&op->elements[k], &op->elements[k + 1], op->count - k - 1u);
        op->count--;
        if (!fails(&smaller, user)) continue;
        *s = smaller;
        shrunk = true;
      }
    }
  }
  return shrunk;
}

void sketch_shrink(sketch *s, bool (*fails)(const sketch *s, void *user), void *user) {
  bool shrunk = true;
  while (shrunk) {
    shrunk = drop_element(s, fails, user);
    for (unsigned t = 0; t < s->count; t++) {
      sketch smaller = *s;
      drop_txn(&smaller, t);
      if (!fails(&smaller, user)) continue;
      *s = smaller;
      shrunk = true;
    }
    for (unsigned t = 0; t < s->count; t++) {
      for (unsigned i = 0; i < s->txns[t].count; i++) {
        sketch smaller = *s;
        drop_op(&smaller.txns[t], i);
        if (!fails(&smaller, user)) continue;
        *s = smaller;
        shrunk = true;
      }
    }
  }
}
