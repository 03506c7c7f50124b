/* Read committed, read atomic, causal and the session guarantees against the oracle, on random histories.
 * ISOPROOF_RANDOM_HISTORIES sets how many (100,000 in the test command), ISOPROOF_RANDOM_SEED where they start.  Lists
 * have a test of their own. */
#include "tests/unit/unit.h"

#include "check/axioms/weak.h"
#include "tests/random/agree.h"

/* The verdicts on random histories of registers. */
static void agrees_with_the_oracle(void **state) {
  static const char *const codes[] = {"TAP-a", "TAP-b", "TAP-c", "TAP-d", "TAP-e", "TAP-f", "TAP-g", "TAP-h",
                                      "TAP-i", "TAP-j", "TAP-k", "TAP-l", "TAP-m", "TAP-n", NULL};
  (void)state;
  agree_with_oracle(sketch_draw, 60000, AGREE_ALL, codes);
}

/* The example of every pattern shows that pattern, and the level it names is violated. */
static void examples_show_their_patterns(void **state) {
  (void)state;
  const isoproof_anomaly_info *info;
  unsigned seen = 0;
  for (size_t i = 0; (info = isoproof_anomaly_at(i)) != NULL; i++) {
    if (strncmp(info->code, "TAP-", 4) != 0) continue;
    assert_non_null(info->example);
    isoproof_history *history;
    isoproof_result *result;
    isoproof_error error;
    assert_ok_error(
        isoproof_history_open_memory(info->example, strlen(info->example), info->code, NULL, NULL, &history, &error),
        error);
    assert_ok_error(isoproof_check(history, NULL, NULL, &result, &error), error);
    bool shown = false;
    for (size_t k = 0; k < isoproof_result_anomaly_count(result); k++) {
      isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
      assert_true(isoproof_result_anomaly_at(result, k, &anomaly));
      shown |= strcmp(anomaly.code, info->code) == 0;
    }
    if (!shown) fail_msg("the example of %s does not show it", info->code);
    assert_int_equal(isoproof_result_verdict_of(result, info->level), ISOPROOF_VIOLATED);
    isoproof_result_free(result);
    /* Asked for alone it is found as well, and nothing else is. */
    isoproof_check_options options = {.struct_size = sizeof options, .anomalies = &info->code, .anomaly_count = 1};
    assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
    assert_int_equal(isoproof_result_verdict(result), ISOPROOF_VIOLATED);
    assert_int_equal(isoproof_result_anomaly_count(result), 1);
    assert_int_equal(isoproof_result_level_count(result), 0);
    isoproof_result_free(result);
    isoproof_history_free(history);
    seen++;
  }
  assert_int_equal(seen, 14);
}

