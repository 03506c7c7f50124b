/* Documents: hostile text stays text, broken results are refused, what is left out is said. */
#include <sys/stat.h>
#include <unistd.h>

#include "report/escape.h"
#include "tests/scratch.h"
#include "tests/unit/unit.h"

#ifndef ISOPROOF_SOURCE_ROOT
#define ISOPROOF_SOURCE_ROOT "."
#endif

typedef struct text {
  char *bytes; /* terminated */
  size_t size;
} text;

static bool append(void *user, const void *data, size_t size) {
  text *to = user;
  char *grown = realloc(to->bytes, to->size + size + 1);
  if (grown == NULL) return false;
  memcpy(grown + to->size, data, size);
  to->bytes = grown;
  to->size += size;
  grown[to->size] = '\0';
  return true;
}

typedef isoproof_status (*render_fn)(const isoproof_document *, const isoproof_draw_options *, isoproof_write_fn,
                                     void *, isoproof_error *);
static const render_fn renderers[] = {isoproof_document_write_json, isoproof_document_write_text,
                                      isoproof_document_write_html, isoproof_document_write_svg,
                                      isoproof_document_write_dot,  isoproof_document_write_trace};

static text render(render_fn how, const isoproof_document *document, const isoproof_draw_options *options) {
  text out = {NULL, 0};
  isoproof_error error;
  assert_ok_error(how(document, options, append, &out, &error), error);
  return out;
}

/* ---- results and documents ---- */

static isoproof_document *read_one(const text *json, const isoproof_document_read_options *options) {
  isoproof_document_reader *reader;
  isoproof_document *document, *none;
  isoproof_error error;
  assert_ok_error(
      isoproof_document_reader_open_memory(json->bytes, json->size, "r.json", options, NULL, &reader, &error), error);
  assert_ok_error(isoproof_document_reader_next(reader, &document, &error), error);
  assert_non_null(document);
  assert_ok_error(isoproof_document_reader_next(reader, &none, &error), error);
  assert_null(none);
  isoproof_document_reader_free(reader);
  return document;
}

/* A history as it is judged, and its document. */
typedef struct judged {
  isoproof_history *history;
  isoproof_result *result;
  isoproof_document *document;
  text json;
} judged;

static judged judge(const char *path, const isoproof_check_options *how, bool detached) {
  judged j = {NULL, NULL, NULL, {NULL, 0}};
  isoproof_error error;
  assert_ok_error(isoproof_history_open(path, NULL, NULL, &j.history, &error), error);
  assert_ok_error(isoproof_check(j.history, how, NULL, &j.result, &error), error);
  isoproof_document_options what = {.struct_size = sizeof what,
                                    .file = path,
                                    .load_seconds = 0.25,
                                    .check_seconds = 1.5,
                                    .peak_bytes = 12345,
                                    .detached = detached};
  assert_ok_error(isoproof_document_make(j.history, j.result, &what, &j.document, &error), error);
  isoproof_render_options same = {
      .struct_size = sizeof same, .file = path, .load_seconds = 0.25, .check_seconds = 1.5, .peak_bytes = 12345};
  assert_ok_error(isoproof_result_write_json(j.result, &same, append, &j.json, &error), error);
  return j;
}

static void forget(judged *j) {
  isoproof_document_free(j->document);
  isoproof_result_free(j->result);
  isoproof_history_free(j->history);
  free(j->json.bytes);
}

static void compare(const isoproof_document *a, const isoproof_document *b) {
  for (size_t i = 0; i < sizeof renderers / sizeof *renderers; i++) {
    text one = render(renderers[i], a, NULL), two = render(renderers[i], b, NULL);
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.bytes, two.bytes, one.size);
    free(one.bytes);
    free(two.bytes);
  }
}

/* ---- hostile text ---- */

#define EVIL                                                                                                           \
  "</script><script>alert(1)</script><!--\\u0000\\u0001\\u001b[31m\\u007f\\u2028\\u202e&quot;'\\\"]]>\\\\l\\n\\ufffe"

