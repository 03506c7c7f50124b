/* The EDN half of the tokenizer: elements, tags and discards, with a fast path for what makes up most of a history. */
#include "base/text.h"
#include "format/token_scan.h"

/* kinds[]: one of these, and ODD after an odd number of elements (in a map: a key still lacks its value). */
enum { LIST, VECTOR, MAP, SET, ODD = 0x80 };
static const char closers[] = ")]}}";

/* What a byte begins, in the low four bits; and whether it may go on inside a symbol, keyword or number, may follow
 * one, or is white space. */
enum { IN = 0x10, ENDS = 0x20, BLANK = 0x40 };
enum {
  BAD,
  SPACE = 1 | ENDS | BLANK,
  NEWLINE = 2 | ENDS | BLANK,
  OPEN = 3 | ENDS,
  CLOSE = 4 | ENDS,
  DIGIT = 5 | IN,
  SIGN = 6 | IN,
  COLON = 7 | IN,
  QUOTE = 8 | ENDS,
  HASH = 9 | IN,
  COMMENT = 10 | ENDS,
  CHARACTER = 11,
  SYMBOL = 12 | IN
};

/* Bytes above 0x7f may stand in symbols. */
static const uint8_t classes[256] = {['\t'] = SPACE,         ['\n'] = NEWLINE,
                                     ['\v'] = SPACE,         ['\f'] = SPACE,
                                     ['\r'] = SPACE,         [' '] = SPACE,
                                     [','] = SPACE,          ['('] = OPEN,
                                     ['['] = OPEN,           ['{'] = OPEN,
                                     [')'] = CLOSE,          [']'] = CLOSE,
                                     ['}'] = CLOSE,          ['0' ... '9'] = DIGIT,
                                     ['+'] = SIGN,           ['-'] = SIGN,
                                     [':'] = COLON,          ['"'] = QUOTE,
                                     ['#'] = HASH,           [';'] = COMMENT,
                                     ['\\'] = CHARACTER,     ['a' ... 'z'] = SYMBOL,
                                     ['A' ... 'Z'] = SYMBOL, ['.'] = SYMBOL,
                                     ['*'] = SYMBOL,         ['!'] = SYMBOL,
                                     ['_'] = SYMBOL,         ['?'] = SYMBOL,
                                     ['$'] = SYMBOL,         ['%'] = SYMBOL,
                                     ['&'] = SYMBOL,         ['='] = SYMBOL,
                                     ['<'] = SYMBOL,         ['>'] = SYMBOL,
                                     ['/'] = SYMBOL,         ['\''] = SYMBOL,
                                     ['|'] = SYMBOL,         [0x80 ... 0xff] = SYMBOL};

static inline uint8_t class_of(char c) { return classes[(unsigned char)c]; }

/* Goes to the end of a symbol, keyword or number. */
static isoproof_status scan_word(iso_tokenizer *t, const char **p, const char *what) {
  for (;;) {
    while (*p < t->window.end && (class_of(**p) & IN) != 0) (*p)++;
    if (*p < t->window.end || t->window.at_end) break;
    ISO_TRY(iso_token_grow(t, p));
  }
  if (*p < t->window.end && (class_of(**p) & ENDS) == 0) return iso_token_broken(t, *p, what);
  size_t length = (size_t)(*p - t->start);
  if (length > ISO_TOKEN_LONGEST) {
    return iso_fail_at(t->error, ISOPROOF_ERR_LIMIT, iso_token_place(t), "a word of more than %d bytes",
                       ISO_TOKEN_LONGEST);
  }
  t->window.cur = *p;
  return iso_utf8_valid(t->start, length) ? ISOPROOF_OK : iso_token_broken(t, t->start, "UTF-8");
}

bool iso_edn_is_keyword(const char *text, size_t length) {
  if (length == 0 || length >= ISO_TOKEN_LONGEST || text[0] == ':') return false;
  for (size_t i = 0; i < length; i++) {
    if ((class_of(text[i]) & IN) == 0) return false;
  }
  return iso_utf8_valid(text, length);
}

