/* The causal axiom by searching for a commit order, against clocks and scans: the same verdict, the same instances. */
#include "check/causal/causal_order.h"
#include "check/axioms/weak.h"
#include "check/causal/co_query.h"
#include "tests/random/short_sessions.h"
#include "tests/unit/unit.h"

/* With an error that the call fills by the name of error. */
#define assert_well(call)                                                                                              \
  do {                                                                                                                 \
    isoproof_error problem = {.message = ""};                                                                          \
    isoproof_error *error = &problem;                                                                                  \
    if ((call) != ISOPROOF_OK) fail_msg("%s: %s", #call, problem.message);                                             \
  } while (0)

static isoproof_history *simulate(uint64_t seed, isoproof_sim_level level, uint32_t sessions, uint64_t txns,
                                  uint32_t keys, isoproof_sim_bug bug, uint64_t bugs) {
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_history *history;
  isoproof_sim_defaults(&options);
  options.struct_size = sizeof options;
  options.seed = seed;
  options.level = level;
  options.sessions = sessions;
  options.txns = txns;
  options.keys = keys;
  options.ops_min = 2;
  options.ops_max = 6;
  options.bugs[bug] = bugs;
  assert_well(isoproof_simulate(&options, NULL, &history, NULL, error));
  return history;
}

static void decide(isoproof_history *history, uint32_t block_columns, isoproof_task *task, iso_weak *weak) {
  static const iso_axiom axioms[] = {ISO_AXIOM_CAUSAL, ISO_AXIOM_READ_ATOMIC, ISO_AXIOM_READ_COMMITTED};
  assert_well(iso_weak_begin(history, task, weak, error));
  weak->block_columns = block_columns;
  for (size_t i = 0; i < sizeof axioms / sizeof axioms[0]; i++)
    assert_well(iso_weak_decide(weak, axioms[i], task, error));
}

static void assert_same(const iso_weak *a, const iso_weak *b) {
  for (int axiom = 0; axiom <= ISO_AXIOM_CAUSAL; axiom++) {
    const iso_axiom_result *x = &a->axioms[axiom], *y = &b->axioms[axiom];
    assert_int_equal(x->violated, y->violated);
    assert_int_equal(x->instances.count, y->instances.count);
    for (size_t i = 0; i < x->instances.count; i++) {
      const iso_instance *p = &x->instances.items[i], *q = &y->instances.items[i];
      assert_int_equal(p->t1, q->t1);
      assert_int_equal(p->t2, q->t2);
      assert_int_equal(p->read, q->read);
      assert_int_equal(p->causal_cycle, q->causal_cycle);
    }
  }
}

enum { SMALL = UNLESS_SLOW(1500, 250), LARGE = UNLESS_SLOW(6, 1) };

/* Small histories, many of them broken, of one block of a sweep. */
static void test_small(void **state) {
  (void)state;
  static const isoproof_sim_bug bugs[] = {ISOPROOF_SIM_BUG_FRACTURED_READ, ISOPROOF_SIM_BUG_CAUSALITY_VIOLATION,
                                          ISOPROOF_SIM_BUG_NON_REPEATABLE_READ, ISOPROOF_SIM_BUG_LONG_FORK};
  static const isoproof_sim_level levels[] = {ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_CAUSAL, ISOPROOF_SIM_READ_ATOMIC,
                                              ISOPROOF_SIM_READ_COMMITTED};
  unsigned violated = 0, only_co_forms = 0, by_windows = 0;
  for (uint64_t seed = 1; seed <= SMALL; seed++) {
    isoproof_history *history = simulate(seed, levels[seed % 4], 4 + (uint32_t)seed % 7, 20 + seed % 50,
                                         4 + (uint32_t)seed % 6, bugs[seed / 4 % 4], seed % 3);
    iso_weak searched, clocked;
    decide(history, 0, NULL, &searched);
    decide(history, 1 + (uint32_t)seed % 3, NULL, &clocked);
    assert_same(&searched, &clocked);
    violated += searched.axioms[ISO_AXIOM_CAUSAL].violated;
    by_windows += searched.has_forced;
    only_co_forms += searched.axioms[ISO_AXIOM_CAUSAL].only_co_forms;
    iso_weak_free(&searched);
    iso_weak_free(&clocked);
    isoproof_history_free(history);
  }
  assert_true(violated > SMALL / 15 && violated < SMALL - SMALL / 15 && only_co_forms > SMALL / 30 &&
              by_windows > SMALL / 30);
}

/* Many blocks, many sessions, two threads. */
static void test_large(void **state) {
  (void)state;
  isoproof_task *task;
  assert_int_equal(isoproof_task_new(&task), ISOPROOF_OK);
  isoproof_task_set_threads(task, 2);
  for (uint64_t seed = 1; seed <= LARGE; seed++) {
    isoproof_sim_level level = seed % 2 == 0 ? ISOPROOF_SIM_CAUSAL : ISOPROOF_SIM_SERIALIZABLE;
    isoproof_history *history = simulate(seed, level, 20 * (uint32_t)seed * (uint32_t)seed, 20000, 300,
                                         ISOPROOF_SIM_BUG_FRACTURED_READ, seed / 3 * 10);
    iso_weak searched, clocked;
    decide(history, 0, task, &searched);
    decide(history, 64, task, &clocked);
    assert_same(&searched, &clocked);
    iso_weak_free(&searched);
    iso_weak_free(&clocked);
    isoproof_history_free(history);
  }
  isoproof_task_free(task);
}

/* Clients that connect anew for every other transaction: there are half as many sessions as transactions. */
static void test_short_sessions(void **state) {
  (void)state;
  static const isoproof_sim_level levels[] = {ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_CAUSAL, ISOPROOF_SIM_READ_ATOMIC};
  for (uint64_t seed = 1; seed <= 12; seed++) {
    isoproof_history *long_ones =
        simulate(seed, levels[seed % 3], 20, 3000, 100, ISOPROOF_SIM_BUG_CAUSALITY_VIOLATION, seed % 4 == 0 ? 3 : 0);
    isoproof_history *history;
    assert_well(short_sessions(long_ones, 1 + seed % 2, &history, error));
    isoproof_history_free(long_ones);
    iso_weak searched, clocked;
    decide(history, 0, NULL, &searched);
    decide(history, 64, NULL, &clocked);
    assert_same(&searched, &clocked);
    iso_weak_free(&searched);
    iso_weak_free(&clocked);
    isoproof_history_free(history);
  }
}

/* A version that was overwritten at once is read again much later, by somebody who causally knows better. */
static void test_far(void **state) {
  (void)state;
  enum { BETWEEN = 70000 };
  isoproof_builder *builder;
  isoproof_history *history;
  uint32_t session;
  assert_well(isoproof_builder_new(&builder, error));
  assert_well(isoproof_builder_session(builder, isoproof_integer(0), &session, error));
  for (int64_t i = 0; i < BETWEEN; i++) {
    assert_well(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, error));
    int64_t key = i < 2 ? 0 : 1 + i % 100;
    assert_well(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, isoproof_integer(key), isoproof_integer(i + 1), error));
  }
  assert_well(isoproof_builder_session(builder, isoproof_integer(1), &session, error));
  assert_well(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, error));
  int64_t last = BETWEEN - 1;
  assert_well(isoproof_builder_op(builder, ISOPROOF_OP_READ, isoproof_integer(1 + last % 100),
                                  isoproof_integer(last + 1), error));
  assert_well(isoproof_builder_op(builder, ISOPROOF_OP_READ, isoproof_integer(0), isoproof_integer(1), error));
  assert_well(isoproof_builder_finish(builder, &history, error));
  isoproof_builder_free(builder);
  iso_view view;
  iso_causal causal;
  assert_well(iso_view_make(history, NULL, &view, error));
  assert_well(iso_causal_order(&view, NULL, NULL, &causal, error));
  assert_int_equal(causal.answer, ISO_CAUSAL_CONTRADICTED);
  assert_int_equal(causal.pairs.count, 1);
  assert_int_equal(causal.pairs.items[0].t2, 1);
  iso_causal_free(&causal);
  iso_view_free(&view);
  isoproof_history_free(history);
}

