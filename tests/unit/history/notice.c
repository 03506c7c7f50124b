/* Notices: which input makes which, that they survive conversions, and that every output for people shows them. */
#include "tests/unit/format/format_bytes.h"
#include "tests/unit/unit.h"

#define TXN "{\"session\":0,\"status\":\"committed\",\"ops\":[[\"w\",1,1]]}\n"
#define OP(type, f, value) "{:type :" type ", :process 0, :f :" f ", :value " value "}\n"
static isoproof_history *open_text(const char *text, size_t size, const char *format) {
  isoproof_history *history;
  isoproof_error error = {0};
  assert_ok_error(open_bytes(text, size, format, &history, &error), error);
  return history;
}

/* Expects the notices "CODE LINE, ..." of a text; their sentences are not those of an empty table. */
static void expect_notices(const char *text, size_t size, const char *format, const char *expected) {
  isoproof_history *history = open_text(text, size, format);
  isoproof_notice notice = {.struct_size = sizeof notice};
  char found[200] = "";
  for (size_t i = 0; isoproof_history_notice_at(history, i, &notice); i++) {
    size_t used = strlen(found);
    snprintf(found + used, sizeof found - used, "%s%s %llu", used > 0 ? ", " : "", notice.code,
             (unsigned long long)notice.line);
    assert_true(strlen(notice.message) > 20);
  }
  assert_string_equal(found, expected);
  isoproof_history_free(history);
}

static void expect(const char *text, const char *format, const char *expected) {
  expect_notices(text, strlen(text), format, expected);
}

static void test_jsonl(void **state) {
  (void)state;
  expect("{\"isoproof\":1}\n" TXN, "jsonl", "");
  expect("{\"isoproof\":1}\n" TXN "{\"session\":0,\"sta", "jsonl", "truncated 3");
  expect("{\"isoproof\":1,\"finished\":\"no\"}\n" TXN, "jsonl", "unfinished 0");
  expect("{\"isoproof\":1,\"finished\":\"no\"}\n" TXN "{\"isoproof\":1,\"finished\":\"yes\"}\n", "jsonl", "");
  expect("{\"isoproof\":1,\"finished\":\"no\"}\n" TXN "{\"isoproof\":1,\"finished\":\"interrupted\"}\n", "jsonl", "");
  /* A cut says more than the missing end does. */
  expect("{\"isoproof\":1,\"finished\":\"no\"}\n{\"sess", "jsonl", "truncated 2");
  expect("{\"isoproof\":1,\"notice.1\":\"clocks 0 recorded by 2 machines, whose clocks were compared\"}\n" TXN, "jsonl",
         "clocks 0");
  /* What is no notice of ours is a fact like any other. */
  expect("{\"isoproof\":1,\"notice.1\":\"strange 1 x\",\"notice.2\":\"truncated\",\"notice.3\":\"truncated x y\"}\n",
         "jsonl", "");
}

static void test_other_formats(void **state) {
  (void)state;
  expect("1\n0 0 A 1 12\n", "veristrong", "");
  expect("1\n0 0 A 1 1", "veristrong", "maybe-truncated 2");
  expect("w(1,1,0,0)", "plume", ""); /* the bracket says that nothing is missing */
  expect(OP("ok", "txn", "[[:w 1 1]]"), "edn", "");
  expect(OP("ok", "txn", "[[:w 1 1]]") OP("invoke", "read", "nil") OP("ok", "read", "3"), "edn", "left-out 2");
  expect("{:type :info, :process :nemesis, :f :kill, :value nil}\n" OP("ok", "txn", "[[:w 1 1]]"), "edn", "");
}

static void test_cobra(void **state) {
  (void)state;
  bytes log = {NULL, 0, 0};
  put_byte(&log, 'S'), put_big64(&log, 7);
  put_byte(&log, 'W'), put_big64(&log, 1), put_big64(&log, 2), put_big64(&log, 3);
  expect_notices(log.data, log.count, "cobra", "unfinished 0");
  put_byte(&log, 'C'), put_big64(&log, 7);
  expect_notices(log.data, log.count, "cobra", "");
  bytes_free(&log);
}

static void test_conversions(void **state) {
  (void)state;
  static const char text[] = "{\"isoproof\":1,\"finished\":\"no\"}\n" TXN;
  static const isoproof_format formats[] = {ISOPROOF_FORMAT_JSONL, ISOPROOF_FORMAT_BINARY};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    isoproof_history *history = open_text(text, strlen(text), "jsonl");
    isoproof_write_options how = {.struct_size = sizeof how};
    bytes out = {NULL, 0, 0};
    isoproof_error error;
    assert_ok_error(isoproof_history_write_to(history, formats[i], bytes_put, &out, &how, NULL, NULL, &error), error);
    expect_notices(out.data, out.count, NULL, "unfinished 0");
    bytes_free(&out);
    isoproof_history_free(history);
  }
}

