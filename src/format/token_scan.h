/* token_scan.h - what the JSON and EDN tokenizers share: eight bytes at a time, growing tokens, strings, errors.
 *
 * Nothing here owns anything; pointers are into the window of the tokenizer.
 */
#ifndef ISO_FORMAT_TOKEN_SCAN_H
#define ISO_FORMAT_TOKEN_SCAN_H

#include "format/token.h"

/* With this many bytes in the window nearly every token can be scanned without asking for more. */
enum { ISO_TOKEN_ROOM = 64 };

#define ISO_BYTES(c) (UINT64_C(0x0101010101010101) * (uint64_t)(c))
#define ISO_HIGH_BITS ISO_BYTES(0x80)

/* Eight bytes, the first one lowest. */
static inline uint64_t iso_scan_load(const char *p) {
  uint64_t x;
  memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  x = __builtin_bswap64(x);
#endif
  return x;
}

/* How many bytes come before the first one that is marked with its high bit; 8 when none is. */
static inline unsigned iso_scan_before(uint64_t marks) { return marks == 0 ? 8 : (unsigned)__builtin_ctzll(marks) / 8; }

/* High bits set at bytes that are no digits; exact up to and including the first such byte. */
static inline uint64_t iso_scan_not_digits(uint64_t x) {
  uint64_t v = x ^ ISO_BYTES(0x30);
  return ((v + ISO_BYTES(0x76)) | v) & ISO_HIGH_BITS;
}

/* High bits set at bytes that are no lower-case letters; exact up to and including the first such byte. */
static inline uint64_t iso_scan_not_letters(uint64_t x) {
  uint64_t low = x & ~ISO_HIGH_BITS;
  uint64_t too_small = ~(low + ISO_BYTES(0x80 - 'a'));
  uint64_t too_big = low + ISO_BYTES(0x7f - 'z');
  return (too_small | too_big | x) & ISO_HIGH_BITS;
}

/* High bits set at quotes, backslashes, control characters and bytes above 0x7f; exact up to the first one. */
static inline uint64_t iso_scan_string_specials(uint64_t x) {
  uint64_t quote = x ^ ISO_BYTES('"'), backslash = x ^ ISO_BYTES('\\');
  uint64_t ones = ISO_BYTES(1);
  return ((quote - ones) | (backslash - ones) | (x - ISO_BYTES(0x20)) | x) & ISO_HIGH_BITS;
}

/* The number that the first `digits` (1 to 8) bytes of x say; for other lengths some number. */
static inline uint64_t iso_scan_number(uint64_t x, unsigned digits) {
  uint64_t v = (x ^ ISO_BYTES(0x30)) << ((64 - 8 * digits) & 63);
  v = v * 10 + (v >> 8);
  const uint64_t mask = UINT64_C(0x000000ff000000ff);
  return (((v & mask) * UINT64_C(0x000f424000000064)) + (((v >> 16) & mask) * UINT64_C(0x0000271000000001))) >> 32;
}

/* Parses the run of digits at p, which the caller has made sure is in the window with eight bytes after every digit
 * looked at: up to 16 digits.  Returns how many there are, 0 when there are more. */
static inline unsigned iso_scan_digits(const char *p, uint64_t *number) {
  uint64_t x = iso_scan_load(p);
  unsigned digits = iso_scan_before(iso_scan_not_digits(x));
  if (digits < 8) {
    *number = digits == 0 ? 0 : iso_scan_number(x, digits);
    return digits;
  }
  static const uint64_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  uint64_t y = iso_scan_load(p + 8);
  unsigned more = iso_scan_before(iso_scan_not_digits(y));
  if (more == 8) return 0;
  *number = iso_scan_number(x, 8) * power[more] + (more == 0 ? 0 : iso_scan_number(y, more));
  return 8 + more;
}

/* Makes sure that ISO_TOKEN_ROOM bytes follow window.cur, or all there are. */
isoproof_status iso_token_room(iso_tokenizer *t);
/* Gets more bytes after the end of the window while keeping the token that begins at t->start; moves *p along. */
isoproof_status iso_token_grow(iso_tokenizer *t, const char **p);
/* A string whose opening quote is at t->start; window.cur goes behind the closing one. */
isoproof_status iso_token_string(iso_tokenizer *t);
/* Makes a scalar of a number without a fraction: digits [p, end) after an optional sign. */
void iso_token_integer(iso_tokenizer *t, bool negative, const char *digits, size_t count, size_t verbatim);
/* Opens and closes containers: the stack only.  `kind` is kept in kinds[depth]. */
isoproof_status iso_token_push(iso_tokenizer *t, uint8_t kind);

/* ISOPROOF_ERR_FORMAT at p: "expected WHAT, found ...", the input being broken. */
isoproof_status iso_token_broken(iso_tokenizer *t, const char *p, const char *what);

static inline uint64_t iso_token_offset(const iso_tokenizer *t, const char *p) {
  return t->window.offset + (uint64_t)(p - t->window.buffer);
}

static inline void iso_token_newline(iso_tokenizer *t, const char *newline) {
  t->line++;
  t->line_offset = iso_token_offset(t, newline) + 1;
}

static inline void iso_token_text(iso_tokenizer *t, isoproof_scalar_type type, const char *text, size_t length) {
  t->type = ISO_TOKEN_SCALAR;
  t->scalar.type = type;
  t->scalar.text = text;
  t->scalar.length = (uint32_t)length;
}

static inline void iso_token_number(iso_tokenizer *t, int64_t number) {
  t->type = ISO_TOKEN_SCALAR;
  t->scalar.type = ISOPROOF_INTEGER;
  t->scalar.integer = number;
}

#endif
