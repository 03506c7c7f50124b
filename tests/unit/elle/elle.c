/* Dependencies as Elle infers them: what the published tool gets wrong, other workloads, models and limits. */
#include "elle/elle.h"
#include "tests/unit/unit.h"

typedef struct asked {
  const char *workload, *model;
  bool wfr, sequential, linearizable;
} asked;

static isoproof_history *open_edn(const char *text) {
  isoproof_open_options open = {.struct_size = sizeof open, .format = "edn"};
  isoproof_history *history = NULL;
  isoproof_error error;
  assert_ok_error(isoproof_history_open_memory(text, strlen(text), "test.edn", &open, NULL, &history, &error), error);
  return history;
}

static isoproof_result *check(isoproof_history *history, asked a) {
  isoproof_check_options options = {.struct_size = sizeof options,
                                    .elle_workload = a.workload,
                                    .models = &a.model,
                                    .model_count = a.model != NULL,
                                    .wfr_keys = a.wfr,
                                    .sequential_keys = a.sequential,
                                    .linearizable_keys = a.linearizable};
  isoproof_result *result = NULL;
  isoproof_error error;
  assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
  return result;
}

static bool has_code(const isoproof_result *result, const char *code) {
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  for (size_t i = 0; isoproof_result_anomaly_at(result, i, &anomaly); i++) {
    if (strcmp(anomaly.code, code) == 0) return true;
  }
  return false;
}

static bool has_name(const isoproof_result *result, const char *name,
                     const char *(*next)(const isoproof_result *, size_t)) {
  for (size_t i = 0; next(result, i) != NULL; i++) {
    if (strcmp(next(result, i), name) == 0) return true;
  }
  return false;
}

/* Checks a text and expects Elle's verdict and perhaps a code. */
static void expect(const char *text, asked a, isoproof_verdict verdict, const char *code) {
  isoproof_history *history = open_edn(text);
  isoproof_result *result = check(history, a);
  assert_string_equal(isoproof_verdict_name(isoproof_result_elle_verdict(result)), isoproof_verdict_name(verdict));
  if (code != NULL && !has_code(result, code)) fail_msg("%s was not found", code);
  if (code == NULL) assert_int_equal(isoproof_result_anomaly_count(result), 0);
  isoproof_result_free(result);
  isoproof_history_free(history);
}

#define OK(process, value) "{:type :ok, :process " #process ", :f :txn, :value " value "}\n"
#define INVOKE(process, value) "{:type :invoke, :process " #process ", :f :txn, :value " value "}\n"
#define INFO(process, value) "{:type :info, :process " #process ", :f :txn, :value " value "}\n"
#define DONE(process, before, after) INVOKE(process, before) OK(process, after)

static const asked lists = {.workload = "list-append"};
static const asked registers = {.workload = "rw-register", .model = "serializable"};

/* ---- where the published tool is wrong or gives up ---- */

/* It crashes on reads of what nobody wrote. */
static void test_garbage_reads(void **state) {
  (void)state;
  expect(OK(0, "[[:append :x 1]]") OK(1, "[[:r :x [1 99]]]"), lists, ISOPROOF_VIOLATED, "garbage-read");
  expect(OK(0, "[[:r :x [7]]]"), lists, ISOPROOF_VIOLATED, "garbage-read");
  /* Registers may have had values before. */
  expect(OK(0, "[[:r :x 7]]"), registers, ISOPROOF_SATISFIED, NULL);
}

/* It crashes on reads of an append whose invocation never completed. */
static void test_append_never_completed(void **state) {
  (void)state;
  /* Nobody knows what became of the append, but somebody saw it. */
  expect(INVOKE(0, "[[:append :x 1] [:append :y 1]]") DONE(1, "[[:r :x nil]]", "[[:r :x [1]]]"), lists,
         ISOPROOF_SATISFIED, NULL);
  expect(INVOKE(0, "[[:append :x 1] [:append :y 1]]") DONE(1, "[[:r :x nil] [:r :y nil]]", "[[:r :x [1]] [:r :y nil]]"),
         lists, ISOPROOF_VIOLATED, "G-single-item");
}

/* It ignores writers of registers of unknown outcome, whom somebody read from. */
static void test_info_writers_of_registers(void **state) {
  (void)state;
  expect(INVOKE(0, "[[:w :x 1] [:w :y 1]]") INFO(0, "[[:w :x 1] [:w :y 1]]")
             DONE(1, "[[:r :x nil] [:r :y nil]]", "[[:r :x 1] [:r :y nil]]"),
         registers, ISOPROOF_VIOLATED, "G-single-item");
}

