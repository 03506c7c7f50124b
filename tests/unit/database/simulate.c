/* The simulator as a whole: reproducible, truthful about time, exact about its shares and its bugs. */
#include <isoproof/isoproof.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static isoproof_history *simulate(const isoproof_sim_options *options, isoproof_injected_bugs **blames) {
  isoproof_history *history = NULL;
  isoproof_error error;
  isoproof_status status = isoproof_simulate(options, NULL, &history, blames, &error);
  if (status != ISOPROOF_OK) fail_msg("%s", error.message);
  return history;
}

static isoproof_sim_options options_at(isoproof_sim_level level, bool lists) {
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_sim_defaults(&options);
  options.level = level;
  options.lists = lists;
  options.abort_share = 0.1;
  options.unknown_share = 0.1;
  options.rmw_share = 0.3;
  options.distribution = ISOPROOF_KEYS_ZIPF;
  return options;
}

static bool is_write(const isoproof_op *op) { return op->kind == ISOPROOF_OP_WRITE || op->kind == ISOPROOF_OP_APPEND; }

/* ---- reproducible ---- */

static uint64_t mix(uint64_t hash, uint64_t x) { return (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29); }

/* A number that depends on everything in the history. */
static uint64_t digest(const isoproof_history *history) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  uint64_t hash = mix(counts.sessions, counts.keys);
  for (uint64_t t = 0; t < counts.transactions; t++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    isoproof_history_txn_at(history, t, &txn);
    hash = mix(mix(mix(hash, txn.session), txn.status), (uint64_t)txn.start);
    hash = mix(mix(hash, (uint64_t)txn.end), txn.op_count);
  }
  for (uint64_t i = 0; i < counts.operations; i++) {
    isoproof_op op = {.struct_size = sizeof op};
    isoproof_scalar element;
    isoproof_history_op_at(history, i, &op);
    hash = mix(mix(mix(hash, op.kind), (uint64_t)op.key.integer), op.value.type);
    hash = mix(hash, op.value.type == ISOPROOF_INTEGER ? (uint64_t)op.value.integer : 0);
    for (uint64_t e = 0; isoproof_history_element_at(history, i, e, &element); e++)
      hash = mix(hash, (uint64_t)element.integer);
  }
  return hash;
}

static void a_seed_decides_everything(void **state) {
  (void)state;
  for (int level = 0; level < ISOPROOF_SIM_LEVELS; level++)
    for (int lists = 0; lists < 2; lists++) {
      isoproof_sim_options options = options_at((isoproof_sim_level)level, lists == 1);
      options.bugs[ISOPROOF_SIM_BUG_LONG_FORK] = 2;
      uint64_t digests[3];
      for (int i = 0; i < 3; i++) {
        options.seed = i < 2 ? 42 : 43;
        isoproof_history *history = simulate(&options, NULL);
        digests[i] = digest(history);
        isoproof_history_free(history);
      }
      assert_true(digests[0] == digests[1]);
      assert_true(digests[0] != digests[2]);
    }
}

/* ---- shares ---- */

static void expect_near(double found, double expected, double tolerance, const char *what) {
  if (fabs(found - expected) > tolerance) fail_msg("%s: expected %g, found %g", what, expected, found);
}

