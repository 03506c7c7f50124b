/* What is expected of a level and what breaks it; schedules of one's own, cycles drawn by a seed, and what is left of a
 * run that was stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coo/matrix.h"
#include <isoproof/coo.h>
#include <isoproof/level.h>

static const char *const private_file[] = {"sqlite:"};

static void need_sqlite(void) {
  if (iso_driver_get(ISO_DRIVER_SQLITE) != NULL) return;
  print_message("SQLite is not built in\n");
  skip();
}

static isoproof_schedule *parsed(const char *text) {
  isoproof_schedule *schedule;
  isoproof_error error;
  if (isoproof_schedule_parse(text, &schedule, &error) != ISOPROOF_OK) fail_msg("%s: %s", text, error.message);
  return schedule;
}

static isoproof_coo_matrix *run(const isoproof_coo_run_options *options) {
  isoproof_coo_matrix *matrix;
  isoproof_error error;
  if (isoproof_coo_run(options, NULL, &matrix, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
  return matrix;
}

static isoproof_coo_run_options options_for(const char *const *levels, size_t count) {
  return (isoproof_coo_run_options){.struct_size = sizeof(isoproof_coo_run_options),
                                    .urls = private_file,
                                    .url_count = 1,
                                    .levels = levels,
                                    .level_count = count,
                                    .settle_ms = 30,
                                    .timeout_ms = 2000};
}

/* ---- what a level forbids ---- */

/* The anomaly of each scenario as a schedule of rows, a row that is not found read in its version before.  What a
 * predicate of a write sees (G-single-write) is no read of a row, and has none. */
static const struct {
  const char *name, *schedule;
} told[] = {{"G0", "W1x W2x W2y W1y C1 C2"},
            {"G1a", "W1x R2x A1 R2x0 C2"},
            {"G1b", "W1x R2x W1x C1 R2x C2"},
            {"G1c", "W1x W2y R1y R2x C1 C2"},
            {"OTV", "W1x W1y W2x C1 R3x2 R3y1 W2y C2 C3"},
            {"PMP", "R1x W2x C2 R1x C1"},
            {"PMP-write", "R2x R2y W1x W1y C1 W2x C2"},
            {"P4", "R1x R2x W1x C1 W2x C2"},
            {"G-single", "R1x W2x W2y C2 R1y C1"},
            {"G-single-predicate", "R1x R1y W2x C2 R1x1 R1y C1"},
            {"G2-item", "R1x R1y R2x R2y W1x W2y C1 C2"},
            {"G2", "R1x R1y R2x R2y W1x W2y C1 C2"},
            {"G2-read-only", "R1x R1y W2y C2 R3x R3y C3 W1x C1"},
            {"Phantom", "R1x W2x R1x C2 C1"},
            {"Phantom Committed", "R1x W2x C2 R1x C1"},
            {"Predicate Write Skew", "R1x R1y R2x R2y W2y W1x C1 C2"},
            {"Predicate Write Skew Committed", "R1x R1y R2x R2y W2y C2 W1x C1"}};

static const char *schedule_of(const char *name) {
  for (size_t i = 0; i < sizeof told / sizeof *told; i++)
    if (strcmp(told[i].name, name) == 0) return told[i].schedule;
  return NULL;
}

/* The engines agree, level by level, with the weakest level that the table of scenarios names. */
static void scenarios_are_forbidden_as_schedules_are(void **state) {
  (void)state;
  const iso_coo_scenario *scenario;
  size_t judged = 0;
  for (size_t i = 0; (scenario = iso_coo_scenario_at(i)) != NULL; i++) {
    const isoproof_level_info *weakest = isoproof_level_find(scenario->forbidden_by), *level;
    assert_non_null(weakest);
    const char *text = schedule_of(scenario->name);
    if (text == NULL) continue;
    isoproof_schedule *schedule = parsed(text);
    for (size_t n = 0; (level = isoproof_level_at(n)) != NULL; n++) {
      iso_coo_claim claim = {.level = level->id, .source = "database", .note = ""};
      const char *verdict;
      if (level->family != ISOPROOF_LEVEL_BASE || strcmp(level->id, "linearizable") == 0) continue;
      if (strcmp(level->id, "mixed") == 0) continue; /* no schedule has levels of transactions */
      assert_int_equal(iso_coo_allows(&claim, schedule, &verdict, NULL), ISOPROOF_OK);
      const char *table = iso_coo_allows_scenario(&claim, scenario, true);
      if (strcmp(verdict, table) != 0)
        fail_msg("%s at %s: the engines say %s, the table %s", scenario->name, level->id, verdict, table);
      assert_string_equal(iso_coo_allows_scenario(&claim, scenario, false), "satisfied");
      judged++;
    }
    isoproof_schedule_free(schedule);
  }
  assert_true(judged >= 17 * 10);
}

