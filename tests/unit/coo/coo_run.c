/* Cases on a real database: the stepper, the judge and the matrix, with SQLite, which is embedded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "coo/stepper.h"
#include "tests/scratch.h"
#include <isoproof/coo.h>

static const char *const private_file[] = {"sqlite:"};

/* Where there is no SQLite, these tests have nothing to stand on. */
static void need_sqlite(void) {
  if (iso_driver_get(ISO_DRIVER_SQLITE) != NULL) return;
  print_message("SQLite is not built in\n");
  skip();
}

static isoproof_coo_run_options options_for(const char *const *urls) {
  return (isoproof_coo_run_options){.struct_size = sizeof(isoproof_coo_run_options),
                                    .urls = urls,
                                    .url_count = 1,
                                    .settle_ms = 30,
                                    .timeout_ms = 2000};
}

static isoproof_coo_matrix *run(const isoproof_coo_run_options *options) {
  isoproof_coo_matrix *matrix;
  isoproof_error error;
  if (isoproof_coo_run(options, NULL, &matrix, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
  return matrix;
}

static isoproof_coo_result result_at(const isoproof_coo_matrix *matrix, size_t row, size_t level) {
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  assert_true(isoproof_coo_matrix_cell_at(matrix, row, level, &cell));
  return cell.result;
}

/* ---- results ---- */

static void results_are_those_of_sqlite(void **state) {
  (void)state;
  need_sqlite();
  static const unsigned cases[] = {1, 6, 16, 18, 28, 31};
  static const isoproof_coo_result expected[][3] = {{ISOPROOF_COO_PASS, ISOPROOF_COO_PASS, ISOPROOF_COO_PASS},
                                                    {ISOPROOF_COO_PASS, ISOPROOF_COO_PASS, ISOPROOF_COO_PASS},
                                                    {ISOPROOF_COO_PASS, ISOPROOF_COO_PASS, ISOPROOF_COO_PASS},
                                                    {ISOPROOF_COO_RULE, ISOPROOF_COO_PASS, ISOPROOF_COO_PASS},
                                                    {ISOPROOF_COO_RULE, ISOPROOF_COO_PASS, ISOPROOF_COO_PASS},
                                                    {ISOPROOF_COO_RULE, ISOPROOF_COO_PASS, ISOPROOF_COO_PASS}};
  char path[SCRATCH_BYTES], url[SCRATCH_BYTES + 32];
  int file = scratch_file(path);
  assert_true(file >= 0);
  close(file);
  for (int wal = 0; wal < 2; wal++) {
    snprintf(url, sizeof url, "sqlite:%s?journal=%s", path, wal ? "wal" : "delete");
    const char *const urls[] = {url};
    isoproof_coo_run_options options = options_for(urls);
    options.cases = cases;
    options.case_count = 6;
    isoproof_coo_matrix *matrix = run(&options);
    assert_non_null(strstr(isoproof_coo_matrix_database(matrix), "SQLite"));
    assert_string_equal(isoproof_coo_matrix_level_at(matrix, 0), "serializable");
    assert_null(isoproof_coo_matrix_level_at(matrix, 3));
    for (size_t r = 0; r < 6; r++) {
      for (size_t l = 0; l < 3; l++) assert_int_equal(result_at(matrix, r, l), expected[r][l]);
    }
    isoproof_coo_matrix_free(matrix);
  }
  char more[SCRATCH_BYTES + 8];
  unlink(path);
  for (int i = 0; i < 2; i++) {
    snprintf(more, sizeof more, "%s%s", path, i == 0 ? "-wal" : "-shm");
    unlink(more);
  }
}

/* What is kept of a cell: the executed schedule, verdicts, errors, events. */
static void cells_tell_what_happened(void **state) {
  (void)state;
  need_sqlite();
  static const unsigned cases[] = {28};
  static const char *const levels[] = {"serializable"};
  isoproof_coo_run_options options = options_for(private_file);
  options.cases = cases;
  options.case_count = 1;
  options.levels = levels;
  options.level_count = 1;
  options.repeat = 3;
  isoproof_coo_matrix *matrix = run(&options);
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  isoproof_coo_event event = {.struct_size = sizeof event};
  isoproof_coo_verdict verdict = {.struct_size = sizeof verdict};
  assert_true(isoproof_coo_matrix_row_at(matrix, 0, &row));
  assert_int_equal(row.number, 28);
  assert_string_equal(row.name, "Lost Update Committed");
  assert_string_equal(row.kind, "IAT-S");
  assert_string_equal(row.plan, "R1x W2x C2 W1x C1");
  assert_true(isoproof_coo_matrix_cell_at(matrix, 0, 0, &cell));
  assert_int_equal(cell.runs, 3);
  assert_int_equal(cell.counts[ISOPROOF_COO_RULE], 3);
  assert_string_equal(cell.executed, "R1x W2x A1 C2");
  assert_null(cell.cycle);
  assert_null(cell.phenomenon);
  assert_false(cell.broken);
  assert_int_equal(cell.error_count, 1);
  assert_true(isoproof_coo_cell_error_at(matrix, 0, 0, 0, &event));
  assert_int_equal(event.session, 1);
  assert_string_equal(event.step, "W1x");
  assert_string_equal(event.code, "SQLITE_BUSY");
  assert_false(isoproof_coo_cell_error_at(matrix, 0, 0, 1, &event));
  assert_true(isoproof_coo_cell_verdict_at(matrix, 0, 0, 0, &verdict));
  assert_true(isoproof_coo_cell_event_at(matrix, 0, 0, 0, &event));
  assert_string_equal(event.value, "0");
  assert_false(isoproof_coo_cell_event_at(matrix, 0, 0, cell.event_count, &event));
  assert_false(isoproof_coo_matrix_cell_at(matrix, 1, 0, &cell));
  assert_false(isoproof_coo_matrix_row_at(matrix, 1, &row));
  isoproof_coo_matrix_free(matrix);
}

static void hermitage_and_predicates_run(void **state) {
  (void)state;
  need_sqlite();
  isoproof_coo_run_options options = options_for(private_file);
  static const char *const levels[] = {"serializable"};
  options.levels = levels;
  options.level_count = 1;
  options.suite = ISOPROOF_SUITE_HERMITAGE;
  isoproof_coo_matrix *matrix = run(&options);
  isoproof_coo_row row = {.struct_size = sizeof row};
  size_t rows = 0;
  for (; isoproof_coo_matrix_row_at(matrix, rows, &row); rows++) {
    assert_int_not_equal(result_at(matrix, rows, 0), ISOPROOF_COO_ANOMALY);
  }
  assert_int_equal(rows, 14);
  isoproof_coo_matrix_free(matrix);
  static const unsigned cases[] = {34, 37};
  options.suite = ISOPROOF_SUITE_COO;
  options.cases = cases;
  options.case_count = 2;
  matrix = run(&options);
  assert_true(isoproof_coo_matrix_row_at(matrix, 1, &row));
  assert_string_equal(row.name, "Predicate Write Skew Committed");
  assert_null(row.plan);
  assert_int_equal(result_at(matrix, 0, 0), ISOPROOF_COO_PASS);
  assert_int_equal(result_at(matrix, 1, 0), ISOPROOF_COO_RULE);
  isoproof_coo_matrix_free(matrix);
}

/* ---- what is refused ---- */

static void expect_refusal(const isoproof_coo_run_options *options, isoproof_status status, const char *says) {
  isoproof_coo_matrix *matrix;
  isoproof_error error;
  assert_int_equal(isoproof_coo_run(options, NULL, &matrix, &error), status);
  assert_null(matrix);
  if (strstr(error.message, says) == NULL) fail_msg("expected '%s', found '%s'", says, error.message);
}

static void nonsense_is_refused(void **state) {
  (void)state;
  need_sqlite();
  static const unsigned cases[] = {99};
  static const char *const levels[] = {"no such level"}, *const sim[] = {"sim:"}, *const nowhere[] = {"nosuch:x"};
  isoproof_coo_run_options options = options_for(private_file);
  options.cases = cases;
  options.case_count = 1;
  expect_refusal(&options, ISOPROOF_ERR_USAGE, "no case");
  options = options_for(private_file);
  options.levels = levels;
  options.level_count = 1;
  expect_refusal(&options, ISOPROOF_ERR_USAGE, "no such level");
  options = options_for(private_file);
  options.predicate = true;
  options.distributed = ISOPROOF_SPREAD_TABLES;
  expect_refusal(&options, ISOPROOF_ERR_USAGE, "over partitions, not over tables");
  options.distributed = ISOPROOF_SPREAD_PARTITIONS;
  expect_refusal(&options, ISOPROOF_ERR_UNSUPPORTED, "PostgreSQL, MariaDB");
  options = options_for(sim);
  expect_refusal(&options, ISOPROOF_ERR_UNSUPPORTED, "SQL");
  options = options_for(nowhere);
  expect_refusal(&options, ISOPROOF_ERR_USAGE, "nosuch");
}

static void cancelling_stops(void **state) {
  (void)state;
  need_sqlite();
  isoproof_coo_run_options options = options_for(private_file);
  isoproof_coo_matrix *matrix;
  isoproof_task *task;
  isoproof_error error;
  assert_int_equal(isoproof_task_new(&task), ISOPROOF_OK);
  isoproof_task_cancel(task);
  assert_int_equal(isoproof_coo_run(&options, task, &matrix, &error), ISOPROOF_ERR_CANCELLED);
  assert_null(matrix);
  isoproof_task_free(task);
}

static void published_results_are_known(void **state) {
  (void)state;
  assert_int_equal(isoproof_coo_published("PostgreSQL 15.18", "Repeatable_Read", 31), 'A');
  assert_int_equal(isoproof_coo_published("PostgreSQL 15.18", "serializable", 31), 'R');
  assert_int_equal(isoproof_coo_published("MariaDB 10.11", "read uncommitted", 1), 'A');
  assert_int_equal(isoproof_coo_published("PostgreSQL 15.18", "read", 31), 0);
  assert_int_equal(isoproof_coo_published("SQLite 3.40", "serializable", 31), 0);
  assert_int_equal(isoproof_coo_published("PostgreSQL 15.18", "serializable", 0), 0);
  assert_int_equal(isoproof_coo_published("PostgreSQL 15.18", "serializable", 34), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_are_those_of_sqlite),
      cmocka_unit_test(cells_tell_what_happened),
      cmocka_unit_test(hermitage_and_predicates_run),
      cmocka_unit_test(nonsense_is_refused),
      cmocka_unit_test(cancelling_stops),
      cmocka_unit_test(published_results_are_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
