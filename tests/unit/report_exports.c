/* Outputs for other programs, and the drawing for a terminal: failures of the sink, nothing to write, widths, and texts
 * that mean something to somebody. */
#include "base/text.h"
#include "report/escape.h"
#include "unit.h"

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
static isolde_history *make_history(const char *name) {
  isolde_builder *b;
  isolde_history *history;
  isolde_error error;
  char key[2][256];
  uint32_t session;
  snprintf(key[0], sizeof key[0], "%s-x", name);
  snprintf(key[1], sizeof key[1], "%s-y", name);
  assert_ok(isolde_builder_new(&b, NULL));
  for (int i = 0; i < 4; i++) {
    char called[256];
    snprintf(called, sizeof called, "%s%d", name, i);
    assert_ok(isolde_builder_session(b, isolde_string(called), &session, NULL));
    assert_ok(isolde_builder_begin(b, session, ISOLDE_COMMITTED, NULL));
    isolde_scalar value = isolde_string(name), x = isolde_string(key[0]), y = isolde_string(key[1]);
    if (i < 2) {
      assert_ok(isolde_builder_op(b, ISOLDE_OP_WRITE, i == 0 ? x : y, value, NULL));
    } else {
      assert_ok(isolde_builder_op(b, ISOLDE_OP_READ, x, i == 2 ? value : isolde_nil(), NULL));
      assert_ok(isolde_builder_op(b, ISOLDE_OP_READ, y, i == 3 ? value : isolde_nil(), NULL));
    }
  }
  assert_ok_error(isolde_builder_finish(b, &history, &error), error);
  isolde_builder_free(b);
  return history;
}

static isolde_result *judge(isolde_history *history) {
  isolde_check_options how = {.struct_size = sizeof how};
  isolde_result *result;
  isolde_error error;
  assert_ok_error(isolde_check(history, &how, NULL, &result, &error), error);
  assert_true(isolde_result_anomalies(result) > 0);
  return result;
}

static const struct writer {
  const char *name;
  isolde_documents_write_fn *write;
} writers[] = {{"junit", isolde_documents_write_junit},
               {"sarif", isolde_documents_write_sarif},
               {"github", isolde_documents_write_github},
               {"markdown", isolde_documents_write_markdown},
               {"csv", isolde_documents_write_csv}};
enum { WRITERS = sizeof writers / sizeof *writers };

static void test_failing_sinks(void **state) {
  (void)state;
  isolde_history *history = make_history("k");
  isolde_result *result = judge(history);
  isolde_document *document;
  isolde_error error;
  assert_ok_error(isolde_document_make(history, result, NULL, &document, &error), error);
  const isolde_document *one = document;
  for (size_t w = 0; w <= WRITERS; w++) {
    sink whole = {NULL, 0, SIZE_MAX};
    if (w < WRITERS)
      assert_ok_error(writers[w].write(&one, 1, put, &whole, &error), error);
    else
      assert_ok_error(isolde_document_write_trace(document, NULL, put, &whole, &error), error);
    assert_true(whole.count > 20);
    for (size_t room = 0; room < whole.count; room += whole.count / 3 + 1) {
      sink small = {NULL, 0, room};
      isolde_status status = w < WRITERS ? writers[w].write(&one, 1, put, &small, &error)
                                         : isolde_document_write_trace(document, NULL, put, &small, &error);
      assert_int_equal(status, ISOLDE_ERR_IO);
      free(small.bytes);
    }
    free(whole.bytes);
  }
  isolde_document_free(document);
  isolde_result_free(result);
  isolde_history_free(history);
}

static void test_nothing_to_write(void **state) {
  (void)state;
  isolde_error error;
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
    isolde_history *history = make_history(names[i]);
    isolde_result *result = judge(history);
    for (int unicode = 0; unicode < 2; unicode++) {
      isolde_render_options how = {.struct_size = sizeof how, .file = "h", .unicode = unicode == 1};
      sink text = {NULL, 0, SIZE_MAX};
      isolde_error error;
      assert_ok_error(isolde_result_write_text(result, &how, put, &text, &error), error);
      check_lines(text.bytes, unicode == 1);
      assert_non_null(strstr(text.bytes, unicode == 1 ? "\xe2\x96\xb6" : "->"));
      free(text.bytes);
    }
    isolde_result_free(result);
    isolde_history_free(history);
  }
}

/* ---- escapes ---- */

static void escaped(void (*escape)(iso_output *, const char *), const char *text, const char *wanted) {
  iso_output *out;
  sink s = {NULL, 0, SIZE_MAX};
  assert_ok(iso_output_open_callback(put, &s, ISOLDE_COMPRESS_NO, &out, NULL));
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
  escaped(iso_put_uri, "/tmp/x.txt", "file:///tmp/x.txt");
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
