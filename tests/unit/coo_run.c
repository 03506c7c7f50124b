/* Cases on a real database: the stepper, the judge and the matrix, with SQLite, which is embedded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "coo/stepper.h"
#include <isoproof/coo.h>

static const char *const private_file[] = {"sqlite:"};

/* Where there is no SQLite, these tests have nothing to stand on. */
static void need_sqlite(void) {
  if (iso_driver_get(ISO_DRIVER_SQLITE) != NULL) return;
  print_message("SQLite is not built in\n");
  skip();
}

static isolde_coo_run_options options_for(const char *const *urls) {
  return (isolde_coo_run_options){
      .struct_size = sizeof(isolde_coo_run_options), .urls = urls, .url_count = 1, .settle_ms = 30, .timeout_ms = 2000};
}

static isolde_coo_matrix *run(const isolde_coo_run_options *options) {
  isolde_coo_matrix *matrix;
  isolde_error error;
  if (isolde_coo_run(options, NULL, &matrix, &error) != ISOLDE_OK) fail_msg("%s", error.message);
  return matrix;
}

static isolde_coo_result result_at(const isolde_coo_matrix *matrix, size_t row, size_t level) {
  isolde_coo_cell cell;
  assert_true(isolde_coo_matrix_cell(matrix, row, level, &cell));
  return cell.result;
}

/* ---- results ---- */

static void results_are_those_of_sqlite(void **state) {
  (void)state;
  need_sqlite();
  static const unsigned cases[] = {1, 6, 16, 18, 28, 31};
  static const isolde_coo_result expected[][3] = {
      {ISOLDE_COO_PASS, ISOLDE_COO_PASS, ISOLDE_COO_PASS}, {ISOLDE_COO_PASS, ISOLDE_COO_PASS, ISOLDE_COO_PASS},
      {ISOLDE_COO_PASS, ISOLDE_COO_PASS, ISOLDE_COO_PASS}, {ISOLDE_COO_RULE, ISOLDE_COO_PASS, ISOLDE_COO_PASS},
      {ISOLDE_COO_RULE, ISOLDE_COO_PASS, ISOLDE_COO_PASS}, {ISOLDE_COO_RULE, ISOLDE_COO_PASS, ISOLDE_COO_PASS}};
  char path[] = "/tmp/isolde-coo-XXXXXX", url[64];
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  for (int wal = 0; wal < 2; wal++) {
    snprintf(url, sizeof url, "sqlite:%s?journal=%s", path, wal ? "wal" : "delete");
    const char *const urls[] = {url};
    isolde_coo_run_options options = options_for(urls);
    options.cases = cases;
    options.case_count = 6;
    isolde_coo_matrix *matrix = run(&options);
    assert_non_null(strstr(isolde_coo_matrix_database(matrix), "SQLite"));
    assert_string_equal(isolde_coo_matrix_level(matrix, 0), "serializable");
    assert_null(isolde_coo_matrix_level(matrix, 3));
    for (size_t r = 0; r < 6; r++) {
      for (size_t l = 0; l < 3; l++) assert_int_equal(result_at(matrix, r, l), expected[r][l]);
    }
    isolde_coo_matrix_free(matrix);
  }
  char more[80];
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
  isolde_coo_run_options options = options_for(private_file);
  options.cases = cases;
  options.case_count = 1;
  options.levels = levels;
  options.level_count = 1;
  options.repeat = 3;
  isolde_coo_matrix *matrix = run(&options);
  isolde_coo_row row;
  isolde_coo_cell cell;
  isolde_coo_event event;
  isolde_coo_verdict verdict;
  assert_true(isolde_coo_matrix_row(matrix, 0, &row));
  assert_int_equal(row.number, 28);
  assert_string_equal(row.name, "Lost Update Committed");
  assert_string_equal(row.kind, "IAT-S");
  assert_string_equal(row.plan, "R1x W2x C2 W1x C1");
  assert_true(isolde_coo_matrix_cell(matrix, 0, 0, &cell));
  assert_int_equal(cell.runs, 3);
  assert_int_equal(cell.counts[ISOLDE_COO_RULE], 3);
  assert_string_equal(cell.executed, "R1x W2x A1 C2");
  assert_null(cell.cycle);
  assert_null(cell.phenomenon);
  assert_false(cell.broken);
  assert_int_equal(cell.errors, 1);
  assert_true(isolde_coo_cell_error(matrix, 0, 0, 0, &event));
  assert_int_equal(event.session, 1);
  assert_string_equal(event.step, "W1x");
  assert_string_equal(event.code, "SQLITE_BUSY");
  assert_false(isolde_coo_cell_error(matrix, 0, 0, 1, &event));
  assert_true(isolde_coo_cell_verdict(matrix, 0, 0, 0, &verdict));
  assert_true(isolde_coo_cell_event(matrix, 0, 0, 0, &event));
  assert_string_equal(event.value, "0");
  assert_false(isolde_coo_cell_event(matrix, 0, 0, cell.events, &event));
  assert_false(isolde_coo_matrix_cell(matrix, 1, 0, &cell));
  assert_false(isolde_coo_matrix_row(matrix, 1, &row));
  isolde_coo_matrix_free(matrix);
}

