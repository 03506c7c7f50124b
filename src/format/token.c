/* What both halves of the tokenizer share: opening, strings with their escapes, numbers, and errors. */
#include "format/token.h"

#include "base/text.h"
#include "format/token_scan.h"

/* Goes over a byte order mark at the start. */
static void skip_mark(iso_tokenizer *t) {
  static const char mark[] = "\xef\xbb\xbf";
  if (t->window.end - t->window.cur < 3 || memcmp(t->window.cur, mark, 3) != 0) return;
  t->window.cur += 3;
  t->line_offset = 3;
}

isoproof_status iso_tokenizer_init(iso_tokenizer *t, iso_input *input, iso_token_dialect dialect,
                                   isoproof_error *error) {
  memset(t, 0, sizeof *t);
  t->dialect = dialect;
  t->error = error;
  t->line = t->token_line = 1;
  ISO_TRY(iso_window_init(&t->window, input, error));
  t->start = t->window.cur;
  isoproof_status status = iso_token_room(t);
  if (status != ISOPROOF_OK) {
    iso_tokenizer_free(t);
    return status;
  }
  skip_mark(t);
  return ISOPROOF_OK;
}

isoproof_status iso_tokenizer_feed(iso_tokenizer *t, const char *bytes, size_t size) {
  bool first = iso_window_at(&t->window) == 0 && t->window.cur == t->window.end;
  ISO_TRY(iso_window_feed(&t->window, bytes, size, t->error));
  if (first) skip_mark(t);
  t->start = t->window.cur;
  return ISOPROOF_OK;
}

bool iso_tokenizer_used_up(const iso_tokenizer *t) {
  for (const char *p = t->window.cur; p < t->window.end; p++) {
    if (*p == ';' && t->dialect == ISO_TOKEN_DIALECT_EDN) {
      p = memchr(p, '\n', (size_t)(t->window.end - p));
      if (p == NULL) return true;
    } else if (*p != ' ' && *p != '\n' && *p != '\t' && *p != '\r' && *p != ',') {
      return false;
    }
  }
  return true;
}

void iso_tokenizer_free(iso_tokenizer *t) {
  iso_window_free(&t->window);
  iso_vec_free(&t->text);
}

void iso_tokenizer_on_text(iso_tokenizer *t, iso_token_dialect dialect, const char *text, size_t length,
                           isoproof_error *error) {
  t->dialect = dialect;
  t->error = error;
  t->line = t->token_line = t->line_offset = 0;
  t->depth = 0;
  t->kinds[0] = 0;
  iso_json_top(t, false);
  t->failed = false;
  t->discarding = 0;
  memset(t->discards, 0, sizeof t->discards);
  /* The window is at its end and so never written to. */
  t->window = (iso_window){.buffer = (char *)(uintptr_t)text, .cur = text, .end = text + length, .at_end = true};
  t->start = text;
}

bool iso_token_next_line(iso_tokenizer *t) {
  const char *p = t->window.cur;
  bool commas = t->dialect == ISO_TOKEN_DIALECT_EDN;
  while (p < t->window.end && (*p == ' ' || *p == '\t' || *p == '\r' || (commas && *p == ','))) p++;
  if (p == t->window.end || *p != '\n') return false;
  iso_token_newline(t, p);
  t->window.cur = p + 1;
  if (t->dialect == ISO_TOKEN_DIALECT_JSON && t->depth == 0) iso_json_top(t, false);
  return true;
}

isoproof_status iso_token_room(iso_tokenizer *t) {
  while (t->window.end - t->window.cur < ISO_TOKEN_ROOM && !t->window.at_end) {
    ISO_TRY(iso_window_more(&t->window, NULL, ISO_TOKEN_LONGEST, t->error));
  }
  t->start = t->window.cur;
  return ISOPROOF_OK;
}

isoproof_status iso_token_grow(iso_tokenizer *t, const char **p) {
  size_t at = (size_t)(*p - t->start);
  t->window.cur = t->start;
  ISO_TRY(iso_window_more(&t->window, &t->start, ISO_TOKEN_LONGEST, t->error));
  *p = t->start + at;
  return ISOPROOF_OK;
}

isoproof_status iso_token_skip(iso_tokenizer *t) {
  return t->type >= ISO_TOKEN_BEGIN_LIST ? iso_token_leave(t, t->depth - 1) : ISOPROOF_OK;
}

isoproof_status iso_token_leave(iso_tokenizer *t, uint32_t depth) {
  while (t->depth > depth) ISO_TRY(iso_token_next(t));
  return ISOPROOF_OK;
}