/* Pairs asked for in bulk, against clocks. */
static void test_pairs(void **state) {
  (void)state;
  enum { PAIRS = 20000 };
  isoproof_history *history = simulate(7, ISOPROOF_SIM_CAUSAL, 40, 15000, 500, ISOPROOF_SIM_BUG_LOST_UPDATE, 0);
  iso_weak weak;
  iso_clocks clocks;
  assert_well(iso_weak_begin(history, NULL, &weak, error));
  assert_well(iso_clocks_make(&weak.view, &weak.co, 0, history->sessions, NULL, &clocks, error));
  iso_co_pair *pairs = malloc(PAIRS * sizeof *pairs);
  uint64_t random = 1;
  for (size_t i = 0; i < PAIRS; i++) {
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    pairs[i].earlier = (uint32_t)(random >> 33) % history->txns;
    pairs[i].later = (uint32_t)(random >> 13) % history->txns;
  }
  assert_well(iso_co_query(&weak.view, &weak.co, pairs, PAIRS, NULL, error));
  size_t ordered = 0;
  for (size_t i = 0; i < PAIRS; i++) {
    bool expected = iso_clock_before(&clocks, history, pairs[i].earlier, pairs[i].later);
    assert_int_equal(pairs[i].ordered, expected);
    ordered += expected;
  }
  assert_true(ordered > PAIRS / 10 && ordered < PAIRS * 9 / 10);
  free(pairs);
  iso_clocks_free(&clocks);
  iso_weak_free(&weak);
  isoproof_history_free(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_small), cmocka_unit_test(test_large),
                                     cmocka_unit_test(test_short_sessions), cmocka_unit_test(test_far),
                                     cmocka_unit_test(test_pairs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