/* What a database documents is taken as it is, and an option overrides it; names that are no levels are refused. */
static void expectations_come_from_the_database_or_the_user(void **state) {
  (void)state;
  isoproof_coo_matrix matrix = {0};
  iso_isolation documented = {.name = "repeatable read", .claims = "snapshot-isolation", .note = "a note"};
  iso_isolation silent = {.name = "read uncommitted"};
  iso_coo_claim claim;
  isoproof_error error;
  assert_int_equal(iso_coo_expect(&matrix.arena, &documented, NULL, &claim, &error), ISOPROOF_OK);
  assert_string_equal(claim.level, "snapshot-isolation");
  assert_string_equal(claim.source, "database");
  assert_string_equal(claim.note, "a note");
  assert_int_equal(iso_coo_expect(&matrix.arena, &silent, NULL, &claim, &error), ISOPROOF_OK);
  assert_null(claim.level);
  isoproof_schedule *schedule = parsed("W1x R2x A1 C2");
  const char *verdict = "something";
  assert_int_equal(iso_coo_allows(&claim, schedule, &verdict, &error), ISOPROOF_OK);
  assert_null(verdict);
  assert_int_equal(iso_coo_expect(&matrix.arena, &silent, "rc", &claim, &error), ISOPROOF_OK);
  assert_string_equal(claim.level, "read-committed");
  assert_string_equal(claim.source, "option");
  assert_int_equal(iso_coo_allows(&claim, schedule, &verdict, &error), ISOPROOF_OK);
  assert_string_equal(verdict, "violated");
  assert_int_equal(iso_coo_expect(&matrix.arena, &silent, "PL-2.99", &claim, &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(iso_coo_expect(&matrix.arena, &silent, "nonsense", &claim, &error), ISOPROOF_ERR_USAGE);
  isoproof_schedule_free(schedule);
  iso_arena_free(&matrix.arena);
}

/* ---- what is run ---- */

static void schedules_of_ones_own_run(void **state) {
  (void)state;
  need_sqlite();
  static const char *const levels[] = {"immediate"};
  static const char *const texts[] = {"R1x R2x W1x C1 W2x C2", "W1a W1b W1c W1d W1e C1", "R1x C1"};
  static const char *const names[] = {"lost update", NULL, ""};
  isoproof_coo_run_options options = options_for(levels, 1);
  options.schedules = texts;
  options.schedule_names = names;
  options.schedule_count = 3;
  isoproof_coo_matrix *matrix = run(&options);
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  assert_true(isoproof_coo_matrix_row_at(matrix, 0, &row));
  assert_string_equal(row.name, "lost update");
  assert_string_equal(row.kind, "IAT-S");
  assert_int_equal(row.number, 0);
  assert_true(isoproof_coo_matrix_row_at(matrix, 1, &row));
  assert_string_equal(row.name, texts[1]);
  assert_string_equal(row.kind, "none");
  assert_true(isoproof_coo_matrix_row_at(matrix, 2, &row));
  assert_string_equal(row.name, "R1x C1");
  for (size_t i = 0; i < 3; i++) {
    assert_true(isoproof_coo_matrix_cell_at(matrix, i, 0, &cell));
    assert_int_equal(cell.result, ISOPROOF_COO_PASS);
    assert_string_equal(cell.expected, "satisfied");
    assert_int_equal(cell.unexpected, 0);
  }
  assert_true(isoproof_coo_matrix_complete(matrix));
  assert_int_equal(isoproof_coo_matrix_unexpected(matrix), 0);
  isoproof_coo_matrix_free(matrix);
}

static void expect_refusal(const char *text, isoproof_coo_spread spread, const char *says) {
  const char *const texts[] = {text};
  isoproof_coo_run_options options = options_for(NULL, 0);
  isoproof_coo_matrix *matrix;
  isoproof_error error;
  options.schedules = texts;
  options.schedule_count = 1;
  options.distributed = spread;
  assert_int_equal(isoproof_coo_run(&options, NULL, &matrix, &error), ISOPROOF_ERR_USAGE);
  assert_null(matrix);
  if (strstr(error.message, says) == NULL) fail_msg("expected '%s', found '%s'", says, error.message);
}

static void schedules_that_cannot_run_are_refused(void **state) {
  (void)state;
  expect_refusal("R1x W2x C1", ISOPROOF_SPREAD_NONE, "an end of transaction 2");
  expect_refusal("R1x C1 R2x C2 R3x C3 R4x C4 R5x C5 R6x C6 R7x C7 R8x C8 R9x C9", ISOPROOF_SPREAD_NONE, "at most 64");
  expect_refusal("R1a R1b R1c R1d R1e R1f R1g R1h R1i C1", ISOPROOF_SPREAD_NONE, "on 9");
  expect_refusal("R1x C1", ISOPROOF_SPREAD_TABLES, "nothing to distribute");
  isoproof_coo_run_options options = options_for(NULL, 0);
  isoproof_coo_matrix *matrix;
  options.transactions = 2;
  assert_int_equal(isoproof_coo_run(&options, NULL, &matrix, NULL), ISOPROOF_ERR_USAGE);
}

/* ---- drawing ---- */

/* How often each of the cases within limits is drawn, by many seeds; each draw has as many as asked for. */
static void draws_are_fair_and_exact(void **state) {
  (void)state;
  enum { LIMIT = 10, SEEDS = 300, MOST = 64 };
  char names[MOST][128];
  unsigned counts[MOST] = {0};
  size_t known = 0;
  isoproof_coo_generator *generator;
  isoproof_coo_case c = {.struct_size = sizeof c};
  assert_int_equal(isoproof_coo_generator_new(2, 2, &generator, NULL), ISOPROOF_OK);
  assert_int_equal(isoproof_coo_generator_sample(generator, 1000, 1), 0);
  for (; isoproof_coo_generator_next(generator, &c); known++)
    snprintf(names[known], sizeof names[0], "%s", c.structure);
  isoproof_coo_generator_free(generator);
  assert_int_equal(known, 30);
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    size_t drawn = 0, at = 0;
    assert_int_equal(isoproof_coo_generator_new(2, 2, &generator, NULL), ISOPROOF_OK);
    assert_int_equal(isoproof_coo_generator_sample(generator, LIMIT, seed), 20);
    for (; isoproof_coo_generator_next(generator, &c); drawn++) {
      while (at < known && strcmp(names[at], c.structure) != 0) at++;
      assert_true(at < known); /* in the same order, and none twice */
      counts[at++]++;
    }
    assert_int_equal(drawn, LIMIT);
    isoproof_coo_generator_free(generator);
  }
  /* 100 are to be expected of each; six standard deviations are 49. */
  for (size_t i = 0; i < known; i++) assert_in_range(counts[i], 50, 150);
}

static void cycles_within_limits_run(void **state) {
  (void)state;
  need_sqlite();
  static const char *const levels[] = {"immediate"};
  isoproof_coo_run_options options = options_for(levels, 1);
  options.transactions = 5;
  options.objects = 5;
  options.limit = 3;
  options.seed = 2;
  isoproof_coo_matrix *matrix = run(&options);
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_summary summary = {.struct_size = sizeof summary};
  assert_int_equal(isoproof_coo_matrix_left_out(matrix), 12 + 18 + 24 + 108 + 8 + 216 + 648 + 144 + 1728 + 3888 - 3);
  assert_true(isoproof_coo_matrix_row_at(matrix, 2, &row));
  assert_false(isoproof_coo_matrix_row_at(matrix, 3, &row));
  assert_true(isoproof_coo_matrix_summary_at(matrix, 0, &summary));
  assert_string_equal(summary.expected, "serializable");
  assert_int_equal(summary.cells, 3);
  assert_false(isoproof_coo_matrix_summary_at(matrix, 1, &summary));
  isoproof_coo_matrix_free(matrix);
}

/* ---- stopping ---- */

static void stop_soon(const isoproof_progress *progress, void *user) {
  if (progress->done >= 1) isoproof_task_cancel(user);
}

static void what_was_run_is_kept(void **state) {
  (void)state;
  need_sqlite();
  isoproof_coo_run_options options = options_for(NULL, 0);
  isoproof_coo_matrix *matrix;
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  isoproof_task *task;
  char sentence[512];
  assert_int_equal(isoproof_task_new(&task), ISOPROOF_OK);
  isoproof_task_set_progress(task, stop_soon, task);
  assert_int_equal(isoproof_coo_run(&options, task, &matrix, NULL), ISOPROOF_ERR_CANCELLED);
  assert_non_null(matrix);
  assert_false(isoproof_coo_matrix_complete(matrix));
  assert_true(isoproof_coo_matrix_cell_at(matrix, 0, 0, &cell));
  assert_int_equal(cell.runs, 1);
  assert_true(isoproof_coo_matrix_cell_at(matrix, 32, 2, &cell));
  assert_int_equal(cell.runs, 0);
  assert_true(isoproof_coo_matrix_sentence_at(matrix, 2, sentence, sizeof sentence) > 0);
  assert_non_null(strstr(sentence, " not run"));
  isoproof_coo_matrix_free(matrix);
  isoproof_task_free(task);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scenarios_are_forbidden_as_schedules_are),
      cmocka_unit_test(expectations_come_from_the_database_or_the_user),
      cmocka_unit_test(schedules_of_ones_own_run),
      cmocka_unit_test(schedules_that_cannot_run_are_refused),
      cmocka_unit_test(draws_are_fair_and_exact),
      cmocka_unit_test(cycles_within_limits_run),
      cmocka_unit_test(what_was_run_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