static isoproof_status keyword(iso_tokenizer *t) {
  const char *p = t->start + 1;
  ISO_TRY(scan_word(t, &p, "the end of the keyword"));
  if (p == t->start + 1 || t->start[1] == ':') return iso_token_broken(t, t->start, "a keyword");
  iso_token_text(t, ISOPROOF_KEYWORD, t->start + 1, (size_t)(p - t->start) - 1);
  return ISOPROOF_OK;
}

/* How many digits there are from p on. */
static size_t count_digits(const char *p, const char *end) {
  const char *from = p;
  while (p < end && class_of(*p) == DIGIT) p++;
  return (size_t)(p - from);
}

/* Whether what follows the integer part makes a float (1.5, 1., 1e9, 1.5M) or a ratio (1/2). */
static bool number_tail(const char *p, const char *end) {
  if (p < end && *p == '/') {
    size_t digits = count_digits(p + 1, end);
    return digits > 0 && p + 1 + digits == end;
  }
  if (p < end && *p == '.') {
    p++;
    p += count_digits(p, end);
  }
  if (p < end && (*p == 'e' || *p == 'E')) {
    p++;
    if (p < end && (*p == '+' || *p == '-')) p++;
    size_t digits = count_digits(p, end);
    if (digits == 0) return false;
    p += digits;
  }
  if (p < end && *p == 'M') p++;
  return p == end;
}

/* A number of any shape, or a symbol that begins with a sign. */
static isoproof_status long_number(iso_tokenizer *t) {
  const char *p = t->start;
  ISO_TRY(scan_word(t, &p, "the end of the number"));
  const char *first = t->start;
  bool negative = *first == '-';
  if (negative || *first == '+') first++;
  size_t length = (size_t)(p - t->start), digits = count_digits(first, p);
  if (digits == 0) {
    iso_token_text(t, ISOPROOF_SYMBOL, t->start, length);
    return ISOPROOF_OK;
  }
  if (digits > 1 && *first == '0') return iso_token_broken(t, t->start, "no zero before a number");
  const char *tail = first + digits;
  if (tail == p || (*tail == 'N' && tail + 1 == p)) {
    iso_token_integer(t, negative, first, digits, length);
    return ISOPROOF_OK;
  }
  if (!number_tail(tail, p)) return iso_token_broken(t, t->start, "a number");
  iso_token_text(t, ISOPROOF_SYMBOL, t->start, length);
  return ISOPROOF_OK;
}

static isoproof_status symbol(iso_tokenizer *t) {
  const char *p = t->start;
  ISO_TRY(scan_word(t, &p, "the end of the symbol"));
  size_t length = (size_t)(p - t->start);
  bool nil = length == 3 && memcmp(t->start, "nil", 3) == 0;
  iso_token_text(t, nil ? ISOPROOF_NIL : ISOPROOF_SYMBOL, t->start, length);
  return ISOPROOF_OK;
}

/* \c, \newline, \u0041: kept verbatim. */
static isoproof_status character(iso_tokenizer *t) {
  const char *p = t->start + 1;
  size_t step = iso_utf8_step(p, (size_t)(t->window.end - p));
  if (step == 0 || (unsigned char)*p <= ' ') return iso_token_broken(t, p, "a character after the backslash");
  p += step;
  ISO_TRY(scan_word(t, &p, "the end of the character"));
  iso_token_text(t, ISOPROOF_SYMBOL, t->start, (size_t)(p - t->start));
  return ISOPROOF_OK;
}

