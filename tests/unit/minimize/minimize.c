/* Parts of histories, and the smallest ones: leaving out invents no anomaly, what is left still violates the level, and
 * nothing more can be left out, all of it judged by the oracle. */
#include "tests/unit/unit.h"

#include "history/subset.h"
#include "tests/oracle/oracle.h"
#include "tests/random/random_history.h"
#include "tests/random/random_rows.h"

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

static isoproof_history *open_text(const char *text) {
  isoproof_history *history;
  isoproof_error error;
  assert_ok_error(isoproof_history_open_memory(text, strlen(text), "text", NULL, NULL, &history, &error), error);
  return history;
}

typedef struct {
  char text[4096];
  size_t used;
} page;

static bool append(void *user, const void *data, size_t size) {
  page *p = user;
  if (p->used + size >= sizeof p->text) return false;
  memcpy(p->text + p->used, data, size);
  p->used += size;
  p->text[p->used] = '\0';
  return true;
}

static void write_text(const isoproof_history *history, isoproof_format format, page *p) {
  isoproof_error error;
  p->used = 0;
  assert_ok_error(isoproof_history_write_to(history, format, append, p, NULL, NULL, NULL, &error), error);
}

static isoproof_history *part_of(isoproof_history *whole, const char *keep_txn, const char *keep_op) {
  uint8_t txns[64], ops[64];
  isoproof_history *part;
  isoproof_error error;
  for (uint32_t i = 0; i < whole->txns; i++) txns[i] = keep_txn == NULL || keep_txn[i] == '1';
  for (uint32_t i = 0; i < whole->ops; i++) ops[i] = keep_op == NULL || keep_op[i] == '1';
  assert_ok_error(iso_history_subset(whole, txns, ops, NULL, &part, &error), error);
  return part;
}

/* Everything that is said of a transaction stays, and reads follow what is left out. */
static void parts_keep_the_facts(void **state) {
  (void)state;
  page all, part;
  const char *path = ISOPROOF_SOURCE_ROOT "/examples/histories/recorded-run.jsonl";
  isoproof_history *whole, *same;
  isoproof_error error;
  assert_ok_error(isoproof_history_open(path, NULL, NULL, &whole, &error), error);
  same = part_of(whole, NULL, NULL);
  write_text(whole, ISOPROOF_FORMAT_JSONL, &all);
  write_text(same, ISOPROOF_FORMAT_JSONL, &part);
  assert_string_equal(all.text, part.text);
  isoproof_history_free(same);
  isoproof_history_free(whole);
}

static void lists_follow_their_appends(void **state) {
  (void)state;
  page out;
  isoproof_history *whole =
      open_text("{:type :ok, :process 0, :f :txn, :value [[:append :x 1]]}\n"
                "{:type :ok, :process 1, :f :txn, :value [[:append :x 2]]}\n"
                "{:type :ok, :process 2, :f :txn, :value [[:r :x [1 2]] [:append :x 3] [:r :x [1 2 3]]]}\n");
  isoproof_history *part = part_of(whole, "101", NULL);
  write_text(part, ISOPROOF_FORMAT_EDN, &out);
  assert_non_null(strstr(out.text, "[[:r :x [1]] [:append :x 3] [:r :x [1 3]]]"));
  isoproof_history_free(part);
  isoproof_history_free(whole);
}

static void reads_follow_their_writes(void **state) {
  (void)state;
  page out;
  isoproof_history *whole = open_text("w(1,1,0,0)\nw(2,1,0,0)\nr(1,1,1,1)\nr(2,1,1,1)\nr(3,0,1,1)\nr(3,9,1,1)\n");
  isoproof_history *part = part_of(whole, NULL, "011111");
  write_text(part, ISOPROOF_FORMAT_PLUME, &out);
  /* The read of what nobody wrote stays: it is an anomaly of the whole. */
  assert_string_equal(out.text, "w(2,1,0,0)\nr(2,1,1,1)\nr(3,0,1,1)\nr(3,9,1,1)\n");
  isoproof_history_free(part);
  part = part_of(whole, "01", NULL);
  write_text(part, ISOPROOF_FORMAT_PLUME, &out);
  assert_non_null(strstr(out.text, "r(3,0,1,"));
  assert_null(strstr(out.text, "r(1,1"));
  isoproof_history_free(part);
  isoproof_history_free(whole);
}

static void counters_follow_their_increments(void **state) {
  (void)state;
  isoproof_history *whole = open_text("{:type :ok, :process 0, :f :txn, :value [[:inc :c 1]]}\n"
                                      "{:type :ok, :process 1, :f :txn, :value [[:inc :d 1] [:r :c 1] [:r :d 1]]}\n");
  isoproof_history *part = part_of(whole, "01", NULL);
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(part, &counts);
  assert_int_equal(counts.transactions, 1);
  assert_int_equal(counts.operations, 2);
  isoproof_history_free(part);
  isoproof_history_free(whole);
}

