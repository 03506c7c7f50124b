/* Types, processes, indexes and times of Jepsen operations right from the window, as long as they are plain EDN. */
#include "format/jepsen.h"
#include "format/token_scan.h"

#define BEGINS(p, literal) (memcmp(p, literal, sizeof(literal) - 1) == 0)
#define AFTER(p, literal) ((p) + sizeof(literal) - 1)

static inline bool ends_scalar(char c) { return c == ',' || c == ' ' || c == '}' || c == '\n'; }

/* An integer of up to 15 digits without sign; returns what follows, NULL when there is something else. */
static inline const char *plain_number(const char *p, int64_t *number) {
  uint64_t magnitude;
  unsigned digits = iso_scan_digits(p, &magnitude);
  if (digits == 0 || (*p == '0' && digits > 1)) return NULL;
  *number = (int64_t)magnitude;
  return p + digits;
}

/* The third letter tells the types apart; which one it is nobody could predict, so there is no branch for it. */
static inline const char *type(iso_jepsen_op *op, const char *p) {
  static const struct {
    char text[8];
    uint8_t length, type;
  } known[] = {{":ok", 3, ISO_JEPSEN_OK},
               {":invoke", 7, ISO_JEPSEN_INVOKE},
               {":fail", 5, ISO_JEPSEN_FAIL},
               {":info", 5, ISO_JEPSEN_INFO}};
  static const uint8_t by_third[256] = {['v'] = 1, ['i'] = 2, ['f'] = 3};
  unsigned which = by_third[(unsigned char)p[3]];
  uint64_t differs = iso_scan_load(p) ^ iso_scan_load(known[which].text);
  if (differs << (64 - 8 * known[which].length) != 0) return NULL;
  op->type = (iso_jepsen_type)known[which].type;
  return p + known[which].length;
}

static inline const char *process(iso_jepsen_op *op, const char *p) {
  int64_t number = 0;
  p = plain_number(p, &number);
  if (p == NULL || number >= (int64_t)ISO_VALUE_INLINE_LIMIT) return NULL;
  op->process = (iso_value)number;
  return p;
}

/* The field whose colon is at p; returns what follows it, NULL when it is to be read token by token. */
static inline const char *one_field(iso_jepsen_op *op, const char *p) {
  if (BEGINS(p, ":index ")) {
    op->has_index = true;
    return plain_number(AFTER(p, ":index "), &op->index);
  }
  if (BEGINS(p, ":time ")) return plain_number(AFTER(p, ":time "), &op->time);
  if (BEGINS(p, ":type ")) return type(op, AFTER(p, ":type "));
  if (BEGINS(p, ":process ")) return process(op, AFTER(p, ":process "));
  if (BEGINS(p, ":id ")) {
    op->has_id = true;
    return plain_number(AFTER(p, ":id "), &op->id);
  }
  if (BEGINS(p, ":f :txn")) {
    op->has_f = op->is_txn = true;
    op->is_init = false;
    return AFTER(p, ":f :txn");
  }
  return NULL;
}

/* Where the field behind p begins.  With branches, which are easy to predict, so that nobody waits for the bytes. */
static inline const char *next_field(const char *p) {
  if (__builtin_expect(*p == ',' && p[1] == ' ' && p[2] == ':', 1)) return p + 2;
  if (*p == ':') return p;
  return *p == ' ' && p[1] == ':' ? p + 1 : NULL;
}

void iso_jepsen_take_fields(iso_tokenizer *t, iso_jepsen_op *op) {
  const char *p = t->window.cur, *end = t->window.end;
  if (t->dialect != ISO_TOKEN_DIALECT_EDN || t->discarding != 0) return;
  while (end - p >= ISO_TOKEN_ROOM) {
    const char *q = next_field(p);
    /* A field that turns out to be something else is read again, and says then what it means. */
    if (q != NULL) q = one_field(op, q);
    if (q == NULL || !ends_scalar(*q)) break;
    p = q;
  }
  t->window.cur = p;
}