static void shares_are_as_asked(void **state) {
  (void)state;
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_sim_defaults(&options);
  options.txns = 20000;
  options.ops_min = 2;
  options.ops_max = 18;
  options.read_share = 0.7;
  options.abort_share = 0.2;
  options.unknown_share = 0.1;
  options.keys = 1000;
  options.distribution = ISOPROOF_KEYS_ZIPF;
  isoproof_history *history = simulate(&options, NULL);
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  assert_int_equal(counts.transactions, 20000);
  assert_int_equal(counts.sessions, 10);
  assert_true(counts.has_times);
  assert_string_equal(isoproof_history_fact(history, "isolation"), "serializable");
  assert_string_equal(isoproof_history_fact(history, "seed"), "1");
  expect_near((double)counts.operations / 20000, 10, 0.2, "operations a transaction");
  expect_near((double)counts.aborted / 20000, 0.2, 0.015, "aborts");
  expect_near((double)counts.unknown / 20000, 0.1, 0.015, "unknown");
  uint64_t reads = 0, hottest = 0;
  for (uint64_t i = 0; i < counts.operations; i++) {
    isoproof_op op = {.struct_size = sizeof op};
    isoproof_history_op_at(history, i, &op);
    reads += !is_write(&op);
    hottest += op.key.integer == 0;
  }
  double harmonic = 0;
  for (int i = 1; i <= 1000; i++) harmonic += 1.0 / i;
  expect_near((double)reads / (double)counts.operations, 0.7, 0.01, "reads");
  expect_near((double)hottest / (double)counts.operations, 1 / harmonic, 0.01, "the hottest key");
  isoproof_history_free(history);
}

/* ---- time ---- */

static uint64_t count_overlaps(const isoproof_history *history, uint64_t txns) {
  uint64_t overlaps = 0;
  for (uint64_t a = 0; a < txns; a++)
    for (uint64_t b = 0; b < a; b++) {
      isoproof_txn x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
      isoproof_history_txn_at(history, a, &x);
      isoproof_history_txn_at(history, b, &y);
      bool timed = x.end != ISOPROOF_NO_TIME && y.end != ISOPROOF_NO_TIME;
      overlaps += timed && x.start < y.end && y.start < x.end;
    }
  return overlaps;
}

static void time_is_truthful(void **state) {
  (void)state;
  for (int level = 0; level < ISOPROOF_SIM_LEVELS; level++) {
    isoproof_sim_options options = options_at((isoproof_sim_level)level, level % 2 == 1);
    isoproof_history *history = simulate(&options, NULL);
    isoproof_counts counts = {.struct_size = sizeof counts};
    isoproof_history_counts(history, &counts);
    isoproof_txn txn = {.struct_size = sizeof txn}, before = {.struct_size = sizeof before};
    for (uint64_t t = 0; t < counts.transactions; t++, before = txn) {
      isoproof_history_txn_at(history, t, &txn);
      assert_true(txn.start != ISOPROOF_NO_TIME);
      assert_true((txn.end == ISOPROOF_NO_TIME) == (txn.status == ISOPROOF_TXN_UNKNOWN));
      if (txn.end != ISOPROOF_NO_TIME) assert_true(txn.start < txn.end);
      if (txn.index == 0) continue;
      assert_true(txn.start > before.start);
      if (before.end != ISOPROOF_NO_TIME) assert_true(txn.start > before.end);
    }
    /* Ten sessions that run side by side: a transaction overlaps about as many others as there are sessions. */
    double overlaps = (double)count_overlaps(history, counts.transactions) / (double)counts.transactions;
    assert_true(overlaps > 5 && overlaps < 20);
    isoproof_history_free(history);
  }
}

static int by_start(const void *a, const void *b) {
  int64_t x = ((const isoproof_txn *)a)->start, y = ((const isoproof_txn *)b)->start;
  return (x > y) - (x < y);
}

