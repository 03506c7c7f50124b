/* The builder and the columns it makes. */
#include "tests/unit/unit.h"

#include "history/builder.h"
#include "history/resolve.h"

static isoproof_builder *new_builder(void) {
  isoproof_builder *builder;
  assert_ok(isoproof_builder_new(&builder, NULL));
  return builder;
}

static void empty_history(void **state) {
  (void)state;
  isoproof_builder *builder = new_builder();
  isoproof_history *history;
  assert_ok(isoproof_builder_finish(builder, &history, NULL));
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  assert_int_equal(counts.sessions + counts.transactions + counts.operations + counts.keys, 0);
  isoproof_resolution resolution = {.struct_size = sizeof resolution};
  assert_ok(isoproof_history_resolve(history, NULL, &resolution, NULL));
  isoproof_stats stats = {.struct_size = sizeof stats};
  assert_ok(isoproof_history_stats(history, NULL, &stats, NULL));
  isoproof_result *result;
  assert_ok(isoproof_check(history, NULL, NULL, &result, NULL));
  assert_int_equal(isoproof_result_verdict_of(result, "ci"), ISOPROOF_SATISFIED);
  isoproof_result_free(result);
  isoproof_history_free(history);
  isoproof_builder_free(builder);
}

static void what_goes_in_comes_out(void **state) {
  (void)state;
  isoproof_builder *builder = new_builder();
  isoproof_history *history;
  uint32_t a, b, again;
  isoproof_scalar elements[] = {isoproof_integer(1), isoproof_string("two"), isoproof_integer(-3)};
  assert_ok(isoproof_builder_session(builder, isoproof_string("alice"), &a, NULL));
  assert_ok(isoproof_builder_session(builder, isoproof_integer(7), &b, NULL));
  assert_ok(isoproof_builder_session(builder, isoproof_string("alice"), &again, NULL));
  assert_int_equal(a, again);
  assert_int_equal(isoproof_builder_isolation(builder, "si", NULL), ISOPROOF_ERR_USAGE);
  assert_ok(isoproof_builder_begin(builder, b, ISOPROOF_TXN_UNKNOWN, NULL));
  assert_ok(isoproof_builder_isolation(builder, "serializable", NULL));
  assert_ok(isoproof_builder_isolation(builder, NULL, NULL));
  assert_ok(isoproof_builder_begin(builder, a, ISOPROOF_TXN_COMMITTED, NULL));
  assert_ok(isoproof_builder_isolation(builder, "SI", NULL));
  assert_int_equal(isoproof_builder_isolation(builder, "repeatable-read", NULL), ISOPROOF_ERR_USAGE);
  assert_int_equal(isoproof_builder_isolation(builder, "linearizable", NULL), ISOPROOF_ERR_USAGE);
  assert_ok(isoproof_builder_times(builder, 5, 9, NULL));
  assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, isoproof_string("k"), isoproof_integer(INT64_MIN), NULL));
  assert_ok(isoproof_builder_elements(builder, ISOPROOF_OP_READ_LIST, isoproof_integer(3), elements, 3, NULL));
  assert_ok(isoproof_builder_begin(builder, b, ISOPROOF_TXN_ABORTED, NULL));
  assert_ok(isoproof_builder_elements(builder, ISOPROOF_OP_READ_LIST, isoproof_integer(3), elements, 2, NULL));
  assert_ok(isoproof_builder_elements(builder, ISOPROOF_OP_READ_LIST, isoproof_integer(3), elements + 1, 2, NULL));
  assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_READ, isoproof_string("k"), isoproof_nil(), NULL));
  assert_ok(isoproof_builder_finish(builder, &history, NULL));

  isoproof_session session = {.struct_size = sizeof session};
  isoproof_txn txn = {.struct_size = sizeof txn};
  isoproof_op op = {.struct_size = sizeof op};
  isoproof_scalar element;
  assert_true(isoproof_history_session_at(history, 1, &session));
  assert_true(isoproof_scalar_equal(session.name, isoproof_integer(7)));
  assert_int_equal(session.txn_count, 2);
  assert_true(isoproof_history_txn_at(history, 0, &txn));
  assert_string_equal(txn.isolation, "snapshot-isolation");
  assert_true(isoproof_history_txn_at(history, 1, &txn));
  assert_null(txn.isolation);
  assert_true(isoproof_history_txn_at(history, 0, &txn));
  assert_int_equal(txn.session, 0);
  assert_int_equal(txn.start, 5);
  assert_int_equal(txn.end, 9);
  assert_int_equal(txn.op_count, 2);
  assert_true(isoproof_history_txn_at(history, 1, &txn));
  assert_int_equal(txn.status, ISOPROOF_TXN_UNKNOWN);
  assert_true(txn.start == ISOPROOF_NO_TIME);
  assert_int_equal(txn.op_count, 0);
  assert_true(isoproof_history_op_at(history, 0, &op));
  assert_true(isoproof_scalar_equal(op.value, isoproof_integer(INT64_MIN)));
  assert_true(isoproof_history_op_at(history, 1, &op));
  assert_int_equal(op.element_count, 3);
  assert_true(isoproof_history_element_at(history, 1, 1, &element));
  assert_true(isoproof_scalar_equal(element, isoproof_string("two")));
  assert_true(isoproof_history_op_at(history, 2, &op));
  assert_int_equal(op.element_count, 2);
  assert_true(isoproof_history_element_at(history, 3, 0, &element));
  assert_true(isoproof_scalar_equal(element, isoproof_string("two")));
  assert_false(isoproof_history_element_at(history, 3, 2, &element));
  assert_false(isoproof_history_element_at(history, 0, 0, &element));
  assert_int_equal(history->list_first[history->keys], 3); /* prefixes share storage */
  assert_int_equal(history->odd_lists, 1);
  char name[32];
  isoproof_history_txn_name(history, 2, name, sizeof name);
  assert_string_equal(name, "s1t1");
  assert_false(isoproof_history_txn_at(history, 3, &txn));
  assert_false(isoproof_history_op_at(history, 5, &op));
  isoproof_history_free(history);
  isoproof_builder_free(builder);
}

