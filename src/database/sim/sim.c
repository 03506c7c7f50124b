/* sim.c - isoproof_simulate: from options to a history and its blames. */
#include "database/sim/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/abi.h"

enum { MOST_SESSIONS = 1000000, MOST_REPLICAS = 64, MOST_KEYS = 1000000000 };

struct isoproof_injected_bugs {
  isoproof_injected_bug *items;
  size_t count;
};

static const iso_sim_engine *const engines[ISOPROOF_SIM_LEVELS] = {
    [ISOPROOF_SIM_SERIALIZABLE] = &iso_sim_serializable,
    [ISOPROOF_SIM_SNAPSHOT] = &iso_sim_snapshot,
    [ISOPROOF_SIM_PARALLEL_SNAPSHOT] = &iso_sim_parallel_snapshot,
    [ISOPROOF_SIM_CAUSAL] = &iso_sim_causal,
    [ISOPROOF_SIM_READ_ATOMIC] = &iso_sim_read_atomic,
    [ISOPROOF_SIM_READ_COMMITTED] = &iso_sim_read_committed,
};

static const isoproof_sim_options defaults = {.struct_size = sizeof defaults,
                                              .seed = 1,
                                              .level = ISOPROOF_SIM_SERIALIZABLE,
                                              .sessions = 10,
                                              .txns = 1000,
                                              .ops_min = 10,
                                              .ops_max = 10,
                                              .read_share = 0.5,
                                              .keys = 100,
                                              .distribution = ISOPROOF_KEYS_UNIFORM,
                                              .skew = 1,
                                              .hot_share = 0.8,
                                              .hot_keys_share = 0.2,
                                              .appends_per_key = 100,
                                              .replicas = 3,
                                              .predicate_share = 0.5};

bool isoproof_sim_defaults(isoproof_sim_options *options) { return ISO_STRUCT_GIVE(options, defaults); }

/* ---- checking the options ---- */

static isoproof_status check_range(const char *name, uint64_t found, uint64_t most, isoproof_error *error) {
  if (found >= 1 && found <= most) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected 1 to %" PRIu64 ", found %" PRIu64, name, most, found);
}

static isoproof_status check_bug(const isoproof_sim_options *options, isoproof_sim_bug bug, isoproof_error *error) {
  if (options->bugs[bug] == 0) return ISOPROOF_OK;
  const char *name = isoproof_sim_bug_name(bug);
  bool rows = iso_sim_bug_is_of_rows(bug);
  if (rows != options->rows)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "bug %s: expected %s, found %s", name,
                    rows ? "rows" : "registers or lists",
                    options->rows    ? "rows"
                    : options->lists ? "lists"
                                     : "registers");
  uint32_t sessions = rows ? iso_sim_row_bug_sessions(bug) : iso_sim_bug_sessions(options, bug);
  if (options->sessions < sessions)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "bug %s: expected at least %u sessions, found %u", name, sessions,
                    options->sessions);
  if (rows) return ISOPROOF_OK;
  if (options->keys < iso_sim_bug_keys(bug))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "bug %s: expected at least %u keys, found %u", name,
                    iso_sim_bug_keys(bug), options->keys);
  if (bug == ISOPROOF_SIM_BUG_DUPLICATE_APPEND && !options->lists)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "bug %s: expected lists, found registers", name);
  return ISOPROOF_OK;
}

