/* scalar.c - booleans, numbers, dates and times of TOML. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "toml/parser.h"

enum { NUMBER_BYTES = 256 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* ---- numbers ---- */

/* The value of a digit; 99 for what is none. */
static unsigned digit_value(char c) {
  if (is_digit(c)) return (unsigned)(c - '0');
  if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
  return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 99;
}

/* Copies digits without the underscores, which must stand between digits; returns how many bytes were read, 0 for
 * none. */
static size_t copy_digits(const char *text, unsigned base, char *out, size_t *used) {
  size_t at = 0;
  for (bool after_digit = false;; at++) {
    if (digit_value(text[at]) < base) {
      if (*used < NUMBER_BYTES - 1) out[(*used)++] = text[at];
      after_digit = true;
    } else if (text[at] == '_' && after_digit && digit_value(text[at + 1]) < base) {
      after_digit = false;
    } else {
      return at;
    }
  }
}

static bool has_leading_zero(const char *digits) { return digits[0] == '0' && digits[1] != '\0'; }

static bool read_based(const char *text, iso_toml_node *node) {
  unsigned base = text[0] != '0' ? 0 : text[1] == 'x' ? 16 : text[1] == 'o' ? 8 : text[1] == 'b' ? 2 : 0;
  char digits[NUMBER_BYTES];
  size_t used = 0, bytes = base > 0 ? copy_digits(text + 2, base, digits, &used) : 0;
  if (bytes == 0 || text[2 + bytes] != '\0' || used >= NUMBER_BYTES - 1) return false;
  digits[used] = '\0';
  errno = 0;
  long long value = strtoll(digits, NULL, (int)base);
  node->kind = ISO_TOML_INTEGER;
  node->integer = value;
  node->number = (double)value;
  return errno == 0;
}

static bool read_special(const char *text, iso_toml_node *node) {
  const char *word = text + (text[0] == '+' || text[0] == '-');
  bool infinite = strcmp(word, "inf") == 0;
  if (!infinite && strcmp(word, "nan") != 0) return false;
  node->kind = ISO_TOML_FLOAT;
  node->number = infinite ? (text[0] == '-' ? -INFINITY : INFINITY) : NAN;
  return true;
}

/* Fraction and exponent of a float; false when there is something else. */
static bool read_float_tail(const char *at, char *digits, size_t *used) {
  if (*at == '.') {
    digits[(*used)++] = '.';
    size_t bytes = copy_digits(at + 1, 10, digits, used);
    if (bytes == 0) return false;
    at += 1 + bytes;
  }
  if (*at == 'e' || *at == 'E') {
    digits[(*used)++] = 'e';
    at++;
    if (*at == '+' || *at == '-') digits[(*used)++] = *at++;
    size_t bytes = copy_digits(at, 10, digits, used);
    if (bytes == 0) return false;
    at += bytes;
  }
  return *at == '\0';
}

/* strtod knows the point of the locale; numbers of TOML have a dot.  The locale of a program that never asked for
 * another one is "C", and that of a library is its program's: so the point is taken from there. */
static double decimal(char *digits) {
  char *end;
  double number = strtod(digits, &end);
  if (*end != '.') return number;
  *end = ',';
  return strtod(digits, &end);
}

static bool read_decimal(const char *text, iso_toml_node *node) {
  char digits[NUMBER_BYTES + 8];
  size_t used = 0;
  const char *at = text;
  if (strlen(text) >= NUMBER_BYTES - 8) return false;
  if (*at == '+' || *at == '-') digits[used++] = *at++;
  size_t sign = used, bytes = copy_digits(at, 10, digits, &used);
  digits[used] = '\0';
  if (bytes == 0 || has_leading_zero(digits + sign)) return false;
  at += bytes;
  if (*at == '\0') {
    errno = 0;
    node->kind = ISO_TOML_INTEGER;
    node->integer = strtoll(digits, NULL, 10);
    node->number = (double)node->integer;
    return errno == 0;
  }
  if (!read_float_tail(at, digits, &used)) return false;
  digits[used] = '\0';
  node->kind = ISO_TOML_FLOAT;
  node->number = decimal(digits);
  return true;
}

