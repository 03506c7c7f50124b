/* dbcop bincode: what is read, what is refused, and that writing and reading agree. */
#include "tests/unit/format/format_bytes.h"

static void put_text(bytes *b, const char *text) {
  put_little64(b, strlen(text));
  bytes_put(b, text, strlen(text));
}

static void put_event(bytes *b, int is_write, uint64_t key, uint64_t value, int success) {
  put_byte(b, is_write);
  put_little64(b, key);
  put_little64(b, value);
  put_byte(b, success);
}

static void put_header(bytes *b, uint64_t sessions) {
  for (uint64_t i = 0; i < 5; i++) put_little64(b, 3 + i);
  put_text(b, "info \xc3\xa9");
  put_text(b, "2019-04-02T02:06:41.652503684+02:00");
  put_text(b, "2019-04-02T02:06:47.448461757+02:00");
  put_little64(b, sessions);
}

/* Two sessions; the second has an aborted transaction and an empty one. */
static bytes small_file(void) {
  bytes b = {NULL, 0, 0};
  put_header(&b, 2);
  put_little64(&b, 1);
  put_little64(&b, 3);
  put_event(&b, 1, 5, 7, 1);
  put_event(&b, 0, 6, 0, 1);
  put_event(&b, 0, 6, 99, 0); /* unsuccessful: says nothing */
  put_byte(&b, 1);
  put_little64(&b, 2);
  put_little64(&b, 2);
  put_event(&b, 0, 5, 7, 1);
  put_event(&b, 1, UINT64_MAX, UINT64_C(1) << 40, 1);
  put_byte(&b, 0);
  put_little64(&b, 0);
  put_byte(&b, 1);
  return b;
}

static void test_small(void **state) {
  (void)state;
  bytes b = small_file();
  isoproof_error error;
  isoproof_history *history;
  assert_int_equal(open_bytes(b.data, b.count, NULL, &history, &error), ISOPROOF_OK);
  assert_string_equal(isoproof_history_format(history), "dbcop");
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  assert_int_equal(counts.sessions, 2);
  assert_int_equal(counts.transactions, 3);
  assert_int_equal(counts.aborted, 1);
  assert_int_equal(counts.operations, 4);
  isoproof_op op = {.struct_size = sizeof op};
  assert_true(isoproof_history_op_at(history, 1, &op));
  assert_int_equal(op.kind, ISOPROOF_OP_READ);
  assert_int_equal(op.value.type, ISOPROOF_NIL);
  assert_true(isoproof_history_op_at(history, 3, &op));
  assert_int_equal(op.key.type, ISOPROOF_UNSIGNED);
  assert_int_equal(op.value.integer, INT64_C(1) << 40);
  assert_string_equal(isoproof_history_fact(history, "dbcop-info"), "info \xc3\xa9");
  isoproof_position position;
  assert_true(isoproof_history_position_of(history, 0, &position));
  assert_int_equal(position.offset, 40 + 15 + 43 + 43 + 8 + 8);
  isoproof_history_free(history);
  bytes_free(&b);
}

static void test_truncated_everywhere(void **state) {
  (void)state;
  bytes b = small_file();
  for (size_t cut = 0; cut < b.count; cut++) {
    isoproof_error error = {0};
    isoproof_history *history;
    assert_int_equal(open_bytes(b.data, cut, "dbcop", &history, &error), ISOPROOF_ERR_FORMAT);
    assert_true(error.offset >= 0 && (size_t)error.offset <= cut);
    assert_non_null(strstr(error.message, "truncated"));
  }
  put_byte(&b, 0);
  expect_refused(&b, NULL, ISOPROOF_ERR_FORMAT, "expected the end after the last session");
  bytes_free(&b);
}

static void test_flipped_everywhere(void **state) {
  (void)state;
  bytes b = small_file();
  for (size_t i = 0; i < b.count; i++) {
    for (int bit = 0; bit < 8; bit++) {
      b.data[i] = (char)(b.data[i] ^ 1 << bit);
      isoproof_history *history;
      if (open_bytes(b.data, b.count, "dbcop", &history, NULL) == ISOPROOF_OK) touch_history(history);
      isoproof_history_free(history);
      b.data[i] = (char)(b.data[i] ^ 1 << bit);
    }
  }
  bytes_free(&b);
}

