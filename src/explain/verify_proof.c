/* The independent judge of proofs: it looks at columns of the history and at the definitions, at nothing else. */
#include <stdlib.h>

#include "explain/proof.h"

static bool is_txn(const isolde_history *h, uint32_t txn) { return txn < h->txns; }

static bool in_txn(const isolde_history *h, uint32_t op, uint32_t txn) {
  return is_txn(h, txn) && op >= h->txn_first_op[txn] && op < h->txn_first_op[txn + 1];
}

static bool is_write(const isolde_history *h, uint32_t op) { return h->op_kind[op] == ISOLDE_OP_WRITE; }
static bool is_read(const isolde_history *h, uint32_t op) { return h->op_kind[op] == ISOLDE_OP_READ; }

/* from is before to in one session, and neither was rolled back. */
static bool check_so(const isolde_history *h, uint32_t from, uint32_t to) {
  return is_txn(h, from) && is_txn(h, to) && from < to && h->txn_session[from] == h->txn_session[to] &&
         h->txn_status[from] != ISOLDE_ABORTED && h->txn_status[to] != ISOLDE_ABORTED;
}

/* read_op of to shows what write_op of from wrote, in another transaction. */
static bool check_wr(const isolde_history *h, uint32_t from, uint32_t to, uint32_t write_op, uint32_t read_op) {
  return from != to && in_txn(h, write_op, from) && in_txn(h, read_op, to) && is_write(h, write_op) &&
         is_read(h, read_op) && h->op_key[write_op] == h->op_key[read_op] &&
         h->op_value[write_op] == h->op_value[read_op] && h->txn_status[from] != ISOLDE_ABORTED &&
         h->txn_status[to] != ISOLDE_ABORTED;
}

static bool check_plain(const isolde_history *h, const iso_step *step) {
  if (step->kind == ISO_STEP_SO) return check_so(h, step->from, step->to);
  return step->kind == ISO_STEP_WR && check_wr(h, step->from, step->to, step->write_op, step->read_op);
}

/* Whether the kinds of a chain are exactly these: 'S' for SO, 'W' for WR. */
static bool has_shape(const iso_step *steps, uint32_t count, const char *shape) {
  for (uint32_t i = 0; i < count; i++) {
    if (shape[i] != (steps[i].kind == ISO_STEP_SO ? 'S' : 'W')) return false;
  }
  return shape[count] == '\0';
}

/* The condition of the axiom on t2 = from and t3 = reader, met by the chain of reasons. */
static bool check_condition(const isolde_history *h, const iso_proof *proof, const iso_step *forced) {
  if (forced->reasons == 0 || forced->first_reason + forced->reasons > proof->reasons.count) return false;
  const iso_step *chain = proof->reasons.items + forced->first_reason;
  uint32_t at = forced->from, count = forced->reasons;
  for (uint32_t i = 0; i < count; i++) {
    if (chain[i].from != at || !check_plain(h, &chain[i])) return false;
    at = chain[i].to;
  }
  if (at != forced->reader) return false;
  switch (proof->axiom) {
  case ISO_AXIOM_READ_COMMITTED:
    return has_shape(chain, count, "W") && chain[0].read_op < forced->read_op &&
           h->op_key[chain[0].read_op] != h->op_key[forced->read_op];
  case ISO_AXIOM_READ_ATOMIC:
    return has_shape(chain, count, "S") || has_shape(chain, count, "W");
  case ISO_AXIOM_CAUSAL:
    return true;
  case ISO_AXIOM_READ_YOUR_WRITES:
    return has_shape(chain, count, "S");
  case ISO_AXIOM_MONOTONIC_READS:
    return has_shape(chain, count, "WS");
  case ISO_AXIOM_MONOTONIC_WRITES:
    return has_shape(chain, count, "SW");
  case ISO_AXIOM_WRITES_FOLLOW_READS:
    return has_shape(chain, count, "WSW");
  case ISO_AXIOMS:
    break;
  }
  return false;
}

/* A forced step: reader read x from `to` (or its initial version), and `from` is another writer of x. */
static bool check_forced(const isolde_history *h, const iso_proof *proof, const iso_step *step) {
  if (step->from == step->to || step->from == step->reader || !in_txn(h, step->write_op, step->from)) return false;
  if (!in_txn(h, step->read_op, step->reader) || !is_write(h, step->write_op) || !is_read(h, step->read_op))
    return false;
  if (h->op_key[step->write_op] != h->op_key[step->read_op]) return false;
  if (step->to == ISO_INITIAL) {
    if (h->op_value[step->read_op] != ISO_VALUE_NIL) return false;
  } else {
    bool seen = false;
    for (uint32_t op = h->txn_first_op[step->to]; op < h->txn_first_op[step->to + 1]; op++) {
      seen |= check_wr(h, step->to, step->reader, op, step->read_op);
    }
    if (!seen) return false;
  }
  return check_condition(h, proof, step);
}

/* Whether the steps other than forced ones alone lead back to the start: the CO forms of the patterns. */
static bool matches_form(const iso_proof *proof) {
  uint32_t forced = 0;
  for (size_t i = 0; i < proof->cycle.count; i++) forced += proof->cycle.items[i].kind == ISO_STEP_CM;
  switch (proof->tap) {
  case ISO_TAP_G:
    return forced == 0;
  case ISO_TAP_H:
  case ISO_TAP_K:
  case ISO_TAP_M:
    return forced == 1;
  default:
    return forced >= 1;
  }
}

bool iso_verify_proof(const isolde_history *history, const iso_proof *proof) {
  size_t count = proof->cycle.count;
  if (count == 0 || !matches_form(proof)) return false;
  for (size_t i = 0; i < count; i++) {
    const iso_step *step = &proof->cycle.items[i], *next = &proof->cycle.items[(i + 1) % count];
    bool good = step->kind == ISO_STEP_CM ? check_forced(history, proof, step) : check_plain(history, step);
    if (!good) return false;
    /* Nothing comes before the initial transaction: a step that ends there needs no way back. */
    if (step->to == ISO_INITIAL) return count == 1;
    if (step->to != next->from) return false;
  }
  return true;
}
