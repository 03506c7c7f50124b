/* Decimal numbers and UTF-8, without locale and without allocation. */
#include "base/text.h"

#include <string.h>

static const char two_digits[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                 "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                 "8081828384858687888990919293949596979899";

size_t iso_format_u64(uint64_t number, char *out) {
  char reversed[ISO_NUMBER_BYTES];
  size_t at = sizeof reversed;
  while (number >= 100) {
    at -= 2;
    memcpy(reversed + at, two_digits + 2 * (number % 100), 2);
    number /= 100;
  }
  if (number >= 10) {
    at -= 2;
    memcpy(reversed + at, two_digits + 2 * number, 2);
  } else {
    reversed[--at] = (char)('0' + number);
  }
  size_t length = sizeof reversed - at;
  memcpy(out, reversed + at, length);
  return length;
}

size_t iso_format_i64(int64_t number, char *out) {
  if (number >= 0) return iso_format_u64((uint64_t)number, out);
  out[0] = '-';
  return 1 + iso_format_u64(UINT64_C(0) - (uint64_t)number, out + 1);
}

bool iso_parse_u64(const char *text, size_t length, uint64_t *number) {
  if (length == 0 || length > 20 || (length > 1 && text[0] == '0')) return false;
  uint64_t sum = 0;
  for (size_t i = 0; i < length; i++) {
    unsigned digit = (unsigned)(unsigned char)text[i] - '0';
    if (digit > 9) return false;
    if (sum > (UINT64_MAX - digit) / 10) return false;
    sum = sum * 10 + digit;
  }
  *number = sum;
  return true;
}

bool iso_parse_i64(const char *text, size_t length, int64_t *number) {
  bool negative = length > 0 && text[0] == '-';
  uint64_t magnitude;
  if (!iso_parse_u64(text + negative, length - negative, &magnitude)) return false;
  if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return false;
  if (negative && magnitude == 0) return false;
  *number = negative ? (int64_t)(UINT64_C(0) - magnitude) : (int64_t)magnitude;
  return true;
}

size_t iso_utf8_step(const char *text, size_t length) {
  const unsigned char *s = (const unsigned char *)text;
  if (length == 0) return 0;
  if (s[0] < 0x80) return 1;
  if (s[0] < 0xc2) return 0;
  if (s[0] < 0xe0) return length >= 2 && (s[1] & 0xc0) == 0x80 ? 2 : 0;
  if (s[0] < 0xf0) {
    if (length < 3 || (s[1] & 0xc0) != 0x80 || (s[2] & 0xc0) != 0x80) return 0;
    if (s[0] == 0xe0 && s[1] < 0xa0) return 0;  /* overlong */
    if (s[0] == 0xed && s[1] >= 0xa0) return 0; /* surrogate */
    return 3;
  }
  if (s[0] < 0xf5) {
    if (length < 4 || (s[1] & 0xc0) != 0x80 || (s[2] & 0xc0) != 0x80 || (s[3] & 0xc0) != 0x80) return 0;
    if (s[0] == 0xf0 && s[1] < 0x90) return 0;
    if (s[0] == 0xf4 && s[1] >= 0x90) return 0;
    return 4;
  }
  return 0;
}

size_t iso_printable_step(const char *text, size_t length) {
  size_t step = iso_utf8_step(text, length);
  unsigned char first = step > 0 ? (unsigned char)text[0] : 0;
  if (step == 1 && (first < 0x20 || first == 0x7f)) return 0;
  return step == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0 ? 0 : step;
}

bool iso_utf8_valid(const char *text, size_t length) {
  for (size_t i = 0; i < length;) {
    size_t step = iso_utf8_step(text + i, length - i);
    if (step == 0) return false;
    i += step;
  }
  return true;
}

size_t iso_utf8_encode(uint32_t code, char out[4]) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  if (code < 0x800) {
    out[0] = (char)(0xc0 | (code >> 6));
    out[1] = (char)(0x80 | (code & 0x3f));
    return 2;
  }
  if (code < 0x10000) {
    out[0] = (char)(0xe0 | (code >> 12));
    out[1] = (char)(0x80 | ((code >> 6) & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
    return 3;
  }
  out[0] = (char)(0xf0 | (code >> 18));
  out[1] = (char)(0x80 | ((code >> 12) & 0x3f));
  out[2] = (char)(0x80 | ((code >> 6) & 0x3f));
  out[3] = (char)(0x80 | (code & 0x3f));
  return 4;
}
