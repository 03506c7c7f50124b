/* The JSON and EDN tokenizers: what they accept, what they refuse and where, and that they need no memory for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/output.h"
#include "format/token.h"

enum { SHOWN = 4096 };

static size_t show_scalar(const isoproof_scalar *s, char *out, size_t room) {
  switch (s->type) {
  case ISOPROOF_NIL:
    return (size_t)snprintf(out, room, "nil");
  case ISOPROOF_INTEGER:
    return (size_t)snprintf(out, room, "%lld", (long long)s->integer);
  case ISOPROOF_UNSIGNED:
    return (size_t)snprintf(out, room, "u%llu", (unsigned long long)s->integer);
  case ISOPROOF_STRING:
    return (size_t)snprintf(out, room, "\"%.*s\"", (int)s->length, s->text);
  case ISOPROOF_KEYWORD:
    return (size_t)snprintf(out, room, ":%.*s", (int)s->length, s->text);
  default:
    return (size_t)snprintf(out, room, "'%.*s", (int)s->length, s->text);
  }
}

/* All tokens in one line, or the error; the copy ends where its allocation ends, for the sanitizer. */
static isoproof_status show(iso_token_dialect dialect, const char *text, size_t length, char out[SHOWN],
                            isoproof_error *error) {
  char *copy = malloc(length + (length == 0));
  assert_non_null(copy);
  if (length > 0) memcpy(copy, text, length);
  iso_input *input;
  iso_tokenizer t;
  size_t used = 0;
  assert_int_equal(iso_input_open_memory(copy, length, "test", &input, error), ISOPROOF_OK);
  isoproof_status status = iso_tokenizer_init(&t, input, dialect, error);
  assert_int_equal(status, ISOPROOF_OK);
  out[0] = '\0';
  while ((status = iso_token_next(&t)) == ISOPROOF_OK && t.type != ISO_TOKEN_END_OF_INPUT && used < SHOWN - 300) {
    static const char *const names[] = {"", "", "end", "list", "map", "set"};
    if (used > 0) out[used++] = ' ';
    used += t.type == ISO_TOKEN_SCALAR ? show_scalar(&t.scalar, out + used, SHOWN - used)
                                       : (size_t)snprintf(out + used, SHOWN - used, "%s", names[t.type]);
  }
  iso_tokenizer_free(&t);
  iso_input_close(input);
  free(copy);
  return status;
}

static void good(iso_token_dialect dialect, const char *text, const char *tokens) {
  char out[SHOWN];
  isoproof_error error = {0};
  if (show(dialect, text, strlen(text), out, &error) != ISOPROOF_OK) fail_msg("%s: %s", text, error.message);
  assert_string_equal(out, tokens);
}

static void bad(iso_token_dialect dialect, const char *text, size_t length, uint64_t line, uint64_t column,
                const char *words) {
  char out[SHOWN];
  isoproof_error error = {0};
  isoproof_status status = show(dialect, text, length, out, &error);
  if (status != ISOPROOF_ERR_FORMAT) fail_msg("%s: accepted as %s", text, out);
  if (strstr(error.message, words) == NULL) fail_msg("%s: expected '%s' in '%s'", text, words, error.message);
  if (line != 0 && (error.line != line || error.column != column)) {
    fail_msg("%s: at %d:%d: %s", text, (int)error.line, (int)error.column, error.message);
  }
}

#define JSON ISO_TOKEN_DIALECT_JSON
#define EDN ISO_TOKEN_DIALECT_EDN
#define BAD(dialect, text, line, column, words) bad(dialect, text, sizeof(text) - 1, line, column, words)

static void json_values(void **state) {
  (void)state;
  good(JSON, "", "");
  good(JSON, " \r\n\t ", "");
  good(JSON, "null", "nil");
  good(JSON, "[true,false,null]", "list 'true 'false nil end");
  good(JSON, "{}", "map end");
  good(JSON, "[]", "list end");
  good(JSON, "{\"a\":{\"b\":[1,[2]]},\"c\":3}", "map \"a\" map \"b\" list 1 list 2 end end end \"c\" 3 end");
  good(JSON, "{\"a\":1}\n{\"a\":2}\r\n[3] 4", "map \"a\" 1 end map \"a\" 2 end list 3 end 4");
  good(JSON, "\xef\xbb\xbf[1]", "list 1 end");
  good(JSON, "[ 1 , 2 ]\n", "list 1 2 end");
  good(JSON, "{ \"a\" : 1 }", "map \"a\" 1 end");
}

