/* value.c - values of expressions: conversions, and from and to text, as pgbench has them. */
#include "script/value.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const type_names[] = {
#define ISO_X(name, text) text,
    ISO_SCRIPT_TYPE_LIST(ISO_X)
#undef ISO_X
};

const char *iso_script_type_name(iso_script_type type) { return type_names[type]; }

static isoproof_status no_conversion(iso_script_value value, const char *to, isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_USAGE, "cannot make %s of a value that is %s", to,
                  iso_script_type_name(value.type));
}

isoproof_status iso_script_to_integer(iso_script_value value, int64_t *out, isoproof_error *error) {
  *out = 0;
  if (value.type == ISO_SCRIPT_INTEGER) {
    *out = value.integer;
    return ISOPROOF_OK;
  }
  if (value.type != ISO_SCRIPT_DOUBLE) return no_conversion(value, "an integer", error);
  double rounded = rint(value.real);
  const double beyond = 9223372036854775808.0;
  if (!(rounded >= -beyond && rounded < beyond))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "the double %g does not fit an integer", value.real);
  *out = (int64_t)rounded;
  return ISOPROOF_OK;
}

isoproof_status iso_script_to_double(iso_script_value value, double *out, isoproof_error *error) {
  *out = value.type == ISO_SCRIPT_DOUBLE ? value.real : 0;
  if (value.type == ISO_SCRIPT_DOUBLE) return ISOPROOF_OK;
  if (value.type != ISO_SCRIPT_INTEGER) return no_conversion(value, "a double", error);
  *out = (double)value.integer;
  return ISOPROOF_OK;
}

isoproof_status iso_script_to_boolean(iso_script_value value, bool *out, isoproof_error *error) {
  *out = value.type == ISO_SCRIPT_BOOLEAN && value.boolean;
  return value.type == ISO_SCRIPT_BOOLEAN ? ISOPROOF_OK : no_conversion(value, "a boolean", error);
}

bool iso_script_truth(iso_script_value value) {
  switch (value.type) {
  case ISO_SCRIPT_BOOLEAN:
    return value.boolean;
  case ISO_SCRIPT_INTEGER:
    return value.integer != 0;
  case ISO_SCRIPT_DOUBLE:
    return value.real != 0;
  case ISO_SCRIPT_NULL:
    break;
  }
  return false;
}

size_t iso_script_format(iso_script_value value, char text[ISO_SCRIPT_VALUE_BYTES]) {
  int length = 0;
  switch (value.type) {
  case ISO_SCRIPT_NULL:
    length = snprintf(text, ISO_SCRIPT_VALUE_BYTES, "NULL");
    break;
  case ISO_SCRIPT_BOOLEAN:
    length = snprintf(text, ISO_SCRIPT_VALUE_BYTES, "%s", value.boolean ? "true" : "false");
    break;
  case ISO_SCRIPT_INTEGER:
    length = snprintf(text, ISO_SCRIPT_VALUE_BYTES, "%" PRId64, value.integer);
    break;
  case ISO_SCRIPT_DOUBLE:
    length = isfinite(value.real) ? snprintf(text, ISO_SCRIPT_VALUE_BYTES, "%.*g", DBL_DIG, value.real)
             : isnan(value.real)  ? snprintf(text, ISO_SCRIPT_VALUE_BYTES, "NaN")
                                  : snprintf(text, ISO_SCRIPT_VALUE_BYTES, "%sInfinity", value.real < 0 ? "-" : "");
    break;
  }
  return length > 0 ? (size_t)length : 0;
}

/* Whether the text begins the word: "t", "tr", "tru" and "true" all mean true. */
static bool begins_word(const char *text, const char *word) { return strncasecmp(text, word, strlen(text)) == 0; }

bool iso_script_read_value(const char *text, iso_script_value *value) {
  if (text[0] == 0) return false;
  if (strcasecmp(text, "null") == 0) {
    *value = iso_script_null();
    return true;
  }
  bool yes = begins_word(text, "true") || begins_word(text, "yes") || strcasecmp(text, "on") == 0;
  bool no = begins_word(text, "false") || begins_word(text, "no") || strcasecmp(text, "off") == 0 ||
            strcasecmp(text, "of") == 0;
  if (yes || no) {
    *value = iso_script_boolean(yes);
    return true;
  }
  const char *digits = text;
  while (isspace((unsigned char)*digits)) digits++;
  digits += *digits == '-' || *digits == '+';
  bool is_integer = isdigit((unsigned char)*digits) && digits[strspn(digits, "0123456789")] == 0;
  char *end;
  errno = 0;
  if (is_integer) {
    long long number = strtoll(text, &end, 10);
    *value = iso_script_integer(number);
    return errno == 0;
  }
  double real = strtod(text, &end);
  *value = iso_script_double(real);
  return errno == 0 && end != text && *end == 0;
}