/* At the strongest level transactions take effect in the order of their starts: replaying them explains every read. */
static void serializable_runs_replay(void **state) {
  (void)state;
  isoproof_sim_options options = options_at(ISOPROOF_SIM_SERIALIZABLE, false);
  options.txns = 20000;
  options.sessions = 50;
  options.unknown_share = 0;
  isoproof_history *history = simulate(&options, NULL);
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  isoproof_txn *txns = calloc(counts.transactions, sizeof *txns);
  int64_t now[100] = {0};
  assert_non_null(txns);
  for (uint64_t t = 0; t < counts.transactions; t++) {
    txns[t].struct_size = sizeof txns[t];
    isoproof_history_txn_at(history, t, &txns[t]);
  }
  qsort(txns, counts.transactions, sizeof *txns, by_start);
  for (uint64_t t = 0; t < counts.transactions; t++) {
    int64_t before[100];
    memcpy(before, now, sizeof now);
    for (uint64_t i = txns[t].first_op; i < txns[t].first_op + txns[t].op_count; i++) {
      isoproof_op op = {.struct_size = sizeof op};
      isoproof_history_op_at(history, i, &op);
      int64_t *cell = &now[op.key.integer];
      if (is_write(&op))
        *cell = op.value.integer;
      else
        assert_int_equal(op.value.type == ISOPROOF_NIL ? 0 : op.value.integer, *cell);
    }
    if (txns[t].status == ISOPROOF_TXN_ABORTED) memcpy(now, before, sizeof now);
  }
  free(txns);
  isoproof_history_free(history);
}

/* ---- lists ---- */

static void lists_end_with_reads_of_every_key(void **state) {
  (void)state;
  for (int level = 0; level < ISOPROOF_SIM_LEVELS; level++) {
    isoproof_sim_options options = options_at((isoproof_sim_level)level, true);
    options.appends_per_key = 5;
    options.unknown_share = 0;
    isoproof_history *history = simulate(&options, NULL);
    isoproof_counts counts = {.struct_size = sizeof counts};
    isoproof_history_counts(history, &counts);
    assert_int_equal(counts.sessions, 11);
    isoproof_session last = {.struct_size = sizeof last};
    isoproof_history_session_at(history, 10, &last);
    assert_true(last.txn_count >= 1);
    uint64_t reads = 0, elements = 0, appends = 0;
    for (uint64_t t = 0; t < counts.transactions; t++) {
      isoproof_txn txn = {.struct_size = sizeof txn};
      isoproof_history_txn_at(history, t, &txn);
      for (uint64_t i = txn.first_op; i < txn.first_op + txn.op_count; i++) {
        isoproof_op op = {.struct_size = sizeof op};
        isoproof_history_op_at(history, i, &op);
        assert_true(op.kind == ISOPROOF_OP_APPEND || op.kind == ISOPROOF_OP_READ_LIST);
        appends += op.kind == ISOPROOF_OP_APPEND && txn.status == ISOPROOF_TXN_COMMITTED;
        if (txn.session != 10) continue;
        assert_int_equal(op.key.integer, reads++);
        elements += op.element_count;
      }
    }
    assert_int_equal(reads, counts.keys);
    assert_true(reads > options.keys);
    assert_int_equal(elements, appends);
    isoproof_history_free(history);
  }
}

/* ---- contention ---- */

static void hot_keys_do_not_stop_anybody(void **state) {
  (void)state;
  for (int level = 0; level < ISOPROOF_SIM_LEVELS; level++)
    for (int lists = 0; lists < 2; lists++) {
      isoproof_sim_options options = options_at((isoproof_sim_level)level, lists == 1);
      options.sessions = 100;
      options.txns = 3000;
      options.keys = 2;
      options.replicas = 7;
      options.bugs[ISOPROOF_SIM_BUG_WRITE_SKEW] = 5;
      isoproof_injected_bugs *blames;
      isoproof_history *history = simulate(&options, &blames);
      isoproof_counts counts = {.struct_size = sizeof counts};
      isoproof_history_counts(history, &counts);
      assert_true(counts.transactions >= 3010);
      assert_int_equal(isoproof_injected_bug_count(blames), 5);
      expect_near((double)counts.aborted, 300, 80, "aborts: only those asked for");
      isoproof_injected_bugs_free(blames);
      isoproof_history_free(history);
    }
}

/* ---- bugs ---- */

