/* TimeKiller histories: timestamps of two parts, order of sessions, values, mistakes. */
#include "tests/unit/format/describe.h"

static void registers(void **state) {
  (void)state;
  expect_history(
      "[{\"tid\":67,\"sid\":19,\"sts\":{\"p\":1,\"l\":0},\"cts\":{\"p\":2,\"l\":0},"
      "\"ops\":[{\"t\":\"w\",\"k\":7,\"v\":2},{\"t\":\"r\",\"k\":8,\"v\":0},{\"t\":\"r\",\"k\":8,\"v\":null}]},\n"
      "{\"ops\":[{\"v\":2,\"k\":7,\"t\":\"r\",\"x\":[1]}],\"tid\":68,\"sid\":\"a\",\"cts\":{\"l\":0,\"p\":\"4\"},"
      "\"sts\":{\"p\":\"3\",\"l\":0}}]",
      "timekiller",
      "19 committed 1..2 #-..- w(7,2) r(8,nil) r(8,nil)\n"
      "\"a committed 3..4 #-..- r(7,2)\n");
}

static void lists(void **state) {
  (void)state;
  expect_history("[{\"tid\":1,\"sid\":0,\"sts\":{\"p\":1,\"l\":0},\"cts\":{\"p\":1,\"l\":0},\"ops\":[{\"t\":\"a\","
                 "\"k\":7,\"v\":2},"
                 "{\"t\":\"r\",\"k\":7,\"v\":[1,2]},{\"t\":\"r\",\"k\":7,\"v\":[]},{\"t\":\"r\",\"k\":7,\"v\":null}]}]",
                 "timekiller",
                 "0 committed 1..1 #-..- append(7,2) read-list(7,[1 2]) read-list(7,[]) read-list(7,nil)\n");
}

#define TXN(session, sp, sl, cp, cl, value)                                                                            \
  "{\"sid\":" session ",\"sts\":{\"p\":" sp ",\"l\":" sl "},\"cts\":{\"p\":" cp ",\"l\":" cl                           \
  "},\"ops\":[{\"t\":\"w\",\"k\":1,\"v\":" value "}]}\n"

static void order(void **state) {
  (void)state;
  /* By start, equal ones as in the file; sessions as they first appear. */
  expect_history(TXN("5", "9", "0", "10", "0", "1") TXN("4", "1", "0", "2", "0", "2") TXN("5", "3", "0", "12", "0", "3")
                     TXN("5", "3", "0", "4", "0", "4"),
                 "timekiller",
                 "5 committed 3..12 #-..- w(1,3)\n5 committed 3..4 #-..- w(1,4)\n5 committed 9..10 #-..- w(1,1)\n"
                 "4 committed 1..2 #-..- w(1,2)\n");
}

static void two_parts(void **state) {
  (void)state;
  expect_history(TXN("0", "1", "2", "1", "3", "1") TXN("0", "2", "0", "2", "65535", "2"), "timekiller",
                 "0 committed 65538..65539 #-..- w(1,1)\n0 committed 131072..196607 #-..- w(1,2)\n");
  /* What does not fit becomes ranks. */
  expect_history(TXN("0", "1", "2", "1", "65536", "1") TXN("0", "2", "0", "18446744073709551615", "1", "2")
                     TXN("0", "1", "65536", "2", "0", "3"),
                 "timekiller",
                 "0 committed 0..1 #-..- w(1,1)\n0 committed 1..2 #-..- w(1,3)\n0 committed 2..3 #-..- w(1,2)\n");
  expect_history(TXN("0", "9223372036854775807", "0", "9223372036854775807", "0", "1"), "timekiller",
                 "0 committed 9223372036854775807..9223372036854775807 #-..- w(1,1)\n");
  expect_history(TXN("0", "9223372036854775808", "0", "9223372036854775808", "0", "1"), "timekiller",
                 "0 committed 0..0 #-..- w(1,1)\n");
}

