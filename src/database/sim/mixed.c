/* mixed.c - transactions with levels of their own, on a store with one copy.
 *
 * The commit order is that in which transactions commit.  Read committed reads the newest version of each moment;
 * snapshot isolation takes a snapshot when it begins, and no other writer of its keys runs beside it, whatever the
 * level of that one is; serializable reads when it commits.
 */
#include "database/sim/sim.h"

static const struct {
  const iso_sim_engine *engine;
  iso_txn_isolation isolation;
} levels[ISOPROOF_SIM_LEVELS] = {
    [ISOPROOF_SIM_SERIALIZABLE] = {&iso_sim_late_serializable, ISO_ISOLATION_SERIALIZABLE},
    [ISOPROOF_SIM_SNAPSHOT] = {&iso_sim_snapshot, ISO_ISOLATION_SNAPSHOT_ISOLATION},
    [ISOPROOF_SIM_READ_COMMITTED] = {&iso_sim_read_committed, ISO_ISOLATION_READ_COMMITTED},
};

enum { MOST_WEIGHT = 1000000, WEIGHTS = sizeof((isoproof_sim_options *)NULL)->mix / sizeof(uint32_t) };
_Static_assert((int)ISOPROOF_SIM_LEVELS <= (int)WEIGHTS, "isoproof_sim_options has room for every level");

bool iso_sim_is_mixed(const isoproof_sim_options *options) {
  for (int i = 0; i < WEIGHTS; i++)
    if (options->mix[i] > 0) return true;
  return false;
}

isoproof_status iso_sim_check_mix(const isoproof_sim_options *options, isoproof_error *error) {
  for (int i = 0; i < WEIGHTS; i++) {
    if (options->mix[i] == 0) continue;
    if (i >= (int)ISOPROOF_SIM_LEVELS || levels[i].engine == NULL) {
      const char *name = isoproof_sim_level_name((isoproof_sim_level)i);
      return iso_fail(error, ISOPROOF_ERR_USAGE,
                      "mix: expected serializable, snapshot-isolation and read-committed, found %s",
                      name != NULL ? name : "a level that there is not");
    }
    if (options->mix[i] > MOST_WEIGHT)
      return iso_fail(error, ISOPROOF_ERR_USAGE, "mix: expected weights up to %d, found %u", MOST_WEIGHT,
                      options->mix[i]);
  }
  if (options->rows && iso_sim_is_mixed(options))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "mix: expected registers or lists, found rows");
  return ISOPROOF_OK;
}

void iso_sim_give_level(iso_sim *sim, uint32_t number, isoproof_sim_level level) {
  bool mixed = iso_sim_is_mixed(sim->options);
  sim->sessions[number].engine = mixed ? levels[level].engine : sim->engine;
  sim->sessions[number].isolation = mixed ? levels[level].isolation : ISO_ISOLATION_NONE;
}

void iso_sim_draw_level(iso_sim *sim, uint32_t number) {
  uint32_t total = 0, level = 0;
  for (uint32_t i = 0; i < ISOPROOF_SIM_LEVELS; i++) total += sim->options->mix[i];
  if (total > 0) {
    uint32_t drawn = iso_random_below(&sim->random, total);
    while (drawn >= sim->options->mix[level]) drawn -= sim->options->mix[level++];
  }
  iso_sim_give_level(sim, number, (isoproof_sim_level)level);
}
