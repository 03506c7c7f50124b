/* What is left of a history when the reads go that a refutation does without: it must be violated by itself. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "check/choice_witness.h"
#include "tests/oracle/oracle.h"

typedef struct tally {
  uint64_t refuted, with_core, smaller; /* the last: reads were left out */
} tally;

/* A small history with values that repeat, at a level below those that are asked for. */
static isoproof_history *simulate(uint64_t seed) {
  isoproof_sim_options sim = {.struct_size = sizeof sim};
  isoproof_history *history;
  isoproof_error error;
  assert_true(isoproof_sim_defaults(&sim));
  sim.seed = seed;
  sim.level = (isoproof_sim_level)(seed % ISOPROOF_SIM_LEVELS);
  sim.sessions = 2 + (uint32_t)(seed % 9);
  sim.txns = 10 + (uint32_t)(seed % 41);
  sim.ops_min = sim.ops_max = 3 + (uint32_t)(seed % 3);
  sim.keys = 3 + (uint32_t)(seed % 7);
  sim.duplicate_share = 0.1 + 0.1 * (double)(seed % 6);
  assert_int_equal(isoproof_simulate(&sim, NULL, &history, NULL, &error), ISOPROOF_OK);
  return history;
}

/* A verdict that took long is shown by what it rests on first, and by something better where that is found. */
static void show_as_after_long(isoproof_history *history, const isoproof_check_options *options,
                               const isoproof_level_info *info, const iso_refutation *refutation) {
  const double long_ago = 100;
  iso_outcome outcome = {.result = NULL};
  isoproof_error error;
  assert_int_equal(iso_choice_witness(history, options, info, refutation, long_ago, NULL, &outcome, &error),
                   ISOPROOF_OK);
  assert_non_null(outcome.result);
  assert_int_equal(isoproof_result_verdict(outcome.result), ISOPROOF_VIOLATED);
  iso_outcome_free(&outcome);
}

static void examine(isoproof_history *history, const char *level, uint64_t seed, tally *t) {
  isoproof_check_options options = {
      .struct_size = sizeof options, .levels = &level, .level_count = 1, .duplicate_values = true};
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  iso_outcome outcome = {.result = NULL};
  iso_refutation refutation;
  isoproof_error error;
  const isoproof_level_info *info = isoproof_level_find(level);
  assert_int_equal(iso_decide_open(history, &options, info, NULL, &outcome, &refutation, &error), ISOPROOF_OK);
  t->refuted += refutation.violated;
  if (refutation.shown != NULL) {
    assert_true(refutation.violated);
    t->with_core++;
    t->smaller += refutation.left_count > 0;
    assert_int_equal(iso_core_witness(history, &options, &refutation, NULL, &outcome, &error), ISOPROOF_OK);
    if (outcome.result == NULL) fail_msg("seed %" PRIu64 ": %s holds without the reads left out", seed, level);
    /* Who looks at it sees all reads, and it is judged with them. */
    uint32_t *before;
    assert_int_equal(iso_resolution_copy(history, NULL, &before, &error), ISOPROOF_OK);
    iso_resolution_put_back(history, outcome.writer);
    outcome.writer = NULL;
    assert_true(isoproof_result_anomaly_count(outcome.result) > 0);
    for (size_t i = 0; i < isoproof_result_anomaly_count(outcome.result); i++) {
      if (!isoproof_result_anomaly_at(outcome.result, i, &anomaly)) fail_msg("seed %" PRIu64 ": no witness", seed);
    }
    iso_outcome_free(&outcome);
    iso_resolution_put_back(history, before);
    show_as_after_long(history, &options, info, &refutation);
  }
  iso_outcome_free(&outcome);
  iso_refutation_free(&refutation);
}

static void test_core(void **state) {
  (void)state;
  static const char *const levels[] = {"serializable",  "snapshot-isolation", "prefix",
                                       "causal",        "read-atomic",        "read-committed",
                                       "update-atomic", "monotonic-reads",    "parallel-snapshot-isolation"};
  const char *wish = getenv("ISOPROOF_RANDOM_HISTORIES"), *start = getenv("ISOPROOF_RANDOM_SEED");
  uint64_t histories = (wish != NULL ? strtoull(wish, NULL, 10) : 20000) / 20;
  uint64_t seed = start != NULL ? strtoull(start, NULL, 10) : 1;
  tally t = {.refuted = 0};
  for (uint64_t i = 0; i < histories; i++) {
    isoproof_history *history = simulate(seed * 1000003 + i);
    for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) examine(history, levels[k], seed * 1000003 + i, &t);
    isoproof_history_free(history);
  }
  if (wish != NULL) {
    print_message("refuted %" PRIu64 ", with a core %" PRIu64 ", of them without some reads %" PRIu64 "\n", t.refuted,
                  t.with_core, t.smaller);
  }
  assert_true(t.smaller > histories / 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_core)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