static void hermitage_and_predicates_run(void **state) {
  (void)state;
  need_sqlite();
  isolde_coo_run_options options = options_for(private_file);
  static const char *const levels[] = {"serializable"};
  options.levels = levels;
  options.level_count = 1;
  options.suite = ISOLDE_SUITE_HERMITAGE;
  isolde_coo_matrix *matrix = run(&options);
  isolde_coo_row row;
  size_t rows = 0;
  for (; isolde_coo_matrix_row(matrix, rows, &row); rows++) {
    assert_int_not_equal(result_at(matrix, rows, 0), ISOLDE_COO_ANOMALY);
  }
  assert_int_equal(rows, 14);
  isolde_coo_matrix_free(matrix);
  static const unsigned cases[] = {34, 37};
  options.suite = ISOLDE_SUITE_COO;
  options.cases = cases;
  options.case_count = 2;
  matrix = run(&options);
  assert_true(isolde_coo_matrix_row(matrix, 1, &row));
  assert_string_equal(row.name, "Predicate Write Skew Committed");
  assert_null(row.plan);
  assert_int_equal(result_at(matrix, 0, 0), ISOLDE_COO_PASS);
  assert_int_equal(result_at(matrix, 1, 0), ISOLDE_COO_RULE);
  isolde_coo_matrix_free(matrix);
}

/* ---- what is refused ---- */

static void expect_refusal(const isolde_coo_run_options *options, isolde_status status, const char *says) {
  isolde_coo_matrix *matrix;
  isolde_error error;
  assert_int_equal(isolde_coo_run(options, NULL, &matrix, &error), status);
  assert_null(matrix);
  if (strstr(error.message, says) == NULL) fail_msg("expected '%s', found '%s'", says, error.message);
}

static void nonsense_is_refused(void **state) {
  (void)state;
  need_sqlite();
  static const unsigned cases[] = {99};
  static const char *const levels[] = {"no such level"}, *const sim[] = {"sim:"}, *const nowhere[] = {"nosuch:x"};
  isolde_coo_run_options options = options_for(private_file);
  options.cases = cases;
  options.case_count = 1;
  expect_refusal(&options, ISOLDE_ERR_USAGE, "no case");
  options = options_for(private_file);
  options.levels = levels;
  options.level_count = 1;
  expect_refusal(&options, ISOLDE_ERR_USAGE, "no such level");
  options = options_for(private_file);
  options.predicate = true;
  options.distributed = ISOLDE_SPREAD_TABLES;
  expect_refusal(&options, ISOLDE_ERR_USAGE, "over partitions, not over tables");
  options.distributed = ISOLDE_SPREAD_PARTITIONS;
  expect_refusal(&options, ISOLDE_ERR_UNSUPPORTED, "PostgreSQL, MariaDB");
  options = options_for(sim);
  expect_refusal(&options, ISOLDE_ERR_UNSUPPORTED, "SQL");
  options = options_for(nowhere);
  expect_refusal(&options, ISOLDE_ERR_USAGE, "nosuch");
}

static void cancelling_stops(void **state) {
  (void)state;
  need_sqlite();
  isolde_coo_run_options options = options_for(private_file);
  isolde_coo_matrix *matrix;
  isolde_task *task;
  isolde_error error;
  assert_int_equal(isolde_task_new(&task), ISOLDE_OK);
  isolde_task_cancel(task);
  assert_int_equal(isolde_coo_run(&options, task, &matrix, &error), ISOLDE_ERR_CANCELLED);
  assert_null(matrix);
  isolde_task_free(task);
}

static void published_results_are_known(void **state) {
  (void)state;
  assert_int_equal(isolde_coo_published("PostgreSQL 15.18", "Repeatable_Read", 31), 'A');
  assert_int_equal(isolde_coo_published("PostgreSQL 15.18", "serializable", 31), 'R');
  assert_int_equal(isolde_coo_published("MariaDB 10.11", "read uncommitted", 1), 'A');
  assert_int_equal(isolde_coo_published("PostgreSQL 15.18", "read", 31), 0);
  assert_int_equal(isolde_coo_published("SQLite 3.40", "serializable", 31), 0);
  assert_int_equal(isolde_coo_published("PostgreSQL 15.18", "serializable", 0), 0);
  assert_int_equal(isolde_coo_published("PostgreSQL 15.18", "serializable", 34), 0);
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
