/* Which write each read observed, as a certificate claims it, against what stands in the history. */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "verify/certificate.h"
#include "verify/rows.h"

static bool is_of(const isoproof_history *h, uint64_t txn, uint64_t op, isoproof_op_kind kind) {
  return txn < h->txns && op >= h->txn_first_op[txn] && op < h->txn_first_op[txn + 1] && h->op_kind[op] == kind;
}

/* Whether nobody wrote the key in those operations. */
static bool is_untouched(const isoproof_history *h, uint32_t key, uint32_t first, uint32_t end) {
  for (uint32_t op = first; op < end; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE && h->op_key[op] == key) return false;
  }
  return true;
}

static const char *examine(const iso_placed *p, const isoproof_edge *claim) {
  const isoproof_history *h = p->h;
  uint64_t from = claim->from_txn;
  if (strcmp(claim->kind, "WR") != 0 || !is_of(h, claim->to_txn, claim->to_op, ISOPROOF_OP_READ))
    return "does not read";
  uint32_t read = (uint32_t)claim->to_op, key = h->op_key[read];
  if (!p->counts[claim->to_txn]) return "took no effect";
  if (p->claimed[read] != ISO_NO_OP) return "is said to have observed two writes at once";
  if (!is_untouched(h, key, h->txn_first_op[claim->to_txn], read)) return "reads what it wrote itself";
  if (from == ISOPROOF_INITIAL_TXN) {
    bool shown = claim->from_op == ISOPROOF_NO_NUMBER && iso_verify_shows(h, read, iso_verify_initial(h, key));
    return shown ? NULL : "does not show the initial version";
  }
  if (from == claim->to_txn || !is_of(h, from, claim->from_op, ISOPROOF_OP_WRITE)) return "observes no write";
  uint32_t write = (uint32_t)claim->from_op;
  if (!p->counts[from]) return "observes a write that took no effect";
  if (h->op_key[write] != key) return "observes a write of another key";
  if (!iso_verify_shows(h, read, iso_history_version(h, write))) return "observes a write of another value";
  return is_untouched(h, key, write + 1, h->txn_first_op[from + 1]) ? NULL : "observes what its writer overwrote";
}

isoproof_status iso_place_observed(iso_placed *p, isoproof_error *error) {
  const iso_claim *claim = p->claim;
  p->claimed = iso_alloc(p->h->ops, sizeof *p->claimed);
  if (p->claimed == NULL) return iso_fail_memory(error);
  for (uint32_t op = 0; op < p->h->ops; op++) p->claimed[op] = ISO_NO_OP;
  for (size_t i = 0; i < claim->observed_count; i++) {
    const isoproof_edge *one = &claim->observed[i];
    const char *why = examine(p, one);
    if (why != NULL) return iso_refuse(p, one->to_txn, why, error);
    p->claimed[one->to_op] = one->from_txn == ISOPROOF_INITIAL_TXN ? ISO_FROM_INITIAL : (uint32_t)one->from_op;
  }
  return ISOPROOF_OK;
}
