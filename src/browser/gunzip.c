/* Inflating a member of a gzip stream: blocks that are stored, or coded by fixed or given prefix codes (RFC 1951). */
#include "browser/gunzip.h"

#include <string.h>

enum {
  PAST = 32 * 1024, /* that a match may reach back */
  END_OF_BLOCK = 256,
  LENGTHS = 29,
  DISTANCES = 30,
  MOST_MATCH = 258,
  DEFLATE = 8,
  CUT = -1,   /* the source has ended */
  WRONG = -2, /* no word of the code */
};

void browser_gunzip_init(browser_gunzip *decoder) {
  *decoder = (browser_gunzip){.state = GUNZIP_HEADER};
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320U ^ value >> 1 : value >> 1;
    decoder->crc_table[i] = value;
  }
}

static browser_step broken(browser_gunzip *d, const char *why) {
  d->why = why;
  return BROWSER_BROKEN;
}

/* ---- bits ---- */

/* So many bits wait, at most 32; false at the end of the source. */
static bool need(browser_gunzip *d, browser_source *source, unsigned count) {
  while (d->bit_count < count) {
    int byte = browser_source_byte(source);
    if (byte < 0) return false;
    d->bits |= (uint64_t)byte << d->bit_count;
    d->bit_count += 8;
  }
  return true;
}

static uint32_t take(browser_gunzip *d, unsigned count) {
  uint32_t value = (uint32_t)(d->bits & ((UINT64_C(1) << count) - 1));
  d->bits >>= count;
  d->bit_count -= count;
  return value;
}

/* ---- prefix codes ---- */

/* The words of a code by the lengths of its symbols; false where they leave words over or have too many.  One word
 * alone may leave the other one over, as may none at all. */
static bool make_code(gunzip_code *code, const uint8_t *length, unsigned symbols) {
  uint16_t next[GUNZIP_MOST_BITS + 2] = {0};
  uint32_t word[GUNZIP_MOST_BITS + 2] = {0};
  int left = 1;
  memset(code->count, 0, sizeof code->count);
  memset(code->fast, 0, sizeof code->fast);
  for (unsigned s = 0; s < symbols; s++) code->count[length[s]]++;
  unsigned used = symbols - code->count[0];
  code->count[0] = 0;
  for (unsigned l = 1; l <= GUNZIP_MOST_BITS; l++) {
    left = 2 * left - code->count[l];
    if (left < 0) return false;
    next[l + 1] = (uint16_t)(next[l] + code->count[l]);
    word[l + 1] = (word[l] + code->count[l]) << 1;
  }
  if (left > 0 && !(used == 0 || (used == 1 && code->count[1] == 1))) return false;
  for (unsigned s = 0; s < symbols; s++) {
    unsigned l = length[s];
    if (l == 0) continue;
    code->symbol[next[l]++] = (uint16_t)s;
    uint32_t bits = word[l]++, reversed = 0;
    if (l > GUNZIP_FAST_BITS) continue;
    for (unsigned i = 0; i < l; i++) reversed |= (bits >> i & 1) << (l - 1 - i);
    for (uint32_t at = reversed; at < 1U << GUNZIP_FAST_BITS; at += 1U << l) code->fast[at] = (uint16_t)(l << 12 | s);
  }
  return true;
}

/* The next symbol, CUT or WRONG. */
static int decode(browser_gunzip *d, browser_source *source, const gunzip_code *code) {
  /* At the end of the source fewer bits may be enough. */
  (void)need(d, source, GUNZIP_MOST_BITS);
  unsigned entry = code->fast[d->bits & ((1U << GUNZIP_FAST_BITS) - 1)];
  if (entry != 0 && entry >> 12 <= d->bit_count) {
    take(d, entry >> 12);
    return (int)(entry & 0xfff);
  }
  int word = 0, first = 0, index = 0;
  for (unsigned l = 1; l <= GUNZIP_MOST_BITS; l++) {
    if (l > d->bit_count) return CUT;
    word |= (int)(d->bits >> (l - 1) & 1);
    int count = code->count[l];
    if (word - count < first) {
      take(d, l);
      return code->symbol[index + (word - first)];
    }
    index += count;
    first = (first + count) << 1;
    word <<= 1;
  }
  return WRONG;
}

/* ---- the member ---- */

/* A text that ends with a zero byte. */
static bool skip_text(browser_source *source) {
  int byte;
  while ((byte = browser_source_byte(source)) > 0) continue;
  return byte == 0;
}

