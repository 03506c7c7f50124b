/* TAP-a to TAP-f and TAP-j: each by example for each kind of key, and on random histories against the definitions
 * spelled out as loops over the public API. */
#include "tests/unit/unit.h"

static isoproof_history *load(const char *text, const char *format) {
  isoproof_open_options options = {.struct_size = sizeof options, .format = format};
  isoproof_history *history = NULL;
  isoproof_error error;
  assert_ok_error(isoproof_history_open_memory(text, strlen(text), "h", &options, NULL, &history, &error), error);
  return history;
}

/* Whether a pattern shows within one transaction; the others have tests of their own. */
static bool is_within(const isoproof_anomaly *anomaly) {
  return strncmp(anomaly->code, "TAP-", 4) == 0 && strchr("abcdefj", anomaly->code[4]) != NULL;
}

/* The codes found, in order, each followed by its count: "TAP-b:1 TAP-j:2". */
static void codes(isoproof_history *history, char *out, size_t size) {
  isoproof_result *result;
  isoproof_error error;
  assert_ok_error(isoproof_check(history, NULL, NULL, &result, &error), error);
  out[0] = '\0';
  for (size_t i = 0; i < isoproof_result_anomaly_count(result); i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    assert_true(isoproof_result_anomaly_at(result, i, &anomaly));
    assert_true(strlen(anomaly.explanation) > 20);
    assert_true(anomaly.txn_count > 0 && anomaly.op_count > 0);
    if (!is_within(&anomaly)) continue;
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s:%llu", used > 0 ? " " : "", anomaly.code,
             (unsigned long long)anomaly.count);
  }
  isoproof_result_free(result);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The words of a text in order. */
static void sort_words(char *text, size_t size) {
  char copy[256], *words[16], *rest = copy;
  size_t count = 0;
  snprintf(copy, sizeof copy, "%s", text);
  for (char *word; count < 16 && (word = strtok_r(rest, " ", &rest)) != NULL;) words[count++] = word;
  qsort(words, count, sizeof *words, by_text);
  text[0] = '\0';
  for (size_t i = 0; i < count; i++) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", i > 0 ? " " : "", words[i]);
  }
}

static void expect(const char *text, const char *format, const char *expected) {
  char found[256];
  isoproof_history *history = load(text, format);
  codes(history, found, sizeof found);
  assert_string_equal(found, expected);
  isoproof_history_free(history);
}

static void registers(void **state) {
  (void)state;
  expect("r(1,1,0,0)\nr(2,0,0,0)\n", "plume", "TAP-a:1");
  expect("w(1,1,0,-1)\nr(1,1,1,1)\n", "plume", "TAP-b:1");
  expect("r(1,1,0,0)\nw(1,1,0,0)\n", "plume", "TAP-c:1");
  expect("w(1,1,0,0)\nw(1,2,1,1)\nr(1,1,1,1)\n", "plume", "TAP-d:1");
  expect("w(1,2,1,1)\nr(1,0,1,1)\n", "plume", "TAP-d:1");
  expect("w(1,1,0,0)\nw(1,2,0,0)\nr(1,1,0,0)\n", "plume", "TAP-e:1");
  expect("w(1,1,0,0)\nw(1,2,0,0)\nr(1,1,1,1)\n", "plume", "TAP-f:1");
  expect("w(1,1,0,0)\nr(1,0,1,1)\nr(1,1,1,1)\n", "plume", "TAP-j:1");
  expect("w(1,1,0,0)\nw(1,2,2,2)\nr(1,2,1,1)\nr(1,1,1,1)\nr(1,2,1,1)\n", "plume", "TAP-j:1");
  /* Two patterns in one read: after an own write, from a write that its writer overwrote. */
  expect("w(1,1,0,0)\nw(1,2,0,0)\nw(1,3,1,1)\nr(1,1,1,1)\n", "plume", "TAP-d:1 TAP-f:1");
  /* Own writes between two reads are no variation. */
  expect("w(1,1,0,0)\nr(1,1,1,1)\nw(1,2,1,1)\nr(1,2,1,1)\n", "plume", "");
  /* What an aborted transaction read is nobody's business. */
  expect("w(1,1,0,0)\nr(1,7,1,-1)\nr(1,1,1,-1)\n", "plume", "");
  /* Two values of one writer are an intermediate read, not two versions. */
  expect("w(1,1,0,0)\nw(1,2,0,0)\nr(1,1,1,1)\nr(1,2,1,1)\n", "plume", "TAP-f:1");
}