/* It crashes on two writes of one value; here both are named. */
static void test_duplicate_writes(void **state) {
  (void)state;
  const char *texts[] = {OK(0, "[[:append :x 1]]") OK(1, "[[:append :x 1]]"),
                         OK(0, "[[:w :x 1]]") OK(1, "[[:w :x 1]]")};
  for (size_t i = 0; i < 2; i++) {
    isoproof_history *history = open_edn(texts[i]);
    isoproof_check_options options = {.struct_size = sizeof options, .elle_workload = "auto"};
    isoproof_result *result = NULL;
    isoproof_error error;
    assert_int_equal(isoproof_check(history, &options, NULL, &result, &error), ISOPROOF_ERR_FORMAT);
    assert_non_null(strstr(error.message, "s0t0"));
    assert_non_null(strstr(error.message, "s1t0"));
    isoproof_history_free(history);
  }
}

/* It accepts this, though no order of the versions explains T3. */
static void test_no_version_order(void **state) {
  (void)state;
  const char *text = OK(0, "[[:w :x 1] [:w :y 1]]") OK(1, "[[:w :x 2] [:w :y 2]]") OK(2, "[[:r :x 1] [:r :y 2]]");
  expect(text, registers, ISOPROOF_VIOLATED, "PL-3-cycle-exists");
  /* What follows from what was read gives it a name, and breaks a weaker model. */
  expect(text, (asked){.workload = "rw-register", .model = "consistent-view"}, ISOPROOF_VIOLATED, "G-single-item");
  expect(text, (asked){.workload = "rw-register", .model = "repeatable-read"}, ISOPROOF_VIOLATED,
         "PL-2.99-cycle-exists");
  expect(text, (asked){.workload = "rw-register", .model = "read-committed"}, ISOPROOF_SATISFIED, NULL);
}

/* Registers: the complete checkers prove models. */
static void test_proved_registers(void **state) {
  (void)state;
  isoproof_history *history = open_edn(OK(0, "[[:w :x 1]]") OK(1, "[[:r :x 1] [:w :x 2]]") OK(2, "[[:r :x 2]]"));
  isoproof_result *result = check(history, registers);
  assert_true(has_name(result, "serializable", isoproof_result_proved_at));
  assert_int_equal(isoproof_result_verdict(result), ISOPROOF_SATISFIED);
  isoproof_result_free(result);
  isoproof_history_free(history);
}

/* It says unknown where no dependency is implied. */
static void test_empty_graph(void **state) {
  (void)state;
  expect(OK(0, "[[:append :x 1]]"), lists, ISOPROOF_SATISFIED, NULL);
  expect("", lists, ISOPROOF_SATISFIED, NULL);
  expect(OK(0, "[[:w :x 1]]"), registers, ISOPROOF_SATISFIED, NULL);
}

/* It accepts integers only as processes. */
static void test_processes_of_any_type(void **state) {
  (void)state;
  expect("{:type :ok, :process \"a\", :f :txn, :value [[:append :x 1]]}\n"
         "{:type :ok, :process :b, :f :txn, :value [[:r :x [1]]]}\n",
         lists, ISOPROOF_SATISFIED, NULL);
}

/* It reports cyclic versions in this strictly serializable history: a long read of the old version ends after a write
 * of the new one. */
static void test_linearizable_keys(void **state) {
  (void)state;
  asked a = {.workload = "rw-register", .model = "strict-serializable", .linearizable = true, .wfr = true};
  expect(DONE(0, "[[:w :x 1]]", "[[:w :x 1]]") INVOKE(1, "[[:r :x nil] [:w :x 2]]") INVOKE(2, "[[:r :x nil]]")
             OK(1, "[[:r :x 1] [:w :x 2]]") INVOKE(3, "[[:r :x nil] [:r :x nil]]") OK(2, "[[:r :x 1]]")
                 OK(3, "[[:r :x 2] [:r :x 2]]"),
         a, ISOPROOF_SATISFIED, NULL);
  expect(DONE(0, "[[:w :x 1]]", "[[:w :x 1]]") DONE(0, "[[:w :x 2]]", "[[:w :x 2]]")
             DONE(1, "[[:r :x nil]]", "[[:r :x 1]]"),
         a, ISOPROOF_VIOLATED, "cyclic-versions");
}

/* ---- other workloads ---- */

