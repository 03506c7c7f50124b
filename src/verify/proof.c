/* The independent judge of proofs: it looks at columns of the history and at the definitions, at nothing else. */
#include <stdlib.h>

#include "verify/finding.h"
#include "verify/proof.h"
#include "verify/rows.h"
#include "verify/rules.h"

static bool is_txn(const isoproof_history *h, uint32_t txn) { return txn < h->txns; }

static bool in_txn(const isoproof_history *h, uint32_t op, uint32_t txn) {
  return is_txn(h, txn) && op >= h->txn_first_op[txn] && op < h->txn_first_op[txn + 1];
}

static bool is_append(const isoproof_history *h, uint32_t op) { return h->op_kind[op] == ISOPROOF_OP_APPEND; }
static bool is_write(const isoproof_history *h, uint32_t op) {
  return h->op_kind[op] == ISOPROOF_OP_WRITE || is_append(h, op);
}

static bool is_list_read(const isoproof_history *h, uint32_t op) {
  return h->op_kind[op] == ISOPROOF_OP_READ_LIST && h->op_value[op] != ISO_VALUE_NONE;
}
static bool is_read(const isoproof_history *h, uint32_t op) {
  return h->op_kind[op] == ISOPROOF_OP_READ || is_list_read(h, op);
}

/* Whether a read shows the version that a write of its key left behind: a register its value, a list the last element
 * that the reader did not append itself. */
static bool shows_version(const isoproof_history *h, uint32_t read_op, uint32_t write_op) {
  if (!is_list_read(h, read_op)) {
    return !is_append(h, write_op) && iso_verify_shows(h, read_op, iso_history_version(h, write_op));
  }
  uint32_t count, foreign = iso_verify_foreign_length(h, read_op);
  const iso_value *list = iso_history_list(h, read_op, &count);
  return foreign > 0 && is_append(h, write_op) && list[foreign - 1] == h->op_value[write_op];
}

static bool shows_initial(const isoproof_history *h, uint32_t read_op) {
  if (is_list_read(h, read_op)) return iso_verify_foreign_length(h, read_op) == 0;
  return iso_verify_shows(h, read_op, iso_verify_initial(h, h->op_key[read_op]));
}

/* from is before to in one session, and neither was rolled back. */
static bool check_so(const isoproof_history *h, uint32_t from, uint32_t to) {
  return is_txn(h, from) && is_txn(h, to) && from < to && h->txn_session[from] == h->txn_session[to] &&
         h->txn_status[from] != ISOPROOF_TXN_ABORTED && h->txn_status[to] != ISOPROOF_TXN_ABORTED;
}

/* read_op of to shows what write_op of from wrote, in another transaction. */
static bool check_wr(const isoproof_history *h, uint32_t from, uint32_t to, uint32_t write_op, uint32_t read_op) {
  return from != to && in_txn(h, write_op, from) && in_txn(h, read_op, to) && is_write(h, write_op) &&
         is_read(h, read_op) && h->op_key[write_op] == h->op_key[read_op] && shows_version(h, read_op, write_op) &&
         h->txn_status[from] != ISOPROOF_TXN_ABORTED && h->txn_status[to] != ISOPROOF_TXN_ABORTED;
}

/* Where a list shows an element first; its length where it does not. */
static uint32_t find_element(const iso_value *list, uint32_t count, iso_value value) {
  uint32_t i = 0;
  while (i < count && list[i] != value) i++;
  return i;
}

/* The list that read_op returned shows write_op of from, and to_op of to later or not at all: a list grows at its end,
 * so the one was appended before the other. */
static bool check_ww(const isoproof_history *h, const iso_proof_step *step) {
  if (step->from == step->to || !in_txn(h, step->write_op, step->from) || !in_txn(h, step->to_op, step->to) ||
      !in_txn(h, step->read_op, step->reader)) {
    return false;
  }
  uint32_t key = h->op_key[step->read_op], count;
  if (!is_list_read(h, step->read_op) || !is_append(h, step->write_op) || !is_append(h, step->to_op)) return false;
  if (h->op_key[step->write_op] != key || h->op_key[step->to_op] != key) return false;
  if (h->txn_status[step->from] == ISOPROOF_TXN_ABORTED || h->txn_status[step->to] == ISOPROOF_TXN_ABORTED ||
      h->txn_status[step->reader] == ISOPROOF_TXN_ABORTED) {
    return false;
  }
  const iso_value *list = iso_history_list(h, step->read_op, &count);
  uint32_t first = find_element(list, count, h->op_value[step->write_op]);
  return first < count && first < find_element(list, count, h->op_value[step->to_op]);
}