static const char evil_history[] =
    "{\"isoproof\":1,\"initial\":null,\"database\":\"" EVIL "\",\"<script>alert(1)</script>\":\"" EVIL "\","
    "\"event.1\":\"5 fault kill node 2 begin: " EVIL "\",\"event.2\":\"9 fault kill node 2 end\"}\n"
    "{\"session\":\"" EVIL "\",\"status\":\"committed\",\"start\":1,\"end\":4,\"node\":\"" EVIL "\","
    "\"ops\":[[\"w\",\"" EVIL "\",\"" EVIL "1\"],[\"w\",\"y\",\"" EVIL "2\"]]}\n"
    "{\"session\":\"b\",\"status\":\"committed\",\"start\":2,\"end\":6,"
    "\"ops\":[[\"r\",\"" EVIL "\",null],[\"r\",\"y\",\"" EVIL "2\"]]}\n"
    "{\"session\":\"b\",\"status\":\"aborted\",\"start\":7,\"end\":8,\"error\":\"" EVIL "\",\"ops\":[]}\n";

static void write_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static size_t occurrences(const text *in, const char *what) {
  size_t count = 0;
  for (const char *p = in->bytes; (p = strstr(p, what)) != NULL; p++) count++;
  return count;
}

static void assert_no_controls(const text *in) {
  for (size_t i = 0; i < in->size; i++) {
    unsigned char c = (unsigned char)in->bytes[i];
    assert_true(c >= 0x20 || c == '\n' || c == '\t');
    assert_int_not_equal(c, 0x7f);
  }
}

/* The same check as a browser or a viewer would do, where the tool is installed. */
static void assert_well_formed(const text *svg, const char *folder) {
  char path[300], command[400];
  if (system("command -v xmllint > /dev/null 2>&1") != 0) {
    print_message("xmllint is not installed: the drawing was not parsed\n");
    return;
  }
  snprintf(path, sizeof path, "%s/x.svg", folder);
  write_file(path, svg->bytes, svg->size);
  snprintf(command, sizeof command, "xmllint --noout '%s'", path);
  assert_int_equal(system(command), 0);
  unlink(path);
}

/* Quotes of DOT are balanced on each line, so that nothing escapes from a string. */
static void assert_balanced(const text *dot) {
  bool inside = false;
  for (size_t i = 0; i < dot->size; i++) {
    if (inside && dot->bytes[i] == '\\')
      i++;
    else if (dot->bytes[i] == '"')
      inside = !inside;
    else if (dot->bytes[i] == '\n')
      assert_false(inside);
  }
  assert_false(inside);
}

static void hostile(void **state) {
  (void)state;
  char folder[SCRATCH_BYTES], path[300];
  assert_true(scratch_folder(folder));
  snprintf(path, sizeof path, "%s/<script>.jsonl", folder);
  write_file(path, evil_history, sizeof evil_history - 1);
  judged j = judge(path, NULL, false);
  assert_true(isoproof_result_anomaly_count(j.result) > 0);
  isoproof_document *again = read_one(&j.json, NULL);
  compare(j.document, again);
  text html = render(isoproof_document_write_html, j.document, NULL);
  assert_int_equal(occurrences(&html, "alert(1)</script"), 0);
  assert_int_equal(occurrences(&html, "<script>alert"), 0);
  /* One for the data, one for the script of the page. */
  assert_int_equal(occurrences(&html, "</script>"), 2);
  assert_no_controls(&html);
  text svg = render(isoproof_document_write_svg, j.document, NULL);
  assert_int_equal(occurrences(&svg, "<script"), 0);
  assert_no_controls(&svg);
  assert_well_formed(&svg, folder);
  text words = render(isoproof_document_write_text, again, NULL);
  assert_no_controls(&words);
  free(words.bytes);
  text dot = render(isoproof_document_write_dot, j.document, NULL);
  assert_no_controls(&dot);
  assert_balanced(&dot);
  isoproof_document_fault fault = {.struct_size = sizeof fault};
  assert_true(isoproof_document_fault_at(j.document, 0, &fault));
  assert_string_equal(fault.kind, "kill");
  assert_string_equal(fault.target, "n2");
  assert_int_equal(fault.start, 5);
  assert_int_equal(fault.end, 9);
  isoproof_document_abort aborted = {.struct_size = sizeof aborted};
  assert_true(isoproof_document_abort_at(j.document, 0, &aborted));
  assert_int_equal(aborted.count, 1);
  free(html.bytes);
  free(svg.bytes);
  free(dot.bytes);
  isoproof_document_free(again);
  forget(&j);
  unlink(path);
  rmdir(folder);
}

/* ---- saved results that are not what they should be ---- */

