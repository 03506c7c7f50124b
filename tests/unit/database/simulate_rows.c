/* Histories of rows from the simulator: what its levels claim holds, each bug breaks its level and nothing weaker, and
 * its name is found. */
#include <isoproof/simulate.h>

#include "tests/unit/unit.h"

enum { SEEDS = 8 };

static isoproof_sim_options small_options(uint64_t seed) {
  isoproof_sim_options options = {.struct_size = sizeof options};
  assert_true(isoproof_sim_defaults(&options));
  options.seed = seed;
  options.rows = true;
  options.sessions = 4;
  options.txns = 24;
  options.ops_min = 1;
  options.ops_max = 3;
  options.keys = 6;
  return options;
}

static isoproof_history *simulate(const isoproof_sim_options *options, isoproof_injected_bugs **blames) {
  isoproof_history *history = NULL;
  isoproof_error error = {0};
  assert_ok_error(isoproof_simulate(options, NULL, &history, blames, &error), error);
  return history;
}

static isoproof_result *judge(isoproof_history *history, const char *const *levels, size_t count) {
  isoproof_check_options options = {.struct_size = sizeof options, .levels = levels, .level_count = count};
  isoproof_result *result = NULL;
  isoproof_error error = {0};
  assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
  return result;
}

static void expect(isoproof_history *history, const char *level, isoproof_verdict wanted) {
  isoproof_result *result = judge(history, &level, 1);
  if (isoproof_result_verdict(result) != wanted)
    fail_msg("%s is %s", level, isoproof_verdict_name(isoproof_result_verdict(result)));
  isoproof_result_free(result);
}

static void keeps_its_promises(void **state) {
  (void)state;
  static const char *const claims[ISOPROOF_SIM_LEVELS] = {
      [ISOPROOF_SIM_SERIALIZABLE] = "strict-serializable",
      [ISOPROOF_SIM_SNAPSHOT] = "strong-snapshot-isolation",
      [ISOPROOF_SIM_PARALLEL_SNAPSHOT] = "parallel-snapshot-isolation",
      [ISOPROOF_SIM_CAUSAL] = "causal",
      [ISOPROOF_SIM_READ_ATOMIC] = "read-atomic",
      [ISOPROOF_SIM_READ_COMMITTED] = "read-committed",
  };
  for (int level = 0; level < ISOPROOF_SIM_LEVELS; level++) {
    isoproof_sim_options options = small_options(3 + (uint64_t)level);
    options.level = (isoproof_sim_level)level;
    options.abort_share = 0.1;
    options.unknown_share = 0.05;
    isoproof_history *history = simulate(&options, NULL);
    isoproof_counts counts = {.struct_size = sizeof counts};
    assert_true(isoproof_history_counts(history, &counts));
    assert_int_equal(counts.transactions, options.txns);
    assert_true(counts.has_times);
    expect(history, claims[level], ISOPROOF_SATISFIED);
    isoproof_history_free(history);
  }
}

/* The strongest level that stays, and the name of what is found. */
static const struct {
  isoproof_sim_bug bug;
  const char *stays, *code;
  size_t txns;
} bugs[] = {{ISOPROOF_SIM_BUG_PHANTOM, "strong-snapshot-isolation", "predicate-write-skew", 2},
            {ISOPROOF_SIM_BUG_LOST_DELETE, "serializable", "lost-delete", 3},
            {ISOPROOF_SIM_BUG_RESURRECTED_ROW, "serializable", "resurrected-row", 4},
            {ISOPROOF_SIM_BUG_MISSED_INSERT, "serializable", "missed-insert", 2}};

static void bugs_break_exactly_their_levels(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++) {
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      isoproof_sim_options options = small_options(seed);
      isoproof_injected_bugs *blames = NULL;
      isoproof_injected_bug blame = {.struct_size = sizeof blame};
      isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
      options.bugs[bugs[i].bug] = 1;
      isoproof_history *history = simulate(&options, &blames);
      assert_int_equal(isoproof_injected_bug_count(blames), 1);
      assert_true(isoproof_injected_bug_at(blames, 0, &blame));
      assert_int_equal(blame.bug, bugs[i].bug);
      assert_int_equal(blame.txn_count, bugs[i].txns);
      expect(history, bugs[i].stays, ISOPROOF_SATISFIED);
      isoproof_result *result = judge(history, &blame.level, 1);
      assert_int_equal(isoproof_result_verdict(result), ISOPROOF_VIOLATED);
      assert_true(isoproof_result_anomaly_at(result, 0, &anomaly));
      assert_string_equal(anomaly.code, bugs[i].code);
      /* Those to blame are in it. */
      for (size_t t = 0; t < anomaly.txn_count; t++) {
        bool blamed = false;
        for (size_t k = 0; k < blame.txn_count; k++) blamed |= blame.txns[k] == anomaly.txns[t];
        assert_true(blamed);
      }
      isoproof_result_free(result);
      isoproof_injected_bugs_free(blames);
      isoproof_history_free(history);
    }
  }
}

static void refuses(void **state) {
  (void)state;
  isoproof_history *history = NULL;
  isoproof_error error = {0};
  isoproof_sim_options options = small_options(1);
  options.bugs[ISOPROOF_SIM_BUG_LOST_UPDATE] = 1;
  assert_int_equal(isoproof_simulate(&options, NULL, &history, NULL, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "expected registers or lists, found rows"));
  options = small_options(1);
  options.rows = false;
  options.bugs[ISOPROOF_SIM_BUG_MISSED_INSERT] = 1;
  assert_int_equal(isoproof_simulate(&options, NULL, &history, NULL, &error), ISOPROOF_ERR_USAGE);
  options = small_options(1);
  options.bugs[ISOPROOF_SIM_BUG_RESURRECTED_ROW] = 1;
  options.sessions = 3;
  assert_int_equal(isoproof_simulate(&options, NULL, &history, NULL, &error), ISOPROOF_ERR_USAGE);
  options = small_options(1);
  options.lists = true;
  assert_int_equal(isoproof_simulate(&options, NULL, &history, NULL, &error), ISOPROOF_ERR_USAGE);
  options = small_options(1);
  options.ops_max = 0;
  assert_int_equal(isoproof_simulate(&options, NULL, &history, NULL, &error), ISOPROOF_ERR_USAGE);
  options = small_options(1);
  options.bugs[ISOPROOF_SIM_BUG_PHANTOM] = UINT64_MAX;
  assert_int_equal(isoproof_simulate(&options, NULL, &history, NULL, &error), ISOPROOF_ERR_USAGE);
  assert_null(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps_its_promises),
      cmocka_unit_test(bugs_break_exactly_their_levels),
      cmocka_unit_test(refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
