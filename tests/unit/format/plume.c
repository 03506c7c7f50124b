/* Plume text: what is accepted, what is refused and with which words, with one thread and with several. */
#include "tests/unit/unit.h"

#include "history/history.h"

static isoproof_status load_threads(const char *text, size_t length, unsigned threads, isoproof_history **history,
                                    isoproof_error *error) {
  isoproof_open_options options = {.struct_size = sizeof options, .format = "plume"};
  isoproof_task *task;
  assert_ok(isoproof_task_new(&task));
  isoproof_task_set_threads(task, threads);
  isoproof_status status = isoproof_history_open_memory(text, length, "h.txt", &options, task, history, error);
  isoproof_task_free(task);
  return status;
}

static isoproof_history *load(const char *text) {
  isoproof_history *history = NULL;
  isoproof_error error = {.code = ISOPROOF_OK};
  assert_ok_error(load_threads(text, strlen(text), 1, &history, &error), error);
  return history;
}

static void example_of_the_format(void **state) {
  (void)state;
  isoproof_history *h = load("w(1,2,0,0)\nr(1,2,1,1)\nw(1,1,0,-1)\nr(3,0,0,2)");
  assert_int_equal(h->sessions, 2);
  assert_int_equal(h->txns, 4);
  assert_int_equal(h->aborted, 1);
  assert_int_equal(h->txn_status[1], ISOPROOF_TXN_ABORTED);
  assert_int_equal(h->op_value[2], ISO_VALUE_NIL);
  isoproof_txn txn = {.struct_size = sizeof txn};
  assert_true(isoproof_history_txn_at(h, 2, &txn));
  assert_true(txn.has_id && txn.id == 2);
  assert_true(isoproof_history_txn_at(h, 1, &txn));
  assert_false(txn.has_id);
  char name[32];
  isoproof_history_txn_name(h, 2, name, sizeof name);
  assert_string_equal(name, "s0t2");
  isoproof_history_free(h);
}

static void lines_are_remembered(void **state) {
  (void)state;
  isoproof_history *h = load("w(1,1,0,0)\nw(2,1,1,1)\nw(1,2,0,0)\n\nw(3,1,0,0)\r\n\r\nw(2,2,1,2)\r\n");
  const uint64_t lines[] = {1, 3, 5, 2, 7};
  for (uint32_t op = 0; op < h->ops; op++) {
    isoproof_position at;
    assert_true(isoproof_history_position_of(h, op, &at));
    assert_string_equal(at.file, "h.txt");
    assert_int_equal(at.line, lines[op]);
  }
  assert_int_equal(h->txns, 3);
  isoproof_history_free(h);
}

static void large_numbers(void **state) {
  (void)state;
  isoproof_history *h = load("w(18446744073709551615,12345678,7,9223372036854775807)\n"
                             "w(12345678901,18446744073709551615,4294967296,1)\nw(0,2147483647,7,3)\n");
  isoproof_op op = {.struct_size = sizeof op};
  assert_true(isoproof_history_op_at(h, 0, &op));
  assert_int_equal(op.key.type, ISOPROOF_UNSIGNED);
  assert_true((uint64_t)op.key.integer == UINT64_MAX);
  assert_true(op.value.integer == 12345678);
  assert_true(isoproof_history_op_at(h, 1, &op));
  assert_true(op.value.integer == 2147483647);
  char name[32];
  isoproof_history_txn_name(h, 2, name, sizeof name);
  assert_string_equal(name, "s4294967296t0");
  isoproof_history_free(h);
}

static void aborted_runs(void **state) {
  (void)state;
  /* One run of session 0 although session 1 comes between; two runs where a committed transaction comes between. */
  isoproof_history *h = load("w(1,1,0,-1)\nw(9,1,1,-1)\nw(1,2,0,-1)\nw(1,3,0,4)\nw(1,4,0,-1)\n");
  assert_int_equal(h->txns, 4);
  assert_int_equal(h->aborted, 3);
  assert_int_equal(h->txn_first_op[1] - h->txn_first_op[0], 2);
  isoproof_history_free(h);
}