static void test_sets(void **state) {
  (void)state;
  asked a = {.workload = "set", .model = "serializable"};
  /* Two that both missed, or both saw, the other's element, and nobody in between. */
  expect(OK(0, "[[:r 1 #{}] [:add 1 0]]") OK(1, "[[:r 1 #{}] [:add 1 2]]") OK(2, "[[:r 1 #{0 2}]]"), a,
         ISOPROOF_VIOLATED, "G2-item");
  expect(OK(0, "[[:add 1 0] [:r 1 #{0 2}]]") OK(1, "[[:add 1 2] [:r 1 #{0 2}]]"), a, ISOPROOF_VIOLATED, "G1c");
  const char *add = OK(0, "[[:add :x 1]]") OK(1, "[[:add :x 2]]");
  char text[1024];
  snprintf(text, sizeof text, "%s%s", add, OK(2, "[[:r :x #{1}]]") OK(3, "[[:r :x #{1 2}]]"));
  isoproof_history *history = open_edn(text);
  isoproof_result *result = check(history, a);
  assert_int_equal(isoproof_result_elle_verdict(result), ISOPROOF_SATISFIED);
  assert_true(has_name(result, "serializable", isoproof_result_proved_at));
  isoproof_result_free(result);
  isoproof_history_free(history);
  /* A long fork. */
  snprintf(text, sizeof text, "%s%s", add, OK(2, "[[:r :x #{1}]]") OK(3, "[[:r :x #{2}]]"));
  expect(text, a, ISOPROOF_VIOLATED, "G-nonadjacent-item");
  expect(OK(0, "[[:add :x 1] [:r :x #{}]]"), a, ISOPROOF_VIOLATED, "internal");
  expect(OK(0, "[[:add :x 1]]") OK(1, "[[:r :x #{1 9}]]"), a, ISOPROOF_VIOLATED, "garbage-read");
  /* Reads before own additions, and of them, are no cycles. */
  expect(OK(0, "[[:r :x #{}] [:add :x 1] [:r :x #{1}]]") OK(1, "[[:r :x #{1}] [:add :x 2] [:r :x #{1 2}]]"), a,
         ISOPROOF_SATISFIED, NULL);
}

static void test_counters(void **state) {
  (void)state;
  asked plain = {.workload = "counter", .model = "serializable"}, strict = {.workload = "counter"};
  const char *forked =
      OK(0, "[[:inc :x 1]]") OK(1, "[[:inc :y 1]]") OK(2, "[[:r :x 1] [:r :y 0]]") OK(3, "[[:r :x 0] [:r :y 1]]");
  expect(forked, plain, ISOPROOF_VIOLATED, "G-nonadjacent-item");
  /* Done, and then not there. */
  const char *stale = DONE(0, "[[:inc :x 1]]", "[[:inc :x 1]]") DONE(1, "[[:r :x nil]]", "[[:r :x 0]]");
  expect(stale, plain, ISOPROOF_SATISFIED, NULL);
  expect(stale, strict, ISOPROOF_VIOLATED, "G-single-item-realtime");
  expect(OK(0, "[[:inc :x 2]]") OK(1, "[[:r :x 3]]"), plain, ISOPROOF_VIOLATED, "garbage-read");
  expect(OK(0, "[[:r :x 0] [:inc :x 2] [:r :x 1]]"), plain, ISOPROOF_VIOLATED, "internal");
  /* Where somebody takes away, less is not earlier. */
  expect(OK(0, "[[:inc :x 1]]") OK(1, "[[:inc :x -1]]") OK(2, "[[:r :x 1]]") OK(2, "[[:r :x 0]]"), strict,
         ISOPROOF_SATISFIED, NULL);
}

/* Predicates separate repeatable read from serializable. */
static void test_predicates(void **state) {
  (void)state;
  asked serializable = {.workload = "closed-predicate", .model = "serializable"};
  asked repeatable = {.workload = "closed-predicate", .model = "repeatable-read"};
  /* Two queries that each miss the row that the other inserts. */
  const char *phantoms = OK(0, "[[:rp :true {}] [:insert 1 1]]") OK(1, "[[:rp :true {}] [:insert 2 2]]");
  expect(phantoms, serializable, ISOPROOF_VIOLATED, "G2");
  expect(phantoms, repeatable, ISOPROOF_SATISFIED, NULL);
  /* The same with reads of the rows themselves. */
  const char *items = OK(0, "[[:r 2 nil] [:insert 1 1]]") OK(1, "[[:r 1 nil] [:insert 2 2]]");
  expect(items, repeatable, ISOPROOF_VIOLATED, "G2-item");
  /* Rows that were rolled back, and the transaction's own. */
  expect("{:type :fail, :process 0, :f :txn, :value [[:insert 1 1]]}\n" OK(1, "[[:rp :true {1 1}]]"), serializable,
         ISOPROOF_VIOLATED, "G1a");
  expect(OK(0, "[[:insert 1 1] [:r 1 nil]]"), serializable, ISOPROOF_VIOLATED, "internal");
  expect(OK(0, "[[:insert 1 1] [:delete 1] [:r 1 nil]]"), serializable, ISOPROOF_SATISFIED, NULL);
  /* Who sees no row may see what a deletion of unknown outcome did. */
  const char *deleted =
      OK(0, "[[:insert 1 1]]") INFO(1, "[[:delete 1]]") OK(0, "[[:rp :true {}]]") OK(0, "[[:r 1 nil]]");
  expect(deleted, (asked){.workload = "closed-predicate", .model = "strong-session-serializable"}, ISOPROOF_SATISFIED,
         NULL);
  const char *kept = OK(0, "[[:insert 1 1]]") OK(0, "[[:rp :true {}]]");
  expect(kept, (asked){.workload = "closed-predicate", .model = "strong-session-serializable"}, ISOPROOF_VIOLATED,
         "G-single-process");
}

