/* Parses one block of Plume text into columns, eight bytes at a time. */
#include "format/plume_block.h"

#include <isoproof/history.h>
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

/* Whose operation a line is.  Lines of one transaction follow each other with the same ending ",session,txn)", so the
 * ending of the line before is kept and compared instead of parsed. */
typedef struct {
  uint64_t session, txn;
  bool aborted;
  size_t length;     /* of the ending; 0 when there is none to compare with */
  uint64_t from, to; /* its first and its last eight bytes */
} owner;

static inline uint64_t load8(const char *p) {
  uint64_t word;
  memcpy(&word, p, sizeof word);
  return word;
}

static inline bool same_ending(const owner *last, const char *p, const char *stop) {
  return last->length > 0 && (size_t)(stop - p) == last->length && load8(p) == last->from &&
         load8(stop - 8) == last->to;
}

/* Remembers an ending that two overlapping words cover. */
static inline void keep_ending(owner *o, const char *p, const char *stop) {
  size_t length = (size_t)(stop - p);
  o->length = length >= 8 && length <= 16 ? length : 0;
  if (o->length > 0) o->from = load8(p), o->to = load8(stop - 8);
}

/* Parses ",session,txn)"; on failure says what was expected, with *at where it was. */
static inline const char *parse_owner(const char **at, owner *o) {
  const char *p = *at, *expected = NULL;
  if (*p != ',') {
    expected = "`,` after the value";
  } else if (p++, !parse_number(&p, &o->session)) {
    expected = "a session (a 64-bit number without sign or leading zeros)";
  } else if (*p != ',') {
    expected = "`,` after the session";
  } else {
    p++;
    o->aborted = p[0] == '-' && p[1] == '1' && p[2] == ')';
    if (o->aborted) {
      o->txn = 0;
      p += 2;
    } else if (!parse_number(&p, &o->txn) || o->txn > INT64_MAX) {
      expected = "a transaction (a number below 2^63 without leading zeros, or -1)";
    }
    if (expected == NULL && *p != ')') expected = "`)` after the transaction";
    if (expected == NULL) p++;
  }
  *at = p;
  return expected;
}

/* Parses "r(key,value" the same way. */
static inline const char *parse_access(const char **at, uint8_t *kind, uint64_t *key, uint64_t *value) {
  const char *p = *at, *expected = NULL;
  *kind = *p == 'r' ? ISOPROOF_OP_READ : ISOPROOF_OP_WRITE;
  if (*p != 'r' && *p != 'w') {
    expected = "`r(key,value,session,txn)` or `w(key,value,session,txn)`";
  } else if (*++p != '(') {
    expected = "`(`";
  } else if (p++, !parse_number(&p, key)) {
    expected = "a key (a 64-bit number without sign or leading zeros)";
  } else if (*p != ',') {
    expected = "`,` after the key";
  } else if (p++, !parse_number(&p, value)) {
    expected = "a value (a 64-bit number without sign or leading zeros)";
  }
  *at = p;
  return expected;
}

static void note_error(iso_plume_block *block, const char *expected, const char *line, const char *at) {
  block->expected = expected;
  block->error_at = (size_t)(at - block->text);
  block->error_column = (size_t)(at - line) + 1;
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
  uint64_t *keys = block->keys, *values = block->values, lines = 0, next_line = UINT64_MAX;
  iso_plume_piece *piece = block->pieces; /* one behind the last */
  owner o = {.length = 0};
  size_t i = 0;
  memset(block->text + block->length, 0, ISO_PLUME_PADDING);
  block->expected = NULL;
  for (const char *next; start < end; start = next, lines++) {
    const char *stop = find_newline(start, end), *p = start;
    next = stop + 1;
    if (stop > start && stop[-1] == '\r') stop--;
    if (stop == start) continue; /* an empty line says nothing */
    const char *expected = parse_access(&p, &kinds[i], &keys[i], &values[i]);
    if (expected == NULL && same_ending(&o, p, stop) && lines == next_line) {
      next_line++;
      i++;
      continue;
    }
    const char *ending = p;
    uint64_t session = o.session, txn = o.txn;
    bool aborted = o.aborted;
    if (expected == NULL) expected = parse_owner(&p, &o);
    if (expected == NULL && p != stop) expected = "the end of the line";
    if (expected != NULL) {
      note_error(block, expected, start, p);
      break;
    }
    keep_ending(&o, ending, stop);
    bool same = lines == next_line && session == o.session && txn == o.txn && aborted == o.aborted;
    if (!same) *piece++ = (iso_plume_piece){o.session, o.txn, o.aborted, (uint32_t)i, 0, lines};
    next_line = lines + 1;
    i++;
  }
  block->ops = i;
  block->piece_count = (size_t)(piece - block->pieces);
  block->lines = lines;
  for (size_t k = 0; k < block->piece_count; k++) {
    uint32_t piece_end = k + 1 < block->piece_count ? block->pieces[k + 1].first : (uint32_t)i;
    block->pieces[k].count = piece_end - block->pieces[k].first;
  }
}
