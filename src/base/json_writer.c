/* The one writer of JSON: where commas go, how values nest, and what has to be escaped. */
#include "base/json_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void iso_json_writer_init(isoproof_json *json, iso_output *out, iso_json_safety safety) {
  *json = (isoproof_json){.out = out, .safety = safety};
}

isoproof_status isoproof_json_open(isoproof_write_fn write, void *user, isoproof_json **json, isoproof_error *error) {
  isoproof_json *made = malloc(sizeof *made);
  iso_output *out;
  *json = NULL;
  if (made == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error);
  if (status != ISOPROOF_OK) {
    free(made);
    return status;
  }
  iso_json_writer_init(made, out, ISO_JSON_PLAIN);
  *json = made;
  return ISOPROOF_OK;
}

isoproof_status isoproof_json_close(isoproof_json *json, isoproof_error *error) {
  if (json == NULL) return ISOPROOF_OK;
  isoproof_status status = iso_output_close(json->out, error);
  free(json);
  return status;
}

/* ---- structure ---- */

static void put_newline(isoproof_json *json) {
  if (json->newline) iso_out_char(json->out, '\n');
  json->newline = false;
}

static void before_value(isoproof_json *json) {
  if (json->comma) iso_out_char(json->out, ',');
  json->comma = true;
  put_newline(json);
}

static void begin(isoproof_json *json, bool list) {
  before_value(json);
  iso_out_char(json->out, list ? '[' : '{');
  uint64_t bit = (uint64_t)1 << (json->depth % ISOPROOF_JSON_DEPTH);
  json->lists = list ? json->lists | bit : json->lists & ~bit;
  json->depth++;
  json->comma = false;
}

void isoproof_json_object(isoproof_json *json) { begin(json, false); }
void isoproof_json_list(isoproof_json *json) { begin(json, true); }

void isoproof_json_end(isoproof_json *json) {
  if (json->depth == 0) return;
  json->depth--;
  put_newline(json);
  iso_out_char(json->out, json->lists >> (json->depth % ISOPROOF_JSON_DEPTH) & 1 ? ']' : '}');
  json->comma = true;
}

void isoproof_json_line(isoproof_json *json) {
  iso_out_char(json->out, '\n');
  json->comma = false;
}

void iso_json_newline(isoproof_json *json) { json->newline = true; }

/* ---- strings ---- */

/* The character of `step` bytes, which are valid. */
static uint32_t decode(const char *text, size_t step) {
  const unsigned char *b = (const unsigned char *)text;
  if (step == 1) return b[0];
  uint32_t code = b[0] & (0x7fu >> step);
  for (size_t i = 1; i < step; i++) code = code << 6 | (b[i] & 0x3fu);
  return code;
}

static bool is_safe_in_html(uint32_t c) {
  return c >= 0x20 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && c != 0x2028 && c != 0x2029 &&
         !(c >= 0x7f && c < 0xa0);
}

static void put_html_string(iso_output *out, const char *text, size_t length) {
  size_t plain = 0; /* start of the bytes that can be copied */
  iso_out_char(out, '"');
  for (size_t i = 0; i < length;) {
    size_t step = iso_utf8_step(text + i, length - i);
    uint32_t code = step > 0 ? decode(text + i, step) : 0xfffd;
    if (step > 0 && is_safe_in_html(code)) {
      i += step;
      continue;
    }
    iso_out_bytes(out, text + plain, i - plain);
    if (step == 0)
      iso_out_text(out, "\xef\xbf\xbd");
    else
      iso_out_printf(out, "\\u%04x", (unsigned)code);
    i += step > 0 ? step : 1;
    plain = i;
  }
  iso_out_bytes(out, text + plain, length - plain);
  iso_out_char(out, '"');
}

static void put_string(isoproof_json *json, const char *text, size_t length) {
  if (json->safety == ISO_JSON_IN_HTML)
    put_html_string(json->out, text, length);
  else
    iso_out_json_string(json->out, text, length);
}

void isoproof_json_name(isoproof_json *json, const char *name) {
  before_value(json);
  put_string(json, name, strlen(name));
  iso_out_char(json->out, ':');
  json->comma = false;
}

void isoproof_json_string_n(isoproof_json *json, const char *text, size_t length) {
  before_value(json);
  put_string(json, text, length);
}

void isoproof_json_string(isoproof_json *json, const char *text) {
  if (text == NULL)
    isoproof_json_null(json);
  else
    isoproof_json_string_n(json, text, strlen(text));
}

void isoproof_json_scalar(isoproof_json *json, isoproof_scalar scalar) {
  char small[64];
  if (scalar.type == ISOPROOF_STRING || scalar.type == ISOPROOF_SYMBOL) {
    isoproof_json_string_n(json, scalar.text, scalar.length);
    return;
  }
  size_t length = isoproof_scalar_format(scalar, small, sizeof small);
  if (length < sizeof small) {
    isoproof_json_string_n(json, small, length);
    return;
  }
  char *text = malloc(length + 1);
  if (text != NULL) isoproof_scalar_format(scalar, text, length + 1);
  isoproof_json_string_n(json, text != NULL ? text : "", text != NULL ? length : 0);
  free(text);
}

iso_output *iso_json_begin_string(isoproof_json *json) {
  before_value(json);
  iso_out_char(json->out, '"');
  return json->out;
}

void iso_json_end_string(isoproof_json *json) { iso_out_char(json->out, '"'); }

/* ---- numbers and words ---- */

void isoproof_json_u64(isoproof_json *json, uint64_t number) {
  before_value(json);
  iso_out_u64(json->out, number);
}

void isoproof_json_i64(isoproof_json *json, int64_t number) {
  before_value(json);
  iso_out_i64(json->out, number);
}

void isoproof_json_number(isoproof_json *json, double number) {
  before_value(json);
  if (isfinite(number))
    iso_out_printf(json->out, "%.9g", number);
  else
    iso_out_text(json->out, "null");
}

void iso_json_fixed(isoproof_json *json, double number, int decimals) {
  before_value(json);
  iso_out_printf(json->out, "%.*f", decimals, number);
}

iso_output *iso_json_begin_number(isoproof_json *json) {
  before_value(json);
  return json->out;
}

void isoproof_json_bool(isoproof_json *json, bool value) {
  before_value(json);
  iso_out_text(json->out, value ? "true" : "false");
}

void isoproof_json_null(isoproof_json *json) {
  before_value(json);
  iso_out_text(json->out, "null");
}

/* ---- fields ---- */

void iso_json_field(isoproof_json *json, const char *name) {
  before_value(json);
  iso_out_char(json->out, '"');
  iso_out_text(json->out, name);
  iso_out_bytes(json->out, "\":", 2);
  json->comma = false;
}

void iso_json_field_text(isoproof_json *json, const char *name, const char *text) {
  iso_json_field(json, name);
  isoproof_json_string(json, text);
}

void iso_json_field_u64(isoproof_json *json, const char *name, uint64_t number) {
  iso_json_field(json, name);
  isoproof_json_u64(json, number);
}

void iso_json_field_i64(isoproof_json *json, const char *name, int64_t number) {
  iso_json_field(json, name);
  isoproof_json_i64(json, number);
}

void iso_json_field_bool(isoproof_json *json, const char *name, bool value) {
  iso_json_field(json, name);
  isoproof_json_bool(json, value);
}

void iso_json_field_object(isoproof_json *json, const char *name) {
  iso_json_field(json, name);
  isoproof_json_object(json);
}

void iso_json_field_list(isoproof_json *json, const char *name) {
  iso_json_field(json, name);
  isoproof_json_list(json);
}