/* ---- limits and models ---- */

/* A search that reaches its limit still says that the model is violated. */
static void test_limits(void **state) {
  (void)state;
  isoproof_history *history = open_edn(OK(0, "[[:append :x 1] [:r :y nil]]") OK(1, "[[:append :y 1] [:r :z nil]]")
                                           OK(2, "[[:append :z 1] [:r :x nil]]"));
  iso_elle_options options = {
      .workload = ISO_ELLE_WORKLOAD_LIST_APPEND, .models = ISO_LEVEL_BIT(ISO_LEVEL_M_PL_3), .budget = 1};
  iso_elle *elle;
  isoproof_error error;
  assert_ok(iso_elle_run(history, &options, NULL, &elle, &error));
  assert_true(elle->invalid);
  assert_true(elle->cycles.gave_up);
  assert_non_null(elle->unknown_reason);
  assert_int_equal(elle->cycles.count[ISO_ANOMALY_PL_2_99_CYCLE_EXISTS], 1);
  iso_elle_free(elle);
  isoproof_history_free(history);
}

/* So does one for orders that follow from others, where nothing else decides the model. */
static void test_limit_of_what_follows(void **state) {
  (void)state;
  isoproof_history *history = open_edn(OK(0, "[[:w :x 1]]") OK(1, "[[:r :x 1] [:w :x 2]]") OK(2, "[[:r :x 2]]"));
  iso_elle_options options = {
      .workload = ISO_ELLE_WORKLOAD_RW_REGISTER, .models = ISO_LEVEL_BIT(ISO_LEVEL_M_PL_2_PLUS), .budget = 1};
  iso_elle *elle;
  isoproof_error error;
  assert_ok(iso_elle_run(history, &options, NULL, &elle, &error));
  assert_false(elle->invalid);
  assert_non_null(elle->unknown_reason);
  assert_non_null(strstr(elle->unknown_reason, "follow"));
  iso_elle_free(elle);
  isoproof_history_free(history);
}

/* A check that runs out of time says so; it does not say that all is well. */
static void test_no_time(void **state) {
  (void)state;
  isoproof_sim_options sim = {.struct_size = sizeof sim};
  isoproof_history *history;
  isoproof_error error;
  isoproof_task *task;
  isoproof_result *result;
  isoproof_sim_defaults(&sim);
  sim.txns = 20000;
  sim.lists = true;
  assert_ok_error(isoproof_simulate(&sim, NULL, &history, NULL, &error), error);
  assert_ok(isoproof_task_new(&task));
  isoproof_task_set_timeout(task, 1e-9);
  isoproof_check_options options = {.struct_size = sizeof options, .elle_workload = "list-append"};
  assert_ok_error(isoproof_check(history, &options, task, &result, &error), error);
  assert_int_equal(isoproof_result_elle_verdict(result), ISOPROOF_UNDECIDED);
  assert_int_equal(isoproof_result_verdict(result), ISOPROOF_UNDECIDED);
  assert_string_equal(isoproof_result_unknown_reason(result), "the time limit was reached");
  isoproof_result_free(result);
  isoproof_task_free(task);
  isoproof_history_free(history);
}

/* What follows is told as a cycle with one anti-dependency: whatever that breaks, the cycles that it stands for break,
 * too. */
