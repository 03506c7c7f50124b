/* scan.c - cuts the text of a script into statements, backslash commands and comments, as psql and pgbench do. */
#include "script/scan.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* A statement while it is read. */
typedef struct statement {
  iso_scanner *s;
  ISO_VEC(char) text;
  ISO_VEC(iso_part) parts; /* text and name are set when the text is complete: until then `text` is NULL */
  ISO_VEC(size_t) starts;  /* of the parts in the text */
  bool creates, bodied;    /* CREATE TRIGGER and its like: semicolons between BEGIN and END belong to it */
  unsigned words, blocks, brackets;
} statement;

static isoproof_status fail(const iso_scanner *s, uint64_t line, const char *what) {
  iso_place place = {s->file, line, 1, -1};
  return iso_fail_at(s->error, ISOPROOF_ERR_USAGE, place, "%s", what);
}

static char peek(const iso_scanner *s, size_t ahead) { return s->at + ahead < s->end ? s->at[ahead] : 0; }

static bool is_name_byte(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

/* ---- pieces ---- */

static bool add(statement *t, const char *bytes, size_t length) {
  if (!iso_vec_reserve(&t->text, length + 1)) return false;
  memcpy(t->text.items + t->text.count, bytes, length);
  t->text.count += length;
  return true;
}

/* Takes bytes of the script as they are. */
static bool take(statement *t, size_t length) {
  for (size_t i = 0; i < length; i++) t->s->line += t->s->at[i] == '\n';
  bool good = add(t, t->s->at, length);
  t->s->at += length;
  return good;
}

static bool begin_part(statement *t, iso_part_kind kind, size_t name_length) {
  iso_part part = {.kind = kind, .length = name_length};
  return iso_vec_push(&t->parts, part) && iso_vec_push(&t->starts, t->text.count);
}

static void skip_line(iso_scanner *s) {
  while (s->at < s->end && *s->at != '\n') s->at++;
}

/* Comments of C, which nest as PostgreSQL has them. */
static isoproof_status skip_comment(iso_scanner *s) {
  uint64_t line = s->line;
  unsigned depth = 0;
  do {
    if (s->at >= s->end) return fail(s, line, "expected */ at the end of the comment, found the end of the script");
    if (peek(s, 0) == '/' && peek(s, 1) == '*') {
      depth++;
      s->at += 2;
    } else if (peek(s, 0) == '*' && peek(s, 1) == '/') {
      depth--;
      s->at += 2;
    } else {
      s->line += *s->at == '\n';
      s->at++;
    }
  } while (depth > 0);
  return ISOPROOF_OK;
}

/* ---- quotes ---- */

/* Whether a backslash in quotes takes the next byte with it: E'...' of PostgreSQL, everywhere in MariaDB. */
static bool escapes(const statement *t, char quote) {
  if (quote == '`') return false;
  if (t->s->quoting == ISO_QUOTING_MARIADB) return true;
  size_t n = t->text.count;
  if (quote != '\'' || n == 0 || (t->text.items[n - 1] != 'E' && t->text.items[n - 1] != 'e')) return false;
  return n == 1 || !is_name_byte(t->text.items[n - 2]);
}

static isoproof_status quoted(statement *t, char quote) {
  iso_scanner *s = t->s;
  uint64_t line = s->line;
  bool escaped = escapes(t, quote);
  size_t length = 1;
  while (s->at + length < s->end && s->at[length] != quote) length += escaped && s->at[length] == '\\' ? 2 : 1;
  if (s->at + length >= s->end) return fail(s, line, "a quote that is opened here is not closed");
  return take(t, length + 1) ? ISOPROOF_OK : iso_fail_memory(s->error);
}

/* $tag$ ... $tag$ */
static isoproof_status dollars(statement *t, bool *found) {
  iso_scanner *s = t->s;
  size_t tag = 1;
  while (is_name_byte(peek(s, tag)) && !(tag == 1 && isdigit((unsigned char)peek(s, tag)))) tag++;
  *found = peek(s, tag) == '$' && s->quoting == ISO_QUOTING_POSTGRES;
  if (!*found) return ISOPROOF_OK;
  tag++;
  const char *end = memmem(s->at + tag, (size_t)(s->end - s->at) - tag, s->at, tag);
  if (end == NULL) return fail(s, s->line, "a dollar quote that is opened here is not closed");
  return take(t, (size_t)(end - s->at) + tag) ? ISOPROOF_OK : iso_fail_memory(s->error);
}

/* ---- variables ---- */

/* :name, :'name', :"name"; anything else with a colon is text. */
static isoproof_status colon(statement *t) {
  iso_scanner *s = t->s;
  size_t colons = 0;
  while (peek(s, colons) == ':') colons++;
  char quote = peek(s, 1);
  bool quotes = quote == '\'' || quote == '"';
  size_t first = quotes ? 2 : 1, length = 0;
  while (is_name_byte(peek(s, first + length))) length++;
  bool good = colons == 1 && s->at + first < s->end && iso_script_name_valid(s->at + first, length) &&
              (!quotes || peek(s, first + length) == quote);
  if (!good) return take(t, colons) ? ISOPROOF_OK : iso_fail_memory(s->error);
  iso_part_kind kind = !quotes ? ISO_PART_PLAIN : quote == '"' ? ISO_PART_NAME : ISO_PART_TEXTUAL;
  size_t whole = first + length + (quotes ? 1 : 0);
  if (!begin_part(t, kind, length) || !take(t, whole) || !begin_part(t, ISO_PART_TEXT, 0))
    return iso_fail_memory(s->error);
  return ISOPROOF_OK;
}

/* ---- statements ---- */

static bool is_word(const char *word, size_t length, const char *text) {
  return strlen(text) == length && strncasecmp(word, text, length) == 0;
}

/* Counts the blocks of bodies. */
static bool word(statement *t) {
  static const char *const with_bodies[] = {"trigger", "procedure", "function", "event"};
  enum { EARLY = 6 };
  size_t length = 0;
  while (is_name_byte(peek(t->s, length))) length++;
  const char *w = t->s->at;
  t->creates |= t->words == 0 && is_word(w, length, "create");
  for (size_t i = 0; t->creates && t->words < EARLY && i < sizeof with_bodies / sizeof *with_bodies; i++)
    t->bodied |= is_word(w, length, with_bodies[i]);
  if (t->bodied && (is_word(w, length, "begin") || is_word(w, length, "case"))) t->blocks++;
  if (t->bodied && t->blocks > 0 && is_word(w, length, "end")) t->blocks--;
  t->words++;
  return take(t, length);
}

static bool blank(statement *t) {
  while (isspace((unsigned char)peek(t->s, 0))) {
    t->s->line += *t->s->at == '\n';
    t->s->at++;
  }
  return t->text.count == 0 || t->text.items[t->text.count - 1] == ' ' || add(t, " ", 1);
}

/* Whether the comment stands on a line of its own and begins as those that open sections: the semicolon before it was
 * forgotten. */
static bool opens_section(const iso_scanner *s) {
  static const char *const openings[] = {"setup", "transaction", "invariant", "teardown", "expect"};
  const char *before = s->at, *first = s->at + 2;
  while (before > s->start && (before[-1] == ' ' || before[-1] == '\t')) before--;
  if (before > s->start && before[-1] != '\n') return false;
  while (first < s->end && (*first == ' ' || *first == '\t')) first++;
  size_t length = 0;
  while (first + length < s->end && is_name_byte(first[length])) length++;
  for (size_t i = 0; i < sizeof openings / sizeof *openings; i++)
    if (is_word(first, length, openings[i])) return true;
  return false;
}

/* One piece of a statement; *ended when it is complete. */
static isoproof_status piece(statement *t, bool *ended, bool *open) {
  iso_scanner *s = t->s;
  char c = *s->at, next = peek(s, 1);
  bool good = true, found = false;
  if (c == '\\' || (c == ';' && t->blocks == 0 && t->brackets == 0)) {
    *ended = true;
    *open = c == '\\';
    if (c == ';') s->at++;
    return ISOPROOF_OK;
  }
  if (c == '-' && next == '-') {
    *ended = opens_section(s);
    if (!*ended) skip_line(s);
    return ISOPROOF_OK;
  }
  if (c == '/' && next == '*' && peek(s, 2) != '!' && peek(s, 2) != '+') {
    ISO_TRY(skip_comment(s));
    return blank(t) ? ISOPROOF_OK : iso_fail_memory(s->error);
  }
  if (c == '\'' || c == '"' || c == '`') return quoted(t, c);
  if (c == ':') return colon(t);
  if (c == '$') {
    ISO_TRY(dollars(t, &found));
    if (found) return ISOPROOF_OK;
  }
  if (c == '(') t->brackets++;
  if (c == ')' && t->brackets > 0) t->brackets--;
  if (isspace((unsigned char)c))
    good = blank(t);
  else
    good = is_name_byte(c) ? word(t) : take(t, 1);
  return good ? ISOPROOF_OK : iso_fail_memory(s->error);
}

/* Lets the parts point into the text, which lies where it stays now. */
static isoproof_status settle(statement *t, iso_scanned *found) {
  iso_scanner *s = t->s;
  while (t->text.count > 0 && t->text.items[t->text.count - 1] == ' ') t->text.count--;
  const char *text = iso_arena_text(s->arena, t->text.items != NULL ? t->text.items : "", t->text.count);
  iso_part *parts = iso_arena_alloc(s->arena, t->parts.count, sizeof *parts);
  if (text == NULL || parts == NULL) return iso_fail_memory(s->error);
  for (size_t i = 0; i < t->parts.count; i++) {
    iso_part part = t->parts.items[i];
    size_t start = t->starts.items[i] < t->text.count ? t->starts.items[i] : t->text.count;
    size_t end =
        i + 1 < t->parts.count && t->starts.items[i + 1] < t->text.count ? t->starts.items[i + 1] : t->text.count;
    part.text = text + start;
    if (part.kind != ISO_PART_TEXT) {
      part.name = iso_arena_text(s->arena, part.text + (part.kind == ISO_PART_PLAIN ? 1 : 2), part.length);
      if (part.name == NULL) return iso_fail_memory(s->error);
    }
    part.length = end - start;
    parts[i] = part;
  }
  found->source = text;
  found->length = t->text.count;
  found->parts = parts;
  found->part_count = t->parts.count;
  return ISOPROOF_OK;
}

static isoproof_status read_statement(statement *t, iso_scanned *found) {
  bool ended = false;
  if (!begin_part(t, ISO_PART_TEXT, 0)) return iso_fail_memory(t->s->error);
  while (!ended && t->s->at < t->s->end) ISO_TRY(piece(t, &ended, &found->open));
  return settle(t, found);
}

static isoproof_status scan_statement(iso_scanner *s, iso_scanned *found) {
  statement t = {.s = s};
  found->kind = ISO_SCANNED_SQL;
  isoproof_status status = read_statement(&t, found);
  iso_vec_free(&t.text);
  iso_vec_free(&t.parts);
  iso_vec_free(&t.starts);
  return status;
}

/* ---- lines ---- */

/* A backslash command ends with its line, unless a backslash at the end of the line joins the next one. */
static isoproof_status scan_command(iso_scanner *s, iso_scanned *found) {
  const char *start = ++s->at;
  while (s->at < s->end && (*s->at != '\n' || (s->at > start && s->at[-1] == '\\'))) {
    s->line += *s->at == '\n';
    s->at++;
  }
  size_t length = (size_t)(s->at - start);
  char *copy = iso_arena_text(s->arena, start, length);
  if (copy == NULL) return iso_fail_memory(s->error);
  for (size_t i = 0; i < length; i++)
    if (isspace((unsigned char)copy[i]) || (copy[i] == '\\' && copy[i + 1] == '\n')) copy[i] = ' ';
  while (length > 0 && copy[length - 1] == ' ') copy[--length] = 0;
  *found = (iso_scanned){.kind = ISO_SCANNED_COMMAND, .line = found->line, .source = copy, .length = length};
  return ISOPROOF_OK;
}

static isoproof_status scan_line_comment(iso_scanner *s, iso_scanned *found) {
  s->at += 2;
  while (s->at < s->end && *s->at != '\n' && isspace((unsigned char)*s->at)) s->at++;
  const char *start = s->at;
  skip_line(s);
  size_t length = (size_t)(s->at - start);
  while (length > 0 && isspace((unsigned char)start[length - 1])) length--;
  const char *copy = iso_arena_text(s->arena, start, length);
  *found = (iso_scanned){.kind = ISO_SCANNED_COMMENT, .line = found->line, .source = copy, .length = length};
  return copy != NULL ? ISOPROOF_OK : iso_fail_memory(s->error);
}

isoproof_status iso_scan(iso_scanner *s, iso_scanned *found) {
  for (;;) {
    while (s->at < s->end && (isspace((unsigned char)*s->at) || *s->at == ';')) {
      s->line += *s->at == '\n';
      s->at++;
    }
    *found = (iso_scanned){.kind = ISO_SCANNED_END, .line = s->line};
    if (s->at >= s->end) return ISOPROOF_OK;
    if (*s->at == '\\') return scan_command(s, found);
    if (*s->at == '-' && peek(s, 1) == '-') return scan_line_comment(s, found);
    bool comment = *s->at == '/' && peek(s, 1) == '*' && peek(s, 2) != '!' && peek(s, 2) != '+';
    if (!comment) return scan_statement(s, found);
    ISO_TRY(skip_comment(s));
  }
}

isoproof_status iso_scan_parts(iso_arena *arena, const char *text, size_t length, const iso_part **parts, size_t *count,
                               isoproof_error *error) {
  iso_scanner s = {
      .arena = arena, .file = "", .start = text, .at = text, .end = text + length, .line = 1, .error = error};
  iso_scanned found = {.kind = ISO_SCANNED_SQL};
  ISO_TRY(scan_statement(&s, &found));
  *parts = found.parts;
  *count = found.part_count;
  return ISOPROOF_OK;
}