/* Goes to the end of the line, or of the input. */
static isoproof_status comment(iso_tokenizer *t) {
  iso_window *window = &t->window;
  for (;;) {
    size_t length = (size_t)(window->end - window->cur);
    const char *newline = length > 0 ? memchr(window->cur, '\n', length) : NULL;
    const char *stop = newline != NULL ? newline : window->end;
    const char *nul = memchr(window->cur, '\0', (size_t)(stop - window->cur));
    if (nul != NULL) return iso_token_broken(t, nul, "no NUL byte");
    window->cur = stop;
    if (newline != NULL || window->at_end) return ISOPROOF_OK;
    ISO_TRY(iso_window_more(window, NULL, ISO_TOKEN_LONGEST, t->error));
  }
}

/* Opens a container whose first bytes up to `next` were seen. */
static isoproof_status open_container(iso_tokenizer *t, const char *next, iso_token_type type, uint8_t kind) {
  /* In the container around it a value has begun, unless it is discarded. */
  if (__builtin_expect(t->discarding == 0, 1) || t->discards[t->depth] == 0) t->kinds[t->depth] ^= ODD;
  t->window.cur = next;
  t->type = type;
  return iso_token_push(t, kind);
}

/* What may come next in a container, by its kind. */
static const char *const wanted[] = {"a value or `)`", "a value or `]`", "a value or `}`", "a value or `}`"};

static isoproof_status wrong_close(iso_tokenizer *t, uint8_t kind) {
  if (t->depth == 0) return iso_token_broken(t, t->start, "a value");
  if (closers[kind & 3] != *t->start) return iso_token_broken(t, t->start, wanted[kind & 3]);
  if (kind == (MAP | ODD)) return iso_token_broken(t, t->start, "the value of the last key of the map");
  return iso_token_broken(t, t->start, "an element after #_");
}

static isoproof_status close_container(iso_tokenizer *t) {
  uint8_t kind = t->kinds[t->depth];
  bool wrong = t->depth == 0 || closers[kind & 3] != *t->start || kind == (MAP | ODD) ||
               (t->discarding != 0 && t->discards[t->depth] != 0);
  if (__builtin_expect(wrong, 0)) return wrong_close(t, kind);
  t->window.cur = t->start + 1;
  t->depth--;
  t->type = ISO_TOKEN_END;
  return ISOPROOF_OK;
}

/* What a # begins.  *again: a tag or a discard was read, and its element comes next. */
static isoproof_status dispatch(iso_tokenizer *t, bool *again) {
  enum { MOST_DISCARDS = 1 << 20 };
  const char *p = t->start + 1;
  char c = '\0';
  if (p < t->window.end) c = *p;
  if (c == '{') return open_container(t, p + 1, ISO_TOKEN_BEGIN_SET, SET);
  if (c == '#') {
    ISO_TRY(scan_word(t, &p, "the end of the number"));
    size_t length = (size_t)(p - t->start);
    bool known = (length == 5 && (memcmp(t->start, "##Inf", 5) == 0 || memcmp(t->start, "##NaN", 5) == 0)) ||
                 (length == 6 && memcmp(t->start, "##-Inf", 6) == 0);
    if (!known) return iso_token_broken(t, t->start, "##Inf, ##-Inf or ##NaN");
    iso_token_text(t, ISOPROOF_SYMBOL, t->start, length);
    return ISOPROOF_OK;
  }
  *again = true;
  if (c == '_') {
    if (t->discarding == MOST_DISCARDS) {
      return iso_fail_at(t->error, ISOPROOF_ERR_LIMIT, iso_token_place(t), "more than %d discards (#_) at once",
                         MOST_DISCARDS);
    }
    t->discarding++;
    t->discards[t->depth]++;
    t->window.cur = p + 1;
    return ISOPROOF_OK;
  }
  if (class_of(c) != SYMBOL) return iso_token_broken(t, t->start, "`#{`, `#_` or a tag");
  return scan_word(t, &p, "the end of the tag");
}

