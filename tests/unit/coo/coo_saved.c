/* Saved matrices: read back, compared, shown as pages; and files that are no matrices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/scratch.h"
#include <isoproof/coo.h>

#define MATRICES ISOPROOF_SOURCE_ROOT "/examples/matrices/"

static isoproof_coo_matrix *read_matrix(const char *path) {
  isoproof_coo_matrix *matrix;
  isoproof_error error;
  if (isoproof_coo_matrix_read(path, &matrix, &error) != ISOPROOF_OK) fail_msg("%s: %s", path, error.message);
  return matrix;
}

/* A matrix from text, NULL where it is refused. */
static isoproof_coo_matrix *read_text(const char *text, size_t length, isoproof_error *error) {
  char path[SCRATCH_BYTES];
  isoproof_coo_matrix *matrix;
  int file = scratch_file(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, length), (ssize_t)length);
  close(file);
  isoproof_status status = isoproof_coo_matrix_read(path, &matrix, error);
  unlink(path);
  assert_true((status == ISOPROOF_OK) == (matrix != NULL));
  return matrix;
}

/* Everything is asked for, as outputs do. */
static void walk(const isoproof_coo_matrix *matrix) {
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  isoproof_coo_event event = {.struct_size = sizeof event};
  char text[1024];
  size_t bytes = strlen(isoproof_coo_matrix_database(matrix));
  for (size_t r = 0; isoproof_coo_matrix_row_at(matrix, r, &row); r++) {
    bytes += strlen(row.name) + strlen(row.kind);
    for (size_t l = 0; isoproof_coo_matrix_cell_at(matrix, r, l, &cell); l++)
      for (size_t i = 0; isoproof_coo_cell_event_at(matrix, r, l, i, &event); i++) bytes += strlen(event.sql);
  }
  for (size_t l = 0; isoproof_coo_matrix_sentence_at(matrix, l, text, sizeof text) > 0; l++) bytes += strlen(text);
  assert_true(bytes > 0);
}

static bool count_bytes(void *user, const void *data, size_t size) {
  (void)data;
  *(size_t *)user += size;
  return true;
}

static bool refuse(void *user, const void *data, size_t size) {
  (void)user;
  (void)data;
  (void)size;
  return false;
}

static void a_saved_matrix_has_everything(void **state) {
  (void)state;
  isoproof_coo_matrix *matrix = read_matrix(MATRICES "galera-4.json");
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  isoproof_coo_summary summary = {.struct_size = sizeof summary};
  isoproof_coo_verdict verdict = {.struct_size = sizeof verdict};
  assert_non_null(strstr(isoproof_coo_matrix_database(matrix), "Galera"));
  assert_string_equal(isoproof_coo_matrix_level_at(matrix, 1), "serializable");
  assert_true(isoproof_coo_matrix_row_at(matrix, 1, &row));
  assert_int_equal(row.number, 30);
  assert_string_equal(row.plan, "R1x W2y W2x C2 W1y C1");
  assert_true(isoproof_coo_matrix_cell_at(matrix, 1, 0, &cell));
  assert_int_equal(cell.result, ISOPROOF_COO_ANOMALY);
  assert_int_equal(cell.unexpected, 1);
  assert_string_equal(cell.expected, "violated");
  assert_true(cell.event_count > 5);
  assert_true(isoproof_coo_cell_verdict_at(matrix, 1, 0, 0, &verdict));
  assert_true(isoproof_coo_matrix_summary_at(matrix, 0, &summary));
  assert_string_equal(summary.expected, "snapshot-isolation");
  assert_int_equal(summary.unexpected, 1);
  assert_int_equal(isoproof_coo_matrix_unexpected(matrix), 1);
  assert_true(isoproof_coo_matrix_complete(matrix));
  isoproof_coo_matrix_free(matrix);
}

/* ---- comparing ---- */

static size_t count_differences(const isoproof_coo_comparison *c) {
  isoproof_coo_difference d = {.struct_size = sizeof d};
  size_t count = 0;
  while (isoproof_coo_comparison_difference_at(c, count, &d)) count++;
  return count;
}

static size_t count_unmatched(const isoproof_coo_comparison *c) {
  isoproof_coo_unmatched u = {.struct_size = sizeof u};
  size_t count = 0;
  while (isoproof_coo_comparison_unmatched_at(c, count, &u)) count++;
  return count;
}