static void json_numbers(void **state) {
  (void)state;
  good(JSON, "0 -0 7 -7 12345678 123456789 1234567890123456 12345678901234567",
       "0 0 7 -7 12345678 123456789 1234567890123456 12345678901234567");
  good(JSON, "9223372036854775807 -9223372036854775808 9223372036854775808 18446744073709551615",
       "9223372036854775807 -9223372036854775808 u9223372036854775808 u18446744073709551615");
  good(JSON, "18446744073709551616 -9223372036854775809", "'18446744073709551616 '-9223372036854775809");
  good(JSON, "1.5 -0.25 1e9 1E+9 2.5e-3", "'1.5 '-0.25 '1e9 '1E+9 '2.5e-3");
  good(JSON, "[1,22,333,4444,55555,666666,7777777,88888888,999999999]",
       "list 1 22 333 4444 55555 666666 7777777 88888888 999999999 end");
  const char *const wrong[] = {"01",  "-",  "+1", "1.",  ".5", "1e",   "1e+",
                               "0x1", "1a", "-a", "--1", "00", "1.e5", "Infinity"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) bad(JSON, wrong[i], strlen(wrong[i]), 0, 0, "expected");
}

static void json_strings(void **state) {
  (void)state;
  good(JSON, "\"\"", "\"\"");
  good(JSON, "\"plain text longer than eight bytes\"", "\"plain text longer than eight bytes\"");
  good(JSON, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\"\\/\b\f\n\r\t\"");
  good(JSON, "\"\\u0041\\u00e4\\u20ac\\ud83d\\ude00\"", "\"A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
  good(JSON, "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
  BAD(JSON, "\"abc", 1, 5, "end of the string");
  BAD(JSON, "\"a\nb\"", 1, 3, "control character");
  BAD(JSON, "\"a\0b\"", 1, 3, "NUL");
  BAD(JSON, "\"\\x\"", 1, 2, "escape");
  BAD(JSON, "\"\\", 1, 2, "escape");
  BAD(JSON, "\"\\u12\"", 1, 2, "hexadecimal");
  BAD(JSON, "\"\\ud800\"", 1, 8, "surrogate");
  BAD(JSON, "\"\\ud800\\u0041\"", 1, 8, "surrogate");
  BAD(JSON, "\"\\ude00\"", 1, 2, "surrogate");
  BAD(JSON, "\"\xff\"", 1, 2, "UTF-8");
  BAD(JSON, "\"\xc3\"", 1, 2, "UTF-8");
  BAD(JSON, "\"\xed\xa0\x80\"", 1, 2, "UTF-8");
}

static void json_grammar(void **state) {
  (void)state;
  BAD(JSON, "[1,]", 1, 4, "a JSON value");
  BAD(JSON, "[,1]", 1, 2, "a JSON value");
  BAD(JSON, "[1 2]", 1, 4, "`,` or `]`");
  BAD(JSON, "{\"a\":1,}", 1, 8, "a key");
  BAD(JSON, "{\"a\" 1}", 1, 6, "`:`");
  BAD(JSON, "{1:2}", 1, 2, "a key");
  BAD(JSON, "{\"a\":}", 1, 6, "a JSON value");
  BAD(JSON, "{\"a\":1 \"b\":2}", 1, 8, "`,` or `}`");
  BAD(JSON, "[1}", 1, 3, "`,` or `]`");
  BAD(JSON, "]", 1, 1, "a JSON value");
  BAD(JSON, "[1", 1, 3, "the end of the input");
  BAD(JSON, "{}{}", 1, 3, "white space");
  BAD(JSON, "\n\n  nul", 3, 3, "a JSON value");
  BAD(JSON, "truely", 1, 1, "a JSON value");
  BAD(JSON, "[1]\n[1,\n  x]", 3, 3, "a JSON value");
  BAD(JSON, "[1\0]", 1, 3, "the end of the number");
  BAD(JSON, "'a'", 1, 1, "a JSON value");
  BAD(JSON, "[1] // no", 1, 5, "a JSON value");
}

static void edn_values(void **state) {
  (void)state;
  good(EDN, "", "");
  good(EDN, "nil true false foo foo/bar -x + - +x .5a nilly",
       "nil 'true 'false 'foo 'foo/bar '-x '+ '- '+x '.5a 'nilly");
  good(EDN, ":a :process :long-keyword-name :ns/name :a1 :k.v", ":a :process :long-keyword-name :ns/name :a1 :k.v");
  good(EDN, "[1 (2) {3 4} #{5}]", "list 1 list 2 end map 3 4 end set 5 end end");
  good(EDN, "{:a 1, :b [2,3],}", "map :a 1 :b list 2 3 end end");
  good(EDN, "[[:append 1 2][:r 3 nil]]", "list list :append 1 2 end list :r 3 nil end end");
  good(EDN, "; note\n1 ;; more\r\n2;", "1 2");
  good(EDN, "\\a \\newline \\u0041 \\( [\\,]", "'\\a '\\newline '\\u0041 '\\( list '\\, end");
  good(EDN, "\"a\\tb\\\"\\\\\\n\\u00e4\" \"two\nlines\"", "\"a\tb\"\\\n\xc3\xa4\" \"two\nlines\"");
  good(EDN, "##Inf ##-Inf ##NaN", "'##Inf '##-Inf '##NaN");
  good(EDN, "\xc3\xa4\xc3\xb6 :\xc3\xbc", "'\xc3\xa4\xc3\xb6 :\xc3\xbc");
  good(EDN, "1[2]3", "1 list 2 end 3");
  good(EDN, "\xef\xbb\xbf{:a 1}", "map :a 1 end");
}

static void edn_numbers(void **state) {
  (void)state;
  good(EDN, "0 -0 +5 -5 5N -5N 9223372036854775808N", "0 0 5 -5 5 -5 u9223372036854775808");
  good(EDN, "18446744073709551616 18446744073709551616N 1/2 -1/2 1.5 1.5M 1. 1e9 -1.5E+3 1M",
       "'18446744073709551616 '18446744073709551616N '1/2 '-1/2 '1.5 '1.5M '1. '1e9 '-1.5E+3 '1M");
  good(EDN, "[1 22 333 4444 55555 666666 7777777 88888888 999999999 12345678901234567 1234567890123456789]",
       "list 1 22 333 4444 55555 666666 7777777 88888888 999999999 12345678901234567 1234567890123456789 end");
  const char *const wrong[] = {"01", "1a", "0x1F", "1/", "1/a", "1e", "1..2", "-01", "1NN", "1-2", "00", "1:2"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) bad(EDN, wrong[i], strlen(wrong[i]), 1, 1, "expected");
}

static void edn_tags_and_discards(void **state) {
  (void)state;
  good(EDN, "#inst \"2020\" #jepsen.history.Op{:a 1} #a/b [1]", "\"2020\" map :a 1 end list 1 end");
  good(EDN, "#_1 2", "2");
  good(EDN, "#_ #_ 1 2 3", "3");
  good(EDN, "[1 #_[2 #_3 4 {5 #_6 7}] 8]", "list 1 8 end");
  good(EDN, "{:a #_:b 1}", "map :a 1 end");
  good(EDN, "#_#tag{:a 1} 2 #tag #_3 4", "2 4");
  good(EDN, "#_{:a 1 :b 2} #{#_1}", "set end");
  good(EDN, "1 #_ ; note\n 2 3", "1 3");
  BAD(EDN, "#_", 1, 3, "an element after #_");
  BAD(EDN, "[#_]", 1, 4, "an element after #_");
  BAD(EDN, "[#tag]", 1, 6, "an element after the tag");
  BAD(EDN, "#tag", 1, 5, "an element after the tag");
  BAD(EDN, "#_{:a}", 1, 6, "the value of the last key");
  BAD(EDN, "##Foo", 1, 1, "##Inf");
  BAD(EDN, "#\"re\"", 1, 1, "a tag");
  BAD(EDN, "#", 1, 1, "a tag");
  BAD(EDN, "#:ns{:a 1}", 1, 1, "a tag");
}

static void edn_grammar(void **state) {
  (void)state;
  BAD(EDN, "[1", 1, 3, "a value or `]`, found the end of the input");
  BAD(EDN, "[1)", 1, 3, "a value or `]`");
  BAD(EDN, "(1]", 1, 3, "a value or `)`");
  BAD(EDN, "#{1]", 1, 4, "a value or `}`");
  BAD(EDN, "{:a}", 1, 4, "the value of the last key");
  BAD(EDN, "{:a 1 :b}", 1, 9, "the value of the last key");
  BAD(EDN, "{[1] }", 1, 6, "the value of the last key");
  BAD(EDN, "}", 1, 1, "a value");
  BAD(EDN, "1 ]", 1, 3, "a value");
  BAD(EDN, ":", 1, 1, "a keyword");
  BAD(EDN, "::a", 1, 1, "a keyword");
  BAD(EDN, ": a", 1, 1, "a keyword");
  BAD(EDN, "\"abc", 1, 5, "end of the string");
  BAD(EDN, "a\0b", 1, 2, "the end of the symbol");
  BAD(EDN, "\0", 1, 1, "an EDN value");
  BAD(EDN, "\"\0\"", 1, 2, "NUL");
  BAD(EDN, ";\0", 1, 2, "NUL");
  BAD(EDN, "^{:a 1} x", 1, 1, "an EDN value");
  BAD(EDN, "a@b", 1, 2, "the end of the symbol");
  BAD(EDN, ":a\xff", 1, 1, "UTF-8");
  BAD(EDN, "\\", 1, 2, "a character");
  BAD(EDN, "\\ ", 1, 2, "a character");
  BAD(EDN, "\"a\\/\"", 1, 3, "escape");
  BAD(EDN, "[\n\"x\ny\"\n  }", 4, 3, "a value or `]`");
}

static const char json_sample[] = "{\"a\":[1,-22,3.5e1,\"x\\u00e4\\n\xc3\xa4\",true,null],\"b\":{\"c\":123456789012}}\n"
                                  "[\"plain string of some length\",{}]\n";
static const char edn_sample[] = "{:a [1 -22 3.5 \"x\\u00e4\\n\xc3\xa4\" true nil \\c], :b #{:ns/c 123456789012}}\n"
                                 "#tag (\"plain string of some length\" #_ {1 2} {} 1/2 sym ##Inf) ; end\n";

/* Cut anywhere, the input is either fine or refused as broken, never anything else. */
static void truncations(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    const char *sample = d == 0 ? json_sample : edn_sample;
    for (size_t length = 0; length <= strlen(sample); length++) {
      char out[SHOWN];
      isoproof_error error = {0};
      isoproof_status status = show(d == 0 ? JSON : EDN, sample, length, out, &error);
      assert_true(status == ISOPROOF_OK || status == ISOPROOF_ERR_FORMAT);
      if (status == ISOPROOF_ERR_FORMAT) assert_true(error.line >= 1 && error.column >= 1 && error.offset >= 0);
    }
  }
}

/* Every byte replaced by every other one: no crash, and only well-known errors. */
static void corruptions(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    char text[sizeof edn_sample + sizeof json_sample];
    strcpy(text, d == 0 ? json_sample : edn_sample);
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
      char kept = text[i];
      for (int byte = 0; byte < 256; byte += i % 4 == 0 ? 1 : 7) {
        char out[SHOWN];
        isoproof_error error;
        text[i] = (char)byte;
        isoproof_status status = show(d == 0 ? JSON : EDN, text, length, out, &error);
        assert_true(status == ISOPROOF_OK || status == ISOPROOF_ERR_FORMAT);
      }
      text[i] = kept;
    }
  }
}

