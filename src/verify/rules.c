/* Each axiom and each rule as the judge sees it: one row, and the functions that the row names. */
#include "verify/rules.h"

#include "verify/certificate.h"
#include "verify/rows.h"

/* ---- conditions of axioms: the kinds of steps in the chain from t2 to t3 ---- */

static bool has_shape(const iso_proof_step *chain, uint32_t count, const iso_edge_kind *shape, uint32_t length) {
  if (count != length) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (chain[i].kind != shape[i]) return false;
  }
  return true;
}

#define HAS_SHAPE(chain, count, ...)                                                                                   \
  has_shape(chain, count, (const iso_edge_kind[]){__VA_ARGS__},                                                        \
            (uint32_t)(sizeof((iso_edge_kind[]){__VA_ARGS__}) / sizeof(iso_edge_kind)))

static bool read_committed(const isoproof_history *h, const iso_proof_step *chain, uint32_t count,
                           const iso_proof_step *forced) {
  return HAS_SHAPE(chain, count, ISO_EDGE_WR) && iso_verify_in_order(h, chain[0].read_op, forced->read_op) &&
         h->op_key[chain[0].read_op] != h->op_key[forced->read_op];
}

static bool read_atomic(const isoproof_history *h, const iso_proof_step *chain, uint32_t count,
                        const iso_proof_step *forced) {
  (void)h, (void)forced;
  return HAS_SHAPE(chain, count, ISO_EDGE_SO) || HAS_SHAPE(chain, count, ISO_EDGE_WR);
}

static bool causal(const isoproof_history *h, const iso_proof_step *chain, uint32_t count,
                   const iso_proof_step *forced) {
  (void)h, (void)chain, (void)forced;
  return count > 0;
}

static bool read_your_writes(const isoproof_history *h, const iso_proof_step *chain, uint32_t count,
                             const iso_proof_step *forced) {
  (void)h, (void)forced;
  return HAS_SHAPE(chain, count, ISO_EDGE_SO);
}

static bool monotonic_reads(const isoproof_history *h, const iso_proof_step *chain, uint32_t count,
                            const iso_proof_step *forced) {
  (void)h, (void)forced;
  return HAS_SHAPE(chain, count, ISO_EDGE_WR, ISO_EDGE_SO);
}

static bool monotonic_writes(const isoproof_history *h, const iso_proof_step *chain, uint32_t count,
                             const iso_proof_step *forced) {
  (void)h, (void)forced;
  return HAS_SHAPE(chain, count, ISO_EDGE_SO, ISO_EDGE_WR);
}

static bool writes_follow_reads(const isoproof_history *h, const iso_proof_step *chain, uint32_t count,
                                const iso_proof_step *forced) {
  (void)h, (void)forced;
  return HAS_SHAPE(chain, count, ISO_EDGE_WR, ISO_EDGE_SO, ISO_EDGE_WR);
}

/* The session guarantees have no certificates of their own: causal, which implies them, has. */
static const iso_axiom_judge axioms[ISO_AXIOMS] = {
    [ISO_AXIOM_READ_COMMITTED] = {.order = {.judge = iso_verify_visibility,
                                            .visibility = true,
                                            .only_met_before = true},
                                  .condition = read_committed},
    [ISO_AXIOM_READ_ATOMIC] = {.order = {.judge = iso_verify_visibility, .visibility = true}, .condition = read_atomic},
    [ISO_AXIOM_CAUSAL] = {.order = {.judge = iso_verify_visibility, .visibility = true, .paths = true},
                          .condition = causal},
    [ISO_AXIOM_READ_YOUR_WRITES] = {.condition = read_your_writes},
    [ISO_AXIOM_MONOTONIC_READS] = {.condition = monotonic_reads},
    [ISO_AXIOM_MONOTONIC_WRITES] = {.condition = monotonic_writes},
    [ISO_AXIOM_WRITES_FOLLOW_READS] = {.condition = writes_follow_reads},
};

/* ---- cycles that rules forbid ---- */

/* How many RW there are, and how many of them follow an RW, or an RW or a WW, at once. */
typedef struct {
  uint32_t missed, after_missed, after_unseen;
} census;

static census count_missed(const iso_link *cycle, uint32_t count) {
  census c = {0, 0, 0};
  for (uint32_t i = 0; i < count; i++) {
    iso_edge_kind before = cycle[(i + count - 1) % count].kind;
    if (cycle[i].kind != ISO_EDGE_RW) continue;
    c.missed++;
    c.after_missed += before == ISO_EDGE_RW;
    c.after_unseen += before == ISO_EDGE_RW || before == ISO_EDGE_WW;
  }
  return c;
}

