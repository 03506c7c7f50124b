/* The table of axioms. */
#include "check/axioms/rule.h"

const iso_axiom_rule *iso_axiom_rule_of(iso_axiom axiom) {
  static const iso_axiom_rule *const rules[] = {
#define ISO_X(name, text) &iso_axiom_rule_##name,
      ISO_AXIOM_LIST(ISO_X)
#undef ISO_X
  };
  return rules[axiom];
}
