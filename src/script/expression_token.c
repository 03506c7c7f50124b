/* expression_token.c - cuts expressions into tokens. */
#include "script/expression_token.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef iso_expression_token token;

static bool is_name_byte(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

static size_t name_length(const char *at, const char *end) {
  size_t length = 0;
  while (at + length < end && is_name_byte(at[length])) length++;
  return length;
}

/* ---- numbers ---- */

static size_t digits(const char *at, const char *end) {
  size_t length = 0;
  while (at + length < end && isdigit((unsigned char)at[length])) length++;
  return length;
}

static token number(const char *at, const char *end) {
  enum { LONGEST = 400 };
  token t = {.kind = ISO_TOKEN_CONSTANT, .text = at};
  const char *p = at + digits(at, end);
  bool real = false;
  if (p < end && *p == '.') {
    real = true;
    p++;
    p += digits(p, end);
  }
  const char *exponent = p + 1;
  if (p < end && (*p == 'e' || *p == 'E')) {
    exponent += exponent < end && (*exponent == '-' || *exponent == '+');
    size_t found = exponent < end ? digits(exponent, end) : 0;
    real |= found > 0;
    if (found > 0) p = exponent + found;
  }
  t.length = (size_t)(p - at);
  char copy[LONGEST];
  if (t.length >= sizeof copy) t.kind = ISO_TOKEN_WRONG;
  if (t.length >= sizeof copy) return t;
  memcpy(copy, at, t.length);
  copy[t.length] = 0;
  errno = 0;
  t.value = real ? iso_script_double(strtod(copy, NULL)) : iso_script_integer(strtoll(copy, NULL, 10));
  if (errno != 0) t.kind = !real && strcmp(copy, "9223372036854775808") == 0 ? ISO_TOKEN_TOO_LARGE : ISO_TOKEN_WRONG;
  return t;
}

/* ---- words ---- */

static const struct {
  const char *word;
  iso_expression_token_kind kind;
} words[] = {{"and", ISO_TOKEN_AND},       {"or", ISO_TOKEN_OR},          {"not", ISO_TOKEN_NOT},
             {"is", ISO_TOKEN_IS},         {"case", ISO_TOKEN_CASE},      {"when", ISO_TOKEN_WHEN},
             {"then", ISO_TOKEN_THEN},     {"else", ISO_TOKEN_ELSE},      {"end", ISO_TOKEN_CASE_END},
             {"isnull", ISO_TOKEN_ISNULL}, {"notnull", ISO_TOKEN_NOTNULL}};

static bool is_word(const token *t, const char *word) {
  return strlen(word) == t->length && strncasecmp(t->text, word, t->length) == 0;
}

static token word(const char *at, const char *end) {
  token t = {.kind = ISO_TOKEN_NAME, .text = at, .length = name_length(at, end)};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (is_word(&t, words[i].word)) t.kind = words[i].kind;
  bool yes = is_word(&t, "true");
  if (yes || is_word(&t, "false")) {
    t.kind = ISO_TOKEN_CONSTANT;
    t.value = iso_script_boolean(yes);
  }
  if (is_word(&t, "null")) {
    t.kind = ISO_TOKEN_CONSTANT;
    t.value = iso_script_null();
  }
  return t;
}

/* ---- signs ---- */

/* Longer ones first. */
static const struct {
  const char *sign;
  iso_script_function function;
} operators[] = {{"<=", ISO_FUNCTION_AT_MOST},   {">=", ISO_FUNCTION_AT_LEAST},   {"<>", ISO_FUNCTION_DIFFERENT},
                 {"!=", ISO_FUNCTION_DIFFERENT}, {"<<", ISO_FUNCTION_SHIFT_LEFT}, {">>", ISO_FUNCTION_SHIFT_RIGHT},
                 {"<", ISO_FUNCTION_LESS},       {">", ISO_FUNCTION_GREATER},     {"=", ISO_FUNCTION_EQUAL},
                 {"+", ISO_FUNCTION_ADD},        {"-", ISO_FUNCTION_SUBTRACT},    {"*", ISO_FUNCTION_MULTIPLY},
                 {"/", ISO_FUNCTION_DIVIDE},     {"%", ISO_FUNCTION_MODULO},      {"&", ISO_FUNCTION_BIT_AND},
                 {"|", ISO_FUNCTION_BIT_OR},     {"#", ISO_FUNCTION_BIT_XOR}};

static token sign(const char *at, const char *end) {
  static const char others[] = "~(),";
  static const iso_expression_token_kind kinds[] = {ISO_TOKEN_COMPLEMENT, ISO_TOKEN_OPEN, ISO_TOKEN_CLOSE,
                                                    ISO_TOKEN_COMMA};
  token t = {.kind = ISO_TOKEN_WRONG, .text = at, .length = 1};
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
    size_t length = strlen(operators[i].sign);
    if ((size_t)(end - at) < length || memcmp(at, operators[i].sign, length) != 0) continue;
    t.kind = ISO_TOKEN_OPERATOR;
    t.length = length;
    t.function = operators[i].function;
    return t;
  }
  const char *found = *at != 0 ? strchr(others, *at) : NULL;
  if (found != NULL) t.kind = kinds[found - others];
  return t;
}

token iso_expression_next(const char **at, const char *end) {
  while (*at < end && isspace((unsigned char)**at)) ++*at;
  token t = {.kind = ISO_TOKEN_END, .text = *at};
  if (*at == end) return t;
  char c = **at, next = *at + 1 < end ? (*at)[1] : 0;
  if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)next))) {
    t = number(*at, end);
  } else if (is_name_byte(c)) {
    t = word(*at, end);
  } else if (c == ':') {
    t = (token){.kind = ISO_TOKEN_VARIABLE, .text = *at + 1, .length = name_length(*at + 1, end)};
    if (t.length == 0) t.kind = ISO_TOKEN_WRONG;
  } else {
    t = sign(*at, end);
  }
  *at = t.text + t.length;
  return t;
}
