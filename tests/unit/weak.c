/* Read committed, read atomic, causal and the session guarantees against the oracle, on random histories.
 * ISOLDE_RANDOM_HISTORIES sets how many (200,000 in the test command), ISOLDE_RANDOM_SEED where they start. */
#include "unit.h"

#include "../oracle/oracle.h"
#include "../random/random_history.h"
#include "check/weak.h"

/* What the checkers of this test decide. */
static const oracle_level levels[] = {ORACLE_CUT_ISOLATION,    ORACLE_READ_COMMITTED,     ORACLE_READ_ATOMIC,
                                      ORACLE_CAUSAL,           ORACLE_READ_YOUR_WRITES,   ORACLE_MONOTONIC_READS,
                                      ORACLE_MONOTONIC_WRITES, ORACLE_WRITES_FOLLOW_READS};
enum { LEVELS = sizeof levels / sizeof levels[0] };

/* The verdicts of the library as bits in the order above; every anomaly must come with a verified witness. */
static unsigned judge(isolde_history *history, const char *only, char *problem, size_t size) {
  isolde_check_options options = {.struct_size = sizeof options, .levels = &only, .level_count = only != NULL};
  isolde_result *result;
  isolde_error error;
  unsigned bits = 0;
  if (isolde_check(history, &options, NULL, &result, &error) != ISOLDE_OK) {
    snprintf(problem, size, "%s: %.200s", only != NULL ? only : "all", error.message);
    return 0;
  }
  for (unsigned i = 0; i < LEVELS; i++) {
    isolde_verdict verdict = isolde_result_of(result, oracle_level_id(levels[i]));
    if (verdict == ISOLDE_SATISFIED) bits |= 1u << i;
    if (verdict == ISOLDE_UNDECIDED && (only == NULL || strcmp(only, oracle_level_id(levels[i])) == 0)) {
      snprintf(problem, size, "%s is not decided", oracle_level_id(levels[i]));
    }
  }
  bool violated = isolde_result_weakest_violated(result, 0) != NULL;
  if (violated != (isolde_result_anomalies(result) > 0)) snprintf(problem, size, "a violation without a witness");
  isolde_result_free(result);
  return bits;
}

/* Whether the library and the oracle differ on a sketch; says how. */
static bool differs(const sketch *s, void *user) {
  char *problem = user;
  isolde_history *history = sketch_history(s);
  oracle_verdicts verdicts;
  problem[0] = '\0';
  if (!oracle_judge(history, &verdicts)) {
    isolde_history_free(history);
    return false;
  }
  unsigned all = judge(history, NULL, problem, 256);
  for (unsigned i = 0; i < LEVELS && problem[0] == '\0'; i++) {
    const char *id = oracle_level_id(levels[i]);
    bool expected = verdicts.satisfied[levels[i]];
    bool alone = (judge(history, id, problem, 256) >> i & 1) != 0;
    if (((all >> i & 1) != 0) != expected || alone != expected) {
      snprintf(problem, 256, "%s: the oracle says %s, all levels at once %s, alone %s", id,
               expected ? "satisfied" : "violated", all >> i & 1 ? "satisfied" : "violated",
               alone ? "satisfied" : "violated");
    }
  }
  isolde_history_free(history);
  return problem[0] != '\0';
}

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

static void agrees_with_the_oracle(void **state) {
  (void)state;
  uint64_t histories = setting("ISOLDE_RANDOM_HISTORIES", 200000);
  uint64_t random = setting("ISOLDE_RANDOM_SEED", 20261115);
  uint64_t seen[1 << LEVELS] = {0};
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    char problem[256];
    sketch_draw(&random, &s);
    if (differs(&s, problem)) {
      char text[2048];
      sketch_shrink(&s, differs, problem);
      differs(&s, problem);
      sketch_print(&s, text, sizeof text);
      fail_msg("history %llu: %s\n%s", (unsigned long long)i, problem, text);
    }
    isolde_history *history = sketch_history(&s);
    oracle_verdicts verdicts;
    unsigned bits = 0;
    if (oracle_judge(history, &verdicts)) {
      for (unsigned k = 0; k < LEVELS; k++) bits |= (unsigned)verdicts.satisfied[levels[k]] << k;
      seen[bits]++;
    }
    isolde_history_free(history);
  }
  /* The generator reaches every combination of the four main levels that the lattice allows: as (cut isolation, read
   * committed, read atomic, causal), lowest bit first. */
  if (histories < 100000) return; /* too few to see everything */
  static const unsigned allowed[] = {0x0, 0x1, 0x2, 0x3, 0x7, 0xf};
  uint64_t main_levels[16] = {0};
  for (unsigned bits = 0; bits < 1u << LEVELS; bits++) main_levels[bits & 15] += seen[bits];
  for (unsigned bits = 0; bits < 16; bits++) {
    bool may = false;
    for (size_t k = 0; k < sizeof allowed / sizeof allowed[0]; k++) may |= allowed[k] == bits;
    if (may != (main_levels[bits] > 0))
      fail_msg("combination %x appears %llu times", bits, (unsigned long long)main_levels[bits]);
  }
  /* And each session guarantee is broken alone of the four by some history. */
  for (unsigned guarantee = 4; guarantee < 8; guarantee++) {
    uint64_t alone = 0;
    for (unsigned bits = 0; bits < 1u << LEVELS; bits++) {
      if ((bits >> 4) == (0xfu & ~(1u << (guarantee - 4)))) alone += seen[bits];
    }
    if (alone == 0) fail_msg("%s is never broken alone", oracle_level_id(levels[guarantee]));
  }
}

