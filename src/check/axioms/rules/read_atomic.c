/* Read atomic: nobody whom t3 follows in its session, or reads from, may have overwritten what it reads. */
#include "check/axioms/prove_steps.h"
#include "check/axioms/rule.h"
#include "check/axioms/scan_steps.h"

static void scan(iso_scanner *s, uint32_t session, uint32_t t3) {
  (void)session;
  if (!iso_scan_collect(s, t3)) return;
  iso_scan_force_sources(s, t3, false);
  iso_scan_force_own_session(s, t3);
  iso_scan_note_writes(s, t3);
}

static bool prove(iso_prover *p, const iso_instance *instance, iso_proof *proof) {
  const iso_view *v = &p->weak->view;
  uint32_t t2 = instance->t2, t3 = instance->t3;
  if (iso_prove_is_before(v->h, t2, t3)) return iso_prove_so(proof, t2, t3);
  return iso_prove_wr(proof, v, t3, iso_prove_read_from(v, t2, t3, ISO_NO_OP));
}

const iso_axiom_rule iso_axiom_rule_READ_ATOMIC = {
    .scan = scan, .breaks_with_non_repeatable_read = true, .prove = prove, .least_reasons = 1};