static browser_step read_header(browser_gunzip *d, browser_source *source, browser_window *window) {
  enum { CHECKED = 2, EXTRA = 4, NAME = 8, COMMENT = 16, RESERVED = 0xe0 };
  unsigned char head[10], two[2];
  if (!browser_source_read(source, head, sizeof head)) return BROWSER_CUT;
  if (head[0] != 0x1f || head[1] != 0x8b) return broken(d, "incorrect header check");
  if (head[2] != DEFLATE) return broken(d, "unknown compression method");
  if (head[3] & RESERVED) return broken(d, "unknown header flags set");
  if (head[3] & EXTRA) {
    if (!browser_source_read(source, two, sizeof two)) return BROWSER_CUT;
    for (size_t left = (size_t)two[0] | (size_t)two[1] << 8; left > 0; left--) {
      if (browser_source_byte(source) < 0) return BROWSER_CUT;
    }
  }
  if ((head[3] & NAME && !skip_text(source)) || (head[3] & COMMENT && !skip_text(source)) ||
      (head[3] & CHECKED && !browser_source_read(source, two, sizeof two)))
    return BROWSER_CUT;
  browser_window_reset(window, PAST);
  d->bits = 0;
  d->bit_count = 0;
  d->crc = 0xffffffffU;
  d->size = 0;
  d->state = GUNZIP_BLOCK;
  return BROWSER_MORE;
}

static browser_step read_trailer(browser_gunzip *d, browser_source *source) {
  take(d, d->bit_count % 8);
  if (!need(d, source, 32)) return BROWSER_CUT;
  uint32_t crc = take(d, 32);
  if (crc != (d->crc ^ 0xffffffffU)) return broken(d, "incorrect data check");
  if (!need(d, source, 32)) return BROWSER_CUT;
  if (take(d, 32) != d->size) return broken(d, "incorrect length check");
  d->state = GUNZIP_HEADER;
  return BROWSER_ENDED;
}

static void fixed_codes(browser_gunzip *d) {
  uint8_t length[GUNZIP_SYMBOLS];
  for (unsigned s = 0; s < GUNZIP_SYMBOLS; s++) length[s] = s < 144 ? 8 : s < 256 ? 9 : s < 280 ? 7 : 8;
  make_code(&d->lengths, length, GUNZIP_SYMBOLS);
  memset(length, 5, DISTANCES + 2);
  make_code(&d->distances, length, DISTANCES + 2);
}

/* The lengths of the words of both codes, which come coded themselves. */
static browser_step read_lengths(browser_gunzip *d, browser_source *source, uint8_t *length, unsigned total) {
  static const struct { uint8_t bits, least; } repeats[] = {{2, 3}, {3, 3}, {7, 11}};
  for (unsigned at = 0; at < total;) {
    int symbol = decode(d, source, &d->lengths);
    if (symbol == CUT) return BROWSER_CUT;
    if (symbol < 0) return broken(d, "invalid bit length repeat");
    if (symbol < 16) {
      length[at++] = (uint8_t)symbol;
      continue;
    }
    if (symbol == 16 && at == 0) return broken(d, "invalid bit length repeat");
    uint8_t value = symbol == 16 ? length[at - 1] : 0;
    if (!need(d, source, repeats[symbol - 16].bits)) return BROWSER_CUT;
    unsigned again = repeats[symbol - 16].least + take(d, repeats[symbol - 16].bits);
    if (again > total - at) return broken(d, "invalid bit length repeat");
    while (again-- > 0) length[at++] = value;
  }
  return BROWSER_MORE;
}

static browser_step given_codes(browser_gunzip *d, browser_source *source) {
  static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  uint8_t length[GUNZIP_SYMBOLS + 32] = {0};
  if (!need(d, source, 14)) return BROWSER_CUT;
  unsigned literals = take(d, 5) + 257, distances = take(d, 5) + 1, coded = take(d, 4) + 4;
  if (literals > 286 || distances > DISTANCES) return broken(d, "too many length or distance symbols");
  for (unsigned i = 0; i < coded; i++) {
    if (!need(d, source, 3)) return BROWSER_CUT;
    length[order[i]] = (uint8_t)take(d, 3);
  }
  if (!make_code(&d->lengths, length, 19)) return broken(d, "invalid code lengths set");
  memset(length, 0, 19);
  browser_step step = read_lengths(d, source, length, literals + distances);
  if (step != BROWSER_MORE) return step;
  if (length[END_OF_BLOCK] == 0) return broken(d, "invalid code -- missing end-of-block");
  if (!make_code(&d->lengths, length, literals)) return broken(d, "invalid literal/lengths set");
  if (!make_code(&d->distances, length + literals, distances)) return broken(d, "invalid distances set");
  return BROWSER_MORE;
}