static isoproof_status check_options(const isoproof_sim_options *options, isoproof_error *error) {
  if ((unsigned)options->level >= ISOPROOF_SIM_LEVELS)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "level: %u is no level of the simulator", (unsigned)options->level);
  ISO_TRY(check_range("sessions", options->sessions, MOST_SESSIONS, error));
  ISO_TRY(check_range("keys", options->keys, MOST_KEYS, error));
  if (options->rows && options->lists) return iso_fail(error, ISOPROOF_ERR_USAGE, "rows: expected no lists besides");
  ISO_TRY(check_range("replicas", options->replicas, MOST_REPLICAS, error));
  if (options->txns > ISO_MAX_TXNS)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "txns: expected at most %u, found %" PRIu64, ISO_MAX_TXNS,
                    options->txns);
  if (!(options->duplicate_share >= 0 && options->duplicate_share <= 1))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "duplicate_share: expected 0 to 1, found %g", options->duplicate_share);
  if (options->duplicate_share > 0 && options->lists)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "duplicate_share: expected registers, found lists");
  ISO_TRY(iso_sim_check_mix(options, error));
  size_t room = sizeof options->bugs / sizeof *options->bugs;
  for (size_t i = ISOPROOF_SIM_BUGS; i < room; i++)
    if (options->bugs[i] != 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "bugs: there is no bug number %zu", i);
  for (int i = 0; i < ISOPROOF_SIM_BUGS; i++) ISO_TRY(check_bug(options, (isoproof_sim_bug)i, error));
  return ISOPROOF_OK;
}

static isoproof_status take_options(const isoproof_sim_options *given, isoproof_sim_options *options,
                                    isoproof_error *error) {
  *options = defaults;
  ISO_TRY(ISO_OPTIONS_READ(isoproof_sim_options, options, given, error));
  return check_options(options, error);
}

/* ---- making and freeing ---- */

static isoproof_status make_workload(iso_sim *sim, isoproof_error *error) {
  const isoproof_sim_options *options = sim->options;
  iso_op_mix_options workload = {.seed = options->seed,
                                 .ops_min = options->ops_min,
                                 .ops_max = options->ops_max,
                                 .read_share = options->read_share,
                                 .rmw_share = options->rmw_share,
                                 .abort_share = options->abort_share,
                                 .unknown_share = options->unknown_share,
                                 .appends_per_key = options->lists ? options->appends_per_key : 0};
  ISO_TRY(iso_keys_init(&workload.source, options->distribution, options->keys, options->skew, options->hot_share,
                        options->hot_keys_share, error));
  return iso_op_mix_new(&workload, &sim->workload, error);
}

