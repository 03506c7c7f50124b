/* The entropy codes of zstd: bits read backwards, finite state codes and prefix codes. */
#include "browser/zstd_codes.h"

#include <string.h>

/* ---- bits ---- */

static unsigned highest_bit(uint32_t value) { return 31U - (unsigned)__builtin_clz(value); }

bool zstd_bits_init(zstd_bits *bits, const unsigned char *bytes, size_t size) {
  if (size == 0 || bytes[size - 1] == 0) return false;
  *bits = (zstd_bits){bytes, (int64_t)(size - 1) * 8 + (int64_t)highest_bit(bytes[size - 1])};
  return true;
}

uint32_t zstd_bits_peek(const zstd_bits *bits, unsigned count) {
  if (count == 0) return 0;
  int64_t low = bits->left - (int64_t)count;
  uint64_t value = 0;
  if (low >= 0) {
    size_t first = (size_t)low / 8, last = (size_t)(bits->left - 1) / 8;
    for (size_t at = last + 1; at-- > first;) value = value << 8 | bits->bytes[at];
    value >>= low % 8;
  } else if (bits->left > 0) {
    for (size_t at = (size_t)(bits->left - 1) / 8 + 1; at-- > 0;) value = value << 8 | bits->bytes[at];
    value = (value & ((UINT64_C(1) << bits->left) - 1)) << -low;
  }
  return (uint32_t)(value & ((UINT64_C(1) << count) - 1));
}

/* ---- finite state codes ---- */

void zstd_fse_single(zstd_fse *code, uint8_t symbol) {
  code->log = 0;
  code->known = true;
  code->states[0].symbol = symbol;
  code->states[0].bits = 0;
  code->states[0].base = 0;
}

void zstd_fse_make(zstd_fse *code, const int16_t *counts, unsigned symbols, unsigned log) {
  uint16_t next[ZSTD_FSE_MOST_SYMBOLS] = {0};
  unsigned size = 1U << log, high = size, step = (size >> 1) + (size >> 3) + 3, at = 0;
  code->log = (uint8_t)log;
  code->known = true;
  memset(code->states, 0, size * sizeof code->states[0]);
  for (unsigned s = 0; s < symbols; s++) {
    next[s] = (uint16_t)(counts[s] < 0 ? 1 : counts[s]);
    if (counts[s] < 0) code->states[--high].symbol = (uint8_t)s;
  }
  for (unsigned s = 0; s < symbols; s++) {
    for (int i = 0; i < counts[s]; i++) {
      code->states[at].symbol = (uint8_t)s;
      do at = (at + step) & (size - 1);
      while (at >= high);
    }
  }
  for (unsigned state = 0; state < size; state++) {
    unsigned turn = next[code->states[state].symbol]++;
    unsigned bits = log - highest_bit(turn);
    code->states[state].bits = (uint8_t)bits;
    code->states[state].base = (uint16_t)((turn << bits) - size);
  }
}

/* Bits read forwards, the lowest first; zeros beyond the end, which the caller notices by `at`. */
static uint32_t forward(const unsigned char *bytes, size_t size, size_t at, unsigned count) {
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; i++) {
    size_t byte = at / 8 + i;
    if (byte < size) value |= (uint32_t)bytes[byte] << (8 * i);
  }
  return (value >> at % 8) & ((1U << count) - 1);
}

/* Zeros come in runs: two bits each time, of which three says that more follow. */
static bool skip_zeros(const unsigned char *bytes, size_t size, size_t *at, int16_t *counts, unsigned *s,
                       unsigned symbols) {
  uint32_t run;
  do {
    run = forward(bytes, size, *at, 2);
    *at += 2;
    if (run > symbols - *s) return false;
    for (uint32_t i = 0; i < run; i++) counts[(*s)++] = 0;
  } while (run == 3 && *at <= size * 8);
  return true;
}

size_t zstd_fse_read(zstd_fse *code, const unsigned char *bytes, size_t size, unsigned symbols, unsigned most_log) {
  int16_t counts[ZSTD_FSE_MOST_SYMBOLS];
  unsigned log = forward(bytes, size, 0, 4) + 5, s = 0;
  size_t at = 4;
  if (size == 0 || log > most_log) return 0;
  int left = 1 << log;
  while (left > 0 && s < symbols) {
    /* Values up to left + 1; the smaller ones take a bit less. */
    unsigned bits = highest_bit((uint32_t)left + 1) + 1, limit = (1U << bits) - 1 - ((unsigned)left + 1);
    unsigned value = forward(bytes, size, at, bits), low = value & ((1U << (bits - 1)) - 1);
    if (low < limit) {
      value = low;
      at += bits - 1;
    } else {
      if (value >= 1U << (bits - 1)) value -= limit;
      at += bits;
    }
    int count = (int)value - 1;
    counts[s++] = (int16_t)count;
    left -= count < 0 ? 1 : count;
    if (left < 0 || (count == 0 && !skip_zeros(bytes, size, &at, counts, &s, symbols))) return 0;
  }
  size_t used = (at + 7) / 8;
  if (left != 0 || used > size) return 0;
  zstd_fse_make(code, counts, s, log);
  return used;
}