/* The example of every pattern shows that pattern, and the level it names is violated. */
static void examples_show_their_patterns(void **state) {
  (void)state;
  const isolde_anomaly_info *info;
  unsigned seen = 0;
  for (size_t i = 0; (info = isolde_anomaly_at(i)) != NULL; i++) {
    if (strncmp(info->code, "TAP-", 4) != 0) continue;
    assert_non_null(info->example);
    isolde_history *history;
    isolde_result *result;
    isolde_error error;
    assert_ok_error(
        isolde_history_open_memory(info->example, strlen(info->example), info->code, NULL, NULL, &history, &error),
        error);
    assert_ok_error(isolde_check(history, NULL, NULL, &result, &error), error);
    bool shown = false;
    for (size_t k = 0; k < isolde_result_anomalies(result); k++) {
      isolde_anomaly anomaly;
      assert_true(isolde_result_anomaly(result, k, &anomaly));
      shown |= strcmp(anomaly.code, info->code) == 0;
    }
    if (!shown) fail_msg("the example of %s does not show it", info->code);
    assert_int_equal(isolde_result_of(result, info->level), ISOLDE_VIOLATED);
    isolde_result_free(result);
    /* Asked for alone it is found as well, and nothing else is. */
    isolde_check_options options = {.struct_size = sizeof options, .anomalies = &info->code, .anomaly_count = 1};
    assert_ok_error(isolde_check(history, &options, NULL, &result, &error), error);
    assert_int_equal(isolde_result_verdict(result), ISOLDE_VIOLATED);
    assert_int_equal(isolde_result_anomalies(result), 1);
    assert_int_equal(isolde_result_levels(result), 0);
    isolde_result_free(result);
    isolde_history_free(history);
    seen++;
  }
  assert_int_equal(seen, 14);
}