isoproof_status iso_token_newline_follows(iso_tokenizer *t, bool *follows) {
  iso_window *window = &t->window;
  *follows = false;
  for (;;) {
    size_t length = (size_t)(window->end - window->cur);
    if (length > 0 && memchr(window->cur, '\n', length) != NULL) {
      *follows = true;
      return ISOPROOF_OK;
    }
    if (window->at_end) return ISOPROOF_OK;
    window->cur = window->end;
    ISO_TRY(iso_window_more(window, NULL, ISO_TOKEN_LONGEST, t->error));
  }
}

isoproof_status iso_token_push(iso_tokenizer *t, uint8_t kind) {
  if (t->depth == ISO_TOKEN_DEPTH) {
    return iso_fail_at(t->error, ISOPROOF_ERR_LIMIT, iso_token_place(t),
                       "expected at most %d nested levels, found more", ISO_TOKEN_DEPTH);
  }
  t->kinds[++t->depth] = kind;
  return ISOPROOF_OK;
}

void iso_token_integer(iso_tokenizer *t, bool negative, const char *digits, size_t count, size_t verbatim) {
  uint64_t magnitude;
  if (!iso_parse_u64(digits, count, &magnitude) || (negative && magnitude > (uint64_t)INT64_MAX + 1)) {
    iso_token_text(t, ISOPROOF_SYMBOL, t->start, verbatim);
    return;
  }
  iso_token_number(t, (int64_t)(negative ? UINT64_C(0) - magnitude : magnitude));
  if (!negative && magnitude > INT64_MAX) t->scalar.type = ISOPROOF_UNSIGNED;
}

bool iso_token_is_symbol(iso_token_dialect dialect, const char *text, size_t length) {
  if (length == 0 || length > ISO_TOKEN_LONGEST) return false;
  iso_tokenizer t = {.type = ISO_TOKEN_END_OF_INPUT};
  iso_tokenizer_on_text(&t, dialect, text, length, NULL);
  bool one = iso_token_next(&t) == ISOPROOF_OK && t.type == ISO_TOKEN_SCALAR && t.scalar.type == ISOPROOF_SYMBOL &&
             t.start == text && t.window.cur == t.window.end;
  iso_vec_free(&t.text);
  return one;
}

/* ---- errors ---- */

static const char *name_of(const iso_tokenizer *t) {
  return t->window.input != NULL ? iso_input_name(t->window.input) : NULL;
}

iso_place iso_token_place(const iso_tokenizer *t) {
  uint64_t offset = iso_token_offset(t, t->start);
  uint64_t column = offset >= t->line_offset ? offset - t->line_offset + 1 : 0;
  return (iso_place){name_of(t), t->token_line, column, (int64_t)offset};
}

isoproof_status iso_token_expected(iso_tokenizer *t, const char *what) {
  char quoted[256];
  const char *found = iso_quote(t->start, (size_t)(t->window.cur - t->start), quoted);
  return iso_fail_at(t->error, ISOPROOF_ERR_FORMAT, iso_token_place(t), "expected %s, found %s", what, found);
}

isoproof_status iso_token_broken(iso_tokenizer *t, const char *p, const char *what) {
  enum { SHOWN = 16 };
  t->failed = true;
  size_t length = (size_t)(t->window.end - p), shown = 0;
  while (shown < length && shown < SHOWN && (shown == 0 || p[shown] != '\n')) shown++;
  char quoted[256];
  const char *found = iso_quote(p, shown, quoted);
  uint64_t offset = iso_token_offset(t, p);
  iso_place place = {name_of(t), t->line, offset - t->line_offset + 1, (int64_t)offset};
  return iso_fail_at(t->error, ISOPROOF_ERR_FORMAT, place, "expected %s, found %s", what, found);
}

/* ---- strings ---- */

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* Makes sure that `count` bytes follow *p unless the input ends. */
static isoproof_status need(iso_tokenizer *t, const char **p, ptrdiff_t count) {
  while (t->window.end - *p < count && !t->window.at_end) ISO_TRY(iso_token_grow(t, p));
  return ISOPROOF_OK;
}

/* The four digits after a backslash and a u at *p. */
static isoproof_status unicode_unit(iso_tokenizer *t, const char **p, uint32_t *unit) {
  ISO_TRY(need(t, p, 6));
  uint32_t code = 0;
  for (int i = 2; i < 6; i++) {
    int digit = t->window.end - *p > i ? hex_digit((*p)[i]) : -1;
    if (digit < 0) return iso_token_broken(t, *p, "\\u and four hexadecimal digits");
    code = code << 4 | (uint32_t)digit;
  }
  *unit = code;
  *p += 6;
  return ISOPROOF_OK;
}

