/* isoproof_format_detect: files, directories, and what is neither. */
#include "tests/unit/unit.h"

static void expect_format(const char *path, const char *id) {
  const isoproof_format_info *info = NULL;
  isoproof_error error;
  assert_int_equal(isoproof_format_detect(path, &info, &error), ISOPROOF_OK);
  assert_non_null(info);
  assert_string_equal(info->id, id);
}

static void detects_examples(void **state) {
  (void)state;
  expect_format(ISOPROOF_SOURCE_ROOT "/examples/histories/lost-update.txt", "plume");
  expect_format(ISOPROOF_SOURCE_ROOT "/examples/histories/write-skew.edn", "edn");
  expect_format(ISOPROOF_SOURCE_ROOT "/examples/histories/registers.json", "json");
  expect_format(ISOPROOF_SOURCE_ROOT "/examples/histories/write-skew.bincode", "dbcop");
  expect_format(ISOPROOF_SOURCE_ROOT "/examples/histories/timestamps.json", "timekiller");
  expect_format(ISOPROOF_SOURCE_ROOT "/examples/histories/lists.veristrong.txt", "veristrong");
  expect_format(ISOPROOF_SOURCE_ROOT "/examples/histories/cobra", "cobra");
  expect_format(ISOPROOF_SOURCE_ROOT "/examples/histories/viper", "viper");
}

static void refuses_strangers(void **state) {
  (void)state;
  isoproof_error error;
  /* A directory of histories is not itself one. */
  assert_int_equal(isoproof_format_detect(ISOPROOF_SOURCE_ROOT "/examples/histories", NULL, &error),
                   ISOPROOF_ERR_FORMAT);
  assert_int_equal(isoproof_format_detect(ISOPROOF_SOURCE_ROOT "/examples/histories/README.md", NULL, &error),
                   ISOPROOF_ERR_FORMAT);
  assert_int_equal(isoproof_format_detect("/no/such/file", NULL, &error), ISOPROOF_ERR_IO);
  assert_string_equal(error.file, "/no/such/file");
  assert_int_equal(isoproof_format_detect("-", NULL, &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(isoproof_format_detect("/dev/null", NULL, NULL), ISOPROOF_ERR_FORMAT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(detects_examples),
      cmocka_unit_test(refuses_strangers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