/* Accounts for a token inside something discarded, which may end it. */
static void dropped(iso_tokenizer *t) {
  if (t->type != ISO_TOKEN_SCALAR && t->type != ISO_TOKEN_END) return;
  if (t->discards[t->depth] > 0) {
    t->discards[t->depth]--;
    t->discarding--;
  } else if (t->type == ISO_TOKEN_SCALAR) {
    t->kinds[t->depth] ^= ODD;
  }
}

static isoproof_status end_of_input(iso_tokenizer *t, bool tagged) {
  if (tagged) return iso_token_broken(t, t->start, "an element after the tag");
  if (t->discarding != 0) return iso_token_broken(t, t->start, "an element after #_");
  if (t->depth > 0) return iso_token_broken(t, t->start, wanted[t->kinds[t->depth] & 3]);
  t->type = ISO_TOKEN_END_OF_INPUT;
  return ISOPROOF_OK;
}

/* Skips white space from window.cur on; leaves at least ISO_TOKEN_ROOM bytes, or all there are. */
static isoproof_status skip_space(iso_tokenizer *t) {
  for (;;) {
    if (__builtin_expect(t->window.end - t->window.cur < ISO_TOKEN_ROOM, 0)) ISO_TRY(iso_token_room(t));
    const char *p = t->window.cur, *end = t->window.end;
    while (p < end && (class_of(*p) & BLANK) != 0) {
      if (*p == '\n') iso_token_newline(t, p);
      p++;
    }
    t->window.cur = p;
    if (p < end && (end - p >= ISO_TOKEN_ROOM || t->window.at_end)) return ISOPROOF_OK;
    if (p == end && t->window.at_end) return ISOPROOF_OK;
  }
}

/* One token at t->start, or *again for what only precedes an element. */
static isoproof_status token(iso_tokenizer *t, bool tagged, bool *again) {
  switch (class_of(*t->start)) {
  case OPEN:
    if (*t->start == '{') return open_container(t, t->start + 1, ISO_TOKEN_BEGIN_MAP, MAP);
    return open_container(t, t->start + 1, ISO_TOKEN_BEGIN_LIST, *t->start == '[' ? VECTOR : LIST);
  case CLOSE:
    return tagged ? iso_token_broken(t, t->start, "an element after the tag") : close_container(t);
  case DIGIT:
  case SIGN:
    return long_number(t);
  case COLON:
    return keyword(t);
  case QUOTE:
    return iso_token_string(t);
  case SYMBOL:
    return symbol(t);
  case HASH:
    return dispatch(t, again);
  case CHARACTER:
    return character(t);
  case COMMENT:
    *again = true;
    return comment(t);
  default:
    return iso_token_broken(t, t->start, "an EDN value");
  }
}

/* The next token, whatever it is and wherever the window ends. */
static __attribute__((noinline)) isoproof_status any_next(iso_tokenizer *t) {
  bool tagged = false;
  for (;;) {
    bool again = false;
    ISO_TRY(skip_space(t));
    t->start = t->window.cur;
    t->token_line = t->line;
    if (__builtin_expect(t->start == t->window.end, 0)) return end_of_input(t, tagged);
    char first = *t->start;
    ISO_TRY(token(t, tagged, &again));
    if (__builtin_expect(again, 0)) {
      tagged = tagged || (first == '#' && t->start[1] != '_');
      continue;
    }
    tagged = false;
    if (__builtin_expect(t->discarding == 0, 1)) {
      if (t->type == ISO_TOKEN_SCALAR) t->kinds[t->depth] ^= ODD;
      return ISOPROOF_OK;
    }
    dropped(t);
  }
}

/* An integer of up to 15 digits at p, with ISO_TOKEN_ROOM bytes in the window; false for any other number. */
static inline bool short_number(iso_tokenizer *t, const char *p) {
  uint64_t number;
  unsigned count = iso_scan_digits(p, &number);
  if (count == 0 || (*p == '0' && count > 1) || (class_of(p[count]) & ENDS) == 0) return false;
  t->window.cur = p + count;
  iso_token_number(t, (int64_t)number);
  return true;
}

