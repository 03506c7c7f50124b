/* Causal: nobody causally before t3 may have overwritten what it reads. */
#include "check/axioms/prove_steps.h"
#include "check/axioms/rule.h"

static bool prove(iso_prover *p, const iso_instance *instance, iso_proof *proof) {
  return iso_prove_causal_path(p, instance->t2, instance->t3, proof);
}

const iso_axiom_rule iso_axiom_rule_CAUSAL = {.needs_groups = true,
                                              .breaks_with_non_repeatable_read = true,
                                              .prove = prove,
                                              .least_reasons = 1,
                                              .least_reasons_unseen = 2};