static void test_names_of_what_follows(void **state) {
  (void)state;
  iso_level_set single = iso_anomaly_rules_out(ISO_ANOMALY_G_SINGLE_ITEM);
  assert_true((single & ~iso_anomaly_rules_out(ISO_ANOMALY_G0)) == 0);
  assert_true((single & ~iso_anomaly_rules_out(ISO_ANOMALY_G1C)) == 0);
  assert_true((iso_anomaly_rules_out(ISO_ANOMALY_G2_ITEM) & ~single) == 0);
  assert_true((iso_anomaly_rules_out(ISO_ANOMALY_G_NONADJACENT_ITEM) & ~single) == 0);
  assert_true((iso_anomaly_rules_out(ISO_ANOMALY_G_SINGLE_ITEM_PROCESS) & ~single) == 0);
  assert_true((iso_anomaly_rules_out(ISO_ANOMALY_G_SINGLE_ITEM_REALTIME) & ~single) == 0);
}

/* Lists: models are proved where the order of all appends is known, and not by what was merely not found. */
static void test_proved_lists(void **state) {
  (void)state;
#define SKEW OK(0, "[[:append :x 1] [:r :y nil]]") OK(1, "[[:append :y 1] [:r :x nil]]")
  const char *unseen = SKEW OK(2, "[[:append :x 2]]");
  const char *known[] = {SKEW, SKEW OK(2, "[[:r :x [1]] [:r :y [1]]]"), SKEW OK(2, "[[:r :x [1]] [:append :x 2]]")};
#undef SKEW
  isoproof_history *history = open_edn(unseen);
  isoproof_result *result = check(history, (asked){.model = "snapshot-isolation"});
  assert_int_equal(isoproof_result_verdict(result), ISOPROOF_UNDECIDED);
  assert_non_null(isoproof_result_unknown_reason(result));
  assert_int_equal(isoproof_result_elle_verdict(result), ISOPROOF_SATISFIED);
  isoproof_result_free(result);
  isoproof_history_free(history);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    history = open_edn(known[i]);
    result = check(history, (asked){.model = "snapshot-isolation"});
    assert_int_equal(isoproof_result_verdict(result), ISOPROOF_SATISFIED);
    assert_true(has_name(result, "snapshot-isolation", isoproof_result_proved_at));
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

static void test_models(void **state) {
  (void)state;
  isoproof_history *history = open_edn(OK(0, "[[:append :x 1] [:r :y nil]]") OK(1, "[[:append :y 1] [:r :x nil]]")
                                           OK(2, "[[:r :x [1]] [:r :y [1]]]"));
  isoproof_result *result = check(history, (asked){.model = "serializable"});
  assert_string_equal(isoproof_result_elle_workload(result), "list-append");
  assert_true(has_name(result, "repeatable-read", isoproof_result_ruled_out_at));
  assert_true(has_name(result, "strong-serializable", isoproof_result_also_ruled_out_at));
  assert_true(has_name(result, "snapshot-isolation", isoproof_result_proved_at));
  isoproof_result_free(result);
  result = check(history, (asked){.model = "snapshot-isolation"});
  assert_int_equal(isoproof_result_verdict(result), ISOPROOF_SATISFIED);
  assert_null(isoproof_result_ruled_out_at(result, 0));
  isoproof_result_free(result);
  isoproof_history_free(history);
}

/* Ten thousand processes that crashed. */
static void test_crashes(void **state) {
  (void)state;
  isoproof_sim_options sim = {.struct_size = sizeof sim};
  isoproof_history *history;
  isoproof_error error;
  isoproof_sim_defaults(&sim);
  sim.sessions = 2000;
  sim.txns = 20000;
  sim.ops_min = 1;
  sim.ops_max = 4;
  sim.unknown_share = 0.5;
  sim.lists = true;
  sim.appends_per_key = 50;
  assert_ok_error(isoproof_simulate(&sim, NULL, &history, NULL, &error), error);
  isoproof_result *result = check(history, lists);
  assert_int_equal(isoproof_result_elle_verdict(result), ISOPROOF_SATISFIED);
  isoproof_result_free(result);
  isoproof_history_free(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linearizable_keys),
      cmocka_unit_test(test_garbage_reads),
      cmocka_unit_test(test_append_never_completed),
      cmocka_unit_test(test_duplicate_writes),
      cmocka_unit_test(test_info_writers_of_registers),
      cmocka_unit_test(test_no_version_order),
      cmocka_unit_test(test_empty_graph),
      cmocka_unit_test(test_processes_of_any_type),
      cmocka_unit_test(test_sets),
      cmocka_unit_test(test_counters),
      cmocka_unit_test(test_predicates),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_limit_of_what_follows),
      cmocka_unit_test(test_no_time),
      cmocka_unit_test(test_proved_registers),
      cmocka_unit_test(test_proved_lists),
      cmocka_unit_test(test_models),
      cmocka_unit_test(test_names_of_what_follows),
      cmocka_unit_test(test_crashes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