static void lists(void **state) {
  (void)state;
#define OK(process, ops) "{:process " #process ", :type :ok, :f :txn, :value [" ops "]}\n"
#define FAIL(process, ops) "{:process " #process ", :type :fail, :f :txn, :value [" ops "]}\n"
#define INFO(process, ops) "{:process " #process ", :type :info, :f :txn, :value [" ops "]}\n"
  expect(OK(0, "[:append x 1]") OK(1, "[:r x [1]] [:append x 2] [:r x [1 2]]"), "edn", "");
  expect(OK(0, "[:append x 1]") OK(1, "[:r x [1 9]]"), "edn", "TAP-a:1");
  expect(FAIL(0, "[:append x 1]") OK(1, "[:r x [1]]"), "edn", "TAP-b:1");
  expect(OK(1, "[:r x [1]] [:append x 1]"), "edn", "TAP-c:1");
  expect(OK(0, "[:append x 1]") OK(1, "[:append x 2] [:r x [1]]"), "edn", "TAP-d:1");
  expect(OK(1, "[:append x 2] [:r x nil]"), "edn", "TAP-d:1");
  expect(OK(1, "[:append x 1] [:append x 2] [:r x [2]]"), "edn", "TAP-d:1");
  expect(OK(1, "[:append x 1] [:append x 2] [:r x [1]]"), "edn", "TAP-e:1");
  expect(OK(0, "[:append x 1] [:append x 2]") OK(1, "[:r x [1]]"), "edn", "TAP-f:1");
  expect(OK(0, "[:append x 1]") OK(1, "[:r x []] [:r x [1]]"), "edn", "TAP-j:1");
  expect(INFO(0, "[:append x 1]") OK(1, "[:r x [1]]"), "edn", "");
}

static void sets_and_counters(void **state) {
  (void)state;
  expect(OK(0, "[:add x 1]") OK(1, "[:r x #{1}] [:add x 2] [:r x #{2 1}]"), "edn", "");
  expect(OK(0, "[:add x 1]") OK(1, "[:r x #{1 3}]"), "edn", "TAP-a:1");
  expect(FAIL(0, "[:add x 1]") OK(1, "[:r x #{1}]"), "edn", "TAP-b:1");
  expect(FAIL(0, "[:add x 1]") OK(2, "[:add x 1]") OK(1, "[:r x #{1}]"), "edn", "");
  expect(OK(1, "[:add x 2] [:r x #{}]"), "edn", "TAP-d:1");
  expect(OK(0, "[:add x 1]") OK(2, "[:add x 2]") OK(1, "[:r x #{1}] [:r x #{2}]"), "edn", "TAP-j:1");
  expect(OK(1, "[:inc x 2] [:r x 5] [:inc x 1] [:r x 6]"), "edn", "");
  expect(OK(1, "[:inc x 2] [:r x 5] [:inc x 1] [:r x 7]"), "edn", "TAP-j:1");
}

static void unknown_transactions(void **state) {
  (void)state;
  /* Observed: committed in effect, and so is what it read from in turn. */
  expect(INFO(0, "[:w x 1]") OK(1, "[:r x 1]"), "edn", "");
  expect(INFO(0, "[:w x 1] [:w x 2]") OK(1, "[:r x 1]"), "edn", "TAP-f:1");
  /* Not observed: what it read does not matter. */
  expect(INFO(0, "[:r x 7] [:w y 1]") OK(1, "[:r y nil]"), "edn", "");
  expect(INFO(0, "[:r x 7] [:w y 1]") OK(1, "[:r y 1]"), "edn", "TAP-a:1");
}