static void bad_input_is_named(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t line, column;
    const char *words;
  } cases[] = {
      {"w(1,1,0,0)\nx(1,1,0,0)\n", 2, 1,
       "expected `r(key,value,session,txn)` or `w(key,value,session,txn)`, found `x(1,1,0,0)\\x0a`"},
      {"w 1,1,0,0)\n", 1, 2, "expected `(`, found ` 1,1,0,0)\\x0a`"},
      {"w(-1,1,0,0)\n", 1, 3, "expected a key (a 64-bit number without sign or leading zeros), found `-1,1,0,0)\\x0a`"},
      {"w(1,-5,0,0)\n", 1, 5, "expected a value (a 64-bit number without sign or leading zeros), found `-5,0,0)\\x0a`"},
      {"w(1,01,0,0)\n", 1, 5, "expected a value (a 64-bit number without sign or leading zeros), found `01,0,0)\\x0a`"},
      {"w(1,1,-1,0)\n", 1, 7, "expected a session (a 64-bit number without sign or leading zeros), found `-1,0)\\x0a`"},
      {"w(1,1,0,-2)\n", 1, 9,
       "expected a transaction (a number below 2^63 without leading zeros, or -1), found `-2)\\x0a`"},
      {"w(1,1,0,0\n", 1, 10, "expected `)` after the transaction, found `\\x0a`"},
      {"w(1,1,0,0) \n", 1, 11, "expected the end of the line, found ` \\x0a`"},
      {"w(1,1,0,0)\nw(1,2", 2, 6, "expected `,` after the value, found the end of the input"},
      {"w(18446744073709551616,1,0,0)\n", 1, 3,
       "expected a key (a 64-bit number without sign or leading zeros), found `18446744073709551616,1,0,0)\\x0a`"},
      {"w(1,1,0,0)\nw(1,2,0,1)\nw(1,3,0,0)\n", 3, 0,
       "expected a new transaction in session 0, found transaction 0 again: an id belongs to one transaction, and "
       "transactions of one session cannot be interleaved"},
      {"w(1,1,0,0)\nw(1,2,1,0)\n", 2, 0,
       "expected a new transaction in session 1, found transaction 0 again: an id belongs to one transaction, and "
       "transactions of one session cannot be interleaved"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (unsigned threads = 1; threads <= 3; threads++) {
      isoproof_history *h;
      isoproof_error error;
      assert_int_equal(load_threads(cases[i].text, strlen(cases[i].text), threads, &h, &error), ISOPROOF_ERR_FORMAT);
      assert_string_equal(error.file, "h.txt");
      assert_int_equal(error.line, cases[i].line);
      assert_int_equal(error.column, cases[i].column);
      assert_string_equal(error.message, cases[i].words);
    }
  }
}

static void nul_bytes_are_refused(void **state) {
  (void)state;
  char text[] = "w(1,1,0,0)\nr(1,1,1,1)\n";
  for (size_t i = 0; i + 1 < sizeof text; i++) {
    isoproof_history *h;
    isoproof_error error;
    char saved = text[i];
    text[i] = '\0';
    assert_int_equal(load_threads(text, sizeof text - 1, 1, &h, &error), ISOPROOF_ERR_FORMAT);
    assert_int_equal(error.line, i < 11 ? 1 : 2);
    text[i] = saved;
  }
}

/* Every prefix of a history either loads or names its last line. */
static void truncation_at_every_byte(void **state) {
  (void)state;
  const char *text = "w(10,20,3,40)\r\nr(10,20,31,41)\nw(10,21,3,-1)\n";
  for (size_t length = 0; length <= strlen(text); length++) {
    isoproof_history *h = NULL;
    isoproof_error error;
    isoproof_status status = load_threads(text, length, 1, &h, &error);
    if (status == ISOPROOF_OK) {
      isoproof_history_free(h);
    } else {
      assert_int_equal(status, ISOPROOF_ERR_FORMAT);
      assert_in_range(error.line, 1, 3);
    }
  }
}

static void an_empty_file_is_an_empty_history(void **state) {
  (void)state;
  const char *texts[] = {"", "\n", "\r\n\r\n"};
  for (int i = 0; i < 3; i++) {
    isoproof_history *h = load(texts[i]);
    assert_int_equal(h->txns, 0);
    isoproof_history_free(h);
  }
}

