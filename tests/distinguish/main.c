/* main.c - lists all small histories, and writes src/level/distinctions.def to stdout: `make distinguish`. */
#include <stdio.h>

#include "tests/distinguish/judge.h"
#include "tests/distinguish/search.h"

/* Pairs that nothing was found for although the one does not imply the other. */
static void report_open_pairs(const search_outcome *outcome) {
  iso_level_set levels = judge_levels();
  for (unsigned a = 0; a < ISO_LEVEL_COUNT; a++) {
    iso_level_set open = levels & ~outcome->told[a] & ~iso_level_implied((iso_level)a);
    for (unsigned b = 0; (levels & ISO_LEVEL_BIT(a)) != 0 && b < ISO_LEVEL_COUNT; b++) {
      if ((open & ISO_LEVEL_BIT(b)) == 0) continue;
      fprintf(stderr, "nothing found that %s allows and %s forbids\n", isoproof_level_at(a)->id,
              isoproof_level_at(b)->id);
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
