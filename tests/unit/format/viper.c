/* Viper logs: single files and directories, failed operations, mistakes. */
#include "tests/scratch.h"
#include "tests/unit/format/describe.h"

#include <sys/stat.h>
#include <unistd.h>

static void one_log(void **state) {
  (void)state;
  expect_history(
      "{\"value\": [[\"r\", 1, 1, true], [\"w\", 2, 1, true]]}\n"
      "{\"other\":{\"x\":[]},\"value\": [[\"r\", 1, 0, true], [\"w\", 2, -9, true], [\"w\", 3, 1, false]]}\r\n"
      "{\"value\": []}\n{\"value\": [[\"r\", \"k\", null, true], [\"w\", 9223372036854775807, -9223372036854775808]]}",
      "viper",
      "0 committed -..- #-..- r(1,1) w(2,1)\n"
      "0 committed -..- #-..- r(1,nil) w(2,-9)\n"
      "0 committed -..- #-..-\n"
      "0 committed -..- #-..- r(\"k,nil) w(9223372036854775807,-9223372036854775808)\n");
}

static void mistakes(void **state) {
  (void)state;
  const isoproof_status f = ISOPROOF_ERR_FORMAT;
  expect_error("{\"value\": []}\n[]", "viper", f, 2, "a transaction");
  expect_error("{}", "viper", f, 1, "\"value\"");
  expect_error("{\"value\": 1}", "viper", f, 1, "a list of operations");
  expect_error("{\"value\": [1]}", "viper", f, 1, "an operation");
  expect_error("{\"value\": [[\"x\", 1, 1, true]]}", "viper", f, 1, "\"r\" or \"w\"");
  expect_error("{\"value\": [[\"r\", null, 1, true]]}", "viper", f, 1, "a key");
  expect_error("{\"value\": [[\"r\", 1, 1.5, true]]}", "viper", f, 1, "a value");
  expect_error("{\"value\": [[\"r\", 1, 9223372036854775808, true]]}", "viper", f, 1, "a value");
  expect_error("{\"value\": [[\"w\", 1, null, true]]}", "viper", f, 1, "a value");
  expect_error("{\"value\": [[\"r\", 1, 1, \"true\"]]}", "viper", f, 1, "true or false");
  expect_error("{\"value\": [[\"r\", 1, 1, true, 1]]}", "viper", f, 1, "the end of the operation");
  expect_error("{\"value\": [[\"r\", 1, 1, true]]", "viper", f, 1, "`,` or `}`");
}

static void truncations(void **state) {
  (void)state;
  survive_truncation("{\"value\": [[\"r\", 1, 1, true], [\"w\", 2, 1, false]]}\n{\"value\": []}\n", "viper");
}

static void put_file(const char *directory, const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void directory(void **state) {
  (void)state;
  static const char *const names[] = {"J0.log", "J2.log", "J10.log", "notes.txt"};
  char path[SCRATCH_BYTES];
  assert_true(scratch_folder(path));
  put_file(path, names[0], "{\"value\": [[\"w\", 1, 1, true]]}\n");
  put_file(path, names[1], "\n{\"value\": [[\"r\", 1, 1, true]]}\n");
  put_file(path, names[2], "");
  put_file(path, names[3], "not a log");
  isoproof_history *history;
  isoproof_error error = {0};
  isoproof_position position;
  bytes out = {0};
  if (isoproof_history_open(path, NULL, NULL, &history, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
  describe(&out, history);
  assert_string_equal(out.data, "0 committed -..- #-..- w(1,1)\n2 committed -..- #-..- r(1,1)\n");
  assert_int_equal(history->sessions, 3);
  assert_true(isoproof_history_position_of(history, 1, &position));
  assert_int_equal(position.line, 2);
  assert_non_null(strstr(position.file, "J2.log"));
  bytes_free(&out);
  isoproof_history_free(history);
  put_file(path, names[1], "{\"value\": [[\"r\", 1, 1, true]]}\nbroken");
  assert_int_equal(isoproof_history_open(path, NULL, NULL, &history, &error), ISOPROOF_ERR_FORMAT);
  assert_int_equal(error.line, 2);
  assert_non_null(strstr(error.file, "J2.log"));
  for (int i = 0; i < 4; i++) {
    char file[512];
    snprintf(file, sizeof file, "%s/%s", path, names[i]);
    unlink(file);
  }
  rmdir(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_log),
      cmocka_unit_test(mistakes),
      cmocka_unit_test(truncations),
      cmocka_unit_test(directory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