static void check_blame(const isoproof_history *history, const isoproof_injected_bug *blame) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  assert_true(blame->txn_count >= 1 && blame->txn_count <= 4);
  assert_true(blame->key_count >= 1 && blame->key_count <= 2);
  for (size_t i = 0; i < blame->txn_count; i++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    assert_true(isoproof_history_txn_at(history, blame->txns[i], &txn));
    for (size_t j = 0; j < i; j++) assert_true(blame->txns[i] != blame->txns[j]);
    for (uint64_t o = txn.first_op; o < txn.first_op + txn.op_count; o++) {
      isoproof_op op = {.struct_size = sizeof op};
      isoproof_history_op_at(history, o, &op);
      bool named = false;
      for (size_t k = 0; k < blame->key_count; k++) named |= isoproof_scalar_equal(op.key, blame->keys[k]);
      assert_true(named);
    }
  }
}

static void bugs_come_as_often_as_asked(void **state) {
  (void)state;
  for (int level = 0; level < ISOPROOF_SIM_LEVELS; level++)
    for (int lists = 0; lists < 2; lists++) {
      isoproof_sim_options options = options_at((isoproof_sim_level)level, lists == 1);
      for (int bug = 0; bug < ISOPROOF_SIM_BUG_PHANTOM; bug++) options.bugs[bug] = (uint64_t)bug % 4;
      if (!lists) options.bugs[ISOPROOF_SIM_BUG_DUPLICATE_APPEND] = 0;
      isoproof_injected_bugs *blames;
      isoproof_history *history = simulate(&options, &blames);
      isoproof_injected_bug blame = {.struct_size = sizeof blame};
      uint64_t found[ISOPROOF_SIM_BUGS] = {0}, scripted = 0, last = 0;
      for (size_t i = 0; isoproof_injected_bug_at(blames, i, &blame); i++) {
        found[blame.bug]++;
        scripted += blame.txn_count;
        last = blame.txns[0];
        check_blame(history, &blame);
      }
      for (int bug = 0; bug < ISOPROOF_SIM_BUGS; bug++) assert_int_equal(found[bug], options.bugs[bug]);
      isoproof_counts counts = {.struct_size = sizeof counts};
      isoproof_history_counts(history, &counts);
      isoproof_session extra = {.struct_size = sizeof extra};
      if (lists) isoproof_history_session_at(history, options.sessions, &extra);
      assert_int_equal(counts.transactions, options.txns + scripted + extra.txn_count);
      assert_true(last > 0);
      isoproof_injected_bugs_free(blames);
      isoproof_history_free(history);
    }
}

/* ---- names and refusals ---- */

static void names_are_found(void **state) {
  (void)state;
  isoproof_sim_level level;
  isoproof_sim_bug bug;
  isoproof_key_distribution keys;
  for (int i = 0; i < ISOPROOF_SIM_LEVELS; i++) {
    assert_true(isoproof_sim_level_find(isoproof_sim_level_name((isoproof_sim_level)i), &level));
    assert_int_equal(level, i);
  }
  for (int i = 0; i < ISOPROOF_SIM_BUGS; i++) {
    assert_true(isoproof_sim_bug_find(isoproof_sim_bug_name((isoproof_sim_bug)i), &bug));
    assert_int_equal(bug, i);
  }
  assert_true(isoproof_sim_level_find("SI", &level) && level == ISOPROOF_SIM_SNAPSHOT);
  assert_true(isoproof_sim_level_find("read_committed", &level) && level == ISOPROOF_SIM_READ_COMMITTED);
  assert_true(isoproof_key_distribution_find("zipf", &keys) && keys == ISOPROOF_KEYS_ZIPF);
  assert_false(isoproof_sim_level_find("prefix", &level));
  assert_false(isoproof_sim_bug_find("", &bug));
  assert_false(isoproof_key_distribution_find("gaussian", &keys));
  assert_null(isoproof_sim_level_name(ISOPROOF_SIM_LEVELS));
  assert_null(isoproof_sim_bug_name(ISOPROOF_SIM_BUGS));
  assert_null(isoproof_sim_bug_level(ISOPROOF_SIM_BUGS));
}

