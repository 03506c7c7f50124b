/* string.c - the four kinds of strings of TOML. */
#include <string.h>

#include "base/text.h"
#include "toml/parser.h"

static isoproof_status put(iso_toml_parser *p, const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!iso_vec_push(&p->buffer, bytes[i])) return iso_fail_memory(p->error);
  return ISOPROOF_OK;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The digits of \u and \U: a character of Unicode, which surrogates are not. */
static isoproof_status read_code(iso_toml_parser *p, size_t digits) {
  uint32_t code = 0;
  for (size_t i = 0; i < digits; i++, p->at++) {
    int digit = p->at < p->end ? hex_digit(*p->at) : -1;
    if (digit < 0)
      return iso_toml_expected(p, digits == 4 ? "four hexadecimal digits after \\u"
                                              : "eight hexadecimal digits after \\U");
    code = code * 16 + (uint32_t)digit;
  }
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    return iso_toml_fail(p, "expected the number of a character, found U+%X", code);
  char bytes[4] = {0};
  size_t length = iso_utf8_encode(code, bytes);
  return put(p, bytes, length);
}

/* A backslash at the end of a line takes away all space up to the next character. */
static bool skip_line_end(iso_toml_parser *p) {
  const char *at = p->at;
  while (at < p->end && (*at == ' ' || *at == '\t')) at++;
  if (at >= p->end || (*at != '\n' && !(*at == '\r' && at + 1 < p->end && at[1] == '\n'))) return false;
  for (p->at = at; p->at < p->end;) {
    size_t newline = iso_toml_newline(p);
    if (newline > 0)
      iso_toml_pass_newline(p, newline);
    else if (*p->at == ' ' || *p->at == '\t')
      p->at++;
    else
      break;
  }
  return true;
}

static isoproof_status read_escape(iso_toml_parser *p, bool lines) {
  static const char names[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
  p->at++;
  if (lines && skip_line_end(p)) return ISOPROOF_OK;
  char c = iso_toml_peek(p);
  const char *found = c != '\0' ? strchr(names, c) : NULL;
  if (c != 'u' && c != 'U' && found == NULL)
    return iso_toml_expected(p, "an escape: \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX \\UXXXXXXXX");
  p->at++;
  return found != NULL ? put(p, &values[found - names], 1) : read_code(p, c == 'u' ? 4 : 8);
}

/* How many quotes come next. */
static size_t count_quotes(const iso_toml_parser *p, char quote) {
  size_t count = 0;
  while (p->at + count < p->end && p->at[count] == quote) count++;
  return count;
}

/* Characters that stand for themselves, up to whatever needs attention. */
static isoproof_status read_plain(iso_toml_parser *p, char quote, bool lines) {
  unsigned char c = (unsigned char)*p->at;
  size_t newline = iso_toml_newline(p);
  if (newline > 0 && lines) {
    ISO_TRY(put(p, p->at, newline));
    iso_toml_pass_newline(p, newline);
    return ISOPROOF_OK;
  }
  if (newline > 0) return iso_toml_fail(p, "expected %c before the end of the line", quote);
  if ((c < 0x20 && c != '\t') || c == 0x7f)
    return iso_toml_fail(p, "expected a string without control characters, found \\x%02x", c);
  ISO_TRY(put(p, p->at, 1));
  p->at++;
  return ISOPROOF_OK;
}

/* Quotes inside a string of several lines: three end it, and up to two more belong to it. */
static isoproof_status read_quotes(iso_toml_parser *p, char quote, bool *over) {
  size_t count = count_quotes(p, quote);
  if (count > 5) return p->at += 5, iso_toml_fail(p, "expected at most two quotes before the three that end a string");
  *over = count >= 3;
  ISO_TRY(put(p, p->at, *over ? count - 3 : count));
  p->at += count;
  return ISOPROOF_OK;
}

static isoproof_status read_inside(iso_toml_parser *p, char quote, bool lines) {
  for (bool over = false; !over;) {
    if (p->at >= p->end)
      return iso_toml_fail(p, "expected %s%c before the end of the file", lines ? "three times " : "", quote);
    if (*p->at == quote && lines) {
      ISO_TRY(read_quotes(p, quote, &over));
    } else if (*p->at == quote) {
      p->at++;
      over = true;
    } else if (*p->at == '\\' && quote == '"') {
      ISO_TRY(read_escape(p, lines));
    } else {
      ISO_TRY(read_plain(p, quote, lines));
    }
  }
  return ISOPROOF_OK;
}

isoproof_status iso_toml_read_string(iso_toml_parser *p, bool of_key, const char **text, size_t *length) {
  char quote = *p->at;
  bool lines = p->end - p->at >= 3 && p->at[1] == quote && p->at[2] == quote;
  if (lines && of_key) return iso_toml_fail(p, "expected a key on one line, found a string of several");
  p->buffer.count = 0;
  p->at += lines ? 3 : 1;
  size_t newline = lines ? iso_toml_newline(p) : 0;
  if (newline > 0) iso_toml_pass_newline(p, newline);
  ISO_TRY(read_inside(p, quote, lines));
  *length = p->buffer.count;
  *text = iso_arena_text(&p->document->arena, p->buffer.count > 0 ? p->buffer.items : "", p->buffer.count);
  return *text != NULL ? ISOPROOF_OK : iso_fail_memory(p->error);
}
