/* Sessions, states and times of transactions right from the window, as long as they are written as the writer does it.
 */
#include "format/jsonl_txn.h"
#include "format/token_scan.h"

#define BEGINS(p, literal) (memcmp(p, literal, sizeof(literal) - 1) == 0)
#define AFTER(p, literal) ((p) + sizeof(literal) - 1)

/* An integer of up to 15 digits without sign; returns what follows, NULL when there is something else. */
static inline const char *plain_number(const char *p, int64_t *number) {
  uint64_t magnitude;
  unsigned digits = iso_scan_digits(p, &magnitude);
  if (digits == 0 || (*p == '0' && digits > 1)) return NULL;
  *number = (int64_t)magnitude;
  return p + digits;
}

static inline const char *session(iso_jsonl_parser *r, const char *p) {
  int64_t number = 0;
  p = plain_number(p, &number);
  if (p == NULL || number >= (int64_t)ISO_VALUE_INLINE_LIMIT) return NULL;
  r->has_session = true;
  r->session = (iso_value)number;
  return p;
}

static inline const char *status(iso_jsonl_parser *r, const char *p) {
  static const struct {
    const char *text;
    size_t length;
    isoproof_txn_status status;
  } known[] = {{"\"committed\"", 11, ISOPROOF_TXN_COMMITTED},
               {"\"aborted\"", 9, ISOPROOF_TXN_ABORTED},
               {"\"unknown\"", 9, ISOPROOF_TXN_UNKNOWN}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (memcmp(p, known[i].text, known[i].length) != 0) continue;
    r->has_status = r->has_more = true;
    r->info.status = known[i].status;
    return p + known[i].length;
  }
  return NULL;
}

static inline const char *number(iso_jsonl_parser *r, const char *p, int64_t *into) {
  r->has_more = true;
  return plain_number(p, into);
}

/* The field whose opening quote is at p; returns what follows it, NULL when it is to be read token by token. */
static inline const char *one_field(iso_jsonl_parser *r, const char *p) {
  if (BEGINS(p, "\"session\":")) return session(r, AFTER(p, "\"session\":"));
  if (BEGINS(p, "\"status\":")) return status(r, AFTER(p, "\"status\":"));
  if (BEGINS(p, "\"start\":")) return number(r, AFTER(p, "\"start\":"), &r->info.start);
  if (BEGINS(p, "\"end\":")) return number(r, AFTER(p, "\"end\":"), &r->info.end);
  if (BEGINS(p, "\"id\":")) {
    r->info.has_id = true;
    return number(r, AFTER(p, "\"id\":"), &r->info.id);
  }
  if (BEGINS(p, "\"start_index\":")) return number(r, AFTER(p, "\"start_index\":"), &r->info.start_index);
  if (BEGINS(p, "\"end_index\":")) return number(r, AFTER(p, "\"end_index\":"), &r->info.end_index);
  return NULL;
}

size_t iso_jsonl_take_fields(iso_jsonl_parser *r) {
  const char *p = r->t.window.cur, *end = r->t.window.end;
  size_t count = 0;
  while (end - p >= ISO_TOKEN_ROOM) {
    const char *q = p;
    if (count > 0 && *q++ != ',') break;
    if (*q != '"') break;
    /* A field that turns out to be something else is read again, and says then what it means. */
    q = one_field(r, q);
    if (q == NULL || (*q != ',' && *q != '}')) break;
    p = q;
    count++;
  }
  if (count > 0) iso_json_advance_map(&r->t, p);
  return count;
}
