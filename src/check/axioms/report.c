/* What the violated axioms come to, as findings. */
#include "check/axioms/known_cycles.h"
#include "check/axioms/rule.h"
#include "check/axioms/weak.h"

iso_tap iso_weak_pattern(const iso_weak *weak, const iso_instance *instance) {
  const iso_view *v = &weak->view;
  const isoproof_history *h = v->h;
  bool co = instance->causal_cycle;
  if (iso_view_reads_before(v, instance->t2, instance->t3, instance->read)) return co ? ISO_TAP_H : ISO_TAP_I;
  bool own = h->txn_session[instance->t2] == h->txn_session[instance->t3] && instance->t2 < instance->t3;
  if (own || iso_view_reads_from(v, instance->t2, instance->t3)) return co ? ISO_TAP_K : ISO_TAP_L;
  return co ? ISO_TAP_M : ISO_TAP_N;
}

/* t3 reads x from t1 and from t2, and nothing else from t2: that is TAP-j, which is counted as such and breaks the same
 * levels from read atomic up. */
static bool is_non_repeatable(const iso_weak *weak, const iso_instance *instance) {
  const iso_view *v = &weak->view;
  bool same_key = false, other_key = false;
  for (uint32_t i = v->read_first[instance->t3]; i < v->read_first[instance->t3 + 1]; i++) {
    if (v->reads[i].from != instance->t2) continue;
    if (v->reads[i].key == v->reads[instance->read].key) {
      same_key = true;
    } else {
      other_key = true;
    }
  }
  bool own = v->h->txn_session[instance->t2] == v->h->txn_session[instance->t3] && instance->t2 < instance->t3;
  return same_key && !other_key && !own;
}

static bool is_reported(const iso_weak *weak, iso_axiom axiom, const iso_instance *instance) {
  bool counted_as_j = iso_axiom_rule_of(axiom)->breaks_with_non_repeatable_read;
  return !instance->redundant && !(counted_as_j && is_non_repeatable(weak, instance));
}

bool iso_weak_is_reported(const iso_weak *weak, iso_axiom axiom, uint32_t number, iso_tap tap) {
  const iso_instance *instance = &weak->axioms[axiom].instances.items[number];
  return is_reported(weak, axiom, instance) && iso_weak_pattern(weak, instance) == tap;
}

enum { REPORTED = ISO_AXIOMS + 1 }; /* the owner of a pattern that is among the findings already */

static void report_axiom(const iso_weak *weak, iso_axiom axiom, int owner[ISO_TAPS], iso_findings *findings) {
  const iso_axiom_result *r = &weak->axioms[axiom];
  for (size_t i = 0; i < r->instances.count; i++) {
    const iso_instance *instance = &r->instances.items[i];
    if (!is_reported(weak, axiom, instance)) continue;
    iso_tap tap = iso_weak_pattern(weak, instance);
    if (owner[tap] == ISO_AXIOMS) owner[tap] = (int)axiom;
    if (owner[tap] != (int)axiom) continue;
    uint32_t op = weak->view.reads[instance->read].op;
    iso_findings_add(findings, (iso_finding){(uint32_t)tap, op, (uint32_t)axiom, (uint32_t)i, 0});
  }
}

isoproof_status iso_weak_report_known(const iso_weak *weak, iso_findings *findings, isoproof_error *error) {
  for (size_t i = 0; i < weak->versions.broken.count; i++) iso_findings_add(findings, weak->versions.broken.items[i]);
  return iso_known_cycles_report(&weak->view, &weak->known_edges, &weak->co, &weak->known, findings, error);
}

void iso_weak_report(const iso_weak *weak, bool sessions, iso_findings *findings) {
  int owner[ISO_TAPS];
  /* What was reported before, by the axioms decided until then, stays as it is. */
  for (int tap = 0; tap < ISO_TAPS; tap++) owner[tap] = findings->count[tap] > 0 ? REPORTED : ISO_AXIOMS;
  for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) {
    bool of_session = iso_axiom_level((iso_axiom)axiom)->family == ISOPROOF_LEVEL_SESSION;
    if (of_session && !sessions) continue;
    if (weak->axioms[axiom].violated) report_axiom(weak, (iso_axiom)axiom, owner, findings);
  }
}