/* A level that holds of a history holds of each of its parts. */
static void parts_invent_nothing(void **state) {
  (void)state;
  uint64_t random = setting("ISOPROOF_RANDOM_SEED", 41), histories = setting("ISOPROOF_RANDOM_HISTORIES", 200000) / 10;
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    oracle_verdicts whole, part;
    char txns[64], ops[256];
    sketch_draw(&random, &s);
    isoproof_history *history = sketch_history(&s);
    for (unsigned k = 0; k < 64; k++) txns[k] = unit_below(&random, 4) == 0 ? '0' : '1';
    for (unsigned k = 0; k < 256; k++) ops[k] = unit_below(&random, 5) == 0 ? '0' : '1';
    if (oracle_judge(history, &whole)) {
      isoproof_history *smaller = part_of(history, txns, ops);
      assert_true(oracle_judge(smaller, &part));
      for (unsigned l = 0; l < ORACLE_LEVELS; l++) {
        if (whole.satisfied[l] && !part.satisfied[l]) {
          char text[2048];
          sketch_print(&s, text, sizeof text);
          fail_msg("%s holds of the whole, not of a part\n%s", oracle_level_id((oracle_level)l), text);
        }
      }
      isoproof_history_free(smaller);
    }
    isoproof_history_free(history);
  }
}

static bool is_violated(const isoproof_history *history, oracle_level level) {
  oracle_verdicts verdicts;
  assert_true(oracle_judge(history, &verdicts));
  return !verdicts.satisfied[level];
}

/* No transaction and no operation can be left out. */
static void check_smallest(isoproof_history *history, oracle_level level) {
  char txns[65], ops[257];
  for (uint32_t i = 0; i < history->txns + history->ops; i++) {
    memset(txns, '1', sizeof txns);
    memset(ops, '1', sizeof ops);
    if (i < history->txns) {
      txns[i] = '0';
    } else {
      ops[i - history->txns] = '0';
    }
    isoproof_history *part = part_of(history, txns, ops);
    if (is_violated(part, level)) fail_msg("%s: more can be left out", oracle_level_id(level));
    isoproof_history_free(part);
  }
}

static void smallest_parts(void **state) {
  (void)state;
  uint64_t random = setting("ISOPROOF_RANDOM_SEED", 43), histories = setting("ISOPROOF_RANDOM_HISTORIES", 200000) / 200;
  uint64_t minimized[ORACLE_LEVELS] = {0};
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    oracle_verdicts verdicts;
    sketch_draw(&random, &s);
    isoproof_history *history = sketch_history(&s);
    bool judged = oracle_judge(history, &verdicts);
    for (unsigned l = 0; judged && l < ORACLE_LEVELS; l++) {
      isoproof_minimize_options options = {.struct_size = sizeof options, .level = oracle_level_id((oracle_level)l)};
      isoproof_minimized report = {.struct_size = sizeof report};
      isoproof_history *part;
      isoproof_error error;
      assert_ok_error(isoproof_minimize(history, &options, NULL, &part, &report, &error), error);
      if (report.verdict == ISOPROOF_UNDECIDED) continue; /* times are needed, for one */
      assert_int_equal(report.verdict == ISOPROOF_VIOLATED, !verdicts.satisfied[l]);
      assert_int_equal(part != NULL, report.verdict == ISOPROOF_VIOLATED);
      if (part == NULL) continue;
      assert_true(report.finished && report.checks >= 2);
      assert_true(is_violated(part, (oracle_level)l));
      check_smallest(part, (oracle_level)l);
      isoproof_history_free(part);
      minimized[l]++;
    }
    isoproof_history_free(history);
  }
  for (unsigned l = 0; l < ORACLE_LEVELS; l++) {
    bool decided = l <= ORACLE_CAUSAL || l >= ORACLE_READ_YOUR_WRITES;
    if (decided && histories >= 100 && minimized[l] == 0) {
      fail_msg("nothing violates %s", oracle_level_id((oracle_level)l));
    }
  }
}

/* In a large history with one bug, a handful of operations is left, quickly. */
static void large_history(void **state) {
  (void)state;
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_history *history, *part;
  isoproof_minimized report = {.struct_size = sizeof report};
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_minimize_options what = {.struct_size = sizeof what, .level = "ra"};
  isoproof_sim_defaults(&options);
  options.struct_size = sizeof options;
  options.seed = 3;
  options.sessions = 8;
  options.txns = 5000;
  options.bugs[ISOPROOF_SIM_BUG_FRACTURED_READ] = 1;
  assert_ok(isoproof_simulate(&options, NULL, &history, NULL, NULL));
  assert_ok(isoproof_minimize(history, &what, NULL, &part, &report, NULL));
  assert_non_null(part);
  isoproof_history_counts(part, &counts);
  assert_true(counts.transactions <= 3);
  assert_true(counts.operations <= 6);
  assert_true(report.checks < 100);
  isoproof_history_free(part);
  isoproof_history_free(history);
}

