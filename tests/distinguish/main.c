/* main.c - lists all small histories, and writes src/level/distinctions.def to stdout: `make distinguish`. */
#include <stdio.h>

#include "tests/distinguish/judge.h"
#include "tests/distinguish/search.h"

/* Tells of pairs that nothing was found for and nothing is proved of: an implication is missing, or bounds are too
 * small. */
static void report_open_pairs(const search_outcome *outcome) {
  isoproof_proof_step step = {.struct_size = sizeof step};
  iso_level_set levels = judge_levels();
  for (unsigned a = 0; a < ISO_LEVEL_COUNT; a++) {
    for (unsigned b = 0; b < ISO_LEVEL_COUNT; b++) {
      bool asked = a != b && (levels & ISO_LEVEL_BIT(a)) != 0 && (levels & ISO_LEVEL_BIT(b)) != 0;
      if (!asked || (outcome->told[a] & ISO_LEVEL_BIT(b)) != 0) continue;
      const isoproof_level_info *allows = isoproof_level_at(a), *forbids = isoproof_level_at(b);
      if (!isoproof_proof_step_at(allows, forbids, 0, &step))
        fprintf(stderr, "nothing found that %s allows and %s forbids\n", allows->id, forbids->id);
    }
  }
}

int main(void) {
  static search_outcome outcome;
  if (!search_run(&search_all, 3, &outcome)) return 1;
  report_open_pairs(&outcome);
  search_write(&search_all, &outcome);
  return 0;
}
