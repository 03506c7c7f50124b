/* Elle's way with versions: lists of incompatible orders, lost updates, and registers whose order is told. */
#include "tests/unit/unit.h"

#define OK(process, value) "{:type :ok, :process " #process ", :f :txn, :value " value "}\n"
#define FAIL(process, value) "{:type :fail, :process " #process ", :f :txn, :value " value "}\n"
#define INFO(process, value) "{:type :info, :process " #process ", :f :txn, :value " value "}\n"

static isoproof_history *open_edn(const char *text) {
  isoproof_open_options open = {.struct_size = sizeof open, .format = "edn"};
  isoproof_history *history = NULL;
  isoproof_error error;
  assert_ok_error(isoproof_history_open_memory(text, strlen(text), "test.edn", &open, NULL, &history, &error), error);
  return history;
}

static isoproof_result *check_in_order(isoproof_history *history, const char *model, const uint64_t *order,
                                       size_t count) {
  isoproof_check_options options = {.struct_size = sizeof options,
                                    .models = &model,
                                    .model_count = 1,
                                    .transaction_order = order,
                                    .transaction_order_count = count};
  isoproof_result *result = NULL;
  isoproof_error error;
  assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
  return result;
}

static bool find(const isoproof_result *result, const char *code, isoproof_anomaly *out) {
  out->struct_size = sizeof *out;
  for (size_t i = 0; isoproof_result_anomaly_at(result, i, out); i++)
    if (strcmp(out->code, code) == 0) return true;
  return false;
}

/* Checks against strict serializability: the weakest model that is ruled out, and how often a code is found. */
static void expect(const char *text, const char *weakest, const char *code, uint64_t count) {
  isoproof_history *history = open_edn(text);
  isoproof_result *result = check_in_order(history, "strict-serializable", NULL, 0);
  isoproof_anomaly anomaly;
  bool found = find(result, code, &anomaly);
  assert_int_equal(found ? anomaly.count : 0, count);
  assert_string_equal(isoproof_result_ruled_out_at(result, 0), weakest);
  isoproof_result_free(result);
  isoproof_history_free(history);
}

/* ---- lists of incompatible orders ---- */

#define BOTH OK(0, "[[:append :x 1] [:append :y 1]]") OK(1, "[[:append :x 2] [:append :y 2]]")

/* Of two longest reads either may be the order: a write cycle by either counts, one by both of them together does not.
 */
static void test_several_longest(void **state) {
  (void)state;
  expect(OK(0, "[[:append :x 1]]") OK(1, "[[:append :x 2]]") OK(2, "[[:r :x [1 2]]]") OK(3, "[[:r :x [2 1]]]"),
         "read-committed", "G0", 0);
  expect(BOTH OK(2, "[[:r :x [1 2]] [:r :y [2 1]]]") OK(3, "[[:r :x [2 1]]]"), "read-uncommitted", "G0", 1);
  expect(BOTH OK(2, "[[:r :x [2 1]] [:r :y [2 1]]]") OK(3, "[[:r :x [1 2]]]"), "read-uncommitted", "G0", 1);
  expect(BOTH OK(2, "[[:r :x [2 1]]]") OK(3, "[[:r :x [1 2]] [:r :y [2 1]]]"), "read-uncommitted", "G0", 1);
  /* Two keys of two orders each: only one of the four choices shows a cycle that real time alone would not. */
  expect(BOTH OK(2, "[[:r :x [1 2]] [:r :y [1 2]]]") OK(3, "[[:r :x [2 1]] [:r :y [2 1]]]"), "read-uncommitted", "G0",
         1);
}

/* The longest read decides where there is one. */
static void test_one_longest(void **state) {
  (void)state;
  const char *more = BOTH OK(4, "[[:append :x 3]]");
  char text[1024];
  snprintf(text, sizeof text, "%s%s", more, OK(2, "[[:r :x [1 2 3]] [:r :y [2 1]]]") OK(3, "[[:r :x [2 1]]]"));
  expect(text, "read-uncommitted", "G0", 1);
  snprintf(text, sizeof text, "%s%s", more, OK(2, "[[:r :x [2 1 3]] [:r :y [2 1]]]") OK(3, "[[:r :x [1 2]]]"));
  expect(text, "read-committed", "G0", 0);
}