static isoproof_status try_read(const char *json, size_t size, isoproof_document **document, isoproof_error *error) {
  isoproof_document_read_options how = {.struct_size = sizeof how, .no_history = true};
  isoproof_document_reader *reader;
  *document = NULL;
  isoproof_status status = isoproof_document_reader_open_memory(json, size, "x", &how, NULL, &reader, error);
  if (status == ISOPROOF_OK) status = isoproof_document_reader_next(reader, document, error);
  isoproof_document_reader_free(reader);
  return status;
}

static void broken(void **state) {
  (void)state;
  static const char *const bad[] = {"x",
                                    "[]",
                                    "1",
                                    "{",
                                    "{\"schema\":2}",
                                    "{}",
                                    "{\"schema\":1,\"anomalies\":3}",
                                    "{\"schema\":1,\"anomalies\":[{\"code\":}]}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    isoproof_document *document;
    isoproof_error error = {.offset = -1};
    assert_int_equal(try_read(bad[i], strlen(bad[i]), &document, &error), ISOPROOF_ERR_FORMAT);
    assert_null(document);
    assert_true(error.message[0] != '\0');
  }
}

/* Fields of wrong types are as if they were not there. */
static void odd_types(void **state) {
  (void)state;
  static const char *const odd[] = {
      "{\"schema\":1}",
      "{\"schema\":1,\"file\":3,\"format\":[],\"sessions\":\"x\",\"levels\":[1],\"asked\":{},\"strongest\":3,\"facts\":"
      "[],"
      "\"faults\":{},\"aborts\":1,\"times\":\"x\",\"seconds\":[],\"verdict\":17,\"not\":[1,null,{}],\"anomalies\":[]}",
      "{\"schema\":1,\"anomalies\":[1,null,\"x\",[],{}]}",
      "{\"schema\":1,\"anomalies\":[{\"code\":1,\"details\":[1,{},{\"operations\":[1,{\"number\":-1}]}],\"edges\":[1,{}"
      ","
      "{\"from\":\"a\",\"to\":\"b\",\"kind\":\"WR\"}],\"cases\":[1,{\"orders\":[1],\"edges\":3}],\"keys\":[1]}]}",
      "{\"schema\":1,\"anomalies\":[{\"transactions\":[\"a\",\"b\"],\"edges\":[{\"from\":\"a\",\"to\":\"b\",\"kind\":"
      "\"WR\","
      "\"from_op\":0},{\"from\":\"a\",\"to\":\"a\",\"kind\":\"EVIL\"},{\"from\":\"b\",\"to\":\"b\",\"kind\":\"PO\"}]}]"
      "}"};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    isoproof_document *document;
    isoproof_error error = {.offset = -1};
    assert_ok_error(try_read(odd[i], strlen(odd[i]), &document, &error), error);
    for (size_t k = 0; k < sizeof renderers / sizeof *renderers; k++) free(render(renderers[k], document, NULL).bytes);
    isoproof_document_free(document);
  }
}

/* Every prefix of a result is refused, and every byte of it may be any other. */
static void mutated(void **state) {
  (void)state;
  char path[512];
  uint64_t seed = 7;
  snprintf(path, sizeof path, "%s/examples/histories/lost-update.txt", ISOPROOF_SOURCE_ROOT);
  judged j = judge(path, NULL, false);
  for (size_t i = 0; i < 3000; i++) {
    char *copy = malloc(j.json.size);
    assert_non_null(copy);
    memcpy(copy, j.json.bytes, j.json.size);
    size_t size = i % 3 == 0 ? 1 + unit_below(&seed, j.json.size - 2) : j.json.size;
    for (size_t k = 0; i % 3 != 0 && k <= i % 4; k++)
      copy[unit_below(&seed, size)] = "\"{}[],:019\\tnu<\xff"[unit_below(&seed, 16)];
    isoproof_document *document;
    isoproof_error error = {.offset = -1};
    isoproof_status status = try_read(copy, size, &document, &error);
    if (i % 3 == 0) assert_int_not_equal(status, ISOPROOF_OK);
    for (size_t k = 0; status == ISOPROOF_OK && document != NULL && k < sizeof renderers / sizeof *renderers; k++)
      free(render(renderers[k], document, NULL).bytes);
    isoproof_document_free(document);
    free(copy);
  }
  forget(&j);
}

