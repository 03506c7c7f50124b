/* The writer of JSON: nesting, escapes, fields that callers add, and failures of the sink. */
#include "base/json_writer.h"
#include "tests/unit/unit.h"

typedef struct sink {
  char bytes[65536];
  size_t count, room; /* room: bytes until it fails */
} sink;

static bool put(void *user, const void *data, size_t size) {
  sink *s = user;
  if (size > s->room - s->count) return false;
  memcpy(s->bytes + s->count, data, size);
  s->count += size;
  s->bytes[s->count] = '\0';
  return true;
}

static void nesting(void **state) {
  (void)state;
  sink s = {.room = sizeof s.bytes - 1};
  isoproof_json *json;
  assert_ok(isoproof_json_open(put, &s, &json, NULL));
  isoproof_json_object(json);
  isoproof_json_name(json, "a");
  isoproof_json_list(json);
  isoproof_json_u64(json, UINT64_MAX);
  isoproof_json_i64(json, INT64_MIN);
  isoproof_json_object(json);
  isoproof_json_end(json);
  isoproof_json_list(json);
  isoproof_json_end(json);
  isoproof_json_bool(json, true);
  isoproof_json_null(json);
  isoproof_json_end(json);
  isoproof_json_name(json, "b");
  isoproof_json_number(json, 0.25);
  isoproof_json_name(json, "c");
  isoproof_json_number(json, 1.0 / 0.0);
  isoproof_json_name(json, "d");
  isoproof_json_string(json, NULL);
  isoproof_json_name(json, "e");
  isoproof_json_scalar(json, isoproof_integer(-7));
  isoproof_json_end(json);
  isoproof_json_line(json);
  isoproof_json_string(json, "next");
  isoproof_json_line(json);
  assert_ok(isoproof_json_close(json, NULL));
  assert_string_equal(s.bytes, "{\"a\":[18446744073709551615,-9223372036854775808,{},[],true,null],\"b\":0.25,"
                               "\"c\":null,\"d\":null,\"e\":\"-7\"}\n\"next\"\n");
}

static void escaped(iso_json_safety safety, const char *text, const char *wanted) {
  sink s = {.room = sizeof s.bytes - 1};
  isoproof_json json;
  iso_output *out;
  assert_ok(iso_output_open_callback(put, &s, ISOPROOF_COMPRESS_NO, &out, NULL));
  iso_json_writer_init(&json, out, safety);
  isoproof_json_string(&json, text);
  assert_ok(iso_output_close(out, NULL));
  assert_string_equal(s.bytes, wanted);
}

static void escapes(void **state) {
  (void)state;
  escaped(ISO_JSON_PLAIN, "a\"b\\c\n\t\x01</script>", "\"a\\\"b\\\\c\\n\\t\\u0001</script>\"");
  escaped(ISO_JSON_PLAIN, "\xff\xc3\xa4\xc3", "\"\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\"");
  escaped(ISO_JSON_IN_HTML, "</script>&\"\\\n\xe2\x80\xa8",
          "\"\\u003c/script\\u003e\\u0026\\u0022\\u005c\\u000a\\u2028\"");
  escaped(ISO_JSON_IN_HTML, "\xff\xc2\x85\xc3\xa4", "\"\xef\xbf\xbd\\u0085\xc3\xa4\"");
}

static void lines(void **state) {
  (void)state;
  sink s = {.room = sizeof s.bytes - 1};
  isoproof_json *json;
  assert_ok(isoproof_json_open(put, &s, &json, NULL));
  isoproof_json_list(json);
  for (uint64_t i = 0; i < 2; i++) {
    iso_json_newline(json);
    isoproof_json_u64(json, i);
  }
  iso_json_newline(json);
  isoproof_json_end(json);
  assert_ok(isoproof_json_close(json, NULL));
  assert_string_equal(s.bytes, "[\n0,\n1\n]");
}

/* A key that is longer than any buffer on the way. */
static void long_scalars(void **state) {
  (void)state;
  sink s = {.room = sizeof s.bytes - 1};
  isoproof_json *json;
  char text[3000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  isoproof_scalar keyword = isoproof_string(text);
  keyword.type = ISOPROOF_KEYWORD;
  assert_ok(isoproof_json_open(put, &s, &json, NULL));
  isoproof_json_scalar(json, keyword);
  assert_ok(isoproof_json_close(json, NULL));
  assert_int_equal(s.count, sizeof text - 1 + 3);
  assert_memory_equal(s.bytes, "\":xxx", 5);
}

static void add_fields(void *user, isoproof_json *json) {
  isoproof_json_name(json, "extra");
  isoproof_json_string(json, user);
}

static void fields_of_callers(void **state) {
  (void)state;
  sink s = {.room = sizeof s.bytes - 1};
  isoproof_error problem = {.code = ISOPROOF_ERR_IO, .offset = -1, .message = "gone"}, error;
  isoproof_document *document;
  assert_ok_error(isoproof_document_make_problem("f", &problem, &document, &error), error);
  char word[] = "word";
  isoproof_draw_options how = {.struct_size = sizeof how, .more = add_fields, .more_user = word};
  assert_ok_error(isoproof_document_write_json(document, &how, put, &s, &error), error);
  assert_string_equal(s.bytes, "{\"schema\":1,\"file\":\"f\",\"error\":{\"code\":\"io\",\"message\":\"gone\"},"
                               "\"extra\":\"word\"}\n");
  s = (sink){.room = 10};
  assert_int_equal(isoproof_document_write_json(document, &how, put, &s, &error), ISOPROOF_ERR_IO);
  s = (sink){.room = sizeof s.bytes - 1};
  assert_ok_error(isoproof_document_write_text(document, NULL, put, &s, &error), error);
  assert_non_null(strstr(s.bytes, "gone"));
  isoproof_document_free(document);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nesting), cmocka_unit_test(escapes), cmocka_unit_test(lines),
                                     cmocka_unit_test(long_scalars), cmocka_unit_test(fields_of_callers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