static void only_what_differs_is_found(void **state) {
  (void)state;
  isoproof_coo_matrix *a = read_matrix(MATRICES "postgresql-15.json"), *b = read_matrix(MATRICES "mariadb-10.11.json");
  isoproof_coo_matrix *c = read_matrix(MATRICES "galera-4.json");
  isoproof_coo_comparison *comparison;
  assert_int_equal(isoproof_coo_compare(a, b, &comparison, NULL), ISOPROOF_OK);
  assert_int_equal(isoproof_coo_comparison_cells(comparison), 8);
  assert_int_equal(count_differences(comparison), 7);
  assert_int_equal(count_unmatched(comparison), 0);
  size_t bytes = 0;
  isoproof_error error;
  assert_int_equal(isoproof_coo_comparison_write_html(comparison, count_bytes, &bytes, &error), ISOPROOF_OK);
  assert_true(bytes > 10000);
  assert_int_not_equal(isoproof_coo_comparison_write_html(comparison, refuse, NULL, &error), ISOPROOF_OK);
  isoproof_coo_comparison_free(comparison);
  assert_int_equal(isoproof_coo_compare(a, a, &comparison, NULL), ISOPROOF_OK);
  assert_int_equal(count_differences(comparison), 0);
  isoproof_coo_comparison_free(comparison);
  assert_int_equal(isoproof_coo_compare(a, c, &comparison, NULL), ISOPROOF_OK);
  assert_int_equal(isoproof_coo_comparison_cells(comparison), 2);
  assert_int_equal(count_unmatched(comparison), 3 + 2);
  isoproof_coo_comparison_free(comparison);
  isoproof_coo_matrix_free(a);
  isoproof_coo_matrix_free(b);
  isoproof_coo_matrix_free(c);
}

/* Levels are matched by name, rows by name or schedule; the order does not matter, and old files have no expectations.
 */
static void rows_are_matched_by_name_or_schedule(void **state) {
  (void)state;
  static const char one[] =
      "{\"schema\":1,\"database\":\"a\",\"cases\":["
      "{\"no\":null,\"name\":\"mine\",\"class\":\"none\",\"schedule\":\"R1x "
      "C1\",\"results\":{\"Read-Committed\":{\"result\":\"P\"}}},"
      "{\"name\":\"x\",\"schedule\":\"W1x "
      "C1\",\"results\":{\"Read-Committed\":{\"result\":\"P\",\"runs\":{\"P\":3,\"A\":1}}}},"
      "{\"name\":\"y\",\"results\":{\"Read-Committed\":{\"result\":\"P\"}}}],\"levels\":[\"Read-Committed\"]}";
  static const char other[] =
      "{\"database\":\"b\",\"levels\":[\"read committed\",\"serializable\"],\"schema\":1,\"cases\":["
      "{\"name\":\"x\",\"schedule\":\"W1y C1\",\"results\":{\"read committed\":{\"result\":\"P\",\"runs\":{\"P\":4}}}},"
      "{\"name\":\"yours\",\"schedule\":\"R1x C1\",\"results\":{\"read committed\":{\"result\":\"A\"}}}]}";
  isoproof_error error;
  isoproof_coo_matrix *a = read_text(one, sizeof one - 1, &error), *b = read_text(other, sizeof other - 1, &error);
  isoproof_coo_comparison *comparison;
  isoproof_coo_difference d = {.struct_size = sizeof d};
  isoproof_coo_unmatched u = {.struct_size = sizeof u};
  assert_non_null(a);
  assert_non_null(b);
  assert_int_equal(isoproof_coo_compare(a, b, &comparison, NULL), ISOPROOF_OK);
  assert_int_equal(isoproof_coo_comparison_cells(comparison), 2);
  assert_int_equal(count_differences(comparison), 2);
  assert_true(isoproof_coo_comparison_difference_at(comparison, 0, &d));
  assert_int_equal(d.row, 0);
  assert_int_equal(d.other_row, 1);
  assert_true(isoproof_coo_comparison_difference_at(comparison, 1, &d)); /* one run of four was another */
  assert_int_equal(d.row, 1);
  assert_int_equal(d.other_row, 0);
  assert_int_equal(count_unmatched(comparison), 2);
  assert_true(isoproof_coo_comparison_unmatched_at(comparison, 0, &u));
  assert_true(u.is_level && u.in_other);
  assert_string_equal(u.name, "serializable");
  assert_true(isoproof_coo_comparison_unmatched_at(comparison, 1, &u));
  assert_true(!u.is_level && !u.in_other);
  assert_string_equal(u.name, "y");
  isoproof_coo_comparison_free(comparison);
  isoproof_coo_matrix_free(a);
  isoproof_coo_matrix_free(b);
}