static bool check_plain(const isoproof_history *h, const iso_proof_step *step) {
  if (step->kind == ISO_EDGE_SO) return check_so(h, step->from, step->to);
  return step->kind == ISO_EDGE_WR && check_wr(h, step->from, step->to, step->write_op, step->read_op);
}

/* The condition of the axiom on t2 = from and t3 = reader, met by the chain of reasons. */
static bool check_condition(const isoproof_history *h, const iso_proof *proof, const iso_proof_step *forced) {
  if (forced->reasons == 0 || forced->first_reason + forced->reasons > proof->reasons.count) return false;
  const iso_proof_step *chain = proof->reasons.items + forced->first_reason;
  uint32_t at = forced->from, count = forced->reasons;
  for (uint32_t i = 0; i < count; i++) {
    if (chain[i].from != at || !check_plain(h, &chain[i])) return false;
    at = chain[i].to;
  }
  if (at != forced->reader) return false;
  return iso_axiom_judge_of(proof->axiom)->condition(h, chain, count, forced);
}

/* A forced step: reader read x from `to` (or its initial version), and `from` is another writer of x. */
static bool check_forced(const isoproof_history *h, const iso_proof *proof, const iso_proof_step *step) {
  if (step->from == step->to || step->from == step->reader || !in_txn(h, step->write_op, step->from)) return false;
  if (!in_txn(h, step->read_op, step->reader) || !is_write(h, step->write_op) || !is_read(h, step->read_op))
    return false;
  if (h->op_key[step->write_op] != h->op_key[step->read_op]) return false;
  if (step->to == ISO_INITIAL) {
    if (!shows_initial(h, step->read_op)) return false;
  } else {
    bool seen = false;
    for (uint32_t op = h->txn_first_op[step->to]; op < h->txn_first_op[step->to + 1]; op++) {
      seen |= check_wr(h, step->to, step->reader, op, step->read_op);
    }
    if (!seen) return false;
  }
  return check_condition(h, proof, step);
}

/* Whether the steps are of the kinds that the pattern asks for.  Of the patterns with a forced step, the CO forms have
 * one only: the other steps lead back to its start by themselves. */
static bool matches_form(const iso_proof *proof) {
  const iso_tap_info *tap = iso_tap_of(proof->tap);
  size_t forced = 0, count = proof->cycle.count;
  iso_edge_set seen = 0;
  for (size_t i = 0; i < count; i++) {
    seen |= ISO_EDGE_BIT(proof->cycle.items[i].kind);
    forced += proof->cycle.items[i].kind == ISO_EDGE_CM;
  }
  if (tap->class == ISO_CLASS_AXIOM) return tap->form == ISO_FORM_CO ? forced == 1 : forced >= 1;
  if (tap->class != ISO_CLASS_CYCLE || (seen & ~tap->edges) != 0) return false;
  return iso_tap_is_causal(proof->tap) || seen == tap->edges;
}

static bool check_step(const isoproof_history *h, const iso_proof *proof, const iso_proof_step *step) {
  if (step->kind == ISO_EDGE_CM) return check_forced(h, proof, step);
  return step->kind == ISO_EDGE_WW ? check_ww(h, step) : check_plain(h, step);
}

bool iso_verify_proof(const isoproof_history *history, const iso_proof *proof) {
  size_t count = proof->cycle.count;
  if (count == 0 || !matches_form(proof)) return false;
  for (size_t i = 0; i < count; i++) {
    const iso_proof_step *step = &proof->cycle.items[i], *next = &proof->cycle.items[(i + 1) % count];
    if (!check_step(history, proof, step)) return false;
    /* Nothing comes before the initial transaction: a step that ends there needs no way back. */
    if (step->to == ISO_INITIAL) return count == 1;
    if (step->to != next->from) return false;
  }
  return true;
}