/* A saved result may say anything; a terminal acts upon nothing of it. */
static void hostile_words(void **state) {
  (void)state;
  static const char json[] =
      "{\"schema\":1,\"file\":\"\\u001b[31m\",\"format\":\"\\u001b]0;x\\u0007\",\"verdict\":\"violated\","
      "\"levels\":{\"\\u001b[1m\":\"violated\",\"\\u009b1m\":\"satisfied\"},\"strongest\":[\"\\u007f\"],"
      "\"unknown_reason\":\"\\u001b\",\"unexplained\":\"\\u001b\",\"workload\":\"\\u001b\",\"not\":[\"\\u001b\"],"
      "\"anomalies\":[{\"code\":\"\\u001b\",\"name\":\"\\u001b\",\"level\":\"\\u001b\",\"explanation\":"
      "\"a \\u001b[2J\\u0000b\",\"transactions\":[\"\\u001b\"],\"ids\":[7]}],"
      "\"certificates\":[{\"level\":\"\\u001b\",\"order\":[\"\\u001b\",3,[]]},4],\"uncertified_reason\":\"\\u001b\","
      "\"stats\":{\"\\u001b\":{\"\\u001b\":1,\"pairs\":null,\"seconds\":{\"\\u001b\":0.5}},\"x\":3}}";
  isoproof_document *document;
  isoproof_error error;
  assert_ok_error(try_read(json, sizeof json - 1, &document, &error), error);
  text words = render(isoproof_document_write_text, document, NULL);
  assert_no_controls(&words);
  assert_non_null(strstr(words.bytes, "\\x1b[2J"));
  assert_non_null(strstr(words.bytes, "is transaction 7 of the input"));
  assert_non_null(strstr(words.bytes, "pairs of writers of one key in different chains"));
  free(words.bytes);
  isoproof_document_free(document);
}

static void several_and_problems(void **state) {
  (void)state;
  static const char json[] =
      "{\"schema\":1,\"file\":\"a\",\"verdict\":\"violated\",\"levels\":{\"causal\":\"violated\"},"
      "\"asked\":[\"causal\"]}\n"
      "{\"schema\":1,\"file\":\"b\",\"error\":{\"code\":\"io\",\"line\":3,\"message\":\"<gone>\"}}\n";
  isoproof_document_reader *reader;
  isoproof_document *document;
  isoproof_error error;
  isoproof_level_verdict level = {.struct_size = sizeof level};
  assert_ok_error(isoproof_document_reader_open_memory(json, sizeof json - 1, "x", NULL, NULL, &reader, &error), error);
  assert_ok_error(isoproof_document_reader_next(reader, &document, &error), error);
  assert_string_equal(isoproof_document_file(document), "a");
  assert_null(isoproof_document_problem(document));
  assert_true(isoproof_document_level(document, 0, &level));
  assert_true(level.asked && level.verdict == ISOPROOF_VIOLATED);
  assert_non_null(strstr(isoproof_document_left_out(document, 0), "is not there any more"));
  isoproof_document_free(document);
  assert_ok_error(isoproof_document_reader_next(reader, &document, &error), error);
  assert_non_null(isoproof_document_problem(document));
  assert_int_equal(isoproof_document_problem(document)->code, ISOPROOF_ERR_IO);
  assert_int_equal(isoproof_document_problem(document)->line, 3);
  for (size_t k = 0; k < sizeof renderers / sizeof *renderers; k++) free(render(renderers[k], document, NULL).bytes);
  isoproof_document_free(document);
  assert_ok_error(isoproof_document_reader_next(reader, &document, &error), error);
  assert_null(document);
  isoproof_document_reader_free(reader);
}

/* ---- sizes ---- */

/* Many transactions with times, some aborted and some unknown, with a fractured read in the middle. */
static isoproof_history *make_large(uint32_t sessions, uint32_t txns) {
  isoproof_builder *builder;
  isoproof_history *history;
  isoproof_error error;
  assert_ok_error(isoproof_builder_new(&builder, &error), error);
  for (uint32_t s = 0; s < sessions; s++) {
    uint32_t session;
    assert_ok_error(isoproof_builder_session(builder, isoproof_integer(s), &session, &error), error);
    for (uint32_t t = 0; t < txns; t++) {
      isoproof_txn_status status = t % 10 == 3    ? ISOPROOF_TXN_ABORTED
                                   : t % 100 == 7 ? ISOPROOF_TXN_UNKNOWN
                                                  : ISOPROOF_TXN_COMMITTED;
      assert_ok_error(isoproof_builder_begin(builder, session, status, &error), error);
      int64_t start = 1000000 + (int64_t)t * 1000 + s;
      assert_ok_error(isoproof_builder_times(builder, start,
                                             status == ISOPROOF_TXN_UNKNOWN ? ISOPROOF_NO_TIME : start + 100 + t % 50,
                                             &error),
                      error);
      isoproof_scalar value = isoproof_integer((int64_t)s * txns + t + 1);
      bool odd = s == 1 && t == txns / 2;
      if (odd) {
        assert_ok_error(isoproof_builder_op(builder, ISOPROOF_OP_READ, isoproof_integer(0), isoproof_nil(), &error),
                        error);
        assert_ok_error(
            isoproof_builder_op(builder, ISOPROOF_OP_READ, isoproof_integer(1), isoproof_integer(1), &error), error);
      } else {
        assert_ok_error(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, isoproof_integer(s == 0 && t == 0 ? 0 : s + 2),
                                            value, &error),
                        error);
        if (s == 0 && t == 0)
          assert_ok_error(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, isoproof_integer(1), value, &error), error);
      }
    }
  }
  assert_ok_error(isoproof_builder_finish(builder, &history, &error), error);
  isoproof_builder_free(builder);
  return history;
}

