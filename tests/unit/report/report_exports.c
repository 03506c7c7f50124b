/* Outputs for other programs, and the drawing for a terminal: failures of the sink, nothing to write, widths, and texts
 * that mean something to somebody. */
#include "base/text.h"
#include "report/escape.h"
#include "tests/unit/unit.h"

typedef struct sink {
  char *bytes;
  size_t count, room; /* room: bytes until it fails */
} sink;

static bool put(void *user, const void *data, size_t size) {
  sink *s = user;
  if (size > s->room - s->count) return false;
  s->bytes = realloc(s->bytes, s->count + size + 1);
  assert_non_null(s->bytes);
  memcpy(s->bytes + s->count, data, size);
  s->count += size;
  s->bytes[s->count] = 0;
  return true;
}

/* A long fork between sessions and keys of a given name, which may be anything. */
static isoproof_history *make_history(const char *name) {
  isoproof_builder *b;
  isoproof_history *history;
  isoproof_error error;
  char key[2][256];
  uint32_t session;
  snprintf(key[0], sizeof key[0], "%s-x", name);
  snprintf(key[1], sizeof key[1], "%s-y", name);
  assert_ok(isoproof_builder_new(&b, NULL));
  for (int i = 0; i < 4; i++) {
    char called[256];
    snprintf(called, sizeof called, "%s%d", name, i);
    assert_ok(isoproof_builder_session(b, isoproof_string(called), &session, NULL));
    assert_ok(isoproof_builder_begin(b, session, ISOPROOF_TXN_COMMITTED, NULL));
    isoproof_scalar value = isoproof_string(name), x = isoproof_string(key[0]), y = isoproof_string(key[1]);
    if (i < 2) {
      assert_ok(isoproof_builder_op(b, ISOPROOF_OP_WRITE, i == 0 ? x : y, value, NULL));
    } else {
      assert_ok(isoproof_builder_op(b, ISOPROOF_OP_READ, x, i == 2 ? value : isoproof_nil(), NULL));
      assert_ok(isoproof_builder_op(b, ISOPROOF_OP_READ, y, i == 3 ? value : isoproof_nil(), NULL));
    }
  }
  assert_ok_error(isoproof_builder_finish(b, &history, &error), error);
  isoproof_builder_free(b);
  return history;
}

static isoproof_result *judge(isoproof_history *history) {
  isoproof_check_options how = {.struct_size = sizeof how};
  isoproof_result *result;
  isoproof_error error;
  assert_ok_error(isoproof_check(history, &how, NULL, &result, &error), error);
  assert_true(isoproof_result_anomaly_count(result) > 0);
  return result;
}

static const struct writer {
  const char *name;
  isoproof_documents_write_fn *write;
} writers[] = {{"junit", isoproof_documents_write_junit},
               {"sarif", isoproof_documents_write_sarif},
               {"github", isoproof_documents_write_github},
               {"markdown", isoproof_documents_write_markdown},
               {"csv", isoproof_documents_write_csv}};
enum { WRITERS = sizeof writers / sizeof *writers };

static void test_failing_sinks(void **state) {
  (void)state;
  isoproof_history *history = make_history("k");
  isoproof_result *result = judge(history);
  isoproof_document *document;
  isoproof_error error;
  assert_ok_error(isoproof_document_make(history, result, NULL, &document, &error), error);
  const isoproof_document *one = document;
  for (size_t w = 0; w <= WRITERS; w++) {
    sink whole = {NULL, 0, SIZE_MAX};
    if (w < WRITERS)
      assert_ok_error(writers[w].write(&one, 1, put, &whole, &error), error);
    else
      assert_ok_error(isoproof_document_write_trace(document, NULL, put, &whole, &error), error);
    assert_true(whole.count > 20);
    for (size_t room = 0; room < whole.count; room += whole.count / 3 + 1) {
      sink small = {NULL, 0, room};
      isoproof_status status = w < WRITERS ? writers[w].write(&one, 1, put, &small, &error)
                                           : isoproof_document_write_trace(document, NULL, put, &small, &error);
      assert_int_equal(status, ISOPROOF_ERR_IO);
      free(small.bytes);
    }
    free(whole.bytes);
  }
  isoproof_document_free(document);
  isoproof_result_free(result);
  isoproof_history_free(history);
}

