/* json.c - the JSON writer. */
#include "cli/terminal/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void before_value(json *j) {
  if (j->comma) fputc(',', j->out);
  j->comma = true;
}

void json_open(json *j, char bracket) {
  before_value(j);
  fputc(bracket, j->out);
  j->comma = false;
}

void json_close(json *j, char bracket) {
  fputc(bracket, j->out);
  j->comma = true;
}

/* The length of a valid UTF-8 sequence, 0 when it is broken or cut short. */
static size_t sequence(const unsigned char *s, size_t left) {
  size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
  if (length == 0 || length > left) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
  }
  bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
  bool outside = (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf4 && s[1] >= 0x90);
  return overlong || outside ? 0 : length;
}

static void quoted(FILE *out, const char *text, size_t length) {
  const unsigned char *s = (const unsigned char *)text;
  fputc('"', out);
  for (size_t i = 0; i < length;) {
    size_t step = sequence(s + i, length - i);
    if (step == 0)
      fputs("\\ufffd", out);
    else if (s[i] == '"' || s[i] == '\\')
      fprintf(out, "\\%c", s[i]);
    else if (s[i] == '\n')
      fputs("\\n", out);
    else if (s[i] < 0x20 || s[i] == 0x7f)
      fprintf(out, "\\u%04x", s[i]);
    else
      fwrite(s + i, 1, step, out);
    i += step > 0 ? step : 1;
  }
  fputc('"', out);
}

void json_name(json *j, const char *name) {
  before_value(j);
  quoted(j->out, name, strlen(name));
  fputc(':', j->out);
  j->comma = false;
}

void json_null(json *j) {
  before_value(j);
  fputs("null", j->out);
}

void json_bytes(json *j, const char *text, size_t length) {
  before_value(j);
  quoted(j->out, text, length);
}

void json_string(json *j, const char *text) {
  if (text == NULL)
    json_null(j);
  else
    json_bytes(j, text, strlen(text));
}

void json_u64(json *j, uint64_t number) {
  before_value(j);
  fprintf(j->out, "%" PRIu64, number);
}

void json_i64(json *j, int64_t number) {
  before_value(j);
  fprintf(j->out, "%" PRId64, number);
}

void json_number(json *j, double number) {
  if (!isfinite(number)) {
    json_null(j);
    return;
  }
  before_value(j);
  fprintf(j->out, "%.9g", number);
}

void json_bool(json *j, bool value) {
  before_value(j);
  fputs(value ? "true" : "false", j->out);
}

void json_scalar(json *j, isoproof_scalar scalar) {
  char text[256];
  size_t length = isoproof_scalar_format(scalar, text, sizeof text);
  json_bytes(j, text, length < sizeof text ? length : sizeof text - 1);
}