/* A keyword of up to eight lower-case letters. */
static inline bool short_keyword(iso_tokenizer *t, const char *p) {
  unsigned letters = iso_scan_before(iso_scan_not_letters(iso_scan_load(p + 1)));
  if (letters == 0 || (class_of(p[1 + letters]) & ENDS) == 0) return false;
  t->window.cur = p + 1 + letters;
  iso_token_text(t, ISOPROOF_KEYWORD, p + 1, letters);
  return true;
}

static inline bool just_nil(iso_tokenizer *t, const char *p) {
  if (memcmp(p, "nil", 3) != 0 || (class_of(p[3]) & ENDS) == 0) return false;
  t->window.cur = p + 3;
  iso_token_text(t, ISOPROOF_NIL, p, 3);
  return true;
}

static inline bool just_open(iso_tokenizer *t, const char *p) {
  if (t->depth == ISO_TOKEN_DEPTH) return false;
  bool map = *p == '{';
  t->kinds[t->depth] ^= ODD;
  t->kinds[++t->depth] = map ? MAP : *p == '[' ? VECTOR : LIST;
  t->type = map ? ISO_TOKEN_BEGIN_MAP : ISO_TOKEN_BEGIN_LIST;
  t->window.cur = p + 1;
  return true;
}

static inline bool just_close(iso_tokenizer *t, const char *p) {
  uint8_t kind = t->kinds[t->depth];
  if (t->depth == 0 || closers[kind & 3] != *p || kind == (MAP | ODD)) return false;
  t->depth--;
  t->type = ISO_TOKEN_END;
  t->window.cur = p + 1;
  return true;
}

/* The tokens that make up nearly all of a history, in a function that calls nothing; the rest is any_next's. */
isoproof_status iso_edn_next(iso_tokenizer *t) {
  const char *p = t->window.cur;
  if (__builtin_expect(t->window.end - p < ISO_TOKEN_ROOM || t->discarding != 0, 0)) return any_next(t);
  uint8_t class = class_of(*p);
  for (int blanks = 0; (class & BLANK) != 0 && blanks < 4; blanks++) {
    if (class == NEWLINE) iso_token_newline(t, p);
    class = class_of(*++p);
  }
  t->start = p;
  t->token_line = t->line;
  bool done = false;
  if (class == DIGIT) {
    done = short_number(t, p);
  } else if (class == CLOSE) {
    if (just_close(t, p)) return ISOPROOF_OK;
  } else if (class == COLON) {
    done = short_keyword(t, p);
  } else if (class == OPEN) {
    if (just_open(t, p)) return ISOPROOF_OK;
  } else if (class == SYMBOL) {
    done = just_nil(t, p);
  }
  if (__builtin_expect(!done, 0)) {
    t->window.cur = p;
    return any_next(t);
  }
  t->kinds[t->depth] ^= ODD;
  return ISOPROOF_OK;
}

size_t iso_edn_integers(iso_tokenizer *t, uint32_t *numbers, size_t most) {
  const char *p = t->window.cur, *end = t->window.end;
  size_t count = 0;
  if (t->discarding != 0) return 0;
  while (count < most && end - p >= ISO_TOKEN_ROOM) {
    const char *q = p + (*p == ' ');
    uint64_t x = iso_scan_load(q);
    unsigned digits = iso_scan_before(iso_scan_not_digits(x));
    if (digits == 0 || digits == 8 || (*q == '0' && digits > 1)) break;
    if (q[digits] != ' ' && q[digits] != ']') break;
    numbers[count++] = (uint32_t)iso_scan_number(x, digits);
    p = q + digits;
  }
  t->window.cur = p;
  if (count % 2 == 1) t->kinds[t->depth] ^= ODD;
  return count;
}

void iso_edn_advance(iso_tokenizer *t, const char *to, size_t elements) {
  t->window.cur = to;
  if (elements % 2 == 1) t->kinds[t->depth] ^= ODD;
}
