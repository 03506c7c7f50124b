/* describe.h - for tests of readers: a history as text, so that one string says what is expected.  Owns nothing.
 *
 * One line per transaction: SESSION STATUS START..END #INDEX..INDEX OPERATIONS, with "-" for what is not known. */
#ifndef TEST_DESCRIBE_H
#define TEST_DESCRIBE_H

#include "history/history.h"
#include "tests/unit/format/format_bytes.h"

static inline void describe_scalar(bytes *out, isoproof_scalar scalar) {
  char text[512];
  size_t length = isoproof_scalar_format(scalar, text, sizeof text);
  static const char quote[] = {0, 0, 0, '+', '"', 0, '\''};
  if (quote[scalar.type] != 0) put_byte(out, quote[scalar.type]);
  bytes_put(out, text, length < sizeof text ? length : sizeof text - 1);
}

static inline void describe_number(bytes *out, int64_t number, int64_t missing) {
  char text[32] = "-";
  if (number != missing) snprintf(text, sizeof text, "%lld", (long long)number);
  bytes_put(out, text, strlen(text));
}

static inline void describe_op(bytes *out, const isoproof_history *h, uint32_t number) {
  isoproof_op op = {.struct_size = sizeof op};
  assert_true(isoproof_history_op_at(h, number, &op));
  const char *name = isoproof_op_kind_name(op.kind);
  put_byte(out, ' ');
  bytes_put(out, name, strlen(name));
  put_byte(out, '(');
  describe_scalar(out, op.key);
  put_byte(out, ',');
  if (iso_kind_is_list(op.kind) && op.value.type == ISOPROOF_INTEGER) {
    put_byte(out, '[');
    for (uint64_t i = 0; i < op.element_count; i++) {
      isoproof_scalar element;
      assert_true(isoproof_history_element_at(h, number, i, &element));
      if (i > 0) put_byte(out, ' ');
      describe_scalar(out, element);
    }
    put_byte(out, ']');
  } else {
    describe_scalar(out, op.value);
  }
  put_byte(out, ')');
}

static inline void describe(bytes *out, const isoproof_history *h) {
  for (uint32_t t = 0; t < h->txns; t++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    assert_true(isoproof_history_txn_at(h, t, &txn));
    describe_scalar(out, iso_history_scalar(h, h->session_name[txn.session]));
    const char *status = isoproof_txn_status_name(txn.status);
    put_byte(out, ' ');
    bytes_put(out, status, strlen(status));
    put_byte(out, ' ');
    describe_number(out, txn.start, ISOPROOF_NO_TIME);
    bytes_put(out, "..", 2);
    describe_number(out, txn.end, ISOPROOF_NO_TIME);
    bytes_put(out, " #", 2);
    describe_number(out, h->txn_start_index_opt != NULL ? h->txn_start_index_opt[t] : -1, -1);
    bytes_put(out, "..", 2);
    describe_number(out, h->txn_end_index_opt != NULL ? h->txn_end_index_opt[t] : -1, -1);
    for (uint64_t op = txn.first_op; op < txn.first_op + txn.op_count; op++) describe_op(out, h, (uint32_t)op);
    put_byte(out, '\n');
  }
  put_byte(out, '\0');
}

/* Reads the text and compares. */
static inline void expect_history(const char *text, const char *format, const char *wanted) {
  isoproof_error error = {0};
  isoproof_history *history;
  bytes out = {0};
  if (open_bytes(text, strlen(text), format, &history, &error) != ISOPROOF_OK) {
    fail_msg("%s:%d: %s", text, (int)error.line, error.message);
  }
  (void)touch_history(history);
  describe(&out, history);
  assert_string_equal(out.data, wanted);
  bytes_free(&out);
  isoproof_history_free(history);
}

/* The text must be refused in that line (0: any) with these words. */
static inline void expect_error(const char *text, const char *format, isoproof_status status, uint64_t line,
                                const char *words) {
  isoproof_error error = {0};
  isoproof_history *history;
  isoproof_status got = open_bytes(text, strlen(text), format, &history, &error);
  if (got != status) fail_msg("%s: %s %s", text, isoproof_status_name(got), error.message);
  if (strstr(error.message, words) == NULL) fail_msg("%s: expected '%s' in '%s'", text, words, error.message);
  if (line != 0 && error.line != line) fail_msg("%s: in line %d: %s", text, (int)error.line, error.message);
}

/* Writes a history. */
static inline isoproof_status write_bytes(const isoproof_history *h, isoproof_format format, bool lossy, bytes *out,
                                          isoproof_write_loss *loss, isoproof_error *error) {
  isoproof_write_options options = {.struct_size = sizeof options, .compression = ISOPROOF_COMPRESS_NO, .lossy = lossy};
  return isoproof_history_write_to(h, format, bytes_put, out, &options, NULL, loss, error);
}

/* Reads the text, writes it in another format, and compares with what that must look like. */
static inline void expect_written(const char *text, const char *from, isoproof_format format, const char *wanted) {
  isoproof_error error = {0};
  isoproof_history *history;
  bytes out = {0};
  if (open_bytes(text, strlen(text), from, &history, &error) != ISOPROOF_OK) fail_msg("%s: %s", text, error.message);
  if (write_bytes(history, format, false, &out, NULL, &error) != ISOPROOF_OK) fail_msg("%s: %s", text, error.message);
  put_byte(&out, '\0');
  assert_string_equal(out.data, wanted);
  bytes_free(&out);
  isoproof_history_free(history);
}

/* The history of the text cannot be written in the format, unless lossy. */
static inline void expect_unwritable(const char *text, const char *from, isoproof_format format, const char *words) {
  isoproof_error error = {0};
  isoproof_history *history;
  bytes out = {0};
  if (open_bytes(text, strlen(text), from, &history, &error) != ISOPROOF_OK) fail_msg("%s: %s", text, error.message);
  assert_int_equal(write_bytes(history, format, false, &out, NULL, &error), ISOPROOF_ERR_UNSUPPORTED);
  if (strstr(error.message, words) == NULL) fail_msg("%s: expected '%s' in '%s'", text, words, error.message);
  bytes_free(&out);
  isoproof_history_free(history);
}

/* Cut anywhere, the text is either read or refused as broken; all of it is looked at by the sanitizer. */
static inline void survive_truncation(const char *text, const char *format) {
  for (size_t length = 0; length <= strlen(text); length++) {
    isoproof_error error = {0};
    isoproof_history *history = NULL;
    isoproof_status status = open_bytes(text, length, format, &history, &error);
    assert_true(status == ISOPROOF_OK || status == ISOPROOF_ERR_FORMAT);
    if (status == ISOPROOF_OK) (void)touch_history(history);
    isoproof_history_free(history);
  }
}

#endif
