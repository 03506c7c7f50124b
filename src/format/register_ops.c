/* Operations on small numbers right from the window of a tokenizer: first where each ends, then what it says.
 *
 * Where an operation ends is found by its bracket and not by parsing, so that the processor can work on several of them
 * at once: parsing alone is one long chain in which each number waits for the one before.  And there is one branch for
 * all that can be wrong, because the lengths of numbers, and which reads see nothing, are what no predictor guesses. */
#include "format/register_ops.h"

#include "format/token_scan.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))
#define BYTE(c, place) ((uint64_t)(unsigned char)(c) << (8 * (place)))

/* What differs between the dialects: ["r",1,2],["w",1,null] and [:r 1 2] [:w 1 3]. */
typedef struct {
  char between;       /* numbers, and operations */
  unsigned prefix;    /* bytes before the key */
  uint64_t read;      /* these bytes of a read, the first one lowest */
  uint64_t nil;       /* null or nil */
  unsigned nil_bytes; /* of it */
  const char *append; /* what an operation begins with that appends to a list */
  unsigned append_bytes;
} spelling;

static const spelling json = {',',
                              5,
                              BYTE('[', 0) | BYTE('"', 1) | BYTE('r', 2) | BYTE('"', 3) | BYTE(',', 4),
                              BYTE('n', 0) | BYTE('u', 1) | BYTE('l', 2) | BYTE('l', 3),
                              4,
                              "[\"append\",",
                              10};
static const spelling edn = {' ',
                             4,
                             BYTE('[', 0) | BYTE(':', 1) | BYTE('r', 2) | BYTE(' ', 3),
                             BYTE('n', 0) | BYTE('i', 1) | BYTE('l', 2),
                             3,
                             "[:append ",
                             9};

/* What the third byte of a write differs in. */
#define READ_TO_WRITE BYTE('r' ^ 'w', 2)

/* How many bytes come before the first closing bracket, if that is among the next 32, else 32. */
static inline unsigned before_bracket(const char *p) {
#ifdef __SSE2__
  const __m128i bracket = _mm_set1_epi8(']');
  __m128i low = _mm_loadu_si128((const __m128i *)(const void *)p);
  __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(p + 16));
  uint64_t found = (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(low, bracket)) |
                   (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(high, bracket)) << 16;
  return (unsigned)__builtin_ctzll(found | UINT64_C(1) << 32);
#else
  unsigned at = 0;
  while (at < 32) {
    uint64_t x = iso_scan_load(p + at) ^ ISO_BYTES(']');
    unsigned before = iso_scan_before((x - ISO_BYTES(1)) & ~x & ISO_HIGH_BITS);
    at += before;
    if (before < 8) break;
  }
  return at;
#endif
}

/* ---- numbers of any size that is its own code ---- */

/* A number with `end` behind it; returns what follows that, NULL when there is something else. */
INLINE const char *any_number(const char *p, char end, iso_value *code) {
  uint64_t number;
  unsigned digits = iso_scan_digits(p, &number);
  if (digits == 0 || (*p == '0' && digits > 1) || p[digits] != end || number >= ISO_VALUE_INLINE_LIMIT) return NULL;
  *code = (iso_value)number;
  return p + digits + 1;
}

/* The key and the value of an operation at p, perhaps with a space before each; returns what follows the operation,
 * NULL when it is none of ours. */
static const char *any_numbers(const char *p, const spelling *s, iso_op_add *op) {
  p = any_number(p + (*p == ' '), s->between, &op->key);
  if (p == NULL) return NULL;
  p += *p == ' ';
  if ((iso_scan_load(p) & ((UINT64_C(1) << (8 * s->nil_bytes)) - 1)) == s->nil && p[s->nil_bytes] == ']') {
    op->value = ISO_VALUE_NIL;
    return p + s->nil_bytes + 1;
  }
  return any_number(p, ']', &op->value);
}

/* ---- numbers of up to eight digits ---- */

