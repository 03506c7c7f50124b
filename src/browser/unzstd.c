/* A frame of a zstd stream, block by block: literals, sequences of matches, and the checksum (RFC 8878). */
#include "browser/unzstd.h"

#include <stdlib.h>
#include <string.h>
/* The state of a checksum is a part of the decoder. */
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

enum { MOST_BLOCK = BROWSER_STEP_BYTES, MOST_LENGTHS = 36, MOST_MATCHES = 53, MOST_OFFSETS = 32 };
/* As libzstd has it for streams. */
#define MOST_WINDOW ((uint64_t)1 << 27)

/* The three numbers of a sequence: literals before the match, its offset, its length. */
typedef enum kind { LITERALS, OFFSETS, MATCHES, KINDS } kind;

struct browser_unzstd {
  bool inside;  /* a frame has begun */
  bool has_sum; /* a checksum ends it */
  bool sized;   /* its size is known: */
  uint64_t size, decoded;
  XXH64_state_t sum;
  size_t offsets[3]; /* the last ones that were used */
  zstd_fse codes[KINDS];
  zstd_huffman huffman;
  unsigned char block[MOST_BLOCK];
  unsigned char literals[MOST_BLOCK + 8];
  size_t literal_count;
  const char *why;
};

browser_unzstd *browser_unzstd_new(void) { return calloc(1, sizeof(browser_unzstd)); }

void browser_unzstd_free(browser_unzstd *decoder) { free(decoder); }

const char *browser_unzstd_why(const browser_unzstd *decoder) { return decoder->why; }

static browser_step broken(browser_unzstd *d, const char *why) {
  d->why = why;
  return BROWSER_BROKEN;
}

static browser_step corrupt(browser_unzstd *d) { return broken(d, "Data corruption detected"); }

