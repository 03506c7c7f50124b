/* Saved results: every history of examples/histories renders to the same bytes from its result, from its document, and
 * from the document that is read from its JSON. */
#include <dirent.h>

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

static const struct renderer {
  const char *name;
  render_fn one;
  isoproof_documents_write_fn *many;
} renderers[] = {
    {"JSON", isoproof_document_write_json, NULL},      {"text", isoproof_document_write_text, NULL},
    {"page", isoproof_document_write_html, NULL},      {"SVG", isoproof_document_write_svg, NULL},
    {"DOT", isoproof_document_write_dot, NULL},        {"trace", isoproof_document_write_trace, NULL},
    {"JUnit", NULL, isoproof_documents_write_junit},   {"SARIF", NULL, isoproof_documents_write_sarif},
    {"GitHub", NULL, isoproof_documents_write_github}, {"Markdown", NULL, isoproof_documents_write_markdown},
    {"CSV", NULL, isoproof_documents_write_csv}};
enum { RENDERERS = sizeof renderers / sizeof *renderers };

static text render(const struct renderer *how, const isoproof_document *document) {
  isoproof_draw_options options = {.struct_size = sizeof options, .unicode = true};
  text out = {NULL, 0};
  isoproof_error error;
  if (how->one != NULL)
    assert_ok_error(how->one(document, &options, append, &out, &error), error);
  else
    assert_ok_error(how->many(&document, 1, append, &out, &error), error);
  return out;
}

static isoproof_document *read_one(const text *json, bool with_history) {
  isoproof_document_read_options how = {.struct_size = sizeof how, .no_history = !with_history};
  isoproof_document_reader *reader;
  isoproof_document *document;
  isoproof_error error;
  assert_ok_error(isoproof_document_reader_open_memory(json->bytes, json->size, "r.json", &how, NULL, &reader, &error),
                  error);
  assert_ok_error(isoproof_document_reader_next(reader, &document, &error), error);
  assert_non_null(document);
  isoproof_document_reader_free(reader);
  return document;
}

static void assert_same(const char *path, const char *what, const text *one, const text *two) {
  if (one->size == two->size && (one->size == 0 || memcmp(one->bytes, two->bytes, one->size) == 0)) return;
  size_t at = 0;
  while (at < one->size && at < two->size && one->bytes[at] == two->bytes[at]) at++;
  size_t from = at > 60 ? at - 60 : 0;
  fail_msg("%s: %s differs at byte %zu:\n%.200s\n%.200s", path, what, at, one->bytes + from, two->bytes + from);
}

/* The result as it is written without a document of the caller. */
static text render_result(const isoproof_result *result, const char *path, bool json) {
  isoproof_render_options how = {.struct_size = sizeof how,
                                 .file = path,
                                 .load_seconds = 0.25,
                                 .check_seconds = 1.5,
                                 .peak_bytes = 12345,
                                 .unicode = true};
  text out = {NULL, 0};
  isoproof_error error;
  if (json)
    assert_ok_error(isoproof_result_write_json(result, &how, append, &out, &error), error);
  else
    assert_ok_error(isoproof_result_write_text(result, &how, append, &out, &error), error);
  return out;
}

/* The JSON does not say whether every instance was asked for: where no code comes twice, texts count to one. */
static void compare(const char *path, const isoproof_document *made, const isoproof_document *again, bool all) {
  for (size_t i = 0; i < RENDERERS; i++) {
    if (all && renderers[i].one == isoproof_document_write_text) continue;
    text one = render(&renderers[i], made), two = render(&renderers[i], again);
    assert_same(path, renderers[i].name, &one, &two);
    free(one.bytes);
    free(two.bytes);
  }
}

