/* Prefix consistency: begins read and commits write, but writers of a key may overlap. */
#include "check/strong/rules/rule.h"
#include "check/strong/scenario/shrink.h"

/* SO and WR from commit to begin, WW from commit to commit, RW from begin to commit. */
static bool step(const iso_link *link, iso_link_levels levels, bool second, uint32_t *to) {
  (void)levels;
  bool missed = link->kind == ISO_EDGE_RW;
  *to = link->to * 2 + (missed || link->kind == ISO_EDGE_WW);
  return second == !missed;
}

const iso_strong_rule iso_strong_rule_prefix = {.split = true,
                                                .ww_to_commit = true,
                                                .examine = iso_execute,
                                                .is_executed = true,
                                                .saturates = true,
                                                .overtakes = true,
                                                .step = step,
                                                .has_passage = true,
                                                .add_rival = iso_shrinker_add_rival};