static uint64_t little(const unsigned char *bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

/* ---- frames ---- */

static browser_step skip_frame(browser_source *source) {
  unsigned char bytes[4];
  if (!browser_source_read(source, bytes, sizeof bytes)) return BROWSER_CUT;
  for (uint64_t left = little(bytes, 4); left > 0;) {
    if (!browser_source_more(source)) return BROWSER_CUT;
    size_t waiting = source->end - source->first, part = waiting < left ? waiting : (size_t)left;
    source->first += part;
    left -= part;
  }
  return BROWSER_ENDED;
}

static void begin_frame(browser_unzstd *d) {
  d->inside = true;
  d->decoded = 0;
  d->offsets[0] = 1;
  d->offsets[1] = 4;
  d->offsets[2] = 8;
  d->huffman.bits = 0;
  for (int i = 0; i < KINDS; i++) d->codes[i].known = false;
  XXH64_reset(&d->sum, 0);
}

static browser_step read_header(browser_unzstd *d, browser_source *source, browser_window *window) {
  static const uint8_t id_bytes[] = {0, 1, 2, 4}, size_bytes[] = {0, 2, 4, 8};
  enum { SKIPPABLE = 0x184d2a50, ZSTD = (int)0xfd2fb528 };
  unsigned char bytes[8], flags;
  if (!browser_source_read(source, bytes, 4)) return BROWSER_CUT;
  uint32_t magic = (uint32_t)little(bytes, 4);
  if ((magic & 0xfffffff0U) == SKIPPABLE) return skip_frame(source);
  if (magic != (uint32_t)ZSTD) return broken(d, "Unknown frame descriptor");
  if (!browser_source_read(source, &flags, 1)) return BROWSER_CUT;
  bool single = flags >> 5 & 1;
  if (flags >> 3 & 1) return broken(d, "Unsupported parameter");
  uint64_t past = 0;
  if (!single) {
    if (!browser_source_read(source, bytes, 1)) return BROWSER_CUT;
    uint64_t base = (uint64_t)1 << (10 + (bytes[0] >> 3));
    past = base + base / 8 * (bytes[0] & 7U);
  }
  if (!browser_source_read(source, bytes, id_bytes[flags & 3])) return BROWSER_CUT;
  if (little(bytes, id_bytes[flags & 3]) != 0) return broken(d, "Dictionary mismatch");
  size_t wide = single && flags >> 6 == 0 ? 1 : size_bytes[flags >> 6];
  if (!browser_source_read(source, bytes, wide)) return BROWSER_CUT;
  d->sized = wide > 0;
  d->size = little(bytes, wide) + (wide == 2 ? 256 : 0);
  d->has_sum = flags >> 2 & 1;
  if (single) past = d->size;
  if (past > MOST_WINDOW) return broken(d, "Frame requires too much memory for decoding");
  browser_window_reset(window, (size_t)past);
  begin_frame(d);
  return BROWSER_MORE;
}

static browser_step end_frame(browser_unzstd *d, browser_source *source) {
  unsigned char bytes[4];
  if (d->sized && d->decoded != d->size) return corrupt(d);
  if (d->has_sum) {
    if (!browser_source_read(source, bytes, sizeof bytes)) return BROWSER_CUT;
    if (little(bytes, 4) != (XXH64_digest(&d->sum) & 0xffffffffU))
      return broken(d, "Restored data doesn't match checksum");
  }
  d->inside = false;
  return BROWSER_ENDED;
}

/* ---- literals ---- */

/* Literals in one stream or in four, by a tree that comes first or was there before; returns how many bytes they took
 * of the block, 0 where they are wrong. */
static size_t coded_literals(browser_unzstd *d, const unsigned char *bytes, size_t size, unsigned type) {
  unsigned format = bytes[0] >> 2 & 3,
           wide = format < 2    ? 10
                  : format == 2 ? 14
                                : 18,
           head = format < 2 ? 3 : format + 2;
  if (size < head) return 0;
  uint64_t fields = little(bytes, head) >> 4;
  size_t count = (size_t)(fields & ((1U << wide) - 1)), coded = (size_t)(fields >> wide);
  if (count > MOST_BLOCK || coded > size - head) return 0;
  const unsigned char *at = bytes + head, *end = at + coded;
  if (type == 2) {
    size_t used = zstd_huffman_read(&d->huffman, at, coded);
    if (used == 0) return 0;
    at += used;
  }
  if (d->huffman.bits == 0) return 0;
  d->literal_count = count;
  if (format == 0)
    return zstd_huffman_decode(&d->huffman, at, (size_t)(end - at), d->literals, count) ? head + coded : 0;
  size_t left = (size_t)(end - at), quarter = (count + 3) / 4;
  if (left < 6 || quarter * 3 > count) return 0;
  size_t sizes[4] = {little(at, 2), little(at + 2, 2), little(at + 4, 2), 0};
  left -= 6;
  at += 6;
  if (sizes[0] + sizes[1] + sizes[2] > left) return 0;
  sizes[3] = left - sizes[0] - sizes[1] - sizes[2];
  for (unsigned i = 0; i < 4; i++) {
    size_t part = i < 3 ? quarter : count - 3 * quarter;
    if (!zstd_huffman_decode(&d->huffman, at, sizes[i], d->literals + i * quarter, part)) return 0;
    at += sizes[i];
  }
  return head + coded;
}

static size_t read_literals(browser_unzstd *d, const unsigned char *bytes, size_t size) {
  if (size == 0) return 0;
  unsigned type = bytes[0] & 3, format = bytes[0] >> 2 & 3;
  if (type >= 2) return coded_literals(d, bytes, size, type);
  size_t head = format == 1 ? 2 : format == 3 ? 3 : 1;
  if (size < head) return 0;
  size_t count = (size_t)(little(bytes, head) >> (head == 1 ? 3 : 4)), stored = type == 1 ? 1 : count;
  if (count > MOST_BLOCK || stored > size - head) return 0;
  d->literal_count = count;
  if (type == 1)
    memset(d->literals, bytes[head], count);
  else
    memcpy(d->literals, bytes + head, count);
  return head + stored;
}

/* ---- sequences ---- */

/* What a number of a sequence is made of: a base by its code, and further bits. */
static const uint32_t literal_base[MOST_LENGTHS] = {0,  1,  2,   3,   4,   5,    6,    7,    8,    9,     10,    11,
                                                    12, 13, 14,  15,  16,  18,   20,   22,   24,   28,    32,    40,
                                                    48, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
static const uint8_t literal_bits[MOST_LENGTHS] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  1,  1,
                                                   1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const uint32_t match_base[MOST_MATCHES] = {
    3,  4,  5,  6,  7,  8,  9,  10,  11,  12,  13,   14,   15,   16,   17,    18,    19,   20,
    21, 22, 23, 24, 25, 26, 27, 28,  29,  30,  31,   32,   33,   34,   35,    37,    39,   41,
    43, 47, 51, 59, 67, 83, 99, 131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771, 65539};
static const uint8_t match_bits[MOST_MATCHES] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0, 0,
                                                 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  1,  1,  1, 1,
                                                 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static void default_code(zstd_fse *code, kind of) {
  static const int16_t literals[MOST_LENGTHS] = {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
                                                 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
  static const int16_t offsets[29] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                      1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};
  static const int16_t matches[MOST_MATCHES] = {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
  if (of == LITERALS) zstd_fse_make(code, literals, MOST_LENGTHS, 6);
  if (of == OFFSETS) zstd_fse_make(code, offsets, 29, 5);
  if (of == MATCHES) zstd_fse_make(code, matches, MOST_MATCHES, 6);
}

/* The code of one of the numbers; *at moves on.  False where it is wrong. */
static bool read_code(browser_unzstd *d, kind of, unsigned mode, const unsigned char **at, const unsigned char *end) {
  static const uint8_t symbols[KINDS] = {MOST_LENGTHS, MOST_OFFSETS, MOST_MATCHES}, logs[KINDS] = {9, 8, 9};
  zstd_fse *code = &d->codes[of];
  if (mode == 0) default_code(code, of);
  if (mode == 1) {
    if (*at == end || **at >= symbols[of]) return false;
    zstd_fse_single(code, *(*at)++);
  }
  if (mode == 2) {
    size_t used = zstd_fse_read(code, *at, (size_t)(end - *at), symbols[of], logs[of]);
    if (used == 0) return false;
    *at += used;
  }
  return code->known;
}

/* The offset that a value stands for: one of the last three, or another one, which becomes the last. */
static size_t offset_of(browser_unzstd *d, uint64_t value, bool no_literals) {
  size_t *last = d->offsets, offset;
  if (value > 3) {
    offset = (size_t)(value - 3);
    last[2] = last[1];
    last[1] = last[0];
  } else {
    unsigned which = (unsigned)value - 1 + (no_literals ? 1 : 0);
    offset = which < 3 ? last[which] : last[0] - 1;
    if (which > 1) last[2] = last[1];
    if (which > 0) last[1] = last[0];
  }
  last[0] = offset;
  return offset;
}

/* Literals, then a match; false where they do not fit. */
static bool carry_out(browser_unzstd *d, browser_window *window, size_t most, size_t *taken, size_t literals,
                      size_t offset, size_t length) {
  if (literals > d->literal_count - *taken || literals + length > most - window->end) return false;
  memcpy(window->bytes + window->end, d->literals + *taken, literals);
  window->end += literals;
  *taken += literals;
  if (length == 0) return true;
  if (offset == 0 || offset > window->end) return false;
  browser_window_repeat(window, offset, length);
  return true;
}

static bool run_sequences(browser_unzstd *d, browser_window *window, zstd_bits *bits, size_t count, size_t most,
                          size_t *taken) {
  uint32_t state[KINDS];
  for (int i = 0; i < KINDS; i++) state[i] = zstd_bits_take(bits, d->codes[i].log);
  for (size_t n = 0; n < count; n++) {
    unsigned codes[KINDS];
    for (int i = 0; i < KINDS; i++) codes[i] = d->codes[i].states[state[i]].symbol;
    if (codes[LITERALS] >= MOST_LENGTHS || codes[MATCHES] >= MOST_MATCHES || codes[OFFSETS] >= MOST_OFFSETS)
      return false;
    uint64_t value = ((uint64_t)1 << codes[OFFSETS]) + zstd_bits_take(bits, codes[OFFSETS]);
    size_t length = match_base[codes[MATCHES]] + zstd_bits_take(bits, match_bits[codes[MATCHES]]);
    size_t literals = literal_base[codes[LITERALS]] + zstd_bits_take(bits, literal_bits[codes[LITERALS]]);
    if (!carry_out(d, window, most, taken, literals, offset_of(d, value, literals == 0), length)) return false;
    if (n + 1 == count) break;
    static const kind order[KINDS] = {LITERALS, MATCHES, OFFSETS};
    for (int i = 0; i < KINDS; i++) {
      kind of = order[i];
      unsigned more = d->codes[of].states[state[of]].bits;
      state[of] = d->codes[of].states[state[of]].base + zstd_bits_take(bits, more);
    }
    if (bits->left < 0) return false;
  }
  return bits->left == 0;
}

static bool decode_block(browser_unzstd *d, browser_window *window, size_t size) {
  const unsigned char *at = d->block, *end = at + size;
  size_t used = read_literals(d, at, size), taken = 0, most = window->end + MOST_BLOCK;
  if (used == 0) return false;
  at += used;
  if (at == end) return false;
  size_t count = *at++;
  if (count >= 128) {
    size_t more = count == 255 ? 2 : 1;
    if ((size_t)(end - at) < more) return false;
    count = count == 255 ? (size_t)little(at, 2) + 0x7f00 : (count - 128) << 8 | at[0];
    at += more;
  }
  if (count > 0) {
    zstd_bits bits;
    if (at == end) return false;
    unsigned modes = *at++;
    if ((modes & 3) != 0) return false;
    if (!read_code(d, LITERALS, modes >> 6, &at, end) || !read_code(d, OFFSETS, modes >> 4 & 3, &at, end) ||
        !read_code(d, MATCHES, modes >> 2 & 3, &at, end) || !zstd_bits_init(&bits, at, (size_t)(end - at)) ||
        !run_sequences(d, window, &bits, count, most, &taken))
      return false;
  } else if (at != end) {
    return false;
  }
  return carry_out(d, window, most, &taken, d->literal_count - taken, 0, 0);
}

/* ---- blocks ---- */

static browser_step read_block(browser_unzstd *d, browser_source *source, browser_window *window) {
  enum { RAW, REPEATED, COMPRESSED };
  unsigned char head[3], byte;
  if (!browser_source_read(source, head, sizeof head)) return BROWSER_CUT;
  uint32_t fields = (uint32_t)little(head, 3), size = fields >> 3, type = fields >> 1 & 3;
  if (size > MOST_BLOCK) return corrupt(d);
  if (!browser_window_room(window, MOST_BLOCK)) return BROWSER_MEMORY;
  size_t begin = window->end;
  if (type == RAW) {
    if (!browser_source_read(source, window->bytes + begin, size)) return BROWSER_CUT;
    window->end += size;
  } else if (type == REPEATED) {
    if (!browser_source_read(source, &byte, 1)) return BROWSER_CUT;
    memset(window->bytes + begin, byte, size);
    window->end += size;
  } else if (type == COMPRESSED) {
    if (!browser_source_read(source, d->block, size)) return BROWSER_CUT;
    if (!decode_block(d, window, size)) {
      window->end = begin;
      return corrupt(d);
    }
  } else {
    return corrupt(d);
  }
  XXH64_update(&d->sum, window->bytes + begin, window->end - begin);
  d->decoded += window->end - begin;
  return fields & 1 ? end_frame(d, source) : BROWSER_MORE;
}

browser_step browser_unzstd_step(browser_unzstd *d, browser_source *source, browser_window *window) {
  return d->inside ? read_block(d, source, window) : read_header(d, source, window);
}
