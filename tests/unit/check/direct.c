/* Contradictions that follow at once: never in a history that the oracle finds sound, and always worth a scenario. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "check/strong/direct.h"
#include "check/strong/scenario/make.h"
#include "level/levels.h"
#include "tests/oracle/oracle.h"
#include "tests/random/random_history.h"

static const struct level {
  iso_level level;
  oracle_level judged;
} levels[] = {{ISO_LEVEL_SERIALIZABLE, ORACLE_SERIALIZABLE},
              {ISO_LEVEL_SNAPSHOT_ISOLATION, ORACLE_SNAPSHOT},
              {ISO_LEVEL_PREFIX, ORACLE_PREFIX}};
enum { LEVELS = sizeof levels / sizeof *levels };

typedef struct tally {
  uint64_t violated[LEVELS], found[LEVELS];
} tally;

static void examine(const sketch *s, isoproof_history *history, const oracle_verdicts *verdicts, tally *t) {
  isoproof_error error;
  iso_view view;
  char text[4096];
  sketch_print(s, text, sizeof text);
  assert_int_equal(iso_view_make(history, NULL, &view, &error), ISOPROOF_OK);
  for (size_t i = 0; i < LEVELS; i++) {
    const iso_strong_level *level = iso_strong_level_of(isoproof_level_at(levels[i].level));
    iso_txn_set suspects = {.items = NULL};
    bool found;
    assert_int_equal(iso_direct_cycle(&view, level, NULL, &suspects, &found, &error), ISOPROOF_OK);
    t->violated[i] += !verdicts->satisfied[levels[i].judged];
    t->found[i] += found;
    if (found && verdicts->satisfied[levels[i].judged]) fail_msg("%s holds:\n%s", level->id, text);
    if (found) {
      iso_scenario scenario;
      isoproof_status status =
          iso_scenario_make(&view, level, NULL, suspects.items, suspects.count, NULL, &scenario, &error);
      if (status != ISOPROOF_OK || !scenario.refuted) fail_msg("no scenario of %s:\n%s", level->id, text);
      iso_scenario_free(&scenario);
    }
    free(suspects.items);
  }
  iso_view_free(&view);
}

static void test_random(void **state) {
  (void)state;
  const char *wish = getenv("ISOPROOF_RANDOM_HISTORIES"), *start = getenv("ISOPROOF_RANDOM_SEED");
  uint64_t histories = (wish != NULL ? strtoull(wish, NULL, 10) : 100000) / 5;
  uint64_t seed = start != NULL ? strtoull(start, NULL, 10) : 1;
  tally t = {{0}, {0}};
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    oracle_verdicts verdicts;
    sketch_draw(&seed, &s);
    isoproof_history *history = sketch_history(&s);
    if (oracle_judge(history, &verdicts)) examine(&s, history, &verdicts, &t);
    isoproof_history_free(history);
  }
  for (size_t i = 0; i < LEVELS; i++) {
    if (wish != NULL) print_message("violated %" PRIu64 ", found %" PRIu64 "\n", t.violated[i], t.found[i]);
    assert_true(t.found[i] > t.violated[i] / 4);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