/* ---- prefix codes ---- */

/* Weights that two interleaved states of a finite state code tell; returns how many, 0 where they are wrong. */
static unsigned read_weights(const unsigned char *bytes, size_t size, uint8_t weights[256]) {
  enum { MOST_LOG = 6, MOST = 254 };
  zstd_fse code;
  zstd_bits bits;
  size_t used = zstd_fse_read(&code, bytes, size, 12 + 1, MOST_LOG);
  if (used == 0 || !zstd_bits_init(&bits, bytes + used, size - used)) return 0;
  uint32_t states[2] = {zstd_bits_take(&bits, code.log), 0};
  states[1] = zstd_bits_take(&bits, code.log);
  if (bits.left < 0) return 0;
  unsigned count = 0;
  for (unsigned turn = 0; count < MOST; turn ^= 1) {
    weights[count++] = code.states[states[turn]].symbol;
    unsigned more = code.states[states[turn]].bits;
    if ((int64_t)more > bits.left) { /* the other state says the last one */
      weights[count++] = code.states[states[turn ^ 1]].symbol;
      return count;
    }
    states[turn] = code.states[states[turn]].base + zstd_bits_take(&bits, more);
  }
  return 0;
}

/* A weight is one more than the longest word is longer; the last one is what is missing to a power of two. */
static bool make_huffman(zstd_huffman *code, uint8_t weights[256], unsigned count) {
  uint32_t total = 0, start[ZSTD_HUFFMAN_MOST_BITS + 2] = {0};
  for (unsigned s = 0; s < count; s++) {
    if (weights[s] > ZSTD_HUFFMAN_MOST_BITS) return false;
    if (weights[s] > 0) total += 1U << (weights[s] - 1);
  }
  if (total == 0) return false;
  unsigned longest = highest_bit(total) + 1;
  uint32_t missing = (1U << longest) - total;
  if (longest > ZSTD_HUFFMAN_MOST_BITS || (missing & (missing - 1)) != 0) return false;
  weights[count++] = (uint8_t)(highest_bit(missing) + 1);
  for (unsigned s = 0; s < count; s++) {
    if (weights[s] > 0) start[weights[s] + 1] += 1U << (weights[s] - 1);
  }
  for (unsigned w = 1; w <= ZSTD_HUFFMAN_MOST_BITS + 1U; w++) start[w] += start[w - 1];
  code->bits = (uint8_t)longest;
  for (unsigned s = 0; s < count; s++) {
    if (weights[s] == 0) continue;
    uint32_t span = 1U << (weights[s] - 1);
    for (uint32_t at = start[weights[s]]; at < start[weights[s]] + span; at++) {
      code->words[at].symbol = (uint8_t)s;
      code->words[at].bits = (uint8_t)(longest + 1 - weights[s]);
    }
    start[weights[s]] += span;
  }
  return true;
}

size_t zstd_huffman_read(zstd_huffman *code, const unsigned char *bytes, size_t size) {
  enum { DIRECT = 128 };
  uint8_t weights[256];
  unsigned count;
  if (size == 0) return 0;
  size_t used;
  if (bytes[0] < DIRECT) {
    used = 1U + bytes[0];
    if (used > size) return 0;
    count = read_weights(bytes + 1, bytes[0], weights);
  } else {
    count = bytes[0] - (DIRECT - 1U);
    used = 1 + (count + 1) / 2;
    if (used > size) return 0;
    for (unsigned i = 0; i < count; i++) weights[i] = i % 2 == 0 ? bytes[1 + i / 2] >> 4 : bytes[1 + i / 2] & 15;
  }
  return count > 0 && make_huffman(code, weights, count) ? used : 0;
}

bool zstd_huffman_decode(const zstd_huffman *code, const unsigned char *bytes, size_t size, unsigned char *out,
                         size_t count) {
  zstd_bits bits;
  if (!zstd_bits_init(&bits, bytes, size)) return false;
  for (size_t i = 0; i < count; i++) {
    uint32_t word = zstd_bits_peek(&bits, code->bits);
    out[i] = code->words[word].symbol;
    bits.left -= code->words[word].bits;
    if (bits.left < 0) return false;
  }
  return bits.left == 0;
}