/* What the longest read does not show came after it, also where others show it. */
static void test_seen_elsewhere(void **state) {
  (void)state;
  expect(OK(0, "[[:append :x 1]]") OK(1, "[[:append :x 2] [:append :y 2]]") OK(2, "[[:append :x 3] [:append :y 3]]")
             OK(3, "[[:r :x [1 2 4]] [:r :y [3 2]]]") OK(4, "[[:r :x [1 3]]]") OK(5, "[[:append :x 4]]"),
         "read-uncommitted", "G0", 1);
  /* By an aborted and by an unknown writer: the first does not count, the second does, as somebody saw it. */
  expect(OK(0, "[[:append :x 1]]") OK(1, "[[:append :x 2] [:append :y 2]]") FAIL(2, "[[:append :x 3] [:append :y 3]]")
             OK(3, "[[:r :x [1 2]] [:r :y [3 2]]]") OK(4, "[[:r :x [3]]]"),
         "read-committed", "G0", 0);
  expect(OK(0, "[[:append :x 1]]") OK(1, "[[:append :x 2] [:append :y 2]]") INFO(2, "[[:append :x 3] [:append :y 3]]")
             OK(3, "[[:r :x [1 2]] [:r :y [3 2]]]") OK(4, "[[:r :x [3]]]"),
         "read-uncommitted", "G0", 1);
}

/* Who saw a write did not miss it, whatever the longest read says comes next. */
static void test_not_missed(void **state) {
  (void)state;
  const char *text = OK(0, "[[:append :x 1]]") OK(1, "[[:append :x 2] [:append :y 2]]") OK(2, "[[:append :x 3]]")
      OK(3, "[[:r :x [1 2 3]]]") OK(4, "[[:r :x [2 1]] [:r :y [2]]]");
  expect(text, "read-committed", "G-single-item", 0);
  /* But what it did not see, it missed. */
  expect(OK(0, "[[:append :x 1]]") OK(1, "[[:append :x 2]]") OK(2, "[[:append :x 3] [:append :y 3]]")
             OK(3, "[[:r :x [1 2 3]]]") OK(4, "[[:r :x [2]] [:r :y [3]]]"),
         "read-committed", "G-single-item", 1);
}

/* Elements of aborted transactions and of nobody can be there twice, too. */
static void test_duplicates(void **state) {
  (void)state;
  expect(FAIL(0, "[[:append :x 1]]") OK(1, "[[:r :x [1 1]]]"), "read-uncommitted", "duplicate-elements", 1);
  expect(OK(1, "[[:r :x [9 9]]]"), "read-uncommitted", "duplicate-elements", 1);
}

/* More keys with two longest reads each than choices can be tried. */
static void test_many_choices(void **state) {
  (void)state;
  enum { KEYS = 40, ROOM = 1 << 16 };
  char *text = calloc(1, ROOM);
  assert_non_null(text);
  char *at = text;
  for (int k = 0; k < KEYS; k++) {
    at +=
        snprintf(at, 512,
                 "{:type :ok, :process 0, :value [[:append %d 1]]}\n{:type :ok, :process 1, :value [[:append %d 2]]}\n"
                 "{:type :ok, :process 2, :value [[:r %d [1 2]]]}\n{:type :ok, :process 3, :value [[:r %d [2 1]]]}\n",
                 k, k, k, k);
  }
  strcpy(at, OK(4, "[[:append 90 1] [:append 91 1]]") OK(5, "[[:append 90 2] [:append 91 2]]")
                 OK(6, "[[:r 90 [1 2]] [:r 91 [1 2]]]") OK(7, "[[:r 90 [1 2]] [:r 91 [2 1]]]"));
  expect(text, "read-uncommitted", "G0", 1);
  free(text);
}

/* ---- lost updates ---- */

/* With both reads and both writes, whatever else is there; of three updates of one version two are lost. */
static void test_lost_update(void **state) {
  (void)state;
  isoproof_history *history = open_edn(OK(0, "[[:r :x [] ] [:append :x 1]]") OK(1, "[[:r :x nil] [:append :x 2]]") OK(
      2, "[[:r :x nil] [:append :x 3]]") OK(3, "[[:r :x [2 1]]]") FAIL(4, "[[:append :y 1]]") OK(5, "[[:r :y [1]]]"));
  isoproof_result *result = check_in_order(history, "serializable", NULL, 0);
  isoproof_anomaly a;
  assert_true(find(result, "G1a", &a));
  assert_true(find(result, "lost-update", &a));
  assert_int_equal(a.count, 2);
  assert_int_equal(a.op_count, 4);
  assert_int_equal(a.edge_count, 2);
  assert_string_equal(a.edges[0].kind, "WW");
  assert_int_equal(a.edges[0].from_txn, 1);
  assert_string_equal(a.edges[1].kind, "RW");
  assert_non_null(strstr(a.explanation, "append :x 1"));
  assert_non_null(strstr(a.explanation, "append :x 2"));
  isoproof_result_free(result);
  isoproof_history_free(history);
}

