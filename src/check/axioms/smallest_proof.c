/* Of many instances of a pattern, the one with the shortest proof. */
#include "check/axioms/smallest_proof.h"

#include "check/axioms/rule.h"

/* How many edges all searches for one pattern may look at. */
enum { MOST_WORK = 1 << 22 };

typedef struct {
  iso_prover *prover;
  iso_finding *best;
  size_t length; /* of the best */
  uint64_t limit;
} contest;

static void enter(contest *c, const iso_finding *candidate) {
  iso_proof proof;
  bool proved = iso_prove(c->prover, candidate, &proof);
  size_t length = proof.cycle.count + proof.reasons.count;
  iso_proof_free(&proof);
  if (!proved || length >= c->length) return;
  c->length = length;
  *c->best = *candidate;
}

static bool is_over(const contest *c, size_t least) { return c->length <= least || c->prover->work > c->limit; }

/* The fewest steps that the condition of the axiom can take. */
static size_t least_reasons(iso_axiom axiom, iso_tap tap) {
  const iso_axiom_rule *rule = iso_axiom_rule_of(axiom);
  bool unseen = iso_tap_of(tap)->axiom == ISO_AXIOM_CAUSAL && rule->least_reasons_unseen > 0;
  return unseen ? rule->least_reasons_unseen : rule->least_reasons;
}

/* The fewest steps from t1 back to t2. */
static size_t least_way_back(const iso_weak *weak, const iso_instance *instance) {
  const iso_view *v = &weak->view;
  uint32_t t1 = instance->t1, t2 = instance->t2;
  if (t1 == ISO_INITIAL) return 0;
  if (iso_versions_before(v, &weak->versions, v->reads[instance->read].key, t1, t2)) return 1;
  if (t1 < t2 && v->h->txn_session[t1] == v->h->txn_session[t2]) return 1;
  return iso_view_reads_from(v, t1, t2) ? 1 : 2;
}

/* Instances in the order of the least that their proofs can take: when the best has no more than that, it is the best
 * of all. */
static void compare_instances(contest *c, const iso_finding *first) {
  const iso_weak *weak = c->prover->weak;
  const iso_axiom axiom = (iso_axiom)first->seen;
  const iso_axiom_result *r = &weak->axioms[axiom];
  size_t reasons = least_reasons(axiom, (iso_tap)first->tap);
  for (size_t back = 0; back <= 2; back++) {
    size_t least = 1 + reasons + back;
    for (uint32_t i = 0; i < r->instances.count && !is_over(c, least); i++) {
      const iso_instance *instance = &r->instances.items[i];
      if (least_way_back(weak, instance) != back) continue;
      if (!iso_weak_is_reported(weak, axiom, i, (iso_tap)first->tap)) continue;
      iso_finding candidate = *first;
      candidate.other = i;
      candidate.op = weak->view.reads[instance->read].op;
      enter(c, &candidate);
    }
    if (is_over(c, least)) return;
  }
}

/* Every transaction on a cycle as a start. */
static void compare_cycles(contest *c, const iso_finding *first) {
  const iso_weak *weak = c->prover->weak;
  const uint32_t *component = iso_tap_is_causal((iso_tap)first->tap) ? weak->co.component : weak->known.component;
  /* A cycle has each kind of edge once at least, and two steps. */
  size_t least = (size_t)__builtin_popcount(iso_tap_of((iso_tap)first->tap)->edges);
  if (least < 2) least = 2;
  for (uint32_t txn = 0; component != NULL && txn < weak->view.h->txns && !is_over(c, least); txn++) {
    if (component[txn] == ISO_NO_TXN) continue;
    iso_finding candidate = *first;
    candidate.seen = txn;
    candidate.op = weak->view.h->txn_first_op[txn];
    enter(c, &candidate);
  }
}

void iso_prove_smallest(iso_prover *prover, iso_finding *finding) {
  iso_finding first = *finding;
  contest c = {prover, finding, SIZE_MAX, prover->work + MOST_WORK};
  enter(&c, &first);
  if (iso_tap_of((iso_tap)first.tap)->class == ISO_CLASS_CYCLE) {
    compare_cycles(&c, &first);
  } else {
    compare_instances(&c, &first);
  }
}
