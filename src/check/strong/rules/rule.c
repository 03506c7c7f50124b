/* The table of rules. */
#include "check/strong/rules/rule.h"

const iso_strong_rule *iso_strong_rule_of(iso_rule rule) {
  static const iso_strong_rule *const rules[] = {
#define ISO_X(name, function, text) &iso_strong_rule_##function,
      ISO_RULE_LIST(ISO_X)
#undef ISO_X
  };
  return rules[rule];
}