static void test_absurd_lengths(void **state) {
  (void)state;
  static const uint64_t absurd[] = {UINT64_MAX, UINT64_MAX / 18, UINT64_C(1) << 62, UINT64_C(1) << 40, 1000000};
  bytes whole = small_file();
  /* Offsets of the length fields: three strings, sessions, transactions, events. */
  static const size_t fields[] = {40, 55, 98, 141, 149, 157};
  for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
    for (size_t a = 0; a < sizeof absurd / sizeof *absurd; a++) {
      bytes b = {NULL, 0, 0}, number = {NULL, 0, 0};
      isoproof_history *history;
      bytes_put(&b, whole.data, whole.count);
      put_little64(&number, absurd[a]);
      memcpy(b.data + fields[f], number.data, 8);
      isoproof_status status = open_bytes(b.data, b.count, "dbcop", &history, NULL);
      assert_true(status == ISOPROOF_ERR_FORMAT || status == ISOPROOF_ERR_LIMIT);
      bytes_free(&b);
      bytes_free(&number);
    }
  }
  bytes_free(&whole);
}

static void test_bad_fields(void **state) {
  (void)state;
  bytes b = small_file();
  b.data[165] = 2;
  expect_refused(&b, NULL, ISOPROOF_ERR_FORMAT, "expected 0 or 1 for is_write, found 2");
  b.data[165] = 1;
  b.data[182] = 7;
  expect_refused(&b, NULL, ISOPROOF_ERR_FORMAT, "expected 0 or 1 for the success of an event, found 7");
  b.data[182] = 1;
  b.data[50] = (char)0xff;
  expect_refused(&b, "dbcop", ISOPROOF_ERR_FORMAT, "UTF-8");
  bytes_free(&b);
}

static void test_written_again(void **state) {
  (void)state;
  bytes b = {NULL, 0, 0}, first = {NULL, 0, 0}, second = {NULL, 0, 0};
  isoproof_error error;
  isoproof_history *history;
  put_header(&b, 2);
  for (uint64_t s = 0; s < 2; s++) {
    put_little64(&b, 500);
    for (uint64_t t = 0; t < 500; t++) {
      put_little64(&b, t % 4);
      for (uint64_t e = 0; e < t % 4; e++) put_event(&b, (int)(e % 2), t % 7, e % 2 ? 1000 * t + 10 * s + e : 0, 1);
      put_byte(&b, t % 5 != 0);
    }
  }
  assert_int_equal(open_bytes(b.data, b.count, NULL, &history, &error), ISOPROOF_OK);
  isoproof_write_loss loss = {.struct_size = sizeof loss};
  assert_int_equal(
      isoproof_history_write_to(history, ISOPROOF_FORMAT_DBCOP, bytes_put, &first, NULL, NULL, &loss, &error),
      ISOPROOF_OK);
  isoproof_history_free(history);
  assert_false(loss.session_names);
  assert_int_equal(open_bytes(first.data, first.count, NULL, &history, &error), ISOPROOF_OK);
  assert_int_equal(
      isoproof_history_write_to(history, ISOPROOF_FORMAT_DBCOP, bytes_put, &second, NULL, NULL, NULL, &error),
      ISOPROOF_OK);
  isoproof_history_free(history);
  assert_int_equal(first.count, second.count);
  assert_memory_equal(first.data, second.data, first.count);
  /* All but the five informative numbers are what they were. */
  assert_int_equal(b.count, first.count);
  assert_memory_equal(b.data + 40, first.data + 40, b.count - 40);
  bytes_free(&b), bytes_free(&first), bytes_free(&second);
}

/* Builds a history of one transaction with one operation and tries to write it. */
static isoproof_status write_one(isoproof_op_kind kind, isoproof_scalar key, isoproof_scalar value,
                                 isoproof_txn_status status, bool lossy, isoproof_write_loss *loss) {
  isoproof_error error;
  isoproof_builder *builder;
  isoproof_history *history;
  uint32_t session;
  bytes out = {NULL, 0, 0};
  isoproof_write_options options = {.struct_size = sizeof options, .lossy = lossy};
  assert_int_equal(isoproof_builder_new(&builder, &error), ISOPROOF_OK);
  assert_int_equal(isoproof_builder_session(builder, isoproof_integer(0), &session, &error), ISOPROOF_OK);
  assert_int_equal(isoproof_builder_begin(builder, session, status, &error), ISOPROOF_OK);
  assert_int_equal(isoproof_builder_op(builder, kind, key, value, &error), ISOPROOF_OK);
  assert_int_equal(isoproof_builder_finish(builder, &history, &error), ISOPROOF_OK);
  isoproof_status result =
      isoproof_history_write_to(history, ISOPROOF_FORMAT_DBCOP, bytes_put, &out, &options, NULL, loss, &error);
  if (result == ISOPROOF_OK) {
    isoproof_history *again;
    assert_int_equal(open_bytes(out.data, out.count, NULL, &again, &error), ISOPROOF_OK);
    isoproof_history_free(again);
  }
  isoproof_history_free(history);
  isoproof_builder_free(builder);
  bytes_free(&out);
  return result;
}