/* Blocks end anywhere; the result must not depend on where, nor on the number of threads. */
static void many_blocks(void **state) {
  (void)state;
  enum { LINES = 200000, LONGEST = 64 };
  char *text = malloc((size_t)LINES * LONGEST);
  assert_non_null(text);
  size_t length = 0;
  uint64_t random = 3;
  uint32_t current[8];
  for (uint32_t s = 0; s < 8; s++) current[s] = s;
  uint32_t next = 8;
  for (uint32_t i = 0; i < LINES; i++) {
    uint32_t session = (uint32_t)unit_below(&random, 8);
    if (unit_below(&random, 3) == 0) current[session] = next++;
    length += (size_t)sprintf(text + length, "w(%u,%u,%u,%u)\n", (uint32_t)unit_below(&random, 500), i + 1, session,
                              current[session]);
  }
  isoproof_history *first = NULL;
  for (unsigned threads = 1; threads <= 5; threads++) {
    isoproof_history *h = NULL;
    isoproof_error error;
    assert_ok_error(load_threads(text, length, threads, &h, &error), error);
    assert_int_equal(h->ops, LINES);
    if (first == NULL) {
      first = h;
      continue;
    }
    assert_int_equal(h->txns, first->txns);
    assert_memory_equal(h->op_value, first->op_value, LINES * sizeof *h->op_value);
    assert_memory_equal(h->op_key, first->op_key, LINES * sizeof *h->op_key);
    assert_memory_equal(h->op_line_opt, first->op_line_opt, LINES * sizeof *h->op_line_opt);
    assert_memory_equal(h->txn_first_op, first->txn_first_op, h->txns * sizeof *h->txn_first_op);
    isoproof_history_free(h);
  }
  for (uint32_t op = 0; op < LINES; op++) assert_int_equal(first->op_line_opt[op], first->op_value[op]);
  isoproof_history_free(first);
  /* An error far inside is found at its line by any number of threads. */
  char *line = text;
  for (int i = 0; i < 150000; i++) line = strchr(line, '\n') + 1;
  *line = '?';
  for (unsigned threads = 1; threads <= 4; threads++) {
    isoproof_history *h;
    isoproof_error error;
    assert_int_equal(load_threads(text, length, threads, &h, &error), ISOPROOF_ERR_FORMAT);
    assert_int_equal(error.line, 150001);
  }
  free(text);
}

/* Where they leave open what was observed, as for patterns by themselves, both writes are named. */
static void duplicate_values_are_named(void **state) {
  (void)state;
  static const struct {
    const char *text, *words;
    uint64_t line;
  } cases[] = {
      {"w(1,5,0,0)\nw(2,5,0,0)\nw(1,5,1,1)\n",
       "s1t0 writes value 5 to key 1, which s0t0 (line 1) has as well: every write to a key needs a value of its own",
       3},
      {"w(1,0,0,0)\n",
       "s0t0 writes value 0 to key 1, which the initial version has as well: every write to a key needs a value of "
       "its own",
       1},
      {"w(1,5,0,-1)\nw(1,5,1,1)\n",
       "s1t0 writes value 5 to key 1, which s0t0 (line 1) has as well: every write to a key needs a value of its own",
       2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    isoproof_history *h = load(cases[i].text);
    isoproof_resolution resolution = {.struct_size = sizeof resolution};
    isoproof_result *result;
    isoproof_error error;
    assert_ok(isoproof_history_resolve(h, NULL, &resolution, NULL));
    assert_int_equal(resolution.duplicate_writes, 1);
    const char *pattern = "TAP-a";
    isoproof_check_options options = {.struct_size = sizeof options, .anomalies = &pattern, .anomaly_count = 1};
    assert_int_equal(isoproof_check(h, &options, NULL, &result, &error), ISOPROOF_ERR_FORMAT);
    assert_string_equal(error.message, cases[i].words);
    assert_int_equal(error.line, cases[i].line);
    isoproof_history_free(h);
  }
}

static void a_repeated_read_is_fine(void **state) {
  (void)state;
  isoproof_history *h = load("w(1,5,0,0)\nr(1,5,1,1)\nr(1,5,1,1)\nr(1,5,1,1)\n");
  isoproof_result *result;
  assert_ok(isoproof_check(h, NULL, NULL, &result, NULL));
  assert_int_equal(isoproof_result_anomaly_count(result), 0);
  isoproof_result_free(result);
  isoproof_history_free(h);
}

static void cancelled(void **state) {
  (void)state;
  isoproof_task *task;
  isoproof_history *h;
  isoproof_error error;
  assert_ok(isoproof_task_new(&task));
  isoproof_task_cancel(task);
  assert_int_equal(isoproof_history_open_memory("w(1,1,0,0)\n", 11, "h", NULL, task, &h, &error),
                   ISOPROOF_ERR_CANCELLED);
  isoproof_task_free(task);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(example_of_the_format),
      cmocka_unit_test(lines_are_remembered),
      cmocka_unit_test(large_numbers),
      cmocka_unit_test(aborted_runs),
      cmocka_unit_test(bad_input_is_named),
      cmocka_unit_test(nul_bytes_are_refused),
      cmocka_unit_test(truncation_at_every_byte),
      cmocka_unit_test(an_empty_file_is_an_empty_history),
      cmocka_unit_test(many_blocks),
      cmocka_unit_test(duplicate_values_are_named),
      cmocka_unit_test(a_repeated_read_is_fine),
      cmocka_unit_test(cancelled),
  };
  return cmocka_run_group_tests_name("plume", tests, NULL, NULL);
}