static void verdicts(void **state) {
  (void)state;
  isoproof_history *history = load("w(1,1,0,0)\nr(1,0,1,1)\nr(1,1,1,1)\n", "plume");
  const char *asked[] = {"ci", "serializable"};
  isoproof_check_options options = {.struct_size = sizeof options, .levels = asked, .level_count = 2};
  isoproof_result *result;
  isoproof_error error;
  assert_ok(isoproof_check(history, &options, NULL, &result, NULL));
  assert_int_equal(isoproof_result_verdict(result), ISOPROOF_VIOLATED);
  assert_int_equal(isoproof_result_level_count(result), 2);
  assert_string_equal(isoproof_result_weakest_violated_at(result, 0), "cut-isolation");
  assert_null(isoproof_result_strongest_at(result, 0));
  isoproof_result_free(result);
  asked[0] = "read-committed";
  options.level_count = 1;
  assert_ok(isoproof_check(history, &options, NULL, &result, NULL));
  assert_int_equal(isoproof_result_verdict(result), ISOPROOF_SATISFIED);
  assert_int_equal(isoproof_result_anomaly_count(result), 0); /* TAP-j does not break read-committed */
  isoproof_result_free(result);
  asked[0] = "no-such-level";
  assert_int_equal(isoproof_check(history, &options, NULL, &result, &error), ISOPROOF_ERR_USAGE);
  isoproof_task *task;
  assert_ok(isoproof_task_new(&task));
  isoproof_task_set_timeout(task, 1e-9);
  assert_ok(isoproof_check(history, NULL, task, &result, NULL));
  assert_int_equal(isoproof_result_verdict_of(result, "cut-isolation"), ISOPROOF_UNDECIDED);
  assert_string_equal(isoproof_result_unknown_reason(result), "the time limit was reached");
  isoproof_result_free(result);
  isoproof_task_cancel(task);
  assert_int_equal(isoproof_check(history, NULL, task, &result, &error), ISOPROOF_ERR_CANCELLED);
  isoproof_task_free(task);
  isoproof_history_free(history);
}

/* ---- the definitions as loops ---- */

enum { OPS = 64 };

typedef struct {
  uint64_t count;
  struct {
    isoproof_op op;
    uint64_t txn;
    isoproof_txn_status status;
  } ops[OPS];
} plain;

static void flatten(const isoproof_history *history, plain *p) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  p->count = 0;
  for (uint64_t t = 0; t < counts.transactions; t++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    assert_true(isoproof_history_txn_at(history, t, &txn));
    for (uint64_t i = 0; i < txn.op_count; i++, p->count++) {
      assert_true(p->count < OPS);
      p->ops[p->count].op.struct_size = sizeof p->ops[p->count].op;
      assert_true(isoproof_history_op_at(history, txn.first_op + i, &p->ops[p->count].op));
      p->ops[p->count].txn = t;
      p->ops[p->count].status = txn.status;
    }
  }
}

static int64_t writer_of(const plain *p, uint64_t read) {
  for (uint64_t i = 0; i < p->count; i++) {
    if (p->ops[i].op.kind == ISOPROOF_OP_WRITE && isoproof_scalar_equal(p->ops[i].op.key, p->ops[read].op.key) &&
        isoproof_scalar_equal(p->ops[i].op.value, p->ops[read].op.value)) {
      return (int64_t)i;
    }
  }
  return -1;
}

static bool own_write_between(const plain *p, uint64_t txn, isoproof_scalar key, uint64_t after, uint64_t before) {
  for (uint64_t i = after; i < before && i < p->count; i++) {
    if (p->ops[i].txn == txn && p->ops[i].op.kind == ISOPROOF_OP_WRITE &&
        isoproof_scalar_equal(p->ops[i].op.key, key)) {
      return true;
    }
  }
  return false;
}

/* Register histories without unknown transactions. */
static void count_by_definition(const plain *p, uint64_t counts[7]) {
  memset(counts, 0, 7 * sizeof *counts);
  for (uint64_t i = 0; i < p->count; i++) {
    if (p->ops[i].op.kind != ISOPROOF_OP_READ || p->ops[i].status != ISOPROOF_TXN_COMMITTED) continue;
    bool initial = p->ops[i].op.value.type == ISOPROOF_NIL;
    int64_t w = writer_of(p, i);
    bool own = w >= 0 && p->ops[w].txn == p->ops[i].txn;
    bool aborted = w >= 0 && !own && p->ops[w].status == ISOPROOF_TXN_ABORTED;
    bool other = initial || (w >= 0 && !own && !aborted);
    counts[0] += !initial && w < 0;
    counts[1] += aborted;
    counts[2] += own && (uint64_t)w > i;
    counts[3] += other && own_write_between(p, p->ops[i].txn, p->ops[i].op.key, 0, i);
    counts[4] += own && (uint64_t)w < i && own_write_between(p, p->ops[i].txn, p->ops[i].op.key, (uint64_t)w + 1, i);
    counts[5] += other && !initial && own_write_between(p, p->ops[w].txn, p->ops[i].op.key, (uint64_t)w + 1, OPS);
    if (!other) continue;
    /* TAP-j once a transaction and key: at the first read that differs from the first one of others. */
    int64_t first_from = -2, seen_before = 0;
    for (uint64_t k = 0; k <= i; k++) {
      if (p->ops[k].txn != p->ops[i].txn || p->ops[k].op.kind != ISOPROOF_OP_READ) continue;
      if (!isoproof_scalar_equal(p->ops[k].op.key, p->ops[i].op.key)) continue;
      int64_t kw = writer_of(p, k);
      bool k_initial = p->ops[k].op.value.type == ISOPROOF_NIL;
      if (!k_initial && (kw < 0 || p->ops[kw].txn == p->ops[k].txn || p->ops[kw].status == ISOPROOF_TXN_ABORTED))
        continue;
      int64_t from = k_initial ? -1 : (int64_t)p->ops[kw].txn;
      if (first_from == -2) first_from = from;
      if (from == first_from) continue;
      if (k == i && seen_before == 0) counts[6]++;
      seen_before++;
    }
  }
}

