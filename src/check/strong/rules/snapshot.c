/* Snapshot isolation: begins read, commits write, and two writers of a key do not overlap. */
#include "check/strong/rules/rule.h"
#include "check/strong/scenario/shrink.h"

/* SO, WR and WW from commit to begin, RW from begin to commit. */
static bool step(const iso_link *link, iso_link_levels levels, bool second, uint32_t *to) {
  (void)levels;
  bool missed = link->kind == ISO_EDGE_RW;
  *to = link->to * 2 + missed;
  return second == !missed;
}

const iso_strong_rule iso_strong_rule_snapshot = {.split = true,
                                                  .examine = iso_execute,
                                                  .is_executed = true,
                                                  .exclusive = true,
                                                  .saturates = true,
                                                  .overtakes = true,
                                                  .step = step,
                                                  .has_passage = true,
                                                  .add_rival = iso_shrinker_add_rival};
