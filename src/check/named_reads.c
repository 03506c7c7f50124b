/* The reads that findings, proofs and scenarios name. */
#include "check/named_reads.h"

#include <stdlib.h>

void iso_named_reads_free(iso_named_reads *named) {
  iso_vec_free(&named->ops);
  iso_vec_free(&named->txns);
}

static void name_op(iso_named_reads *n, const isoproof_history *h, uint32_t op) {
  if (op < h->ops && !iso_vec_push(&n->ops, op)) n->failed = true;
}

static void name_txn(iso_named_reads *n, const isoproof_history *h, uint32_t txn) {
  if (txn < h->txns && !iso_vec_push(&n->txns, txn)) n->failed = true;
}

static void name_step(iso_named_reads *n, const isoproof_history *h, const iso_proof_step *step) {
  if (step->kind == ISO_EDGE_WR || step->kind == ISO_EDGE_CM || step->kind == ISO_EDGE_WW) {
    name_op(n, h, step->read_op);
    name_txn(n, h, iso_history_txn_of(h, step->read_op));
  }
  name_txn(n, h, step->from);
  name_txn(n, h, step->to);
}

static bool name_finding(iso_level_check *check, const iso_finding *f, iso_named_reads *n) {
  const isoproof_history *h = check->history;
  if (iso_tap_is_of_reads((iso_tap)f->tap)) {
    name_op(n, h, f->op);
    name_txn(n, h, iso_history_txn_of(h, f->op));
    name_op(n, h, f->other);
    return true;
  }
  iso_proof proof;
  if (iso_level_check_need_prover(check, NULL) != ISOPROOF_OK) return false;
  bool good = iso_prove(&check->prover, f, &proof);
  for (size_t i = 0; good && i < proof.cycle.count; i++) name_step(n, h, &proof.cycle.items[i]);
  for (size_t i = 0; good && i < proof.reasons.count; i++) name_step(n, h, &proof.reasons.items[i]);
  iso_proof_free(&proof);
  return good;
}

static void name_link(iso_named_reads *n, const isoproof_history *h, const iso_link *link) {
  name_op(n, h, link->read_op);
  name_op(n, h, link->order_op);
  name_txn(n, h, link->from);
  name_txn(n, h, link->to);
  name_txn(n, h, link->version);
}

static bool name_scenario(const isoproof_history *h, const iso_scenario *s, iso_named_reads *n) {
  for (size_t i = 0; i < s->txns.count; i++) name_txn(n, h, s->txns.items[i]);
  for (size_t i = 0; i < s->known.count; i++) name_link(n, h, &s->known.items[i]);
  for (size_t i = 0; i < s->links.count; i++) name_link(n, h, &s->links.items[i]);
  return s->refuted;
}

bool iso_named_reads_of(iso_level_check *check, size_t number, iso_named_reads *n) {
  n->ops.count = n->txns.count = 0;
  n->failed = false;
  if (number < check->shown_count) return name_finding(check, &check->shown[number], n) && !n->failed;
  number -= check->shown_count;
  /* Of what is chosen nothing is counted, so that each scenario stands for itself. */
  if (number >= check->told_count) return false;
  return name_scenario(check->history, &check->strong.scenarios[check->told[number]], n) && !n->failed;
}