static void test_what_cannot_be_written(void **state) {
  (void)state;
  isoproof_scalar one = isoproof_integer(1), none = {.type = ISOPROOF_NONE};
  isoproof_write_loss loss = {.struct_size = sizeof loss};
  assert_int_equal(write_one(ISOPROOF_OP_WRITE, one, one, ISOPROOF_TXN_COMMITTED, false, &loss), ISOPROOF_OK);
  assert_int_equal(write_one(ISOPROOF_OP_APPEND, one, one, ISOPROOF_TXN_COMMITTED, true, &loss),
                   ISOPROOF_ERR_UNSUPPORTED);
  assert_int_equal(write_one(ISOPROOF_OP_WRITE, isoproof_string("x"), one, ISOPROOF_TXN_COMMITTED, true, &loss),
                   ISOPROOF_ERR_UNSUPPORTED);
  assert_int_equal(write_one(ISOPROOF_OP_WRITE, one, isoproof_integer(-1), ISOPROOF_TXN_COMMITTED, true, &loss),
                   ISOPROOF_ERR_UNSUPPORTED);
  assert_int_equal(write_one(ISOPROOF_OP_WRITE, one, isoproof_integer(0), ISOPROOF_TXN_COMMITTED, true, &loss),
                   ISOPROOF_ERR_UNSUPPORTED);
  assert_int_equal(write_one(ISOPROOF_OP_READ, one, none, ISOPROOF_TXN_COMMITTED, false, &loss),
                   ISOPROOF_ERR_UNSUPPORTED);
  assert_int_equal(write_one(ISOPROOF_OP_READ, one, none, ISOPROOF_TXN_COMMITTED, true, &loss), ISOPROOF_OK);
  assert_int_equal(loss.unrecorded_reads, 1);
  assert_int_equal(write_one(ISOPROOF_OP_WRITE, one, one, ISOPROOF_TXN_UNKNOWN, false, &loss),
                   ISOPROOF_ERR_UNSUPPORTED);
  assert_int_equal(write_one(ISOPROOF_OP_WRITE, one, one, ISOPROOF_TXN_UNKNOWN, true, &loss), ISOPROOF_OK);
  assert_int_equal(loss.unknown_txns, 1);
}

/* Unknown transactions: 0 is read by 1, which is read by the committed 2; nobody reads from 3. */
static void test_unknown_promoted(void **state) {
  (void)state;
  isoproof_error error = {0};
  isoproof_builder *builder;
  isoproof_history *history, *again;
  uint32_t session;
  bytes out = {NULL, 0, 0};
  assert_int_equal(isoproof_builder_new(&builder, &error), ISOPROOF_OK);
  for (int64_t t = 0; t < 4; t++) {
    assert_int_equal(isoproof_builder_session(builder, isoproof_integer(t), &session, &error), ISOPROOF_OK);
    isoproof_txn_status status = t == 2 ? ISOPROOF_TXN_COMMITTED : ISOPROOF_TXN_UNKNOWN;
    assert_int_equal(isoproof_builder_begin(builder, session, status, &error), ISOPROOF_OK);
    isoproof_scalar before = isoproof_integer(t), own = isoproof_integer(t + 1);
    if (t == 1 || t == 2) {
      assert_int_equal(isoproof_builder_op(builder, ISOPROOF_OP_READ, before, before, &error), ISOPROOF_OK);
    }
    assert_int_equal(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, own, own, &error), ISOPROOF_OK);
  }
  assert_int_equal(isoproof_builder_finish(builder, &history, &error), ISOPROOF_OK);
  isoproof_builder_free(builder);
  isoproof_write_options options = {.struct_size = sizeof options, .lossy = true};
  isoproof_write_loss loss = {.struct_size = sizeof loss};
  assert_int_equal(
      isoproof_history_write_to(history, ISOPROOF_FORMAT_DBCOP, bytes_put, &out, &options, NULL, &loss, &error),
      ISOPROOF_OK);
  assert_int_equal(loss.promoted_txns, 2);
  assert_int_equal(loss.unknown_txns, 1);
  assert_int_equal(open_bytes(out.data, out.count, NULL, &again, &error), ISOPROOF_OK);
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(again, &counts);
  assert_int_equal(counts.sessions, 4);
  assert_int_equal(counts.committed, 3);
  isoproof_history_free(again);
  isoproof_history_free(history);
  bytes_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_small),
                                     cmocka_unit_test(test_truncated_everywhere),
                                     cmocka_unit_test(test_flipped_everywhere),
                                     cmocka_unit_test(test_absurd_lengths),
                                     cmocka_unit_test(test_bad_fields),
                                     cmocka_unit_test(test_written_again),
                                     cmocka_unit_test(test_what_cannot_be_written),
                                     cmocka_unit_test(test_unknown_promoted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