/* The same tokens wherever the window happens to end. */
static void window_boundaries(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    const char *sample = d == 0 ? json_sample : edn_sample;
    iso_token_dialect dialect = d == 0 ? JSON : EDN;
    char wanted[SHOWN], out[SHOWN];
    isoproof_error error;
    iso_input *input;
    iso_window window;
    assert_int_equal(show(dialect, sample, strlen(sample), wanted, &error), ISOPROOF_OK);
    assert_int_equal(iso_input_open_memory("", 0, "test", &input, &error), ISOPROOF_OK);
    assert_int_equal(iso_window_init(&window, input, &error), ISOPROOF_OK);
    size_t capacity = window.capacity, length = strlen(sample);
    iso_window_free(&window);
    iso_input_close(input);
    char *text = malloc(capacity + length);
    assert_non_null(text);
    for (size_t before = 0; before <= length; before++) {
      size_t blanks = capacity - before;
      memset(text, ' ', blanks);
      memcpy(text + blanks, sample, length);
      if (show(dialect, text, blanks + length, out, &error) != ISOPROOF_OK) fail_msg("%zu: %s", before, error.message);
      assert_string_equal(out, wanted);
    }
    free(text);
  }
}

static isoproof_status run(iso_token_dialect dialect, const char *text, size_t length, isoproof_error *error) {
  char *out = malloc(SHOWN);
  isoproof_status status = show(dialect, text, length, out, error);
  free(out);
  return status;
}

