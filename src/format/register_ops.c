/* Reads and writes of registers right from the window of a tokenizer, eight bytes at a time. */
#include "format/register_ops.h"

#include "format/token_scan.h"

/* What differs between the dialects: ["r",1,2],["w",1,null] and [:r 1 2] [:w 1 3]. */
typedef struct {
  char between;      /* numbers, and operations */
  unsigned prefix;   /* bytes before the key */
  uint64_t read;     /* these bytes, the first one lowest */
  uint64_t write;    /* the same of a write */
  uint64_t nil, end; /* null] or nil], and how many bytes that is */
} spelling;

#define BYTE(c, place) ((uint64_t)(unsigned char)(c) << (8 * (place)))
#define JSON_OP(letter) (BYTE('[', 0) | BYTE('"', 1) | BYTE(letter, 2) | BYTE('"', 3) | BYTE(',', 4))
#define EDN_OP(letter) (BYTE('[', 0) | BYTE(':', 1) | BYTE(letter, 2) | BYTE(' ', 3))

static const spelling json = {
    ',', 5, JSON_OP('r'), JSON_OP('w'), BYTE('n', 0) | BYTE('u', 1) | BYTE('l', 2) | BYTE('l', 3) | BYTE(']', 4), 5};
static const spelling edn = {
    ' ', 4, EDN_OP('r'), EDN_OP('w'), BYTE('n', 0) | BYTE('i', 1) | BYTE('l', 2) | BYTE(']', 3), 4};

static inline uint64_t first_bytes(uint64_t x, uint64_t count) { return x & ((UINT64_C(1) << (8 * count)) - 1); }

/* A number that is its own code, with `end` behind it; returns what follows that, NULL when there is something else. */
static inline const char *small_number(const char *p, char end, iso_value *code) {
  uint64_t number;
  unsigned digits = iso_scan_digits(p, &number);
  if (digits == 0 || (*p == '0' && digits > 1) || p[digits] != end || number >= ISO_VALUE_INLINE_LIMIT) return NULL;
  *code = (iso_value)number;
  return p + digits + 1;
}

/* One operation at p; returns what follows it, NULL when it is none of ours. */
static inline const char *one_op(const char *p, const spelling *s, iso_register_dialect dialect, iso_micro_op_add *op) {
  uint64_t begin = first_bytes(iso_scan_load(p), s->prefix);
  bool write = begin == s->write;
  if (!write && begin != s->read) return NULL;
  *op = (iso_micro_op_add){.kind = write ? ISOPROOF_OP_WRITE : ISOPROOF_OP_READ};
  p += s->prefix;
  p = small_number(p + (*p == ' '), s->between, &op->key);
  if (p == NULL) return NULL;
  p += *p == ' ';
  if (first_bytes(iso_scan_load(p), s->end) == s->nil) {
    op->value = ISO_VALUE_NIL;
    return !write || dialect.nil_writes ? p + s->end : NULL;
  }
  p = small_number(p, ']', &op->value);
  if (dialect.zero_is_initial && !write && op->value == 0) op->value = ISO_VALUE_NIL;
  return p;
}

bool iso_register_ops(iso_tokenizer *t, iso_register_dialect dialect, iso_micro_op *micro) {
  enum { BATCH = 64 };
  bool is_json = t->dialect == ISO_TOKEN_DIALECT_JSON;
  const spelling *s = is_json ? &json : &edn;
  const char *p = t->window.cur, *end = t->window.end;
  bool first = is_json && iso_json_is_first(t);
  size_t count = 0;
  if (t->discarding != 0) return true;
  if (!iso_vec_reserve(&micro->ops, BATCH)) return false;
  iso_micro_op_add *ops = micro->ops.items + micro->ops.count;
  while (count < BATCH && end - p >= ISO_TOKEN_ROOM) {
    const char *q = p;
    if (is_json && !first && *q++ != ',') break;
    q = one_op(q + (*q == ' '), s, dialect, &ops[count]);
    if (q == NULL) break;
    p = q;
    first = false;
    count++;
  }
  micro->ops.count += count;
  if (count > 0 && is_json) iso_json_advance(t, p);
  if (count > 0 && !is_json) iso_edn_advance(t, p, count);
  return true;
}