static void random_registers(void **state) {
  (void)state;
  static const char *const names[] = {"TAP-a", "TAP-b", "TAP-c", "TAP-d", "TAP-e", "TAP-f", "TAP-j"};
  uint64_t random = 99, seen[7] = {0};
  for (int round = 0; round < UNLESS_SLOW(20000, 5000); round++) {
    isoproof_builder *builder;
    isoproof_history *history;
    int64_t next[3] = {1, 1, 1};
    assert_ok(isoproof_builder_new(&builder, NULL));
    uint64_t txns = 1 + unit_below(&random, 5);
    for (uint64_t t = 0; t < txns; t++) {
      uint32_t session;
      assert_ok(isoproof_builder_session(builder, isoproof_integer((int64_t)unit_below(&random, 3)), &session, NULL));
      assert_ok(isoproof_builder_begin(
          builder, session, unit_below(&random, 5) == 0 ? ISOPROOF_TXN_ABORTED : ISOPROOF_TXN_COMMITTED, NULL));
      for (uint64_t i = unit_below(&random, 7); i-- > 0;) {
        uint64_t key = unit_below(&random, 3);
        isoproof_scalar name = isoproof_integer((int64_t)key);
        if (unit_below(&random, 2) == 0) {
          assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, name, isoproof_integer(next[key]++), NULL));
        } else {
          uint64_t value = unit_below(&random, (uint64_t)next[key] + 1);
          isoproof_scalar read = value == 0 ? isoproof_nil() : isoproof_integer((int64_t)value);
          assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_READ, name, read, NULL));
        }
      }
    }
    assert_ok(isoproof_builder_finish(builder, &history, NULL));
    plain p;
    uint64_t expected[7];
    char words[256] = "", found[256];
    flatten(history, &p);
    count_by_definition(&p, expected);
    for (int i = 0; i < 7; i++) {
      if (expected[i] == 0) continue;
      seen[i]++;
      size_t used = strlen(words);
      snprintf(words + used, sizeof words - used, "%s%s:%llu", used > 0 ? " " : "", names[i],
               (unsigned long long)expected[i]);
    }
    codes(history, found, sizeof found);
    sort_words(found, sizeof found);
    assert_string_equal(found, words);
    /* With all instances listed, every one is verified and the numbers agree. */
    isoproof_check_options options = {.struct_size = sizeof options, .all = true};
    isoproof_result *result;
    assert_ok(isoproof_check(history, &options, NULL, &result, NULL));
    uint64_t total = 0, listed = 0;
    for (int i = 0; i < 7; i++) total += expected[i];
    for (size_t i = 0; i < isoproof_result_anomaly_count(result); i++) {
      isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
      assert_true(isoproof_result_anomaly_at(result, i, &anomaly));
      if (is_within(&anomaly)) listed++;
    }
    assert_int_equal(listed, total);
    isoproof_result_free(result);
    isoproof_history_free(history);
    isoproof_builder_free(builder);
  }
  for (int i = 0; i < 7; i++) assert_true(seen[i] > 100); /* the generator reaches every pattern */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(registers),         cmocka_unit_test(lists),
      cmocka_unit_test(sets_and_counters), cmocka_unit_test(unknown_transactions),
      cmocka_unit_test(verdicts),          cmocka_unit_test(random_registers),
  };
  return cmocka_run_group_tests_name("intra", tests, NULL, NULL);
}