static void check_same(const char *path, const isoproof_check_options *how, bool detached) {
  isoproof_history *history;
  isoproof_result *result;
  isoproof_document *made;
  isoproof_error error;
  assert_ok_error(isoproof_history_open(path, NULL, NULL, &history, &error), error);
  assert_ok_error(isoproof_check(history, how, NULL, &result, &error), error);
  isoproof_document_options what = {.struct_size = sizeof what,
                                    .file = path,
                                    .load_seconds = 0.25,
                                    .check_seconds = 1.5,
                                    .peak_bytes = 12345,
                                    .detached = detached};
  assert_ok_error(isoproof_document_make(history, result, &what, &made, &error), error);
  text json = render_result(result, path, true), words = render_result(result, path, false);
  text made_json = render(&renderers[0], made), made_words = render(&renderers[1], made);
  assert_same(path, "JSON of the result and of its document", &json, &made_json);
  assert_same(path, "text of the result and of its document", &words, &made_words);
  /* A document needs its result no longer, and a detached one not even its history. */
  isoproof_result_free(result);
  if (detached) isoproof_history_free(history);
  isoproof_document *again = read_one(&json, !detached);
  assert_true((isoproof_document_history(again) == NULL) == detached);
  compare(path, made, again, how->all);
  isoproof_document_free(again);
  isoproof_document_free(made);
  if (!detached) isoproof_history_free(history);
  free(json.bytes);
  free(words.bytes);
  free(made_json.bytes);
  free(made_words.bytes);
}

static void every_example(void **state) {
  (void)state;
  static const char folder[] = ISOPROOF_SOURCE_ROOT "/examples/histories";
  const char *level = "serializable";
  isoproof_check_options ways[] = {{.struct_size = sizeof(isoproof_check_options)},
                                   {.struct_size = sizeof(isoproof_check_options), .all = true},
                                   {.struct_size = sizeof(isoproof_check_options), .certificate = true, .stats = true},
                                   {.struct_size = sizeof(isoproof_check_options),
                                    .levels = &level,
                                    .level_count = 1,
                                    .certificate = true,
                                    .stats = true}};
  isoproof_check_options elle = {.struct_size = sizeof elle, .elle_workload = "auto"};
  DIR *listing = opendir(folder);
  assert_non_null(listing);
  size_t seen = 0;
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    char path[512];
    if (entry->d_name[0] == '.' || strstr(entry->d_name, ".md") != NULL) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
      check_same(path, &ways[i], false);
      check_same(path, &ways[i], true);
    }
    if (strstr(entry->d_name, ".edn") != NULL) check_same(path, &elle, false);
    seen++;
  }
  closedir(listing);
  assert_true(seen >= 10);
}

/* What does not fit into a page is in the JSON nevertheless. */
static void long_keys(void **state) {
  (void)state;
  isoproof_builder *b;
  isoproof_history *history;
  isoproof_result *result;
  isoproof_error error;
  uint32_t session;
  char key[3][5000];
  assert_ok(isoproof_builder_new(&b, NULL));
  for (int i = 0; i < 2; i++) {
    memset(key[i], 'a' + i, sizeof key[i] - 1);
    key[i][sizeof key[i] - 1] = '\0';
  }
  isoproof_scalar x = isoproof_string(key[0]), y = isoproof_string(key[1]), one = isoproof_integer(1);
  for (int i = 0; i < 2; i++) {
    assert_ok(isoproof_builder_session(b, isoproof_integer(i), &session, NULL));
    assert_ok(isoproof_builder_begin(b, session, ISOPROOF_TXN_COMMITTED, NULL));
    isoproof_op_kind kind = i == 0 ? ISOPROOF_OP_WRITE : ISOPROOF_OP_READ;
    assert_ok(isoproof_builder_op(b, kind, x, i == 0 ? one : isoproof_nil(), NULL));
    assert_ok(isoproof_builder_op(b, kind, y, one, NULL));
  }
  assert_ok_error(isoproof_builder_finish(b, &history, &error), error);
  isoproof_builder_free(b);
  assert_ok_error(isoproof_check(history, NULL, NULL, &result, &error), error);
  text json = render_result(result, "h", true);
  assert_non_null(strstr(json.bytes, key[0]));
  isoproof_document *again = read_one(&json, false);
  text json_again = render(&renderers[0], again);
  assert_same("long keys", "JSON", &json, &json_again);
  free(json.bytes);
  free(json_again.bytes);
  isoproof_document_free(again);
  isoproof_result_free(result);
  isoproof_history_free(history);
}