static isoproof_status make_sessions(iso_sim *sim, isoproof_error *error) {
  uint32_t count = sim->options->sessions;
  sim->sessions = iso_alloc_zero((size_t)count + 1, sizeof *sim->sessions);
  /* A session that parks and is woken in one step stands twice in the array for a moment. */
  sim->runnable = iso_alloc((size_t)count + 2, sizeof *sim->runnable);
  sim->parked = iso_alloc(count, sizeof *sim->parked);
  if (sim->sessions == NULL || sim->runnable == NULL || sim->parked == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i <= count; i++) sim->sessions[i].first_waiter = ISO_SIM_NONE;
  for (uint32_t i = 0; i < count + sim->options->lists; i++) {
    uint32_t session;
    ISO_TRY(iso_builder_session(sim->builder, i, &session, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status say(iso_sim *sim, const char *name, const char *value, isoproof_error *error) {
  return iso_builder_fact(sim->builder, name, value, strlen(value), error);
}

static isoproof_status make(iso_sim *sim, isoproof_error *error) {
  char seed[32];
  snprintf(seed, sizeof seed, "%" PRIu64, sim->options->seed);
  bool mixed = iso_sim_is_mixed(sim->options);
  sim->engine = mixed ? &iso_sim_late_serializable : engines[sim->options->level];
  iso_random_seed(&sim->random, sim->options->seed, 2);
  ISO_TRY(isoproof_builder_new(&sim->builder, error));
  iso_builder_origin(sim->builder, ISOPROOF_FORMATS, ISO_POSITION_NONE, !sim->options->rows);
  ISO_TRY(say(sim, "database", "simulator", error));
  ISO_TRY(say(sim, "isolation", mixed ? "mixed" : isoproof_sim_level_name(sim->options->level), error));
  ISO_TRY(say(sim, "seed", seed, error));
  if (sim->options->rows) return ISOPROOF_OK;
  ISO_TRY(make_workload(sim, error));
  ISO_TRY(make_sessions(sim, error));
  if (sim->engine->open != NULL) ISO_TRY(sim->engine->open(sim, error));
  ISO_TRY(iso_sim_grow(sim, sim->options->keys, error));
  return iso_sim_plan_bugs(sim, error);
}

static void unmake(iso_sim *sim) {
  if (sim->engine->close != NULL && !sim->options->rows) sim->engine->close(sim);
  for (uint32_t i = 0; sim->sessions != NULL && i <= sim->options->sessions; i++) {
    iso_vec_free(&sim->sessions[i].ops);
    iso_vec_free(&sim->sessions[i].claims);
  }
  free(sim->sessions);
  free(sim->runnable);
  free(sim->parked);
  iso_vec_free(&sim->plans);
  iso_vec_free(&sim->faults);
  iso_sim_store_free(sim);
  iso_op_mix_free(sim->workload);
  isoproof_builder_free(sim->builder);
}

/* ---- blames ---- */

static isoproof_status make_blames(const iso_sim *sim, const isoproof_history *history, isoproof_injected_bugs **blames,
                                   isoproof_error *error) {
  isoproof_injected_bugs *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->items = iso_alloc_zero(sim->faults.count, sizeof *made->items);
  if (made->items == NULL) {
    free(made);
    return iso_fail_memory(error);
  }
  made->count = sim->faults.count;
  for (size_t i = 0; i < made->count; i++) {
    const iso_sim_fault *fault = &sim->faults.items[i];
    isoproof_injected_bug *blame = &made->items[i];
    blame->bug = fault->bug;
    blame->level = isoproof_sim_bug_level(fault->bug);
    blame->txn_count = fault->txns;
    blame->key_count = fault->key_count;
    for (uint32_t t = 0; t < fault->txns; t++)
      blame->txns[t] = (uint64_t)history->session_first_txn[fault->sessions[t]] + fault->indexes[t];
    for (uint32_t k = 0; k < fault->key_count; k++) blame->keys[k] = isoproof_integer(fault->keys[k]);
  }
  *blames = made;
  return ISOPROOF_OK;
}

size_t isoproof_injected_bug_count(const isoproof_injected_bugs *injected) { return injected->count; }

bool isoproof_injected_bug_at(const isoproof_injected_bugs *injected, size_t number, isoproof_injected_bug *out) {
  if (number >= injected->count) return false;
  return ISO_STRUCT_GIVE(out, injected->items[number]);
}

void isoproof_injected_bugs_free(isoproof_injected_bugs *injected) {
  if (injected == NULL) return;
  free(injected->items);
  free(injected);
}

/* ---- running ---- */

isoproof_status isoproof_simulate(const isoproof_sim_options *given, isoproof_task *task, isoproof_history **history,
                                  isoproof_injected_bugs **blames, isoproof_error *error) {
  isoproof_sim_options options;
  ISO_TRY(take_options(given, &options, error));
  iso_sim sim = {.options = &options, .task = task};
  isoproof_history *made = NULL;
  isoproof_status status = make(&sim, error);
  bool rows = options.rows;
  if (status == ISOPROOF_OK)
    status = rows ? iso_sim_rows(&options, sim.builder, &sim.faults, task, error) : iso_sim_run(&sim, error);
  if (status == ISOPROOF_OK) {
    /* The store is no longer needed while the history is put in order, which takes the most memory. */
    if (sim.engine->close != NULL && !rows) sim.engine->close(&sim);
    iso_sim_store_free(&sim);
    status = isoproof_builder_finish(sim.builder, &made, error);
  }
  if (status == ISOPROOF_OK && blames != NULL) status = make_blames(&sim, made, blames, error);
  unmake(&sim);
  if (status != ISOPROOF_OK)
    isoproof_history_free(made);
  else
    *history = made;
  return status;
}