static void refuses(void **state) {
  (void)state;
  isoproof_history *history = open_text("w(1,1,0,0)\nr(1,1,1,1)\n"), *part;
  isoproof_minimize_options options = {.struct_size = sizeof options, .level = "no-such-level"};
  isoproof_minimized report = {.struct_size = sizeof report};
  isoproof_error error;
  assert_int_equal(isoproof_minimize(history, &options, NULL, &part, NULL, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "no-such-level"));
  assert_int_equal(isoproof_minimize(history, NULL, NULL, &part, NULL, &error), ISOPROOF_ERR_USAGE);
  options.level = "causal";
  assert_ok(isoproof_minimize(history, &options, NULL, &part, &report, &error));
  assert_int_equal(report.verdict, ISOPROOF_SATISFIED);
  assert_null(part);
  isoproof_history_free(history);
}

/* A read that may have seen either of two writes of a value goes with each of them: alone, w(1,8) before a read of
 * w(1,7) in its session would be a violation that the whole does not have. */
static void reads_go_with_every_write_they_may_have_seen(void **state) {
  (void)state;
  const char *lost = "w(1,7,0,0)\nw(1,8,1,1)\nw(1,7,1,2)\nr(1,7,1,3)\n"
                     "w(2,5,0,4)\nr(2,5,2,5)\nw(2,6,2,5)\nr(2,5,3,6)\nw(2,7,3,6)\n";
  isoproof_history *whole = open_text(lost), *part = NULL;
  isoproof_minimize_options options = {
      .struct_size = sizeof options, .level = "snapshot-isolation", .duplicate_values = true};
  isoproof_minimized report = {.struct_size = sizeof report};
  isoproof_error error;
  page p;
  assert_ok_error(isoproof_minimize(whole, &options, NULL, &part, &report, &error), error);
  assert_int_equal(report.verdict, ISOPROOF_VIOLATED);
  assert_true(report.finished);
  write_text(part, ISOPROOF_FORMAT_PLUME, &p);
  assert_int_equal(part->txns, 3);
  assert_non_null(strstr(p.text, "w(2,5,"));
  assert_null(strstr(p.text, "(1,"));
  isoproof_history_free(part);
  options.duplicate_values = false;
  assert_ok_error(isoproof_minimize(whole, &options, NULL, &part, &report, &error), error);
  assert_int_equal(part->txns, 3);
  isoproof_history_free(part);
  isoproof_history_free(whole);
}

static isoproof_result *judge_all(isoproof_history *history) {
  isoproof_check_options options = {.struct_size = sizeof options};
  isoproof_result *result;
  assert_ok(isoproof_check(history, &options, NULL, &result, NULL));
  return result;
}

/* What a whole history of rows satisfies, its smallest violating part satisfies as well: rows that are left out of
 * statements and counts leave nothing behind that no versions explain. */
static void check_rows(const row_history *h, const char *level, uint64_t *parts) {
  char text[16384];
  rows_text(h, text, sizeof text);
  isoproof_history *whole = open_text(text), *part = NULL;
  isoproof_result *of_whole = judge_all(whole);
  isoproof_minimize_options options = {.struct_size = sizeof options, .level = level};
  assert_ok(isoproof_minimize(whole, &options, NULL, &part, NULL, NULL));
  isoproof_result *of_part = part != NULL ? judge_all(part) : NULL;
  for (int l = 0; part != NULL && l < ORACLE_LEVELS; l++) {
    const char *id = oracle_level_id((oracle_level)l);
    if (isoproof_result_verdict_of(of_whole, id) != ISOPROOF_SATISFIED) continue;
    if (isoproof_result_verdict_of(of_part, id) == ISOPROOF_VIOLATED) fail_msg("a part violates %s, of\n%s", id, text);
  }
  if (part != NULL) assert_int_equal(isoproof_result_verdict_of(of_part, level), ISOPROOF_VIOLATED);
  *parts += part != NULL;
  isoproof_result_free(of_whole);
  isoproof_result_free(of_part);
  isoproof_history_free(whole);
  isoproof_history_free(part);
}

static void rows_leave_nothing_behind(void **state) {
  (void)state;
  uint64_t random = setting("ISOPROOF_RANDOM_SEED", 1), parts = 0;
  for (int i = 0; i < 600; i++) {
    row_history h;
    rows_draw_store(&random, &h);
    check_rows(&h, i % 2 == 0 ? "serializable" : "read-atomic", &parts);
  }
  assert_true(parts > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_leave_nothing_behind),
                                     cmocka_unit_test(reads_go_with_every_write_they_may_have_seen),
                                     cmocka_unit_test(parts_keep_the_facts),
                                     cmocka_unit_test(lists_follow_their_appends),
                                     cmocka_unit_test(reads_follow_their_writes),
                                     cmocka_unit_test(counters_follow_their_increments),
                                     cmocka_unit_test(parts_invent_nothing),
                                     cmocka_unit_test(smallest_parts),
                                     cmocka_unit_test(large_history),
                                     cmocka_unit_test(refuses)};
  return cmocka_run_group_tests_name("minimize", tests, NULL, NULL);
}
