/* Serializability: transactions one after the other; SO, WR, WW and RW have no cycle. */
#include "check/strong/rules/rule.h"
#include "check/strong/scenario/shrink.h"

static bool step(const iso_link *link, iso_link_levels levels, bool second, uint32_t *to) {
  (void)levels;
  *to = link->to * 2 + second;
  return true;
}

const iso_strong_rule iso_strong_rule_serializable = {.examine = iso_execute,
                                                      .is_executed = true,
                                                      .saturates = true,
                                                      .overtakes = true,
                                                      .step = step,
                                                      .starts_once = true,
                                                      .add_rival = iso_shrinker_add_rival};