static void limits(void **state) {
  (void)state;
  isoproof_error error;
  char nested[2 * ISO_TOKEN_DEPTH + 4];
  for (int d = 0; d < 2; d++) {
    memset(nested, '[', ISO_TOKEN_DEPTH + 1);
    memset(nested + ISO_TOKEN_DEPTH, ']', ISO_TOKEN_DEPTH);
    assert_int_equal(run(d == 0 ? JSON : EDN, nested, 2 * ISO_TOKEN_DEPTH, &error), ISOPROOF_OK);
    memset(nested, '[', ISO_TOKEN_DEPTH + 1);
    assert_int_equal(run(d == 0 ? JSON : EDN, nested, ISO_TOKEN_DEPTH + 1, &error), ISOPROOF_ERR_LIMIT);
  }
  size_t length = (size_t)ISO_TOKEN_LONGEST + 100;
  char *text = malloc(length);
  assert_non_null(text);
  memset(text, 'a', length);
  assert_int_equal(run(EDN, text, length, &error), ISOPROOF_ERR_LIMIT);
  text[0] = ':';
  assert_int_equal(run(EDN, text, length, &error), ISOPROOF_ERR_LIMIT);
  text[0] = text[length - 1] = '"';
  assert_int_equal(run(EDN, text, length, &error), ISOPROOF_ERR_LIMIT);
  assert_int_equal(run(JSON, text, length, &error), ISOPROOF_ERR_LIMIT);
  memset(text, '1', length);
  assert_int_equal(run(JSON, text, length, &error), ISOPROOF_ERR_LIMIT);
  free(text);
}

