/* Which quick proof suits what was asked, and what follows from it. */
#include "check/prove_quickly.h"

#include "check/judge.h"
#include "history/real_time.h"

/* What is asked of the levels between transactions. */
typedef struct {
  bool any, strong;
  bool snapshots; /* a strong level that snapshot isolation implies */
  bool other;     /* one that takes dependencies, or a history of a certain kind */
  iso_axiom axiom;
} demand;

static demand demand_of(const isoproof_check_options *options) {
  const isoproof_level_info *snapshots = isoproof_level_at(ISO_LEVEL_SNAPSHOT_ISOLATION);
  demand d = {.any = options->level_count == 0, .strong = options->level_count == 0};
  for (size_t i = 0; i < options->level_count; i++) {
    const isoproof_level_info *level = isoproof_level_find(options->levels[i]);
    const iso_level_method *method = iso_level_method_of(level);
    if (method->engine == ISO_ENGINE_WITHIN) continue;
    bool strong = method->engine == ISO_ENGINE_STRONG,
         axiom = method->engine == ISO_ENGINE_AXIOM && method->axiom <= ISO_AXIOM_CAUSAL;
    d.any = true;
    d.other = d.other || method->engine == ISO_ENGINE_ELLE;
    d.other = d.other || (strong && (method->strong.single || method->strong.rule == ISO_RULE_MIXED));
    d.strong = d.strong || !axiom;
    d.snapshots = d.snapshots || (strong && isoproof_level_implies(snapshots, level));
    if (axiom && method->axiom > d.axiom) d.axiom = method->axiom;
  }
  return d;
}

isoproof_status iso_prove_quickly(const isoproof_history *history, const isoproof_check_options *options,
                                  uint32_t fewest_ops, isoproof_task *task, iso_quick_proof *proof,
                                  isoproof_error *error) {
  bool more = options->certificate || options->stats || options->anomaly_count > 0;
  bool timed = history->txn_end_opt != NULL || history->txn_end_index_opt != NULL;
  demand d = demand_of(options);
  *proof = (iso_quick_proof){.is_proved = false};
  if (more || !d.any || d.other) return ISOPROOF_OK;
  if (!d.strong && options->others) return ISOPROOF_OK; /* what is stronger has to be searched for all the same */
  if (!d.strong) return iso_quick_prove(history, d.axiom, task, proof, error);
  if (history->ops < fewest_ops) return ISOPROOF_OK;
  iso_quick_wish wish = {.memory = ISO_QUICK_ALL_MEMORY,
                         .by_reads = d.snapshots && timed,
                         .snapshots = true,
                         .repeats = true,
                         .axiom = ISO_AXIOM_READ_COMMITTED};
  return iso_quick_prove_frugally(history, &wish, task, proof, error);
}

/* Whether some transaction that counts is more than a single operation. */
static bool has_transactions(const isoproof_history *h) {
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    bool counts = h->txn_status[txn] != ISOPROOF_TXN_ABORTED;
    if (counts && h->txn_first_op[txn + 1] - h->txn_first_op[txn] > 1) return true;
  }
  return false;
}

/* Whether the history is such that the level is decided, where nobody asks for it in particular. */
static bool is_applicable(const isoproof_history *h, const isoproof_level_info *level) {
  const iso_strong_level *strong = iso_strong_level_of(level);
  if (level->family == ISOPROOF_LEVEL_MODEL) return false;
  if (strong == NULL) return true;
  if (strong->rule == ISO_RULE_MIXED) return iso_own_levels_lacking(h) == NULL;
  return !(strong->real_time && !iso_has_real_time(h)) && !(strong->single && has_transactions(h));
}

static bool is_known(const iso_quick_proof *proof, const isoproof_level_info *level) {
  const iso_strong_level *strong = iso_strong_level_of(level);
  /* Single operations whose values repeat are for the engines. */
  if (proof->repeats && strong != NULL && strong->single) return false;
  return iso_level_method_of(level)->engine == ISO_ENGINE_WITHIN ||
         isoproof_level_implies(iso_quick_proved_level(proof), level);
}

bool iso_proof_settles(const isoproof_history *history, const isoproof_check_options *options,
                       const iso_quick_proof *proof) {
  const isoproof_level_info *level;
  bool all = options->level_count == 0 || options->others;
  if (iso_quick_proved_level(proof) == NULL) return false;
  for (size_t i = 0; (level = isoproof_level_at(i)) != NULL; i++) {
    bool wanted = iso_is_level_asked(options, level) || (all && is_applicable(history, level));
    if (wanted && !is_known(proof, level)) return false;
  }
  return true;
}