/* What the simulator promises of its levels and its bugs, on histories too large for the oracle. */
static void simulated_levels_and_bugs(void **state) {
  (void)state;
  static const struct {
    isoproof_sim_level level;
    const char *strongest;
  } promises[] = {{ISOPROOF_SIM_SERIALIZABLE, "causal"},      {ISOPROOF_SIM_SNAPSHOT, "causal"},
                  {ISOPROOF_SIM_PARALLEL_SNAPSHOT, "causal"}, {ISOPROOF_SIM_CAUSAL, "causal"},
                  {ISOPROOF_SIM_READ_ATOMIC, "read-atomic"},  {ISOPROOF_SIM_READ_COMMITTED, "read-committed"}};
  static const struct {
    isoproof_sim_bug bug;
    const char *code, *level;
  } bugs[] = {{ISOPROOF_SIM_BUG_FRACTURED_READ, "TAP-k", "read-atomic"},
              {ISOPROOF_SIM_BUG_CAUSALITY_VIOLATION, "TAP-m", "causal"},
              {ISOPROOF_SIM_BUG_ABORTED_READ, "TAP-b", "read-committed"},
              {ISOPROOF_SIM_BUG_INTERMEDIATE_READ, "TAP-f", "read-committed"},
              {ISOPROOF_SIM_BUG_NON_REPEATABLE_READ, "TAP-j", "cut-isolation"},
              {ISOPROOF_SIM_BUG_OWN_WRITE_MISSED, "TAP-d", "read-committed"},
              {ISOPROOF_SIM_BUG_THIN_AIR_READ, "TAP-a", "read-committed"}};
  enum { PROMISES = sizeof promises / sizeof promises[0], BUGS = sizeof bugs / sizeof bugs[0] };
  for (unsigned i = 0; i < PROMISES + BUGS; i++) {
    isoproof_sim_options options = {.struct_size = sizeof options};
    isoproof_history *history;
    isoproof_result *result;
    isoproof_sim_defaults(&options);
    options.struct_size = sizeof options;
    options.seed = 7 + i;
    options.sessions = 8;
    options.txns = UNLESS_SLOW(3000, 1000);
    options.keys = 50;
    options.distribution = ISOPROOF_KEYS_ZIPF;
    options.skew = 1;
    options.abort_share = 0.05;
    if (i < PROMISES) {
      options.level = promises[i].level;
    } else {
      options.bugs[bugs[i - PROMISES].bug] = 3;
    }
    assert_ok(isoproof_simulate(&options, NULL, &history, NULL, NULL));
    assert_ok(isoproof_check(history, NULL, NULL, &result, NULL));
    if (i < PROMISES) {
      assert_int_equal(isoproof_result_verdict_of(result, promises[i].strongest), ISOPROOF_SATISFIED);
    } else {
      const char *code = bugs[i - PROMISES].code;
      bool found = false;
      for (size_t k = 0; k < isoproof_result_anomaly_count(result); k++) {
        isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
        assert_true(isoproof_result_anomaly_at(result, k, &anomaly));
        if (strcmp(anomaly.code, code) == 0) found = anomaly.count >= 3;
      }
      if (!found) fail_msg("%s was not found three times", code);
      assert_int_equal(isoproof_result_verdict_of(result, bugs[i - PROMISES].level), ISOPROOF_VIOLATED);
    }
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

static bool append_text(void *user, const void *data, size_t size) {
  char *text = user;
  size_t used = strlen(text);
  if (used + size >= 65536) return false;
  memcpy(text + used, data, size);
  text[used + size] = '\0';
  return true;
}

/* One thread or several: the same report to the letter. */
static void threads_agree(void **state) {
  (void)state;
  static const isoproof_sim_level sim_levels[] = {ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_CAUSAL,
                                                  ISOPROOF_SIM_READ_COMMITTED};
  for (size_t i = 0; i < sizeof sim_levels / sizeof sim_levels[0]; i++) {
    char *reports[2];
    for (unsigned round = 0; round < 2; round++) {
      isoproof_sim_options options = {.struct_size = sizeof options};
      isoproof_history *history;
      isoproof_result *result;
      isoproof_task *task;
      reports[round] = calloc(1, 65536);
      assert_non_null(reports[round]);
      isoproof_sim_defaults(&options);
      options.struct_size = sizeof options;
      options.seed = 5;
      options.level = sim_levels[i];
      options.sessions = 20;
      options.txns = UNLESS_SLOW(20000, 6000);
      options.ops_min = options.ops_max = 5;
      options.bugs[ISOPROOF_SIM_BUG_FRACTURED_READ] = 5;
      assert_ok(isoproof_simulate(&options, NULL, &history, NULL, NULL));
      assert_ok(isoproof_task_new(&task));
      isoproof_task_set_threads(task, 1 + 2 * round);
      assert_ok(isoproof_check(history, NULL, task, &result, NULL));
      assert_ok(isoproof_result_write_json(result, NULL, append_text, reports[round], NULL));
      isoproof_result_free(result);
      isoproof_task_free(task);
      isoproof_history_free(history);
    }
    assert_string_equal(reports[0], reports[1]);
    free(reports[0]);
    free(reports[1]);
  }
}

static void decide_all(isoproof_history *history, uint32_t block_columns, iso_weak *weak) {
  assert_ok(iso_weak_begin(history, NULL, weak, NULL));
  weak->block_columns = block_columns;
  assert_ok(iso_weak_decide(weak, ISO_AXIOM_CAUSAL, NULL, NULL));
  for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) assert_ok(iso_weak_decide(weak, (iso_axiom)axiom, NULL, NULL));
}

enum { ROUNDS = UNLESS_SLOW(20000, 1000) };

/* Clocks made for a few sessions at a time give the same verdicts and the same instances. */
static void blocks_of_clocks(void **state) {
  (void)state;
  uint64_t random = 4711;
  unsigned violated = 0;
  for (int round = 0; round < ROUNDS; round++) {
    sketch s;
    sketch_draw(&random, &s);
    isoproof_history *history = sketch_history(&s);
    isoproof_resolution resolution = {.struct_size = sizeof resolution};
    assert_ok(isoproof_history_resolve(history, NULL, &resolution, NULL));
    iso_weak whole, blocks;
    decide_all(history, 0, &whole);
    decide_all(history, 1 + (uint32_t)round % 3, &blocks);
    for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) {
      const iso_axiom_result *a = &whole.axioms[axiom], *b = &blocks.axioms[axiom];
      assert_int_equal(a->violated, b->violated);
      violated += a->violated;
      if (axiom != ISO_AXIOM_CAUSAL) continue;
      assert_int_equal(a->instances.count, b->instances.count);
      for (size_t i = 0; i < a->instances.count; i++) {
        assert_int_equal(a->instances.items[i].t1, b->instances.items[i].t1);
        assert_int_equal(a->instances.items[i].t2, b->instances.items[i].t2);
        assert_int_equal(a->instances.items[i].read, b->instances.items[i].read);
        assert_int_equal(a->instances.items[i].causal_cycle, b->instances.items[i].causal_cycle);
      }
    }
    iso_weak_free(&whole);
    iso_weak_free(&blocks);
    isoproof_history_free(history);
  }
  assert_true(violated > ROUNDS / 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(examples_show_their_patterns),
                                     cmocka_unit_test(simulated_levels_and_bugs), cmocka_unit_test(blocks_of_clocks),
                                     cmocka_unit_test(threads_agree), cmocka_unit_test(agrees_with_the_oracle)};
  return cmocka_run_group_tests_name("weak", tests, NULL, NULL);
}