/* ---- outputs ---- */

static isoproof_document *judge(isoproof_history *history, isoproof_result **result) {
  isoproof_document *document;
  isoproof_error error;
  isoproof_document_options what = {.struct_size = sizeof what, .file = "h.jsonl", .load_seconds = -1};
  assert_ok_error(isoproof_check(history, NULL, NULL, result, &error), error);
  assert_ok_error(isoproof_document_make(history, *result, &what, &document, &error), error);
  return document;
}

static void expect_shown(const bytes *out, const char *output) {
  char *text = strndup(out->data, out->count);
  assert_non_null(text);
  if (strstr(text, "the last line was cut off") == NULL) fail_msg("%s does not show the notice", output);
  free(text);
}

static void test_outputs(void **state) {
  (void)state;
  static const char text[] = "{\"isoproof\":1}\n" TXN "{\"session\":0,\"sta";
  isoproof_history *history = open_text(text, strlen(text), "jsonl");
  isoproof_result *result;
  isoproof_document *document = judge(history, &result);
  const isoproof_document *list[] = {document};
  static const struct {
    const char *name;
    isoproof_status (*write)(const isoproof_document *, const isoproof_draw_options *, isoproof_write_fn, void *,
                             isoproof_error *);
    isoproof_documents_write_fn *write_many;
  } outputs[] = {
      {"text", isoproof_document_write_text, NULL},         {"JSON", isoproof_document_write_json, NULL},
      {"page", isoproof_document_write_html, NULL},         {"JUnit", NULL, isoproof_documents_write_junit},
      {"SARIF", NULL, isoproof_documents_write_sarif},      {"GitHub", NULL, isoproof_documents_write_github},
      {"Markdown", NULL, isoproof_documents_write_markdown}};
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
    bytes out = {NULL, 0, 0};
    isoproof_error error;
    if (outputs[i].write != NULL)
      assert_ok_error(outputs[i].write(document, NULL, bytes_put, &out, &error), error);
    else
      assert_ok_error(outputs[i].write_many(list, 1, bytes_put, &out, &error), error);
    expect_shown(&out, outputs[i].name);
    bytes_free(&out);
  }
  isoproof_document_free(document);
  isoproof_result_free(result);
  isoproof_history_free(history);
}

static void test_added_and_saved(void **state) {
  (void)state;
  isoproof_history *history = open_text("{\"isoproof\":1}\n" TXN, strlen("{\"isoproof\":1}\n" TXN), "jsonl");
  isoproof_result *result;
  isoproof_document *document = judge(history, &result), *again;
  isoproof_notice notice = {.struct_size = sizeof notice};
  isoproof_error error;
  assert_false(isoproof_document_notice_at(document, 0, &notice));
  for (int i = 0; i < 2; i++)
    assert_ok(isoproof_document_add_notice(document, ISOPROOF_NOTICE_UNFINISHED, 0, "only a part", &error));
  assert_ok(isoproof_document_add_notice(document, ISOPROOF_NOTICE_LEFT_OUT, 9, NULL, &error));
  assert_int_equal(isoproof_document_add_notice(document, ISOPROOF_NOTICES, 0, NULL, &error), ISOPROOF_ERR_USAGE);
  bytes saved = {NULL, 0, 0};
  assert_ok(isoproof_document_write_json(document, NULL, bytes_put, &saved, &error));
  isoproof_document_reader *reader;
  isoproof_document_read_options how = {.struct_size = sizeof how, .no_history = true};
  assert_ok(isoproof_document_reader_open_memory(saved.data, saved.count, "r.json", &how, NULL, &reader, &error));
  assert_ok(isoproof_document_reader_next(reader, &again, &error));
  assert_true(isoproof_document_notice_at(again, 0, &notice));
  assert_string_equal(notice.code, "unfinished");
  assert_string_equal(notice.message, "only a part");
  assert_true(isoproof_document_notice_at(again, 1, &notice));
  assert_int_equal(notice.line, 9);
  assert_false(isoproof_document_notice_at(again, 2, &notice));
  isoproof_document_free(again);
  isoproof_document_reader_free(reader);
  bytes_free(&saved);
  isoproof_document_free(document);
  isoproof_result_free(result);
  isoproof_history_free(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_jsonl),   cmocka_unit_test(test_other_formats),
                                     cmocka_unit_test(test_cobra),   cmocka_unit_test(test_conversions),
                                     cmocka_unit_test(test_outputs), cmocka_unit_test(test_added_and_saved)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