static bool forbids_any(const isoproof_history *h, const iso_link *cycle, uint32_t count) {
  (void)h, (void)cycle, (void)count;
  return true;
}

/* Who missed a write began before it was committed, and must have followed something. */
static bool forbids_under_snapshot(const isoproof_history *h, const iso_link *cycle, uint32_t count) {
  (void)h;
  return count_missed(cycle, count).after_missed == 0;
}

/* The same; and to be overwritten does not mean to begin later. */
static bool forbids_under_prefix(const isoproof_history *h, const iso_link *cycle, uint32_t count) {
  (void)h;
  return count_missed(cycle, count).after_unseen == 0;
}

static bool forbids_under_parallel(const isoproof_history *h, const iso_link *cycle, uint32_t count) {
  (void)h;
  return count_missed(cycle, count).missed <= 1;
}

static bool forbids_under_update_atomic(const isoproof_history *h, const iso_link *cycle, uint32_t count) {
  (void)h;
  uint32_t missed = count_missed(cycle, count).missed;
  return missed == 0 || (missed == 1 && count == 2);
}

/* Whether everything but the link at `place` is SO or WR. */
static bool is_causal_but(const iso_link *cycle, uint32_t count, uint32_t place) {
  for (uint32_t i = 0; i < count; i++) {
    if (i != place && cycle[i].kind != ISO_EDGE_SO && cycle[i].kind != ISO_EDGE_WR) return false;
  }
  return true;
}

/* Whether the level that is the reader's own forbids it to miss the write where it stands in the cycle. */
static bool forbids_miss(const isoproof_history *h, const iso_link *cycle, uint32_t count, uint32_t place) {
  const iso_link *miss = &cycle[place], *before = &cycle[(place + count - 1) % count];
  switch (iso_history_isolation(h, miss->from)) {
  case ISO_ISOLATION_SERIALIZABLE:
    return true;
  case ISO_ISOLATION_SNAPSHOT_ISOLATION:
    return before->kind != ISO_EDGE_RW;
  case ISO_ISOLATION_PREFIX:
    return before->kind == ISO_EDGE_SO || before->kind == ISO_EDGE_WR;
  case ISO_ISOLATION_CAUSAL:
    return is_causal_but(cycle, count, place);
  case ISO_ISOLATION_READ_ATOMIC:
    return count == 2 && is_causal_but(cycle, count, place);
  case ISO_ISOLATION_READ_COMMITTED:
    return count == 2 && before->kind == ISO_EDGE_WR && iso_verify_in_order(h, before->read_op, miss->read_op) &&
           h->op_key[before->read_op] != h->op_key[miss->read_op];
  case ISO_ISOLATION_NONE:
  case ISO_ISOLATIONS:
    break;
  }
  return false;
}

static bool forbids_by_own_levels(const isoproof_history *h, const iso_link *cycle, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (cycle[i].kind == ISO_EDGE_RW && !forbids_miss(h, cycle, count, i)) return false;
  }
  return true;
}

static const iso_rule_judge rules[ISO_RULES] = {
    [ISO_RULE_SERIALIZABLE] = {.order = {.judge = iso_verify_execution}, .forbids = forbids_any},
    [ISO_RULE_SNAPSHOT] = {.order = {.judge = iso_verify_execution, .split = true, .alone = true},
                           .forbids = forbids_under_snapshot},
    [ISO_RULE_PREFIX] = {.order = {.judge = iso_verify_execution, .split = true}, .forbids = forbids_under_prefix},
    [ISO_RULE_PARALLEL] =
        {.order = {.judge = iso_verify_visibility, .visibility = true, .paths = true, .overwriting = true},
         .forbids = forbids_under_parallel},
    [ISO_RULE_UPDATE_ATOMIC] = {.order = {.judge = iso_verify_visibility, .visibility = true, .overwriting = true},
                                .forbids = forbids_under_update_atomic},
    [ISO_RULE_MIXED] = {.order = {.judge = iso_verify_own_levels, .own_levels = true},
                        .forbids = forbids_by_own_levels},
};

const iso_axiom_judge *iso_axiom_judge_of(iso_axiom axiom) { return &axioms[axiom]; }
const iso_rule_judge *iso_rule_judge_of(iso_rule rule) { return &rules[rule]; }