/* What the simulator promises of its levels and its bugs, on histories too large for the oracle. */
static void simulated_levels_and_bugs(void **state) {
  (void)state;
  static const struct {
    isolde_sim_level level;
    const char *strongest;
  } promises[] = {{ISOLDE_SIM_SERIALIZABLE, "causal"},      {ISOLDE_SIM_SNAPSHOT, "causal"},
                  {ISOLDE_SIM_PARALLEL_SNAPSHOT, "causal"}, {ISOLDE_SIM_CAUSAL, "causal"},
                  {ISOLDE_SIM_READ_ATOMIC, "read-atomic"},  {ISOLDE_SIM_READ_COMMITTED, "read-committed"}};
  static const struct {
    isolde_sim_bug bug;
    const char *code, *level;
  } bugs[] = {{ISOLDE_SIM_BUG_FRACTURED_READ, "TAP-k", "read-atomic"},
              {ISOLDE_SIM_BUG_CAUSALITY_VIOLATION, "TAP-m", "causal"},
              {ISOLDE_SIM_BUG_ABORTED_READ, "TAP-b", "read-committed"},
              {ISOLDE_SIM_BUG_INTERMEDIATE_READ, "TAP-f", "read-committed"},
              {ISOLDE_SIM_BUG_NON_REPEATABLE_READ, "TAP-j", "cut-isolation"},
              {ISOLDE_SIM_BUG_OWN_WRITE_MISSED, "TAP-d", "read-committed"},
              {ISOLDE_SIM_BUG_THIN_AIR_READ, "TAP-a", "read-committed"}};
  enum { PROMISES = sizeof promises / sizeof promises[0], BUGS = sizeof bugs / sizeof bugs[0] };
  for (unsigned i = 0; i < PROMISES + BUGS; i++) {
    isolde_sim_options options;
    isolde_history *history;
    isolde_result *result;
    isolde_sim_defaults(&options);
    options.struct_size = sizeof options;
    options.seed = 7 + i;
    options.sessions = 8;
    options.txns = 3000;
    options.keys = 50;
    options.distribution = ISOLDE_KEYS_ZIPF;
    options.skew = 1;
    options.abort_share = 0.05;
    if (i < PROMISES) {
      options.level = promises[i].level;
    } else {
      options.bugs[bugs[i - PROMISES].bug] = 3;
    }
    assert_ok(isolde_simulate(&options, NULL, &history, NULL, NULL));
    assert_ok(isolde_check(history, NULL, NULL, &result, NULL));
    if (i < PROMISES) {
      assert_int_equal(isolde_result_of(result, promises[i].strongest), ISOLDE_SATISFIED);
    } else {
      const char *code = bugs[i - PROMISES].code;
      bool found = false;
      for (size_t k = 0; k < isolde_result_anomalies(result); k++) {
        isolde_anomaly anomaly;
        assert_true(isolde_result_anomaly(result, k, &anomaly));
        if (strcmp(anomaly.code, code) == 0) found = anomaly.count >= 3;
      }
      if (!found) fail_msg("%s was not found three times", code);
      assert_int_equal(isolde_result_of(result, bugs[i - PROMISES].level), ISOLDE_VIOLATED);
    }
    isolde_result_free(result);
    isolde_history_free(history);
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
  static const isolde_sim_level sim_levels[] = {ISOLDE_SIM_SERIALIZABLE, ISOLDE_SIM_CAUSAL, ISOLDE_SIM_READ_COMMITTED};
  for (size_t i = 0; i < sizeof sim_levels / sizeof sim_levels[0]; i++) {
    char *reports[2];
    for (unsigned round = 0; round < 2; round++) {
      isolde_sim_options options;
      isolde_history *history;
      isolde_result *result;
      isolde_task *task;
      reports[round] = calloc(1, 65536);
      assert_non_null(reports[round]);
      isolde_sim_defaults(&options);
      options.struct_size = sizeof options;
      options.seed = 5;
      options.level = sim_levels[i];
      options.sessions = 20;
      options.txns = 20000;
      options.ops_min = options.ops_max = 5;
      options.bugs[ISOLDE_SIM_BUG_FRACTURED_READ] = 5;
      assert_ok(isolde_simulate(&options, NULL, &history, NULL, NULL));
      assert_ok(isolde_task_new(&task));
      isolde_task_set_threads(task, 1 + 2 * round);
      assert_ok(isolde_check(history, NULL, task, &result, NULL));
      assert_ok(isolde_result_write_json(result, NULL, append_text, reports[round], NULL));
      isolde_result_free(result);
      isolde_task_free(task);
      isolde_history_free(history);
    }
    assert_string_equal(reports[0], reports[1]);
    free(reports[0]);
    free(reports[1]);
  }
}

static void decide_all(isolde_history *history, uint32_t block_columns, iso_weak *weak) {
  assert_ok(iso_weak_begin(history, NULL, weak, NULL));
  weak->block_columns = block_columns;
  assert_ok(iso_weak_decide(weak, ISO_AXIOM_CAUSAL, NULL, NULL));
  for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) assert_ok(iso_weak_decide(weak, (iso_axiom)axiom, NULL, NULL));
}

/* Clocks made for a few sessions at a time give the same verdicts and the same instances. */
static void blocks_of_clocks(void **state) {
  (void)state;
  uint64_t random = 4711;
  unsigned violated = 0;
  for (int round = 0; round < 20000; round++) {
    sketch s;
    sketch_draw(&random, &s);
    isolde_history *history = sketch_history(&s);
    isolde_resolution resolution;
    assert_ok(isolde_history_resolve(history, NULL, &resolution, NULL));
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
    isolde_history_free(history);
  }
  assert_true(violated > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(examples_show_their_patterns),
                                     cmocka_unit_test(simulated_levels_and_bugs), cmocka_unit_test(blocks_of_clocks),
                                     cmocka_unit_test(threads_agree), cmocka_unit_test(agrees_with_the_oracle)};
  return cmocka_run_group_tests_name("weak", tests, NULL, NULL);
}