static void nonsense_is_refused(void **state) {
  (void)state;
  isoproof_builder *builder = new_builder();
  uint32_t session;
  isoproof_scalar nil = isoproof_nil(), one = isoproof_integer(1);
  assert_int_equal(isoproof_builder_op(builder, ISOPROOF_OP_READ, one, one, NULL), ISOPROOF_ERR_USAGE);
  assert_int_equal(isoproof_builder_begin(builder, 0, ISOPROOF_TXN_COMMITTED, NULL), ISOPROOF_ERR_USAGE);
  assert_ok(isoproof_builder_session(builder, one, &session, NULL));
  assert_int_equal(isoproof_builder_begin(builder, session, (isoproof_txn_status)9, NULL), ISOPROOF_ERR_USAGE);
  assert_ok(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, NULL));
  assert_int_equal(isoproof_builder_op(builder, (isoproof_op_kind)99, one, one, NULL), ISOPROOF_ERR_USAGE);
  assert_int_equal(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, one, nil, NULL), ISOPROOF_ERR_USAGE);
  assert_int_equal(isoproof_builder_op(builder, ISOPROOF_OP_READ, nil, one, NULL), ISOPROOF_ERR_USAGE);
  assert_int_equal(isoproof_builder_op(builder, ISOPROOF_OP_READ_LIST, one, one, NULL), ISOPROOF_ERR_USAGE);
  assert_int_equal(isoproof_builder_op(builder, ISOPROOF_OP_INCREMENT, one, isoproof_string("x"), NULL),
                   ISOPROOF_ERR_USAGE);
  assert_int_equal(isoproof_builder_elements(builder, ISOPROOF_OP_READ, one, &one, 1, NULL), ISOPROOF_ERR_USAGE);
  assert_int_equal(isoproof_builder_elements(builder, ISOPROOF_OP_READ_SET, one, &nil, 1, NULL), ISOPROOF_ERR_USAGE);
  isoproof_builder_free(builder);
}

static void limit_is_an_error(void **state) {
  (void)state;
  isoproof_builder *builder = new_builder();
  isoproof_error error;
  uint32_t session;
  assert_ok(isoproof_builder_session(builder, isoproof_integer(0), &session, NULL));
  assert_ok(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, NULL));
  iso_builder_limit(builder, 3);
  for (int i = 0; i < 3; i++) {
    assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, isoproof_integer(1), isoproof_integer(i + 1), NULL));
  }
  assert_int_equal(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, isoproof_integer(1), isoproof_integer(9), &error),
                   ISOPROOF_ERR_LIMIT);
  assert_string_equal(error.message, "more than 3 operations in one history");
  assert_true(ISO_MAX_OPS > UINT32_C(4000000000));
  isoproof_builder_free(builder);
}

