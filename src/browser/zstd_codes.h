/* zstd_codes.h - the entropy codes of zstd: bits read backwards, finite state codes and prefix codes (RFC 8878, 4).
 * Tables are filled in place, and borrow nothing. */
#ifndef ISO_BROWSER_ZSTD_CODES_H
#define ISO_BROWSER_ZSTD_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stream of bits that is read from its end, the highest bit first.  Beyond its beginning it reads zeros, and `left`
 * is negative then. */
typedef struct zstd_bits {
  const unsigned char *bytes;
  int64_t left; /* bits that are not read */
} zstd_bits;

/* False for a stream without its closing bit. */
bool zstd_bits_init(zstd_bits *bits, const unsigned char *bytes, size_t size);
/* At most 32 of them. */
uint32_t zstd_bits_peek(const zstd_bits *bits, unsigned count);
static inline uint32_t zstd_bits_take(zstd_bits *bits, unsigned count) {
  uint32_t value = zstd_bits_peek(bits, count);
  bits->left -= count;
  return value;
}

enum { ZSTD_FSE_MOST_LOG = 9, ZSTD_FSE_MOST_SYMBOLS = 256, ZSTD_HUFFMAN_MOST_BITS = 12 };

/* A finite state code: what each state stands for, and where it leads. */
typedef struct zstd_fse {
  uint8_t log; /* of the number of states */
  bool known;  /* it was filled */
  struct {
    uint8_t symbol, bits; /* the next state is `base` and so many bits */
    uint16_t base;
  } states[1 << ZSTD_FSE_MOST_LOG];
} zstd_fse;

/* By the counts of symbols, -1 for "less than one"; they add up to the number of states. */
void zstd_fse_make(zstd_fse *code, const int16_t *counts, unsigned symbols, unsigned log);
/* One symbol, always. */
void zstd_fse_single(zstd_fse *code, uint8_t symbol);
/* Reads the counts of at most `symbols` symbols; returns how many bytes they took, 0 where they are wrong. */
size_t zstd_fse_read(zstd_fse *code, const unsigned char *bytes, size_t size, unsigned symbols, unsigned most_log);

/* A prefix code for literals: what the next bits stand for. */
typedef struct zstd_huffman {
  uint8_t bits; /* of the longest word; 0 while not known */
  struct {
    uint8_t symbol, bits;
  } words[1 << ZSTD_HUFFMAN_MOST_BITS];
} zstd_huffman;

/* Reads the description of a tree; returns how many bytes it took, 0 where it is wrong. */
size_t zstd_huffman_read(zstd_huffman *code, const unsigned char *bytes, size_t size);
/* Decodes exactly `count` symbols out of a whole stream; false where they do not fit. */
bool zstd_huffman_decode(const zstd_huffman *code, const unsigned char *bytes, size_t size, unsigned char *out,
                         size_t count);

#endif
