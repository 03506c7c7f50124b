/* Reads resolved by a table of values, against the hash join: the same writes, the same counts, or no table. */
#include "tests/unit/unit.h"

#include "history/resolve.h"
#include "history/resolve_direct.h"
#include "history/resolve_join.h"

/* How the values of a history are chosen. */
typedef enum { PER_KEY, OVER_ALL, SPARSE, TWICE, SHAPES } shape;

static void add(isoproof_builder *builder, isoproof_op_kind kind, int64_t key, isoproof_scalar value) {
  assert_ok(isoproof_builder_op(builder, kind, isoproof_integer(key), value, NULL));
}

static isoproof_history *draw(uint64_t seed, shape how, uint64_t txns) {
  enum { KEYS = 20, OPS = 6 };
  uint64_t random = seed * 2 + 1;
  int64_t last[KEYS] = {0}, all = 0;
  isoproof_builder *builder;
  isoproof_history *history;
  uint32_t session;
  assert_ok(isoproof_builder_new(&builder, NULL));
  for (uint64_t t = 0; t < txns; t++) {
    assert_ok(isoproof_builder_session(builder, isoproof_integer((int64_t)unit_below(&random, 3)), &session, NULL));
    assert_ok(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, NULL));
    for (uint64_t i = unit_below(&random, OPS); i > 0; i--) {
      int64_t key = (int64_t)unit_below(&random, KEYS), step = how == SPARSE ? 1 << 20 : 1;
      if (unit_below(&random, 2) == 0) {
        int64_t value = how == OVER_ALL ? ++all : (last[key] += step);
        if (how == TWICE && unit_below(&random, 50) == 0 && value > 1) value--;
        if (how == OVER_ALL) last[key] = value;
        add(builder, ISOPROOF_OP_WRITE, key, isoproof_integer(value));
      } else if (unit_below(&random, 8) == 0) {
        static const int64_t odd[] = {-1, 1 << 30, INT64_MAX, 3};
        add(builder, ISOPROOF_OP_READ, key, isoproof_integer(odd[unit_below(&random, 4)]));
      } else {
        bool initial = last[key] == 0 || unit_below(&random, 9) == 0;
        add(builder, ISOPROOF_OP_READ, key, initial ? isoproof_nil() : isoproof_integer(last[key]));
      }
    }
  }
  assert_ok(isoproof_builder_finish(builder, &history, NULL));
  isoproof_builder_free(builder);
  return history;
}

static void compare(const isoproof_history *h, const iso_resolution *direct, const iso_resolution *join) {
  assert_int_equal(join->counts.duplicate_writes, 0);
  assert_int_equal(direct->counts.duplicate_writes, 0);
  assert_int_equal(direct->counts.reads, join->counts.reads);
  assert_int_equal(direct->counts.initial, join->counts.initial);
  assert_int_equal(direct->counts.thin_air, join->counts.thin_air);
  if (h->ops > 0) assert_memory_equal(direct->writer, join->writer, h->ops * sizeof *direct->writer);
}

/* Returns whether there was a table. */
static bool resolve_both(const isoproof_history *h, isoproof_task *task) {
  iso_resolution *direct, *join;
  assert_ok(iso_resolve_direct(h, task, &direct, NULL));
  assert_ok(iso_resolve_join(h, task, &join, NULL));
  bool table = direct != NULL;
  if (table) compare(h, direct, join);
  iso_resolution_free(direct);
  iso_resolution_free(join);
  return table;
}

static void test_small(void **state) {
  (void)state;
  unsigned tables[SHAPES] = {0};
  for (uint64_t seed = 0; seed < 2000; seed++) {
    isoproof_history *history = draw(seed, (shape)(seed % SHAPES), 200);
    tables[seed % SHAPES] += resolve_both(history, NULL);
    isoproof_history_free(history);
  }
  assert_int_equal(tables[PER_KEY], 500);
  assert_int_equal(tables[OVER_ALL], 500);
  assert_int_equal(tables[SPARSE], 0);
  assert_true(tables[TWICE] < 400);
}

static void test_threads(void **state) {
  (void)state;
  isoproof_task *task;
  assert_ok(isoproof_task_new(&task));
  isoproof_task_set_threads(task, 2);
  for (shape each = PER_KEY; each <= OVER_ALL; each++) {
    isoproof_history *history = draw(each, each, 60000);
    assert_true(resolve_both(history, task));
    isoproof_history_free(history);
  }
  isoproof_task_free(task);
}

/* The index of operations, with more empty transactions in a row than a block has operations. */
static void test_op_index(void **state) {
  (void)state;
  isoproof_builder *builder;
  isoproof_history *history;
  iso_op_index index;
  uint32_t session;
  uint64_t random = 5;
  assert_ok(isoproof_builder_new(&builder, NULL));
  assert_ok(isoproof_builder_session(builder, isoproof_integer(0), &session, NULL));
  for (int t = 0; t < 3000; t++) {
    assert_ok(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, NULL));
    uint64_t ops = t / 100 % 2 == 0 ? 0 : unit_below(&random, 20);
    for (uint64_t i = 0; i < ops; i++) add(builder, ISOPROOF_OP_READ, 1, isoproof_nil());
  }
  assert_ok(isoproof_builder_finish(builder, &history, NULL));
  isoproof_builder_free(builder);
  assert_ok(iso_history_op_index(history, &index, NULL));
  for (uint32_t op = 0; op < history->ops; op++) {
    assert_int_equal(iso_op_txn(&index, op), iso_history_txn_of(history, op));
  }
  isoproof_history_free(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_small), cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_op_index)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
