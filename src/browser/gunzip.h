/* gunzip.h - one member of a gzip stream (RFC 1951, RFC 1952).  A decoder owns nothing; it belongs to its caller. */
#ifndef ISO_BROWSER_GUNZIP_H
#define ISO_BROWSER_GUNZIP_H

#include "browser/source.h"

enum { GUNZIP_FAST_BITS = 10, GUNZIP_MOST_BITS = 15, GUNZIP_SYMBOLS = 288 };

/* A prefix code: short words by a table, longer ones by counting. */
typedef struct gunzip_code {
  uint16_t fast[1 << GUNZIP_FAST_BITS]; /* length << 12 | symbol of a word that begins so; 0 for longer ones */
  uint16_t count[GUNZIP_MOST_BITS + 1]; /* of words by length */
  uint16_t symbol[GUNZIP_SYMBOLS];      /* by length, then by word */
} gunzip_code;

typedef struct browser_gunzip {
  uint64_t bits; /* the lowest comes first */
  unsigned bit_count;
  enum { GUNZIP_HEADER, GUNZIP_BLOCK, GUNZIP_STORED, GUNZIP_CODES, GUNZIP_TRAILER } state;
  bool last; /* this block is the last one */
  size_t stored;
  gunzip_code lengths, distances;
  uint32_t crc, crc_table[256];
  uint32_t size;
  const char *why;
} browser_gunzip;

void browser_gunzip_init(browser_gunzip *decoder);
/* Decodes a little of the member that begins or has begun. */
browser_step browser_gunzip_step(browser_gunzip *decoder, browser_source *source, browser_window *window);

#endif