static void mistakes(void **state) {
  (void)state;
  const isoproof_status f = ISOPROOF_ERR_FORMAT;
  expect_error("[\n{\"tid\":1}]", "timekiller", f, 2, "\"sid\"");
  expect_error("{\"sid\":1,\"cts\":{\"p\":1},\"ops\":[]}", "timekiller", f, 1, "\"sts\"");
  expect_error("{\"sid\":1,\"sts\":{\"p\":1},\"ops\":[]}", "timekiller", f, 1, "\"cts\"");
  expect_error("{\"sid\":1,\"sts\":{\"p\":1},\"cts\":{\"p\":1}}", "timekiller", f, 1, "\"ops\"");
  expect_error("{\"sid\":1,\"sts\":{\"l\":1},\"cts\":{\"p\":1},\"ops\":[]}", "timekiller", f, 1, "\"p\"");
  expect_error(TXN("0", "5", "0", "4", "0", "1"), "timekiller", f, 1, "not before the start");
  expect_error(TXN("0", "5", "2", "5", "1", "1"), "timekiller", f, 1, "not before the start");
  expect_error(TXN("0", "-5", "2", "5", "1", "1"), "timekiller", f, 1, "not negative");
  expect_error(TXN("0", "\"x\"", "2", "5", "1", "1"), "timekiller", f, 1, "not negative");
  expect_error(TXN("0", "1.5", "2", "5", "1", "1"), "timekiller", f, 1, "not negative");
  expect_error(TXN("null", "1", "2", "5", "1", "1"), "timekiller", f, 1, "a session");
  expect_error(TXN("0", "1", "2", "5", "1", "null"), "timekiller", f, 1, "the value written");
  expect_error(TXN("0", "1", "2", "5", "1", "[1]"), "timekiller", f, 1, "the value written");
  expect_error(TXN("0", "1", "2", "5", "1", "{}"), "timekiller", f, 1, "a value or a list");
  expect_error("{\"sid\":1,\"sts\":5}", "timekiller", f, 1, "a timestamp");
  expect_error("{\"ops\":5}", "timekiller", f, 1, "a list of operations");
  expect_error("{\"ops\":[5]}", "timekiller", f, 1, "an operation");
  expect_error("{\"ops\":[{\"t\":\"x\"}]}", "timekiller", f, 1, "an operation (r, w or a)");
  expect_error("{\"ops\":[{\"t\":\"r\",\"k\":1}]}", "timekiller", f, 1, "\"v\"");
  expect_error("{\"ops\":[{\"t\":\"r\",\"k\":[1],\"v\":1}]}", "timekiller", f, 1, "a key");
  expect_error("[[]]", "timekiller", f, 1, "a transaction");
  expect_error("[5]", "timekiller", f, 1, "a transaction");
}

static void repeated_fields(void **state) {
  (void)state;
  expect_history("{\"sid\":1,\"sts\":{\"p\":1},\"cts\":{\"p\":1},\"ops\":[{\"t\":\"a\",\"k\":1,\"v\":1}],"
                 "\"ops\":[{\"t\":\"r\",\"k\":1,\"v\":[1,2],\"v\":[3]},{\"t\":\"r\",\"k\":1,\"v\":[3,4]}]}",
                 "timekiller", "1 committed 1..1 #-..- read-list(1,[3]) read-list(1,[3 4])\n");
}

static void truncations(void **state) {
  (void)state;
  survive_truncation("[" TXN("0", "1", "2", "1", "65536", "1") "," TXN("\"a\"", "1", "0", "1", "0", "\"x\"") "]\n",
                     "timekiller");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(registers),   cmocka_unit_test(lists),           cmocka_unit_test(order),
      cmocka_unit_test(two_parts),   cmocka_unit_test(repeated_fields), cmocka_unit_test(mistakes),
      cmocka_unit_test(truncations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