static void expect_refusal(const isoproof_sim_options *options, const char *named) {
  isoproof_history *history = NULL;
  isoproof_injected_bugs *blames = NULL;
  isoproof_error error;
  if (isoproof_simulate(options, NULL, &history, &blames, &error) != ISOPROOF_ERR_USAGE)
    fail_msg("accepted: %s", named);
  if (strstr(error.message, named) == NULL) fail_msg("expected %s in: %s", named, error.message);
  assert_null(history);
  assert_null(blames);
}

static void senseless_options_are_refused(void **state) {
  (void)state;
  isoproof_sim_options options = {.struct_size = sizeof options};
#define REFUSED(field, value, named)                                                                                   \
  do {                                                                                                                 \
    options.struct_size = sizeof options;                                                                              \
    isoproof_sim_defaults(&options);                                                                                   \
    options.field = value;                                                                                             \
    expect_refusal(&options, named);                                                                                   \
  } while (0)
  REFUSED(sessions, 0, "sessions");
  REFUSED(sessions, UINT32_MAX, "sessions");
  REFUSED(keys, 0, "keys");
  REFUSED(keys, UINT32_MAX, "keys");
  REFUSED(replicas, 0, "replicas");
  REFUSED(level, ISOPROOF_SIM_LEVELS, "level");
  REFUSED(distribution, ISOPROOF_KEY_DISTRIBUTIONS, "distribution");
  REFUSED(ops_min, 0, "ops_min");
  REFUSED(ops_min, 11, "ops_max");
  REFUSED(read_share, -1, "read_share");
  REFUSED(abort_share, 2, "abort_share");
  REFUSED(txns, UINT64_MAX, "txns");
  REFUSED(struct_size, 0, "struct_size");
  REFUSED(bugs[31], 1, "bug");
  REFUSED(bugs[ISOPROOF_SIM_BUG_DUPLICATE_APPEND], 1, "lists");
  REFUSED(bugs[ISOPROOF_SIM_BUG_LOST_UPDATE], UINT64_MAX, "bugs");
  isoproof_sim_defaults(&options);
  options.sessions = 3;
  options.bugs[ISOPROOF_SIM_BUG_LONG_FORK] = 1;
  expect_refusal(&options, "at least 4 sessions");
  options.sessions = 4;
  options.keys = 1;
  expect_refusal(&options, "at least 2 keys");
}

static void tasks_stop_it(void **state) {
  (void)state;
  isoproof_task *task;
  isoproof_history *history = NULL;
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_sim_defaults(&options);
  assert_int_equal(isoproof_task_new(&task), ISOPROOF_OK);
  isoproof_task_cancel(task);
  assert_int_equal(isoproof_simulate(&options, task, &history, NULL, NULL), ISOPROOF_ERR_CANCELLED);
  assert_null(history);
  isoproof_task_free(task);
}

static void nothing_is_something(void **state) {
  (void)state;
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_sim_defaults(&options);
  options.txns = 0;
  isoproof_history *history = simulate(&options, NULL);
  isoproof_history_counts(history, &counts);
  assert_int_equal(counts.transactions, 0);
  isoproof_history_free(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_seed_decides_everything),
      cmocka_unit_test(shares_are_as_asked),
      cmocka_unit_test(time_is_truthful),
      cmocka_unit_test(serializable_runs_replay),
      cmocka_unit_test(lists_end_with_reads_of_every_key),
      cmocka_unit_test(hot_keys_do_not_stop_anybody),
      cmocka_unit_test(bugs_come_as_often_as_asked),
      cmocka_unit_test(names_are_found),
      cmocka_unit_test(senseless_options_are_refused),
      cmocka_unit_test(tasks_stop_it),
      cmocka_unit_test(nothing_is_something),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
