/* Read committed: what t3 read another key from before must not have overwritten what it reads. */
#include "check/axioms/prove_steps.h"
#include "check/axioms/rule.h"
#include "check/axioms/scan_steps.h"

static void scan(iso_scanner *s, uint32_t session, uint32_t t3) {
  (void)session;
  if (!iso_scan_is_idle(s, t3) && iso_scan_collect(s, t3)) iso_scan_force_sources(s, t3, true);
}

static bool prove(iso_prover *p, const iso_instance *instance, iso_proof *proof) {
  const iso_view *v = &p->weak->view;
  return iso_prove_wr(proof, v, instance->t3, iso_prove_read_from(v, instance->t2, instance->t3, instance->read));
}

const iso_axiom_rule iso_axiom_rule_READ_COMMITTED = {.scan = scan, .prove = prove, .least_reasons = 1};