/* Which of two equal writes was observed is in the certificate, and comes back from its JSON. */
static void observed(void **state) {
  (void)state;
  isoproof_builder *b;
  isoproof_history *history;
  isoproof_result *result;
  isoproof_error error;
  uint32_t session;
  const char *level = "serializable";
  isoproof_scalar key = isoproof_string("a \"key\""), one = isoproof_integer(1);
  isoproof_check_options how = {.struct_size = sizeof how, .levels = &level, .level_count = 1, .certificate = true};
  assert_ok(isoproof_builder_new(&b, NULL));
  for (int i = 0; i < 3; i++) {
    assert_ok(isoproof_builder_session(b, isoproof_integer(i), &session, NULL));
    assert_ok(isoproof_builder_begin(b, session, ISOPROOF_TXN_COMMITTED, NULL));
    assert_ok(isoproof_builder_op(b, i < 2 ? ISOPROOF_OP_WRITE : ISOPROOF_OP_READ, key, one, NULL));
  }
  assert_ok_error(isoproof_builder_finish(b, &history, &error), error);
  isoproof_builder_free(b);
  assert_ok_error(isoproof_check(history, &how, NULL, &result, &error), error);
  text json = render_result(result, "h", true), words = render_result(result, "h", false);
  assert_non_null(strstr(json.bytes, "\"to\":\"s2t0\",\"kind\":\"WR\",\"key\":\"a \\\"key\\\"\",\"from_op\":0"));
  isoproof_document *again = read_one(&json, false);
  text json_again = render(&renderers[0], again), words_again = render(&renderers[1], again);
  assert_same("observed", "JSON", &json, &json_again);
  assert_same("observed", "text", &words, &words_again);
  free(json.bytes);
  free(words.bytes);
  free(json_again.bytes);
  free(words_again.bytes);
  isoproof_document_free(again);
  isoproof_result_free(result);
  isoproof_history_free(history);
}

/* ---- options of other versions ---- */

static void other_sizes(void **state) {
  (void)state;
  static const char json[] = "{\"schema\":1,\"file\":\"f\",\"facts\":{\"a\":\"b\"}}";
  const text saved = {(char *)(uintptr_t)json, sizeof json - 1};
  isoproof_document *document = read_one(&saved, false);
  isoproof_error error;
  text out = {NULL, 0};
  isoproof_draw_options unset = {.struct_size = 0};
  assert_int_equal(isoproof_document_write_json(document, &unset, append, &out, &error), ISOPROOF_ERR_USAGE);
  struct {
    isoproof_draw_options known;
    uint64_t more;
  } newer = {.known = {.struct_size = sizeof newer}, .more = 1};
  assert_int_equal(isoproof_document_write_html(document, &newer.known, append, &out, &error),
                   ISOPROOF_ERR_UNSUPPORTED);
  newer.more = 0;
  assert_ok_error(isoproof_document_write_json(document, &newer.known, append, &out, &error), error);
  isoproof_document_fact fact = {.struct_size = sizeof fact};
  assert_true(isoproof_document_fact_at(document, 0, &fact));
  assert_string_equal(fact.value, "b");
  fact = (isoproof_document_fact){.struct_size = offsetof(isoproof_document_fact, value)};
  assert_true(isoproof_document_fact_at(document, 0, &fact));
  assert_string_equal(fact.name, "a");
  assert_null(fact.value);
  fact.struct_size = 0;
  assert_false(isoproof_document_fact_at(document, 0, &fact));
  free(out.bytes);
  isoproof_document_free(document);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_example), cmocka_unit_test(long_keys),
                                     cmocka_unit_test(observed), cmocka_unit_test(other_sizes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
