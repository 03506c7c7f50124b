/* The memory of scenarios. */
#include "result/scenario.h"

#include <string.h>

void iso_scenario_free(iso_scenario *scenario) {
  iso_vec_free(&scenario->txns);
  iso_vec_free(&scenario->known);
  iso_vec_free(&scenario->cases);
  iso_vec_free(&scenario->links);
  memset(scenario, 0, sizeof *scenario);
}