/* Random transactions in random pieces, against the same kept in plain arrays. */
static void pieces_in_any_order(void **state) {
  (void)state;
  enum { ROUNDS = 300, TXNS = 12, OPS = 60 };
  uint64_t random = 11;
  for (int round = 0; round < ROUNDS; round++) {
    isoproof_builder *builder = new_builder();
    uint32_t txn_session[TXNS], txn_ops[TXNS][OPS], txn_lines[TXNS][OPS], txn_count[TXNS] = {0};
    iso_builder_origin(builder, ISOPROOF_FORMAT_PLUME, ISO_POSITION_LINE_PER_OP, true);
    uint32_t begun = 0, ops = 0;
    while (ops < OPS) {
      uint32_t line = ops + 1, txn;
      if (begun < TXNS && (begun == 0 || unit_below(&random, 3) == 0)) {
        iso_txn_info info = iso_txn_unset();
        info.position = line;
        txn_session[begun] = (uint32_t)unit_below(&random, 4);
        for (uint32_t s = 0; s <= txn_session[begun]; s++) {
          uint32_t number;
          assert_ok(iso_builder_session(builder, s, &number, NULL));
          assert_int_equal(number, s);
        }
        assert_ok(iso_builder_begin(builder, txn_session[begun], &info, &txn, NULL));
        assert_int_equal(txn, begun);
        begun++;
      } else {
        txn = (uint32_t)unit_below(&random, begun);
        assert_ok(iso_builder_reopen(builder, txn, line, NULL));
      }
      for (uint64_t i = unit_below(&random, 4); i-- > 0 && ops < OPS; ops++) {
        assert_ok(iso_builder_op(builder, ISOPROOF_OP_WRITE, ops % 5, 1000 + ops, NULL));
        txn_ops[txn][txn_count[txn]] = 1000 + ops;
        txn_lines[txn][txn_count[txn]++] = ops + 1;
      }
    }
    isoproof_history *history;
    assert_ok(isoproof_builder_finish(builder, &history, NULL));
    uint32_t next = 0;
    for (uint32_t s = 0; s < history->sessions; s++) {
      assert_int_equal(history->session_first_txn[s], next);
      for (uint32_t t = 0; t < begun; t++) {
        if (txn_session[t] != s) continue;
        uint32_t first = history->txn_first_op[next];
        assert_int_equal(history->txn_first_op[next + 1] - first, txn_count[t]);
        for (uint32_t i = 0; i < txn_count[t]; i++) {
          isoproof_position at;
          assert_int_equal(history->op_value[first + i], txn_ops[t][i]);
          assert_true(isoproof_history_position_of(history, first + i, &at));
          assert_int_equal(at.line, txn_lines[t][i]);
          assert_int_equal(iso_history_txn_of(history, first + i), next);
        }
        next++;
      }
    }
    assert_int_equal(next, begun);
    isoproof_history_free(history);
    isoproof_builder_free(builder);
  }
}

static void reads_get_the_kind_of_their_key(void **state) {
  (void)state;
  isoproof_builder *builder = new_builder();
  isoproof_history *history;
  uint32_t session;
  iso_txn_info info = iso_txn_unset();
  iso_builder_ambiguous_reads(builder);
  assert_ok(iso_builder_session(builder, 0, &session, NULL));
  assert_ok(iso_builder_begin(builder, session, &info, NULL, NULL));
  const isoproof_op_kind writes[] = {ISOPROOF_OP_WRITE, ISOPROOF_OP_APPEND, ISOPROOF_OP_ADD, ISOPROOF_OP_INCREMENT};
  const isoproof_op_kind reads[] = {ISOPROOF_OP_READ, ISOPROOF_OP_READ_LIST, ISOPROOF_OP_READ_SET,
                                    ISOPROOF_OP_READ_COUNTER};
  for (iso_value key = 0; key < 4; key++) {
    assert_ok(iso_builder_op(builder, ISOPROOF_OP_READ, key, ISO_VALUE_NIL, NULL));
    assert_ok(iso_builder_op(builder, writes[key], key, 1, NULL));
  }
  iso_value one = 1;
  assert_ok(iso_builder_list(builder, ISOPROOF_OP_READ_LIST, 2, &one, 1, NULL));
  assert_ok(isoproof_builder_finish(builder, &history, NULL));
  for (uint32_t key = 0; key < 4; key++) assert_int_equal(history->op_kind[2 * key], reads[key]);
  assert_int_equal(history->op_kind[8], ISOPROOF_OP_READ_SET);
  isoproof_history_free(history);
  isoproof_builder_free(builder);
}

