/* Counts the brackets of a line that are outside of strings.  Which bytes are within strings follows from the quotes
 * before them: the exclusive or of all bits up to each (Langdale and Lemire, "Parsing gigabytes of JSON per second",
 * VLDB Journal 2019, section 3.1.1). */
#include "follow/line.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

enum { BLOCK = 64, REGISTER = 16 };

/* A bit for each byte of a block. */
typedef struct masks {
  uint64_t quotes, opening, closing, special;
} masks;

/* Brackets and braces differ in one bit. */
static masks look_at(const char *block) {
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), semicolon = _mm_set1_epi8(';'),
                fold = _mm_set1_epi8(0x20), open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}'),
                parenthesis = _mm_set1_epi8('('), closed = _mm_set1_epi8(')');
  masks m = {0};
  for (int i = 0; i < BLOCK; i += REGISTER) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(block + i)), folded = _mm_or_si128(bytes, fold);
    __m128i opens = _mm_or_si128(_mm_cmpeq_epi8(folded, open), _mm_cmpeq_epi8(bytes, parenthesis)),
            closes = _mm_or_si128(_mm_cmpeq_epi8(folded, close), _mm_cmpeq_epi8(bytes, closed)),
            specials = _mm_or_si128(_mm_cmpeq_epi8(bytes, backslash), _mm_cmpeq_epi8(bytes, semicolon));
    m.quotes |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quote)) << i;
    m.opening |= (uint64_t)(unsigned)_mm_movemask_epi8(opens) << i;
    m.closing |= (uint64_t)(unsigned)_mm_movemask_epi8(closes) << i;
    m.special |= (uint64_t)(unsigned)_mm_movemask_epi8(specials) << i;
  }
  return m;
}

/* The bytes within strings; *inside: all bits are set when a string goes on from block to block. */
static uint64_t in_strings(uint64_t quotes, uint64_t *inside) {
  for (int shift = 1; shift < BLOCK; shift *= 2) quotes ^= quotes << shift;
  quotes ^= *inside;
  *inside = 0 - (quotes >> (BLOCK - 1));
  return quotes;
}

bool iso_line_is_closed(const char *bytes, size_t size) {
  uint64_t inside = 0;
  int64_t depth = 0;
  for (size_t at = 0; at < size; at += BLOCK) {
    char rest[BLOCK] = {0};
    bool whole = size - at >= BLOCK;
    if (!whole) memcpy(rest, bytes + at, size - at);
    masks m = look_at(whole ? bytes + at : rest);
    if (m.special != 0) return false;
    uint64_t outside = ~in_strings(m.quotes, &inside);
    depth += __builtin_popcountll(m.opening & outside) - __builtin_popcountll(m.closing & outside);
  }
  return depth == 0 && inside == 0;
}

#else

bool iso_line_is_closed(const char *bytes, size_t size) {
  (void)bytes, (void)size;
  return false;
}

#endif