static void capped(void **state) {
  (void)state;
  isoproof_history *history = make_large(8, 2000);
  isoproof_result *result;
  isoproof_document *document;
  isoproof_error error;
  const char *level = "read-atomic";
  isoproof_check_options how = {.struct_size = sizeof how, .levels = &level, .level_count = 1};
  assert_ok_error(isoproof_check(history, &how, NULL, &result, &error), error);
  assert_int_equal(isoproof_result_verdict(result), ISOPROOF_VIOLATED);
  assert_ok_error(isoproof_document_make(history, result, NULL, &document, &error), error);
  text whole = render(isoproof_document_write_html, document, NULL);
  assert_non_null(strstr(whole.bytes, "\"total\":16000,\"shown\":16000"));
  assert_non_null(strstr(whole.bytes, "\"left_out\":[]"));
  isoproof_draw_options small_page = {.struct_size = sizeof small_page, .max_bytes = 100000};
  text part = render(isoproof_document_write_html, document, &small_page);
  assert_non_null(strstr(part.bytes, "of 16,000 transactions"));
  assert_true(whole.size - part.size > 400000);
  isoproof_draw_options tiny_page = {.struct_size = sizeof tiny_page, .max_bytes = 1};
  text tiny = render(isoproof_document_write_html, document, &tiny_page);
  assert_non_null(strstr(tiny.bytes, "The timeline shows 0 of 16,000"));
  free(whole.bytes);
  free(part.bytes);
  free(tiny.bytes);
  isoproof_document_free(document);
  isoproof_result_free(result);
  isoproof_history_free(history);
}

/* ---- escaping ---- */

static text escaped(void (*put)(iso_output *, const char *), const char *what) {
  text out = {NULL, 0};
  iso_output *output;
  assert_ok(iso_output_open_callback(append, &out, ISOPROOF_COMPRESS_NO, &output, NULL));
  put(output, what);
  assert_ok(iso_output_close(output, NULL));
  return out;
}

static void assert_escaped(void (*put)(iso_output *, const char *), const char *what, const char *expected) {
  text out = escaped(put, what);
  assert_string_equal(out.bytes, expected);
  free(out.bytes);
}

static void escaping(void **state) {
  (void)state;
  assert_escaped(iso_put_xml, "<a href=\"x\">'&\r\n", "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#13;\n");
  assert_escaped(iso_put_xml, "\x01\x1b\x7f\xc2\x80\xef\xbf\xbf!\xff",
                 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd!\xef\xbf\xbd");
  assert_escaped(iso_put_dot, "a\"b\\l\n&amp;\t", "\"a\\\"b\\\\l\\n&amp;amp;\xef\xbf\xbd\"");
  assert_escaped(iso_put_terminal, "\x1b[31m\n\xe2\x80\xae\xc2\x9b!", "\\x1b[31m\\x0a\\u{202e}\\x9b!");
  bool cut;
  assert_int_equal(iso_cut_text("abcdef", 6, &cut), 6);
  assert_false(cut);
  assert_int_equal(iso_cut_text("abcdef", 5, &cut), 4);
  assert_true(cut);
  assert_int_equal(iso_text_columns("a\xe4\xb8\xad"), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hostile), cmocka_unit_test(broken),        cmocka_unit_test(odd_types),
      cmocka_unit_test(mutated), cmocka_unit_test(hostile_words), cmocka_unit_test(several_and_problems),
      cmocka_unit_test(capped),  cmocka_unit_test(escaping),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
