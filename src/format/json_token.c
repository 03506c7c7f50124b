/* The JSON half of the tokenizer, RFC 8259 as a state machine with a stack of containers. */
#include "format/token_scan.h"

/* What may come next; kinds[] holds the state to return to after a container. */
enum {
  TOP,           /* a value or the end of the input */
  TOP_NEXT,      /* the same after white space */
  FIRST_ELEMENT, /* a value or ] */
  NEXT_ELEMENT,  /* , or ] */
  FIRST_KEY,     /* a string or } */
  NEXT_KEY,      /* , or } */
  COLON
};

/* Skips white space from window.cur on; leaves at least ISO_TOKEN_ROOM bytes, or all there are. */
static inline isoproof_status skip_space(iso_tokenizer *t) {
  for (;;) {
    if (__builtin_expect(t->window.end - t->window.cur < ISO_TOKEN_ROOM, 0)) ISO_TRY(iso_token_room(t));
    const char *p = t->window.cur, *end = t->window.end;
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) {
      if (*p == '\n') iso_token_newline(t, p);
      p++;
    }
    t->window.cur = p;
    if (p < end && (end - p >= ISO_TOKEN_ROOM || t->window.at_end)) return ISOPROOF_OK;
    if (p == end && t->window.at_end) return ISOPROOF_OK;
  }
}

static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

static inline bool ends_scalar(char c) {
  return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ':';
}

/* Goes over a run of digits. */
static isoproof_status digits(iso_tokenizer *t, const char **p) {
  for (;;) {
    while (*p < t->window.end && is_digit(**p)) (*p)++;
    if (*p < t->window.end || t->window.at_end) return ISOPROOF_OK;
    ISO_TRY(iso_token_grow(t, p));
  }
}

static isoproof_status need_digits(iso_tokenizer *t, const char **p) {
  if (*p == t->window.end || !is_digit(**p)) return iso_token_broken(t, *p, "a digit");
  return digits(t, p);
}

/* A number of any shape. */
static isoproof_status long_number(iso_tokenizer *t) {
  const char *p = t->start;
  bool negative = *p == '-';
  if (negative) p++;
  bool zero = p < t->window.end && *p == '0';
  ISO_TRY(need_digits(t, &p));
  const char *first = t->start + negative;
  if (zero && p - first > 1) return iso_token_broken(t, first, "no zero before a number");
  size_t count = (size_t)(p - first);
  bool integer = true;
  if (p < t->window.end && *p == '.') {
    integer = false;
    p++;
    if (p == t->window.end) ISO_TRY(iso_token_grow(t, &p));
    ISO_TRY(need_digits(t, &p));
  }
  if (p < t->window.end && (*p == 'e' || *p == 'E')) {
    integer = false;
    p++;
    if (t->window.end - p < 2) ISO_TRY(iso_token_grow(t, &p));
    if (p < t->window.end && (*p == '+' || *p == '-')) p++;
    ISO_TRY(need_digits(t, &p));
  }
  if (p < t->window.end && !ends_scalar(*p)) return iso_token_broken(t, p, "the end of the number");
  t->window.cur = p;
  if (integer) {
    iso_token_integer(t, negative, t->start + negative, count, (size_t)(p - t->start));
  } else {
    iso_token_text(t, ISOPROOF_SYMBOL, t->start, (size_t)(p - t->start));
  }
  return ISOPROOF_OK;
}

static inline isoproof_status number(iso_tokenizer *t) {
  const char *p = t->start;
  bool negative = *p == '-';
  if (negative) p++;
  if (t->window.end - p < 24) return long_number(t);
  uint64_t magnitude;
  unsigned count = iso_scan_digits(p, &magnitude);
  if (count == 0 || (*p == '0' && count > 1) || !ends_scalar(p[count])) return long_number(t);
  t->window.cur = p + count;
  iso_token_number(t, negative ? -(int64_t)magnitude : (int64_t)magnitude);
  return ISOPROOF_OK;
}

/* null, true or false. */
static isoproof_status word(iso_tokenizer *t, const char *text, isoproof_scalar_type type) {
  const char *p = t->start;
  size_t length = strlen(text), left = (size_t)(t->window.end - p);
  if (left < length || memcmp(p, text, length) != 0 || (left > length && !ends_scalar(p[length]))) {
    return iso_token_broken(t, p, "a JSON value");
  }
  t->window.cur = p + length;
  iso_token_text(t, type, p, length);
  return ISOPROOF_OK;
}

static isoproof_status open_container(iso_tokenizer *t, iso_token_type type, uint8_t first, uint8_t after) {
  t->window.cur = t->start + 1;
  ISO_TRY(iso_token_push(t, after));
  t->type = type;
  t->expect = first;
  return ISOPROOF_OK;
}

static isoproof_status close_container(iso_tokenizer *t) {
  t->window.cur = t->start + 1;
  t->type = ISO_TOKEN_END;
  t->depth--;
  t->expect = t->depth == 0 ? TOP_NEXT : t->kinds[t->depth];
  return ISOPROOF_OK;
}

