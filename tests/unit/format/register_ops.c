/* Reads and writes taken in right from the window say the same as those that the tokenizer reads. */
#include "tests/unit/format/format_bytes.h"
#include "tests/unit/format/same_history.h"
#include "tests/unit/unit.h"

/* Texts of the same history: as it is usually written, and with space where nobody expects it. */
typedef struct {
  bytes usual, spread;
} texts;

static void put(texts *t, const char *usual, const char *spread) {
  bytes_put(&t->usual, usual, strlen(usual));
  bytes_put(&t->spread, spread, strlen(spread));
}

static void put_same(texts *t, const char *text) { put(t, text, text); }

/* Numbers of every length, around all that is special. */
static void put_number(texts *t, uint64_t *random) {
  static const char *const numbers[] = {
      "0",          "1",          "42",         "9999999",          "10000000",
      "2147483646", "2147483647", "2147483648", "9999999999999999", "10000000000000000",
      "-1",         "123456"};
  put_same(t, numbers[unit_below(random, sizeof numbers / sizeof numbers[0])]);
}

typedef struct {
  const char *header, *before, *after, *read, *write, *between, *nil;
  bool nil_writes;
} dialect;

static const dialect jsonl = {"{\"isoproof\":1,\"initial\":0}\n",
                              "{\"session\":1,\"status\":\"committed\",\"ops\":[",
                              "]}\n",
                              "[\"r\",",
                              "[\"w\",",
                              ",",
                              "null",
                              true};
static const dialect edn = {"", "{:type :ok, :process 1, :f :txn, :value [", "]}\n", "[:r ", "[:w ", " ", "nil", false};

static void put_op(texts *t, const dialect *d, uint64_t *random) {
  bool write = unit_below(random, 2) == 0;
  put_same(t, write ? d->write : d->read);
  put(t, "", "\n ");
  put_number(t, random);
  put(t, d->between, d->between[0] == ',' ? " ,\t" : " \n ");
  if (unit_below(random, 4) == 0 && (!write || d->nil_writes)) {
    put_same(t, d->nil);
  } else {
    put_number(t, random);
  }
  put(t, "]", " ]");
}

static void compare(const dialect *d, const char *format, uint64_t seed) {
  texts t = {{0}, {0}};
  uint64_t random = seed + 1;
  put_same(&t, d->header);
  for (uint64_t txns = unit_below(&random, 600); txns > 0; txns--) {
    put_same(&t, d->before);
    uint64_t ops = unit_below(&random, 20) == 0 ? 200 : unit_below(&random, 12);
    for (uint64_t i = 0; i < ops; i++) {
      if (i > 0) put_same(&t, unit_below(&random, 5) == 0 && d == &jsonl ? ", " : d->between);
      put_op(&t, d, &random);
    }
    put_same(&t, d->after);
  }
  isoproof_history *usual, *spread;
  isoproof_error error = {0};
  assert_ok_error(open_bytes(t.usual.data, t.usual.count, format, &usual, &error), error);
  assert_ok_error(open_bytes(t.spread.data, t.spread.count, format, &spread, &error), error);
  same_history(usual, spread, (same_options){0}, format);
  isoproof_history_free(usual);
  isoproof_history_free(spread);
  bytes_free(&t.usual);
  bytes_free(&t.spread);
}

static void test_jsonl(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) compare(&jsonl, "jsonl", seed);
}

static void test_edn(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) compare(&edn, "edn", seed);
}

/* What is wrong in the midst of usual operations is found where it is. */
static void expect_mistake(const char *op, const char *found) {
  char text[4000] = "{\"isoproof\":1}\n{\"session\":1,\"status\":\"committed\",\"ops\":[";
  for (int i = 0; i < 40; i++) strcat(text, "[\"w\",1,2],");
  size_t column = strlen(strchr(text, '\n') + 1);
  strcat(text, op);
  for (int i = 0; i < 40; i++) strcat(text, ",[\"w\",1,2]");
  strcat(text, "]}\n{\"session\":1,\"status\":\"committed\",\"ops\":[]}\n");
  isoproof_history *history;
  isoproof_error error = {0};
  assert_int_equal(open_bytes(text, strlen(text), "jsonl", &history, &error), ISOPROOF_ERR_FORMAT);
  char words[1200];
  isoproof_error_format(&error, words, sizeof words);
  if (strstr(words, found) == NULL) fail_msg("%s: expected %s in: %s", op, found, words);
  assert_int_equal(error.line, 2);
  assert_true(error.column > column && error.column <= column + strlen(op) + 1);
}

static void test_mistakes(void **state) {
  (void)state;
  expect_mistake("[\"w\",01,2]", "no zero before a number");
  expect_mistake("[\"w\",1,02]", "no zero before a number");
  expect_mistake("[\"w\",1 2]", "`,` or `]`");
  expect_mistake("[\"w\",1,]", "a JSON value");
  expect_mistake("[\"w\",1,nul]", "a JSON value");
  expect_mistake("[\"w\",1,2,3]", "the end of the operation");
  expect_mistake("[\"q\",1,2]", "the name of an operation");
  expect_mistake("[\"w\",1,2}", "`,` or `]`");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_jsonl), cmocka_unit_test(test_edn),
                                     cmocka_unit_test(test_mistakes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