/* The same without spaces and large numbers. */
INLINE const char *short_numbers(const char *p, const spelling *s, iso_op_add *op) {
  unsigned end = before_bracket(p);
  uint64_t key = iso_scan_load(p);
  unsigned digits = iso_scan_before(iso_scan_not_digits(key)), rest = end - digits - 1;
  /* From here to the check, nonsense is computed where the lengths are wrong. */
  uint64_t value = iso_scan_load(p + digits + 1);
  unsigned beyond = (64 - 8 * rest) & 63; /* bits of the word behind the value */
  bool is_nil = (rest == s->nil_bytes) & (value << beyond == s->nil << (64 - 8 * s->nil_bytes));
  bool is_number = iso_scan_not_digits(value) << beyond == 0;
  bool bad = (digits - 1 > 6) | (rest - 1 > 7) | (p[digits] != s->between) | !(is_nil | is_number);
  bad |= ((char)key == '0') & (digits > 1);
  bad |= ((char)value == '0') & (rest > 1);
  if (__builtin_expect(bad, 0)) return NULL;
  op->key = (iso_value)iso_scan_number(key, digits);
  iso_value number = (iso_value)iso_scan_number(value, rest);
  op->value = is_nil ? ISO_VALUE_NIL : number;
  return p + end + 1;
}

INLINE const char *numbers(const char *p, const spelling *s, iso_op_add *op) {
  const char *next = short_numbers(p, s, op);
  return __builtin_expect(next != NULL, 1) ? next : any_numbers(p, s, op);
}

/* ---- operations ---- */

/* What reads and writes have to obey, once their numbers are known. */
INLINE const char *settle(const char *next, bool write, iso_register_dialect dialect, iso_op_add *op) {
  op->kind = write ? ISOPROOF_OP_WRITE : ISOPROOF_OP_READ;
  bool initial = !write & dialect.zero_is_initial & (op->value == 0);
  op->value = initial ? ISO_VALUE_NIL : op->value;
  bool refused = write & !dialect.nil_writes & (op->value == ISO_VALUE_NIL);
  return refused ? NULL : next;
}

/* One operation at p, perhaps behind a space: a read, a write or an append; NULL when it is none of these. */
static const char *any_op(const char *p, const spelling *s, iso_register_dialect dialect, iso_op_add *op) {
  p += *p == ' ';
  if (memcmp(p, s->append, s->append_bytes) == 0) {
    op->kind = ISOPROOF_OP_APPEND;
    p = numbers(p + s->append_bytes, s, op);
    return p == NULL || op->value == ISO_VALUE_NIL ? NULL : p;
  }
  uint64_t differs = (iso_scan_load(p) & ((UINT64_C(1) << (8 * s->prefix)) - 1)) ^ s->read;
  if (differs != 0 && differs != READ_TO_WRITE) return NULL;
  p = any_numbers(p + s->prefix, s, op);
  return p == NULL ? NULL : settle(p, differs != 0, dialect, op);
}

/* The same, and faster for reads and writes of short numbers without spaces. */
INLINE const char *one_op(const char *p, const spelling *s, iso_register_dialect dialect, iso_op_add *op) {
  uint64_t differs = (iso_scan_load(p) & ((UINT64_C(1) << (8 * s->prefix)) - 1)) ^ s->read;
  *op = (iso_op_add){.kind = ISOPROOF_OP_READ};
  if (__builtin_expect((differs == 0) | (differs == READ_TO_WRITE), 1)) {
    const char *next = short_numbers(p + s->prefix, s, op);
    if (__builtin_expect(next != NULL, 1)) return settle(next, differs != 0, dialect, op);
  }
  return any_op(p, s, dialect, op);
}

enum { BATCH = 64 };

/* Up to BATCH operations from *at on, which goes behind them; `first` when one stands right there.  Inlined for each
 * spelling, whose bytes are constants then. */
INLINE size_t batch(const char **at, const char *end, const spelling *s, bool first, iso_register_dialect dialect,
                    iso_op_add *ops) {
  const char *p = *at;
  size_t count = 0;
  while (count < BATCH && end - p >= ISO_TOKEN_ROOM) {
    const char *q = p;
    if (!first && *q++ != s->between) break;
    q = one_op(q, s, dialect, &ops[count]);
    if (q == NULL) break;
    p = q;
    first = false;
    count++;
  }
  *at = p;
  return count;
}

bool iso_register_ops(iso_tokenizer *t, iso_register_dialect dialect, iso_micro_op *micro) {
  const char *p = t->window.cur, *end = t->window.end;
  if (t->discarding != 0 || p == end) return true;
  if (!iso_vec_reserve(&micro->ops, BATCH)) return false;
  iso_op_add *ops = micro->ops.items + micro->ops.count;
  size_t count;
  if (t->dialect == ISO_TOKEN_DIALECT_JSON) {
    count = batch(&p, end, &json, iso_json_is_first(t), dialect, ops);
    if (count > 0) iso_json_advance(t, p);
  } else {
    count = batch(&p, end, &edn, *p == '[', dialect, ops);
    if (count > 0) iso_edn_advance(t, p, count);
  }
  micro->ops.count += count;
  return true;
}