/* Random histories: resolution against a double loop. */
static void resolution_agrees_with_search(void **state) {
  (void)state;
  uint64_t random = 5;
  for (int round = 0; round < 200; round++) {
    isoproof_builder *builder = new_builder();
    isoproof_history *history;
    bool lists = round % 2 == 1;
    uint64_t spread = round % 20 == 0 ? UINT64_C(1) << 40 : 12;
    for (uint32_t t = 0; t < 20; t++) {
      uint32_t session;
      iso_txn_info info = iso_txn_unset();
      assert_ok(iso_builder_session(builder, (iso_value)unit_below(&random, 3), &session, NULL));
      assert_ok(iso_builder_begin(builder, session, &info, NULL, NULL));
      for (int i = 0; i < 5; i++) {
        isoproof_scalar key = isoproof_integer((int64_t)unit_below(&random, 3)), value[3];
        for (int k = 0; k < 3; k++) value[k] = isoproof_integer((int64_t)unit_below(&random, spread));
        bool write = unit_below(&random, 2) == 0;
        if (lists && !write) {
          assert_ok(
              isoproof_builder_elements(builder, ISOPROOF_OP_READ_LIST, key, value, unit_below(&random, 4), NULL));
        } else {
          isoproof_op_kind kind = lists ? ISOPROOF_OP_APPEND : write ? ISOPROOF_OP_WRITE : ISOPROOF_OP_READ;
          if (!write && unit_below(&random, 9) == 0) value[0] = isoproof_nil();
          assert_ok(isoproof_builder_op(builder, kind, key, value[0], NULL));
        }
      }
    }
    assert_ok(isoproof_builder_finish(builder, &history, NULL));
    const iso_resolution *r;
    isoproof_task *task;
    assert_ok(isoproof_task_new(&task));
    isoproof_task_set_threads(task, 1 + (unsigned)round % 3);
    assert_ok(iso_history_resolve(history, task, &r, NULL));
    uint64_t duplicates = 0;
    for (uint32_t i = 0; i < history->ops; i++) {
      if (isoproof_op_kind_observes((isoproof_op_kind)history->op_kind[i])) continue;
      for (uint32_t k = 0; k < i; k++) {
        if (isoproof_op_kind_observes((isoproof_op_kind)history->op_kind[k])) continue;
        if (history->op_key[i] == history->op_key[k] && history->op_value[i] == history->op_value[k]) {
          duplicates++;
          break;
        }
      }
    }
    assert_int_equal(r->counts.duplicate_writes, duplicates);
    for (uint32_t i = 0; i < history->ops; i++) {
      uint32_t count = 1;
      const iso_value *seen = &history->op_value[i];
      const uint32_t *answer = &r->writer[i];
      if (history->op_kind[i] == ISOPROOF_OP_READ_LIST) {
        seen = iso_history_list(history, i, &count);
        answer = history->op_value[i] < ISO_VALUE_INLINE_LIMIT
                     ? r->list_writer + history->list_first[history->op_key[i]]
                     : r->odd_writer + history->odd_first[history->op_value[i] & ~ISO_VALUE_INTERNED];
      } else if (history->op_kind[i] != ISOPROOF_OP_READ) {
        assert_int_equal(r->writer[i], ISO_NO_OP);
        continue;
      }
      for (uint32_t e = 0; e < count; e++) {
        uint32_t expected = seen[e] == ISO_VALUE_NIL ? ISO_FROM_INITIAL : ISO_FROM_NOBODY;
        for (uint32_t k = history->ops; k-- > 0;) {
          if (isoproof_op_kind_observes((isoproof_op_kind)history->op_kind[k])) continue;
          if (history->op_key[i] == history->op_key[k] && seen[e] == history->op_value[k]) expected = k;
        }
        assert_int_equal(answer[e], expected);
      }
    }
    isoproof_task_free(task);
    isoproof_history_free(history);
    isoproof_builder_free(builder);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(empty_history),
      cmocka_unit_test(what_goes_in_comes_out),
      cmocka_unit_test(nonsense_is_refused),
      cmocka_unit_test(limit_is_an_error),
      cmocka_unit_test(pieces_in_any_order),
      cmocka_unit_test(reads_get_the_kind_of_their_key),
      cmocka_unit_test(resolution_agrees_with_search),
  };
  return cmocka_run_group_tests_name("builder", tests, NULL, NULL);
}