static void skipping(void **state) {
  (void)state;
  static const char text[] = "[1 [2 {:a #{3}}] 4]";
  iso_input *input;
  iso_tokenizer t;
  isoproof_error error;
  assert_int_equal(iso_input_open_memory(text, sizeof text - 1, "test", &input, &error), ISOPROOF_OK);
  assert_int_equal(iso_tokenizer_init(&t, input, EDN, &error), ISOPROOF_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(iso_token_next(&t), ISOPROOF_OK);
  assert_int_equal(t.type, ISO_TOKEN_BEGIN_LIST);
  assert_int_equal(iso_token_skip(&t), ISOPROOF_OK);
  assert_int_equal(t.type, ISO_TOKEN_END);
  assert_int_equal(iso_token_next(&t), ISOPROOF_OK);
  assert_int_equal(t.scalar.integer, 4);
  assert_int_equal(iso_token_skip(&t), ISOPROOF_OK);
  assert_int_equal(iso_token_leave(&t, 0), ISOPROOF_OK);
  assert_int_equal(iso_token_next(&t), ISOPROOF_OK);
  assert_int_equal(t.type, ISO_TOKEN_END_OF_INPUT);
  assert_int_equal(iso_token_expected(&t, "more"), ISOPROOF_ERR_FORMAT);
  assert_string_equal(error.message, "expected more, found the end of the input");
  iso_tokenizer_free(&t);
  iso_input_close(input);
}

static void symbols(void **state) {
  (void)state;
  assert_true(iso_token_is_symbol(EDN, "1/2", 3));
  assert_true(iso_token_is_symbol(EDN, "\\c", 2));
  assert_false(iso_token_is_symbol(EDN, "12", 2));
  assert_false(iso_token_is_symbol(EDN, "nil", 3));
  assert_false(iso_token_is_symbol(EDN, "a b", 3));
  assert_false(iso_token_is_symbol(EDN, " a", 2));
  assert_false(iso_token_is_symbol(EDN, "\"a\"", 3));
  assert_false(iso_token_is_symbol(EDN, "", 0));
  assert_true(iso_token_is_symbol(JSON, "1.5", 3));
  assert_true(iso_token_is_symbol(JSON, "true", 4));
  assert_false(iso_token_is_symbol(JSON, "1/2", 3));
  assert_false(iso_token_is_symbol(JSON, "null", 4));
  assert_true(iso_edn_is_keyword("a/b", 3));
  assert_false(iso_edn_is_keyword("a b", 3));
  assert_false(iso_edn_is_keyword("", 0));
}

typedef struct bytes {
  char *data;
  size_t count, capacity;
} bytes;

static bool keep(void *user, const void *data, size_t size) {
  bytes *b = user;
  if (b->count + size > b->capacity) {
    b->capacity = 2 * (b->count + size);
    b->data = realloc(b->data, b->capacity);
  }
  memcpy(b->data + b->count, data, size);
  b->count += size;
  return true;
}

/* A hundred million bytes in a single line pass through a window that does not grow. */
static void streaming(void **state) {
  (void)state;
  static const char op[] = "{:index 12345, :type :ok, :process 7, :value [[:append 12 345] [:r 6 [1 2 3]]]} ";
  const uint64_t ops = 100000000 / (sizeof op - 1);
  bytes packed = {0};
  iso_output *output;
  isoproof_error error;
  assert_int_equal(iso_output_open_callback(keep, &packed, ISOPROOF_COMPRESS_ZSTD, &output, &error), ISOPROOF_OK);
  iso_out_char(output, '[');
  for (uint64_t i = 0; i < ops; i++) iso_out_bytes(output, op, sizeof op - 1);
  iso_out_char(output, ']');
  assert_int_equal(iso_output_close(output, &error), ISOPROOF_OK);
  iso_input *input;
  iso_tokenizer t;
  uint64_t maps = 0;
  assert_int_equal(iso_input_open_memory(packed.data, packed.count, "test", &input, &error), ISOPROOF_OK);
  assert_int_equal(iso_tokenizer_init(&t, input, EDN, &error), ISOPROOF_OK);
  size_t capacity = t.window.capacity;
  do {
    assert_int_equal(iso_token_next(&t), ISOPROOF_OK);
    maps += t.type == ISO_TOKEN_BEGIN_MAP;
  } while (t.type != ISO_TOKEN_END_OF_INPUT);
  assert_int_equal(maps, ops);
  assert_int_equal(t.window.capacity, capacity);
  iso_tokenizer_free(&t);
  iso_input_close(input);
  free(packed.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(json_values),
      cmocka_unit_test(json_numbers),
      cmocka_unit_test(json_strings),
      cmocka_unit_test(json_grammar),
      cmocka_unit_test(edn_values),
      cmocka_unit_test(edn_numbers),
      cmocka_unit_test(edn_tags_and_discards),
      cmocka_unit_test(edn_grammar),
      cmocka_unit_test(truncations),
      cmocka_unit_test(corruptions),
      cmocka_unit_test(window_boundaries),
      cmocka_unit_test(limits),
      cmocka_unit_test(skipping),
      cmocka_unit_test(symbols),
      cmocka_unit_test(streaming),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