static void test_lost_update_elsewhere(void **state) {
  (void)state;
  /* Of a list that fits to no other one; of garbage, which is another version than nothing. */
  expect(OK(0, "[[:append :x 1]]") OK(1, "[[:append :x 2]]") OK(2, "[[:r :x [2 1]] [:append :x 3]]")
             OK(3, "[[:r :x [2 1]] [:append :x 4]]") OK(4, "[[:r :x [1 2 3]]]"),
         "read-committed", "lost-update", 1);
  expect(OK(0, "[[:r :x [9]] [:append :x 3]]") OK(1, "[[:r :x []] [:append :x 4]]"), "read-committed", "lost-update",
         0);
  /* Nobody is lost who wrote before it read. */
  expect(OK(0, "[[:w :x 1] [:r :x 2]]") OK(1, "[[:r :x 2] [:w :x 3]]") OK(2, "[[:w :x 2]]"), "read-atomic",
         "lost-update", 0);
  expect(OK(0, "[[:r :x 2] [:w :x 1]]") OK(1, "[[:r :x 2] [:w :x 3]]") OK(2, "[[:w :x 2]]"), "cursor-stability",
         "lost-update", 1);
}

/* ---- registers ---- */

/* Nil and then a value, without a write between. */
static void test_nil_then_value(void **state) {
  (void)state;
  expect(OK(0, "[[:r :x nil] [:r :x 1]]") OK(1, "[[:w :x 1]]"), "read-atomic", "internal", 1);
  expect(OK(0, "[[:r :x nil] [:r :x [1]]]") OK(1, "[[:append :x 1]]"), "consistent-view", "internal", 1);
}

/* An intermediate value is one for whoever wrote the key before, too. */
static void test_intermediate(void **state) {
  (void)state;
  expect(OK(0, "[[:w :x 1] [:r :x 2]]") OK(1, "[[:w :x 2] [:w :x 3]]"), "read-committed", "G1b", 1);
}

static void test_transaction_order(void **state) {
  (void)state;
  static const uint64_t forward[] = {0, 1}, backward[] = {1, 0}, twice[] = {0, 0}, beyond[] = {2};
  isoproof_history *history = open_edn(OK(0, "[[:r :x nil] [:w :y 2]]") OK(1, "[[:w :x 3] [:w :y 4]]"));
  isoproof_anomaly anomaly;
  isoproof_result *result = check_in_order(history, "serializable", forward, 2);
  assert_int_equal(isoproof_result_elle_verdict(result), ISOPROOF_SATISFIED);
  isoproof_result_free(result);
  result = check_in_order(history, "serializable", backward, 2);
  assert_true(find(result, "G-single-item", &anomaly));
  isoproof_result_free(result);
  const char *model = "serializable";
  isoproof_check_options options = {.struct_size = sizeof options, .models = &model, .model_count = 1};
  isoproof_error error;
  options.transaction_order = twice;
  options.transaction_order_count = 2;
  assert_int_equal(isoproof_check(history, &options, NULL, &result, &error), ISOPROOF_ERR_USAGE);
  options.transaction_order = beyond;
  options.transaction_order_count = 1;
  assert_int_equal(isoproof_check(history, &options, NULL, &result, &error), ISOPROOF_ERR_USAGE);
  options.elle_workload = "list-append";
  options.transaction_order = forward;
  assert_int_equal(isoproof_check(history, &options, NULL, &result, &error), ISOPROOF_ERR_USAGE);
  options.elle_workload = NULL;
  options.model_count = 0;
  assert_int_equal(isoproof_check(history, &options, NULL, &result, &error), ISOPROOF_ERR_USAGE);
  isoproof_history_free(history);
}

/* Real time: 1 was left before 2 was found again, though by then 1 had been found itself. */
static void test_found_again(void **state) {
  (void)state;
#define INVOKE(process, value) "{:type :invoke, :process " #process ", :f :txn, :value " value "}\n"
  isoproof_history *history =
      open_edn(INVOKE(0, "[[:r 0 nil] [:w 0 1]]") OK(0, "[[:r 0 2] [:w 0 1]]") INVOKE(1, "[[:w 0 2]]")
                   INVOKE(2, "[[:r 0 nil] [:w 0 3]]") OK(1, "[[:w 0 2]]") INVOKE(3, "[[:r 0 nil]]") OK(3, "[[:r 0 2]]")
                       OK(2, "[[:r 0 1] [:w 0 3]]"));
  const char *model = "strict-serializable";
  isoproof_check_options options = {
      .struct_size = sizeof options, .models = &model, .model_count = 1, .linearizable_keys = true};
  isoproof_result *result;
  isoproof_error error;
  isoproof_anomaly anomaly;
  assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
  assert_true(find(result, "G1c", &anomaly));
  isoproof_result_free(result);
  isoproof_history_free(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_several_longest),   cmocka_unit_test(test_one_longest),
      cmocka_unit_test(test_seen_elsewhere),    cmocka_unit_test(test_not_missed),
      cmocka_unit_test(test_duplicates),        cmocka_unit_test(test_many_choices),
      cmocka_unit_test(test_lost_update),       cmocka_unit_test(test_lost_update_elsewhere),
      cmocka_unit_test(test_nil_then_value),    cmocka_unit_test(test_intermediate),
      cmocka_unit_test(test_transaction_order), cmocka_unit_test(test_found_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
