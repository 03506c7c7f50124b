#include "format/plume_block.h"

#include <isolde/history.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

bool iso_plume_block_init(iso_plume_block *block) {
  enum { MOST_OPS = ISO_PLUME_BLOCK_BYTES / ISO_PLUME_SHORTEST_LINE + 1 };
  memset(block, 0, sizeof *block);
  block->text = iso_alloc(ISO_PLUME_BLOCK_BYTES + ISO_PLUME_PADDING, 1);
  block->kinds = iso_alloc(MOST_OPS, sizeof *block->kinds);
  block->keys = iso_alloc(MOST_OPS, sizeof *block->keys);
  block->values = iso_alloc(MOST_OPS, sizeof *block->values);
  block->pieces = iso_alloc(MOST_OPS, sizeof *block->pieces);
  return block->text != NULL && block->kinds != NULL && block->keys != NULL && block->values != NULL &&
         block->pieces != NULL;
}

void iso_plume_block_free(iso_plume_block *block) {
  free(block->text);
  free(block->kinds);
  free(block->keys);
  free(block->values);
  free(block->pieces);
  memset(block, 0, sizeof *block);
}

/* Parses a number without sign at *at and moves *at behind it; false when there is none, when it has leading zeros or
 * does not fit 64 bits.  Eight bytes at once, without a branch per digit: most numbers of a history have a length
 * that no branch predictor guesses. */
static inline bool parse_number(const char **at, uint64_t *number) {
  uint64_t word;
  memcpy(&word, *at, sizeof word);
  uint64_t digits = word ^ UINT64_C(0x3030303030303030);
  uint64_t others = ((digits + UINT64_C(0x7676767676767676)) | digits) & UINT64_C(0x8080808080808080);
  if (others == 0) { /* eight digits or more */
    size_t length = 8;
    while ((unsigned)((unsigned char)(*at)[length] - '0') <= 9 && length <= 20) length++;
    if (!iso_parse_u64(*at, length, number)) return false;
    *at += length;
    return true;
  }
  unsigned length = (unsigned)__builtin_ctzll(others) >> 3;
  if (length == 0) return false;
  if (length > 1 && **at == '0') return false;
  digits <<= 64 - 8 * length;
  digits = (digits & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 2561 >> 8;
  digits = (digits & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
  digits = (digits & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
  *number = digits;
  *at += length;
  return true;
}

/* One parsed line. */
typedef struct {
  uint64_t key, value, session, txn;
  uint8_t kind;
  bool aborted;
} parsed_line;

/* Parses one line; on failure says what was expected, with *at where it was. */
static inline const char *parse_line(const char **at, parsed_line *line) {
  const char *p = *at;
  const char *expected = NULL;
  line->kind = *p == 'r' ? ISOLDE_OP_READ : ISOLDE_OP_WRITE;
  if (*p != 'r' && *p != 'w') {
    expected = "`r(key,value,session,txn)` or `w(key,value,session,txn)`";
  } else if (*++p != '(') {
    expected = "`(`";
  } else if (p++, !parse_number(&p, &line->key)) {
    expected = "a key (a 64-bit number without sign or leading zeros)";
  } else if (*p != ',') {
    expected = "`,` after the key";
  } else if (p++, !parse_number(&p, &line->value)) {
    expected = "a value (a 64-bit number without sign or leading zeros)";
  } else if (*p != ',') {
    expected = "`,` after the value";
  } else if (p++, !parse_number(&p, &line->session)) {
    expected = "a session (a 64-bit number without sign or leading zeros)";
  } else if (*p != ',') {
    expected = "`,` after the session";
  } else {
    p++;
    line->aborted = p[0] == '-' && p[1] == '1' && p[2] == ')';
    if (line->aborted) {
      line->txn = 0;
      p += 2;
    } else if (!parse_number(&p, &line->txn) || line->txn > INT64_MAX) {
      expected = "a transaction (a number below 2^63 without leading zeros, or -1)";
    }
    if (expected == NULL && *p != ')') expected = "`)` after the transaction";
    if (expected == NULL) p++;
  }
  *at = p;
  return expected;
}

static void note_error(iso_plume_block *block, const char *expected, const char *line, const char *at) {
  block->expected = expected;
  block->error_at = (size_t)(at - block->text);
  block->error_column = (size_t)(at - line) + 1;
}

/* Whether the line continues the piece.  `line_number` counts from the start of the block. */
static inline bool continues(const iso_plume_piece *piece, const parsed_line *line, uint64_t line_number) {
  return piece->txn == line->txn && piece->session == line->session && piece->aborted == line->aborted &&
         piece->line + piece->count == line_number && piece->count > 0;
}

/* The newline at or after p, or `end`.  Finding the next line this way, and not by parsing, lets the processor work on
 * several lines at once: parsing alone is one long chain in which each number waits for the one before. */
static inline const char *find_newline(const char *p, const char *end) {
#ifdef __SSE2__
  const __m128i newline = _mm_set1_epi8('\n');
  for (; p < end; p += 32) {
    __m128i low = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(p + 16));
    unsigned found = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(low, newline)) |
                     (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(high, newline)) << 16;
    if (found != 0) {
      p += __builtin_ctz(found);
      return p < end ? p : end;
    }
  }
  return end;
#else
  const char *found = memchr(p, '\n', (size_t)(end - p));
  return found != NULL ? found : end;
#endif
}

void iso_plume_block_parse(iso_plume_block *block) {
  /* Everything in locals: a store through a byte pointer may alias whatever the block points to. */
  const char *start = block->text, *end = block->text + block->length;
  uint8_t *kinds = block->kinds;
  uint64_t *keys = block->keys, *values = block->values, lines = 0;
  iso_plume_piece *done = block->pieces, piece = {.count = 0};
  size_t i = 0;
  memset(block->text + block->length, 0, ISO_PLUME_PADDING);
  block->expected = NULL;
  for (const char *next; start < end; start = next, lines++) {
    const char *stop = find_newline(start, end), *p = start;
    next = stop + 1;
    if (stop > start && stop[-1] == '\r') stop--;
    if (stop == start) continue; /* an empty line says nothing */
    parsed_line line;
    const char *expected = parse_line(&p, &line);
    if (expected == NULL && p != stop) expected = "the end of the line";
    if (expected != NULL) {
      note_error(block, expected, start, p);
      break;
    }
    if (continues(&piece, &line, lines)) {
      piece.count++;
    } else {
      if (piece.count > 0) *done++ = piece;
      piece = (iso_plume_piece){line.session, line.txn, line.aborted, (uint32_t)i, 1, lines};
    }
    kinds[i] = line.kind;
    keys[i] = line.key;
    values[i] = line.value;
    i++;
  }
  if (piece.count > 0) *done++ = piece;
  block->ops = i;
  block->piece_count = (size_t)(done - block->pieces);
  block->lines = lines;
}
