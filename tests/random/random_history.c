#include "random_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t draw(uint64_t *state, uint64_t bound) {
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

static void shape(uint64_t *state, sketch *out) {
  uint64_t sessions = 1 + draw(state, SKETCH_SESSIONS), keys = 1 + draw(state, SKETCH_KEYS);
  uint64_t longest = 1 + draw(state, SKETCH_OPS), reads = 2 + draw(state, 5);
  out->count = (uint8_t)(1 + draw(state, SKETCH_TXNS - 1));
  for (unsigned t = 0; t < out->count; t++) {
    sketch_txn *txn = &out->txns[t];
    txn->session = (uint8_t)draw(state, sessions);
    uint64_t fate = draw(state, 24);
    txn->status = fate == 0 ? ISOLDE_ABORTED : fate == 1 ? ISOLDE_UNKNOWN : ISOLDE_COMMITTED;
    txn->count = (uint8_t)(draw(state, 20) == 0 ? 0 : 1 + draw(state, longest));
    for (unsigned i = 0; i < txn->count; i++) {
      txn->ops[i] = (sketch_op){.write = draw(state, 8) >= reads, .key = (uint8_t)draw(state, keys)};
    }
  }
}

/* Runs one transaction: writes get fresh values, reads see `base` (how many transactions came before) or own writes. */
static void run_txn(sketch_txn *txn, versions *v, unsigned base, unsigned now) {
  uint8_t own[SKETCH_KEYS] = {0};
  for (unsigned i = 0; i < txn->count; i++) {
    sketch_op *op = &txn->ops[i];
    if (op->write) {
      op->value = own[op->key] = ++v->next[op->key];
    } else {
      op->value = own[op->key] != 0 ? own[op->key] : v->value[op->key][base];
    }
  }
  for (unsigned key = 0; key < SKETCH_KEYS; key++) {
    bool lands = own[key] != 0 && txn->status != ISOLDE_ABORTED;
    v->value[key][now + 1] = lands ? own[key] : v->value[key][now];
  }
}

void sketch_draw(uint64_t *state, sketch *out) {
  memset(out, 0, sizeof *out);
  shape(state, out);
  sketch_style style = (sketch_style)draw(state, SKETCH_STYLES);
  versions v = {.next = {0}};
  unsigned session_base[SKETCH_SESSIONS] = {0};
  for (unsigned t = 0; t < out->count; t++) {
    unsigned base = t;
    if (style == SKETCH_SNAPSHOT && t > 0) {
      /* An old snapshot, sometimes even older than what the session saw before. */
      unsigned floor = draw(state, 4) == 0 ? 0 : session_base[out->txns[t].session];
      base = floor + (unsigned)draw(state, t - floor + 1);
      session_base[out->txns[t].session] = base;
    }
    run_txn(&out->txns[t], &v, base, t);
  }
  for (unsigned t = 0; t < out->count; t++) {
    for (unsigned i = 0; i < out->txns[t].count; i++) {
      sketch_op *op = &out->txns[t].ops[i];
      if (op->write) continue;
      bool change = style == SKETCH_RANDOM || (style == SKETCH_PERTURBED && draw(state, 5) == 0);
      if (change) op->value = (uint8_t)draw(state, v.next[op->key] + (draw(state, 12) == 0 ? 2u : 1u));
    }
  }
}

isolde_history *sketch_history(const sketch *s) {
  isolde_builder *builder;
  isolde_history *history = NULL;
  if (isolde_builder_new(&builder, NULL) != ISOLDE_OK) abort();
  for (unsigned t = 0; t < s->count; t++) {
    const sketch_txn *txn = &s->txns[t];
    uint32_t session;
    if (isolde_builder_session(builder, isolde_integer(txn->session), &session, NULL) != ISOLDE_OK) abort();
    if (isolde_builder_begin(builder, session, txn->status, NULL) != ISOLDE_OK) abort();
    for (unsigned i = 0; i < txn->count; i++) {
      const sketch_op *op = &txn->ops[i];
      isolde_scalar value = !op->write && op->value == 0 ? isolde_nil() : isolde_integer(op->value);
      isolde_op_kind kind = op->write ? ISOLDE_OP_WRITE : ISOLDE_OP_READ;
      if (isolde_builder_op(builder, kind, isolde_integer(op->key), value, NULL) != ISOLDE_OK) abort();
    }
  }
  if (isolde_builder_finish(builder, &history, NULL) != ISOLDE_OK) abort();
  isolde_builder_free(builder);
  return history;
}

void sketch_print(const sketch *s, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (unsigned t = 0; t < s->count && used < size; t++) {
    const sketch_txn *txn = &s->txns[t];
    used += (size_t)snprintf(out + used, size - used, "s%u %s:", txn->session, isolde_txn_status_name(txn->status));
    for (unsigned i = 0; i < txn->count && used < size; i++) {
      used += (size_t)snprintf(out + used, size - used, " %c(%u,%u)", txn->ops[i].write ? 'w' : 'r', txn->ops[i].key,
                               txn->ops[i].value);
    }
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

void sketch_shrink(sketch *s, bool (*fails)(const sketch *s, void *user), void *user) {
  bool shrunk = true;
  while (shrunk) {
    shrunk = false;
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