/* ---- dates and times ---- */

/* So many digits as a number; -1 where they are not there. */
static int number_of(const char *text, size_t digits) {
  int number = 0;
  for (size_t i = 0; i < digits; i++) {
    if (!is_digit(text[i])) return -1;
    number = number * 10 + (text[i] - '0');
  }
  return number;
}

static int days_of(int year, int month) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : days[month - 1];
}

/* 1979-05-27; how many bytes, 0 for none. */
static size_t date_bytes(const char *text) {
  int year = number_of(text, 4);
  if (year < 0 || text[4] != '-') return 0;
  int month = number_of(text + 5, 2);
  if (month < 1 || month > 12 || text[7] != '-') return 0;
  int day = number_of(text + 8, 2);
  return day >= 1 && day <= days_of(year, month) ? 10 : 0;
}

/* 07:32:00.999; a leap second is one. */
static size_t time_bytes(const char *text) {
  int hour = number_of(text, 2);
  if (hour < 0 || hour > 23 || text[2] != ':') return 0;
  int minute = number_of(text + 3, 2);
  if (minute < 0 || minute > 59 || text[5] != ':') return 0;
  int sec = number_of(text + 6, 2);
  if (sec < 0 || sec > 60) return 0;
  if (text[8] != '.') return 8;
  size_t digits = 0;
  while (is_digit(text[9 + digits])) digits++;
  return digits > 0 ? 9 + digits : 0;
}

static bool is_offset(const char *text) {
  if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0 || text[0] == '\0') return true;
  if (text[0] != '+' && text[0] != '-') return false;
  int hour = number_of(text + 1, 2);
  if (hour < 0 || hour > 23 || text[3] != ':') return false;
  int minute = number_of(text + 4, 2);
  return minute >= 0 && minute <= 59 && text[6] == '\0';
}

static bool is_datetime(const char *text) {
  size_t date = date_bytes(text);
  const char *at = text + date;
  if (date == 0) {
    size_t bytes = time_bytes(text);
    return bytes > 0 && text[bytes] == '\0';
  }
  if (*at == '\0') return true;
  if (*at != 'T' && *at != 't' && *at != ' ') return false;
  size_t bytes = time_bytes(at + 1);
  return bytes > 0 && is_offset(at + 1 + bytes);
}

/* ---- all ---- */

static bool ends_word(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ']' || c == '}' || c == '#' || c == '=';
}

/* Up to what ends a word; a date may have a space before its time. */
static size_t word_bytes(const iso_toml_parser *p) {
  const char *at = p->at;
  while (at < p->end && !ends_word(*at)) at++;
  bool date = at - p->at == 10 && p->at[4] == '-' && p->at[7] == '-';
  if (date && p->end - at > 3 && at[0] == ' ' && is_digit(at[1]) && is_digit(at[2]) && at[3] == ':')
    for (at++; at < p->end && !ends_word(*at);) at++;
  return (size_t)(at - p->at);
}

isoproof_status iso_toml_read_scalar(iso_toml_parser *p, iso_toml_node *node) {
  size_t bytes = word_bytes(p);
  if (bytes == 0) return iso_toml_expected(p, "a value");
  node->text = iso_arena_text(&p->document->arena, p->at, bytes);
  node->length = bytes;
  if (node->text == NULL) return iso_fail_memory(p->error);
  if (strlen(node->text) != bytes) return iso_toml_expected(p, "a value without NUL bytes");
  node->on = strcmp(node->text, "true") == 0;
  if (node->on || strcmp(node->text, "false") == 0)
    node->kind = ISO_TOML_BOOLEAN;
  else if (is_datetime(node->text))
    node->kind = ISO_TOML_DATETIME;
  else if (!read_based(node->text, node) && !read_special(node->text, node) && !read_decimal(node->text, node))
    return iso_toml_expected(p, "a value: a string in quotes, a number, true, false, a date, [...] or {...}");
  p->at += bytes;
  return ISOPROOF_OK;
}