static browser_step read_block(browser_gunzip *d, browser_source *source) {
  if (!need(d, source, 3)) return BROWSER_CUT;
  d->last = take(d, 1) == 1;
  switch (take(d, 2)) {
  case 0:
    take(d, d->bit_count % 8);
    if (!need(d, source, 32)) return BROWSER_CUT;
    d->stored = take(d, 16);
    if (d->stored != (take(d, 16) ^ 0xffffU)) return broken(d, "invalid stored block lengths");
    d->state = GUNZIP_STORED;
    return BROWSER_MORE;
  case 1:
    fixed_codes(d);
    break;
  case 2: {
    browser_step step = given_codes(d, source);
    if (step != BROWSER_MORE) return step;
    break;
  }
  default:
    return broken(d, "invalid block type");
  }
  d->state = GUNZIP_CODES;
  return BROWSER_MORE;
}

static void end_block(browser_gunzip *d) { d->state = d->last ? GUNZIP_TRAILER : GUNZIP_BLOCK; }

static browser_step copy_stored(browser_gunzip *d, browser_source *source, browser_window *window) {
  /* Whole bytes may wait among the bits. */
  for (; d->stored > 0 && d->bit_count > 0; d->stored--) window->bytes[window->end++] = (unsigned char)take(d, 8);
  while (d->stored > 0) {
    if (!browser_source_more(source)) return BROWSER_CUT;
    size_t waiting = source->end - source->first, part = waiting < d->stored ? waiting : d->stored;
    (void)browser_source_read(source, window->bytes + window->end, part);
    window->end += part;
    d->stored -= part;
  }
  end_block(d);
  return BROWSER_MORE;
}

/* A match: what the symbol of its length says, and its distance, which follows. */
static browser_step copy_match(browser_gunzip *d, browser_source *source, browser_window *window, unsigned symbol) {
  static const uint16_t length_base[LENGTHS] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static const uint8_t length_bits[LENGTHS] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                               2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  static const uint16_t distance_base[DISTANCES] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                    33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                    1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  if (symbol >= LENGTHS) return broken(d, "invalid literal/length code");
  if (!need(d, source, length_bits[symbol])) return BROWSER_CUT;
  size_t length = length_base[symbol] + take(d, length_bits[symbol]);
  int code = decode(d, source, &d->distances);
  if (code == CUT) return BROWSER_CUT;
  if (code < 0 || code >= DISTANCES) return broken(d, "invalid distance code");
  unsigned more = code < 2 ? 0 : (unsigned)code / 2 - 1;
  if (!need(d, source, more)) return BROWSER_CUT;
  size_t distance = distance_base[code] + take(d, more);
  if (distance > window->end) return broken(d, "invalid distance too far back");
  browser_window_repeat(window, distance, length);
  return BROWSER_MORE;
}

static browser_step decode_codes(browser_gunzip *d, browser_source *source, browser_window *window) {
  size_t most = window->end + BROWSER_STEP_BYTES - MOST_MATCH;
  while (window->end < most) {
    int symbol = decode(d, source, &d->lengths);
    if (symbol == CUT) return BROWSER_CUT;
    if (symbol < 0) return broken(d, "invalid literal/length code");
    if (symbol == END_OF_BLOCK) {
      end_block(d);
      break;
    }
    if (symbol < END_OF_BLOCK) {
      window->bytes[window->end++] = (unsigned char)symbol;
      continue;
    }
    browser_step step = copy_match(d, source, window, (unsigned)symbol - END_OF_BLOCK - 1);
    if (step != BROWSER_MORE) return step;
  }
  return BROWSER_MORE;
}

browser_step browser_gunzip_step(browser_gunzip *d, browser_source *source, browser_window *window) {
  if (d->state == GUNZIP_HEADER) return read_header(d, source, window);
  if (d->state == GUNZIP_TRAILER) return read_trailer(d, source);
  if (d->state == GUNZIP_BLOCK) return read_block(d, source);
  if (!browser_window_room(window, BROWSER_STEP_BYTES)) return BROWSER_MEMORY;
  size_t begin = window->end;
  browser_step step = d->state == GUNZIP_STORED ? copy_stored(d, source, window) : decode_codes(d, source, window);
  for (size_t i = begin; i < window->end; i++) d->crc = d->crc_table[(d->crc ^ window->bytes[i]) & 0xff] ^ d->crc >> 8;
  d->size += (uint32_t)(window->end - begin);
  return step;
}