/* ---- files that are no matrices ---- */

static void expect_no_matrix(const char *text, const char *says) {
  isoproof_error error = {.message = ""};
  assert_null(read_text(text, strlen(text), &error));
  if (strstr(error.message, says) == NULL) fail_msg("%s: expected '%s', found '%s'", text, says, error.message);
}

static void what_is_no_matrix_is_refused(void **state) {
  (void)state;
  isoproof_coo_matrix *matrix;
  assert_int_not_equal(isoproof_coo_matrix_read("/nonexistent/matrix", &matrix, NULL), ISOPROOF_OK);
  assert_null(matrix);
  expect_no_matrix("", "isoproof coo");
  expect_no_matrix("[]", "isoproof coo");
  expect_no_matrix("{}", "another object");
  expect_no_matrix("{\"schema\":1,\"database\":\"x\"}", "another object");
  expect_no_matrix("{\"schema\":2,\"database\":\"x\",\"cases\":[]}", "another object");
  expect_no_matrix("{\"schema\":1,\"database\":\"x\",\"cases\":3}", "a list of cases");
  expect_no_matrix("{\"schema\":1,\"database\":\"x\",\"cases\":[{}]}", "name");
  expect_no_matrix("{\"schema\":1,\"database\":\"x\",\"cases\":[{\"name\":\"n\"}]}", "results");
  expect_no_matrix("{\"schema\":1,\"database\":\"x\",\"cases\":[{\"name\":\"n\",\"results\":{\"l\":{}}}]}", "a letter");
  expect_no_matrix("{\"schema\":1,\"database\":\"x\",\"cases\":[{\"name\":\"n\",\"schedule\":\"Q\",\"results\":{}}]}",
                   "the schedule of a case");
  expect_no_matrix("{\"schema\":1,\"database\":\"x\",\"cases\":[{\"name\":\"n\",\"results\":{\"l\":{\"result\":\"P\","
                   "\"events\":[{\"session\":9}]}}}]}",
                   "session");
  expect_no_matrix(
      "{\"schema\":1,\"database\":\"x\",\"levels\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"],"
      "\"cases\":[]}",
      "at most 8 levels");
}

/* A file cut anywhere, or with bytes changed anywhere, is refused or read, and never more. */
static void damaged_files_do_no_harm(void **state) {
  (void)state;
  FILE *file = fopen(MATRICES "galera-4.json", "re");
  assert_non_null(file);
  static char text[1 << 16], damaged[1 << 16];
  size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  assert_in_range(length, 1000, sizeof text - 1);
  for (size_t cut = 0; cut + 2 < length; cut += 97) assert_null(read_text(text, cut, NULL));
  uint64_t random = 1;
  for (int i = 0; i < 400; i++) {
    memcpy(damaged, text, length);
    for (int k = 0; k <= i % 4; k++) {
      random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      damaged[(random >> 33) % length] = "\"{}[],:0A\\x"[(random >> 20) % 11];
    }
    isoproof_coo_matrix *matrix = read_text(damaged, length, NULL);
    if (matrix == NULL) continue;
    size_t bytes = 0;
    walk(matrix);
    assert_int_equal(isoproof_coo_matrix_write_html(matrix, true, count_bytes, &bytes, NULL), ISOPROOF_OK);
    isoproof_coo_matrix_free(matrix);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_saved_matrix_has_everything),
      cmocka_unit_test(only_what_differs_is_found),
      cmocka_unit_test(rows_are_matched_by_name_or_schedule),
      cmocka_unit_test(what_is_no_matrix_is_refused),
      cmocka_unit_test(damaged_files_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