static void test_nothing_to_write(void **state) {
  (void)state;
  isoproof_error error;
  for (size_t w = 0; w < WRITERS; w++) {
    sink whole = {NULL, 0, SIZE_MAX};
    assert_ok_error(writers[w].write(NULL, 0, put, &whole, &error), error);
    free(whole.bytes);
  }
}

/* No line is wider than a terminal, and none has what a terminal acts upon. */
static void check_lines(const char *text, bool unicode) {
  for (const char *line = text; *line != 0;) {
    size_t length = strcspn(line, "\n");
    char copy[4096];
    assert_true(length < sizeof copy);
    memcpy(copy, line, length);
    copy[length] = 0;
    for (size_t i = 0; i < length; i++) assert_true((unsigned char)copy[i] >= 0x20 && copy[i] != 0x7f);
    assert_true(iso_utf8_valid(copy, length));
    if (!unicode) assert_null(strstr(copy, "\xe2\x94\x80"));
    /* Names alone may be too long: of the file, and in sentences, which break at blanks only. */
    if (line != text && strstr(copy, "xxxxxxxx") == NULL && iso_text_columns(copy) > 80) fail_msg("too wide: %s", copy);
    line += length + (line[length] == '\n');
  }
}

static void test_text(void **state) {
  (void)state;
  static const char *const names[] = {"k",
                                      "a rather long name of a key in some database",
                                      "\x1b[31m",
                                      "a\nb",

                                      "\xe2\x80\xae",
                                      "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    isoproof_history *history = make_history(names[i]);
    isoproof_result *result = judge(history);
    for (int unicode = 0; unicode < 2; unicode++) {
      isoproof_render_options how = {.struct_size = sizeof how, .file = "h", .unicode = unicode == 1};
      sink text = {NULL, 0, SIZE_MAX};
      isoproof_error error;
      assert_ok_error(isoproof_result_write_text(result, &how, put, &text, &error), error);
      check_lines(text.bytes, unicode == 1);
      assert_non_null(strstr(text.bytes, unicode == 1 ? "\xe2\x96\xb6" : "->"));
      free(text.bytes);
    }
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

/* ---- escapes ---- */

static void escaped(void (*escape)(iso_output *, const char *), const char *text, const char *wanted) {
  iso_output *out;
  sink s = {NULL, 0, SIZE_MAX};
  assert_ok(iso_output_open_callback(put, &s, ISOPROOF_COMPRESS_NO, &out, NULL));
  escape(out, text);
  iso_out_char(out, '.');
  assert_ok(iso_output_close(out, NULL));
  s.bytes[s.count - 1] = 0;
  assert_string_equal(s.bytes, wanted);
  free(s.bytes);
}

static void test_escapes(void **state) {
  (void)state;
  escaped(iso_put_github, "50%\r\na,b:c", "50%25%0D%0Aa,b:c");
  escaped(iso_put_github_property, "50%\na,b:c", "50%25%0Aa%2Cb%3Ac");
  escaped(iso_put_github, "\x1b[0m", "\\x1b[0m");
  escaped(iso_put_uri, "a b/%:#?\xc3\xa4", "a%20b/%25%3A%23%3F%C3%A4");
  escaped(iso_put_uri, "/a/x.txt", "file:///a/x.txt");
  escaped(iso_put_uri, "././x", "x");
  escaped(iso_put_markdown, "a|b\n*c* `d` [e](f) <g> _h_", "a\\|b \\*c\\* \\`d\\` \\[e\\](f) &lt;g&gt; \\_h\\_");
  escaped(iso_put_markdown, "# no", "&#35; no");
  escaped(iso_put_markdown, "1. no", "&#49;. no");
  escaped(iso_put_markdown, "see https://x and www.y", "see https\\://x and www\\.y");
  escaped(iso_put_markdown, "://www.", "&#58;//www\\.");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_failing_sinks), cmocka_unit_test(test_nothing_to_write),
                                     cmocka_unit_test(test_text), cmocka_unit_test(test_escapes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
