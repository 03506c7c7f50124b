/* VeriStrong list text. */
#include "tests/unit/format/format_bytes.h"

static isoproof_history *open_text(const char *text) {
  isoproof_error error = {0};
  isoproof_history *history;
  isoproof_status status = open_bytes(text, strlen(text), NULL, &history, &error);
  if (status != ISOPROOF_OK) fail_msg("%s", error.message);
  assert_string_equal(isoproof_history_format(history), "veristrong");
  return history;
}

static void test_small(void **state) {
  (void)state;
  isoproof_history *history = open_text("6\n"
                                        "7 1 A 5 10\n"
                                        "7 1 A 5 11\n"
                                        "9 2 R 5 2 10 11\r\n"
                                        "7 1 R -6 0\n"
                                        "9 2 A 5 12\n"
                                        "7 3 R 5 2 11 10");
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  assert_int_equal(counts.sessions, 2);
  assert_int_equal(counts.transactions, 3);
  assert_int_equal(counts.operations, 6);
  isoproof_txn txn = {.struct_size = sizeof txn};
  assert_true(isoproof_history_txn_at(history, 0, &txn));
  assert_int_equal(txn.op_count, 3); /* its line 5 came after another session's */
  isoproof_op op = {.struct_size = sizeof op};
  isoproof_scalar element;
  isoproof_position position;
  assert_true(isoproof_history_op_at(history, 2, &op));
  assert_int_equal(op.kind, ISOPROOF_OP_READ_LIST);
  assert_int_equal(op.element_count, 0);
  assert_int_equal(op.key.integer, -6);
  assert_true(isoproof_history_position_of(history, 2, &position));
  assert_int_equal(position.line, 5);
  assert_true(isoproof_history_op_at(history, 3, &op));
  assert_int_equal(op.element_count, 2);
  assert_true(isoproof_history_element_at(history, 3, 0, &element));
  assert_int_equal(element.integer, 11); /* transaction 3 of session 7 read them in the other order */
  assert_true(isoproof_history_position_of(history, 3, &position));
  assert_int_equal(position.line, 7);
  assert_true(isoproof_history_element_at(history, 4, 0, &element));
  assert_int_equal(element.integer, 10);
  isoproof_history_free(history);
  history = open_text("0\n");
  isoproof_history_free(history);
  history = open_text("1\n1 1 A 18446744073709551615 2\n\n  \n");
  isoproof_history_free(history);
}

static void expect_bad(const char *text, uint64_t line, const char *words) {
  isoproof_error error = {0};
  isoproof_history *history;
  assert_int_equal(open_bytes(text, strlen(text), "veristrong", &history, &error), ISOPROOF_ERR_FORMAT);
  assert_int_equal(error.line, line);
  if (strstr(error.message, words) == NULL) fail_msg("expected '%s' in '%s'", words, error.message);
}

static void test_refused(void **state) {
  (void)state;
  expect_bad("", 1, "expected the number of lines, found the end of the line");
  expect_bad("x\n", 1, "expected the number of lines, found `x`");
  expect_bad("1 2\n", 1, "expected the end of the line, found `2`");
  expect_bad("2\n1 1 A 1 1\n", 3, "expected 2 lines, as the first line says, found the end after 1");
  expect_bad("1\n1 1 A 1 1\n1 1 A 1 2\n", 3, "expected 1 lines, as the first line says, found more");
  expect_bad("1\n1 1 A 1\n", 2, "expected the element appended, found the end of the line");
  expect_bad("1\n1 1 A 1 2 3\n", 2, "expected the end of the line, found `3`");
  expect_bad("1\n1 1 R 1 3 4 5\n", 2, "expected an element, found the end of the line");
  expect_bad("1\n1 1 R 1 9223372036854775807 4 5\n", 2, "expected an element");
  expect_bad("1\n1 1 R 1 -1\n", 2, "expected the number of elements, found `-1`");
  expect_bad("1\n1 1 R 1 1 4 5\n", 2, "expected the end of the line, found `5`");
  expect_bad("1\n1 1 W 1 1\n", 2, "expected R (read) or A (append), found `W 1 1`");
  expect_bad("1\n1 y A 1 1\n", 2, "expected the number of a transaction, found `y A 1 1`");
  expect_bad("1\n\n", 2, "expected the number of a session");
  expect_bad("3\n1 1 A 1 1\n1 2 A 1 2\n1 1 A 1 3\n", 4, "found transaction 1 again");
}

static void test_truncated_everywhere(void **state) {
  (void)state;
  static const char text[] = "3\n7 1 A 5 10\n8 1 R 5 2 10 11\n7 1 A 5 11\n";
  for (size_t cut = 0; cut < sizeof text - 1; cut++) {
    isoproof_history *history;
    if (open_bytes(text, cut, "veristrong", &history, NULL) == ISOPROOF_OK) touch_history(history);
    isoproof_history_free(history);
  }
}

static void test_long_lines(void **state) {
  (void)state;
  bytes b = {NULL, 0, 0};
  bytes_put(&b, "2\n1 1 R 1 400000", 16);
  for (int i = 0; i < 400000; i++) {
    char number[16];
    int length = snprintf(number, sizeof number, " %d", i);
    bytes_put(&b, number, (size_t)length);
  }
  bytes_put(&b, "\n1 1 A 1 400000\n", 16);
  isoproof_error error = {0};
  isoproof_history *history;
  isoproof_op op = {.struct_size = sizeof op};
  assert_int_equal(open_bytes(b.data, b.count, NULL, &history, &error), ISOPROOF_OK);
  assert_true(isoproof_history_op_at(history, 0, &op));
  assert_int_equal(op.element_count, 400000);
  isoproof_history_free(history);
  bytes_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_small), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_truncated_everywhere), cmocka_unit_test(test_long_lines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