/* An escape of a code point by \u, perhaps a pair of them. */
static isoproof_status unicode_escape(iso_tokenizer *t, const char **p) {
  uint32_t code = 0, low = 0;
  ISO_TRY(unicode_unit(t, p, &code));
  if (code >= 0xdc00 && code < 0xe000) return iso_token_broken(t, *p - 6, "no second half of a surrogate pair");
  if (code >= 0xd800 && code < 0xdc00) {
    ISO_TRY(need(t, p, 2));
    if (t->window.end - *p < 2 || (*p)[0] != '\\' || (*p)[1] != 'u') {
      return iso_token_broken(t, *p, "the second half of a surrogate pair");
    }
    ISO_TRY(unicode_unit(t, p, &low));
    if (low < 0xdc00 || low >= 0xe000) return iso_token_broken(t, *p - 6, "the second half of a surrogate pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  if (!iso_vec_reserve(&t->text, 4)) return iso_fail_memory(t->error);
  t->text.count += iso_utf8_encode(code, t->text.items + t->text.count);
  return ISOPROOF_OK;
}

/* Replaces the escape at *p by what it stands for. */
static isoproof_status escape(iso_tokenizer *t, const char **p) {
  static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  ISO_TRY(need(t, p, 2));
  char c = '\0';
  if (t->window.end - *p >= 2) c = (*p)[1];
  if (c == 'u') return unicode_escape(t, p);
  const char *known = c != '\0' ? strchr(plain, c) : NULL;
  if (known == NULL || (c == '/' && t->dialect == ISO_TOKEN_DIALECT_EDN)) {
    return iso_token_broken(t, *p,
                            t->dialect == ISO_TOKEN_DIALECT_EDN ? "an escape (one of \\\" \\\\ \\b \\f \\n \\r \\t \\u)"
                                                                : "an escape (one of \\\" \\\\ \\/ \\b \\f \\n \\r "
                                                                  "\\t \\u)");
  }
  if (!iso_vec_push(&t->text, meant[known - plain])) return iso_fail_memory(t->error);
  *p += 2;
  return ISOPROOF_OK;
}

/* Copies what was scanned since the last escape, from `from` bytes after the start of the token. */
static isoproof_status copy_plain(iso_tokenizer *t, size_t from, const char *p) {
  size_t length = (size_t)(p - t->start) - from;
  if (!iso_vec_reserve(&t->text, length)) return iso_fail_memory(t->error);
  if (length > 0) memcpy(t->text.items + t->text.count, t->start + from, length);
  t->text.count += length;
  return ISOPROOF_OK;
}

/* Goes over a character at *p that is neither plain ASCII, a quote nor a backslash. */
static isoproof_status odd_character(iso_tokenizer *t, const char **p) {
  unsigned char c = (unsigned char)**p;
  if (c < 0x20) {
    if (c == 0 || t->dialect == ISO_TOKEN_DIALECT_JSON) {
      return iso_token_broken(t, *p, c == 0 ? "no NUL byte" : "no control character inside a string");
    }
    if (c == '\n') iso_token_newline(t, *p);
    *p += 1;
    return ISOPROOF_OK;
  }
  ISO_TRY(need(t, p, 4));
  size_t step = iso_utf8_step(*p, (size_t)(t->window.end - *p));
  if (step == 0) return iso_token_broken(t, *p, "UTF-8");
  *p += step;
  return ISOPROOF_OK;
}

/* The first quote, backslash, control character or byte above 0x7f in [p, end), else end. */
static const char *string_special(const char *p, const char *end) {
  while (end - p >= 8) {
    uint64_t marks = iso_scan_string_specials(iso_scan_load(p));
    if (marks != 0) return p + iso_scan_before(marks);
    p += 8;
  }
  while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80) p++;
  return p;
}

isoproof_status iso_token_string(iso_tokenizer *t) {
  const char *p = t->start + 1;
  size_t plain = 1; /* offset of what follows the last escape */
  t->text.count = 0;
  for (;;) {
    p = string_special(p, t->window.end);
    if (p == t->window.end) {
      if (t->window.at_end) return iso_token_broken(t, p, "`\"` at the end of the string");
      ISO_TRY(iso_token_grow(t, &p));
    } else if (*p == '"') {
      break;
    } else if (*p == '\\') {
      ISO_TRY(copy_plain(t, plain, p));
      ISO_TRY(escape(t, &p));
      plain = (size_t)(p - t->start);
    } else {
      ISO_TRY(odd_character(t, &p));
    }
  }
  if (p - t->start > ISO_TOKEN_LONGEST) {
    return iso_fail_at(t->error, ISOPROOF_ERR_LIMIT, iso_token_place(t), "a string of more than %d bytes",
                       ISO_TOKEN_LONGEST);
  }
  if (plain == 1) {
    iso_token_text(t, ISOPROOF_STRING, t->start + 1, (size_t)(p - t->start) - 1);
  } else {
    ISO_TRY(copy_plain(t, plain, p));
    iso_token_text(t, ISOPROOF_STRING, t->text.items, t->text.count);
  }
  t->window.cur = p + 1;
  return ISOPROOF_OK;
}