static inline isoproof_status value(iso_tokenizer *t) {
  t->expect = t->depth == 0 ? TOP_NEXT : t->kinds[t->depth];
  switch (*t->start) {
  case '"':
    return iso_token_string(t);
  case '[':
    return open_container(t, ISO_TOKEN_BEGIN_LIST, FIRST_ELEMENT, NEXT_ELEMENT);
  case '{':
    return open_container(t, ISO_TOKEN_BEGIN_MAP, FIRST_KEY, NEXT_KEY);
  case 'n':
    return word(t, "null", ISOPROOF_NIL);
  case 't':
    return word(t, "true", ISOPROOF_SYMBOL);
  case 'f':
    return word(t, "false", ISOPROOF_SYMBOL);
  default:
    if (*t->start == '-' || is_digit(*t->start)) return number(t);
    return iso_token_broken(t, t->start, "a JSON value");
  }
}

/* Goes to the next visible byte: *more is false at the end of the input. */
static inline isoproof_status advance(iso_tokenizer *t, bool *more) {
  ISO_TRY(skip_space(t));
  t->start = t->window.cur;
  t->token_line = t->line;
  *more = t->window.cur < t->window.end;
  return ISOPROOF_OK;
}

/* Over a comma or a colon to what follows it. */
static inline isoproof_status step_over(iso_tokenizer *t, const char *what) {
  bool more;
  t->window.cur++;
  ISO_TRY(advance(t, &more));
  return more ? ISOPROOF_OK : iso_token_broken(t, t->start, what);
}

static isoproof_status key(iso_tokenizer *t, const char *what) {
  if (*t->start != '"') return iso_token_broken(t, t->start, what);
  t->expect = COLON;
  return iso_token_string(t);
}

static isoproof_status top(iso_tokenizer *t, uint64_t from, bool more) {
  if (!more) {
    t->type = ISO_TOKEN_END_OF_INPUT;
    return ISOPROOF_OK;
  }
  if (t->expect == TOP_NEXT && iso_token_offset(t, t->start) == from) {
    return iso_token_broken(t, t->start, "white space between values");
  }
  return value(t);
}

void iso_json_advance(iso_tokenizer *t, const char *to) {
  t->window.cur = to;
  t->expect = NEXT_ELEMENT;
}

size_t iso_json_integers(iso_tokenizer *t, uint32_t *numbers, size_t most) {
  const char *p = t->window.cur, *end = t->window.end;
  size_t count = 0;
  bool first = t->expect == FIRST_ELEMENT;
  while (count < most && end - p >= ISO_TOKEN_ROOM) {
    if (!first && *p != ',') break;
    const char *q = p + !first;
    uint64_t x = iso_scan_load(q);
    unsigned count_digits = iso_scan_before(iso_scan_not_digits(x));
    if (count_digits == 0 || count_digits == 8 || (*q == '0' && count_digits > 1)) break;
    if (q[count_digits] != ',' && q[count_digits] != ']') break;
    numbers[count++] = (uint32_t)iso_scan_number(x, count_digits);
    p = q + count_digits;
    first = false;
  }
  if (count > 0) iso_json_advance(t, p);
  return count;
}

void iso_json_advance_map(iso_tokenizer *t, const char *to) {
  t->window.cur = to;
  t->expect = NEXT_KEY;
}

void iso_json_top(iso_tokenizer *t, bool after_value) { t->expect = after_value ? TOP_NEXT : TOP; }

bool iso_json_is_first(const iso_tokenizer *t) { return t->expect == FIRST_ELEMENT; }

isoproof_status iso_json_next(iso_tokenizer *t) {
  bool more;
  uint64_t from = iso_token_offset(t, t->window.cur);
  ISO_TRY(advance(t, &more));
  char c = '\0';
  if (more) c = *t->start;
  switch (t->expect) {
  case TOP:
  case TOP_NEXT:
    return top(t, from, more);
  case FIRST_ELEMENT:
    if (c == ']') return close_container(t);
    return more ? value(t) : iso_token_broken(t, t->start, "a value or `]`");
  case NEXT_ELEMENT:
    if (c == ']') return close_container(t);
    if (c != ',') return iso_token_broken(t, t->start, "`,` or `]`");
    ISO_TRY(step_over(t, "a value"));
    return value(t);
  case FIRST_KEY:
    if (c == '}') return close_container(t);
    return more ? key(t, "a key (a string) or `}`") : iso_token_broken(t, t->start, "a key (a string) or `}`");
  case NEXT_KEY:
    if (c == '}') return close_container(t);
    if (c != ',') return iso_token_broken(t, t->start, "`,` or `}`");
    ISO_TRY(step_over(t, "a key (a string)"));
    return key(t, "a key (a string)");
  default:
    if (c != ':') return iso_token_broken(t, t->start, "`:`");
    ISO_TRY(step_over(t, "a value"));
    return value(t);
  }
}
