/* Cuts SQL into tokens, as each dialect does. */
#include "track/sql.h"

#include <string.h>
#include <strings.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}
static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
static bool is_in_word(char c) { return is_letter(c) || is_digit(c) || c == '$'; }

typedef struct {
  iso_sql *sql;
  const char *text;
  uint32_t at, length;
  const char *problem;
} scanner;

static char peek(const scanner *s, uint32_t ahead) { return s->at + ahead < s->length ? s->text[s->at + ahead] : '\0'; }

/* ---- what is left out ---- */

static void skip_line(scanner *s) {
  while (s->at < s->length && s->text[s->at] != '\n') s->at++;
}

static void skip_block(scanner *s) {
  bool nests = s->sql->dialect == ISO_TRACK_POSTGRES;
  uint32_t depth = 1;
  if (s->sql->dialect == ISO_TRACK_MARIADB && (peek(s, 2) == '!' || (peek(s, 2) == 'M' && peek(s, 3) == '!'))) {
    s->problem = "it has a comment that MariaDB executes";
  }
  s->at += 2;
  while (s->at < s->length && depth > 0) {
    if (peek(s, 0) == '*' && peek(s, 1) == '/') {
      depth--;
      s->at += 2;
    } else if (nests && peek(s, 0) == '/' && peek(s, 1) == '*') {
      depth++;
      s->at += 2;
    } else {
      s->at++;
    }
  }
  if (depth > 0) s->problem = "a comment does not end";
}

static void skip_blank(scanner *s) {
  bool mariadb = s->sql->dialect == ISO_TRACK_MARIADB;
  while (s->at < s->length && s->problem == NULL) {
    char c = peek(s, 0), next = peek(s, 1), third = peek(s, 2);
    if (is_space(c)) {
      s->at++;
    } else if (c == '-' && next == '-' && (!mariadb || third == '\0' || is_space(third))) {
      skip_line(s);
    } else if (c == '#' && mariadb) {
      skip_line(s);
    } else if (c == '/' && next == '*') {
      skip_block(s);
    } else {
      return;
    }
  }
}

/* ---- tokens ---- */

/* Up to the closing quote, which doubled stands for itself; false when it does not come.  *plain: nothing else has a
 * meaning in it. */
static bool quoted(scanner *s, char quote, bool backslashes, bool *plain) {
  s->at++;
  *plain = true;
  while (s->at < s->length) {
    char c = s->text[s->at++];
    if (c == '\\' && backslashes) {
      *plain = false;
      s->at++;
    } else if (c == quote) {
      if (peek(s, 0) != quote) return true;
      s->at++;
    }
  }
  return false;
}

static bool dollar_quoted(scanner *s) {
  uint32_t tag = 1;
  while (is_letter(peek(s, tag)) || (tag > 1 && is_digit(peek(s, tag)))) tag++;
  if (peek(s, tag) != '$') return false;
  tag++;
  for (uint32_t i = s->at + tag; i + tag <= s->length; i++) {
    if (memcmp(s->text + i, s->text + s->at, tag) != 0) continue;
    s->at = i + tag;
    return true;
  }
  s->problem = "a string does not end";
  return true;
}

static iso_sql_type number(scanner *s) {
  bool plain = true;
  while (is_digit(peek(s, 0))) s->at++;
  while (is_in_word(peek(s, 0)) || peek(s, 0) == '.') {
    bool exponent = (peek(s, 0) == 'e' || peek(s, 0) == 'E') && (peek(s, 1) == '+' || peek(s, 1) == '-');
    s->at += exponent ? 2 : 1;
    plain = false;
  }
  return plain ? ISO_SQL_NUMBER : ISO_SQL_OTHER_NUMBER;
}

/* Prefixes of strings with a meaning of their own: E'', B'', X'', N'', U&''. */
static bool is_string_prefix(const scanner *s) {
  char c = peek(s, 0);
  bool known = c == 'e' || c == 'E' || c == 'b' || c == 'B' || c == 'x' || c == 'X' || c == 'n' || c == 'N';
  return (known && peek(s, 1) == '\'') ||
         ((c == 'u' || c == 'U') && peek(s, 1) == '&' && (peek(s, 2) == '\'' || peek(s, 2) == '"'));
}

static iso_sql_type prefixed_string(scanner *s) {
  bool plain, escapes = peek(s, 0) == 'e' || peek(s, 0) == 'E' || s->sql->dialect == ISO_TRACK_MARIADB;
  s->at += peek(s, 1) == '&' ? 2 : 1;
  if (!quoted(s, peek(s, 0), escapes, &plain)) s->problem = "a string does not end";
  return ISO_SQL_OTHER_STRING;
}

static iso_sql_type string_or_name(scanner *s) {
  char c = peek(s, 0);
  bool mariadb = s->sql->dialect == ISO_TRACK_MARIADB, plain = true;
  bool text = c == '\'' || (c == '"' && mariadb);
  if (c == '[') {
    while (s->at < s->length && s->text[s->at] != ']') s->at++;
    if (s->at++ >= s->length) s->problem = "a name does not end";
    return ISO_SQL_QUOTED;
  }
  if (!quoted(s, c, text && mariadb, &plain)) s->problem = text ? "a string does not end" : "a name does not end";
  if (!text) return ISO_SQL_QUOTED;
  return plain && c == '\'' ? ISO_SQL_STRING : ISO_SQL_OTHER_STRING;
}

/* :name, :'name'; false for a colon that is none of them. */
static bool variable(scanner *s, iso_sql_type *type) {
  bool in_quotes = peek(s, 1) == '\'';
  uint32_t first = in_quotes ? 2 : 1, end = first;
  if (!is_letter(peek(s, first))) return false;
  while (is_letter(peek(s, end)) || is_digit(peek(s, end))) end++;
  if (in_quotes && peek(s, end) != '\'') return false;
  s->at += in_quotes ? end + 1 : end;
  *type = in_quotes ? ISO_SQL_QUOTED_VARIABLE : ISO_SQL_VARIABLE;
  return true;
}

static void symbol(scanner *s) {
  static const char *const doubles[] = {"::", "<=>", "<>", "!=", "<=", ">=", "==", "||",
                                        ":=", "->>", "->", "@>", "<@", "@@", NULL};
  for (size_t i = 0; doubles[i] != NULL; i++) {
    uint32_t length = (uint32_t)strlen(doubles[i]);
    if (s->at + length > s->length || memcmp(s->text + s->at, doubles[i], length) != 0) continue;
    s->at += length;
    return;
  }
  s->at++;
}

static iso_sql_type token(scanner *s) {
  iso_track_dialect dialect = s->sql->dialect;
  char c = peek(s, 0);
  iso_sql_type type = ISO_SQL_SYMBOL;
  if (c == ISO_SQL_VERSION_MARK) {
    s->at++;
    return ISO_SQL_VERSION;
  }
  if (is_string_prefix(s)) return prefixed_string(s);
  if (is_letter(c)) {
    while (is_in_word(peek(s, 0))) s->at++;
    return ISO_SQL_WORD;
  }
  if (is_digit(c) || (c == '.' && is_digit(peek(s, 1)))) return number(s);
  if (c == '\'' || c == '"' || (c == '`' && dialect != ISO_TRACK_POSTGRES) ||
      (c == '[' && dialect == ISO_TRACK_SQLITE)) {
    return string_or_name(s);
  }
  if (c == '$' && dialect == ISO_TRACK_POSTGRES && dollar_quoted(s)) return ISO_SQL_OTHER_STRING;
  if (c == ':' && peek(s, 1) != ':' && variable(s, &type)) return type;
  symbol(s);
  return ISO_SQL_SYMBOL;
}

/* ---- parentheses ---- */

static bool pair_up(iso_sql *sql, isoproof_status *status, isoproof_error *error) {
  ISO_VEC(uint32_t) open = {NULL, 0, 0};
  bool sound = true;
  for (uint32_t i = 0; i < sql->count && sound && *status == ISOPROOF_OK; i++) {
    iso_sql_token *t = &sql->tokens.items[i];
    bool opens = iso_sql_symbol(sql, i, "("), closes = iso_sql_symbol(sql, i, ")");
    if (closes && open.count > 0) {
      t->match = open.items[--open.count];
      sql->tokens.items[t->match].match = i;
    } else if (closes) {
      sound = false;
    }
    t->depth = (uint32_t)open.count;
    if (opens && !iso_vec_push(&open, i)) *status = iso_fail_memory(error);
  }
  sound = sound && open.count == 0;
  iso_vec_free(&open);
  return sound;
}

isoproof_status iso_sql_read(iso_track_dialect dialect, const char *text, iso_sql *sql, isoproof_error *error) {
  *sql = (iso_sql){.dialect = dialect, .text = strdup(text)};
  size_t length = strlen(text);
  if (sql->text == NULL) return iso_fail_memory(error);
  if (length > ISO_MOST_SQL_BYTES) return iso_fail(error, ISOPROOF_ERR_LIMIT, "a statement of %zu bytes", length);
  scanner s = {.sql = sql, .text = sql->text, .length = (uint32_t)length};
  bool ended = false;
  for (;;) {
    skip_blank(&s);
    iso_sql_token made = {.start = s.at};
    if (s.problem != NULL || s.at >= s.length) break;
    if (ended && peek(&s, 0) != ';') s.problem = "it is more than one statement";
    ended = ended || peek(&s, 0) == ';';
    if (peek(&s, 0) == ';') {
      s.at++;
      continue;
    }
    made.type = token(&s);
    if (s.at > s.length) s.at = s.length;
    made.length = s.at - made.start;
    if (!iso_vec_push(&sql->tokens, made)) return iso_fail_memory(error);
  }
  sql->count = (uint32_t)sql->tokens.count;
  if (!iso_vec_push(&sql->tokens, ((iso_sql_token){.type = ISO_SQL_END, .start = (uint32_t)length})))
    return iso_fail_memory(error);
  isoproof_status status = ISOPROOF_OK;
  if (!pair_up(sql, &status, error) && s.problem == NULL) s.problem = "its parentheses do not match";
  sql->problem = s.problem;
  if (s.problem != NULL) sql->count = 0;
  if (s.problem != NULL) sql->tokens.items[0] = sql->tokens.items[sql->tokens.count - 1];
  return status;
}

void iso_sql_free(iso_sql *sql) {
  free(sql->text);
  sql->text = NULL;
  iso_vec_free(&sql->tokens);
  sql->count = 0;
}

/* ---- looking at tokens ---- */

bool iso_sql_is(const iso_sql *sql, uint32_t at, const char *word) {
  if (at >= sql->count) return false;
  const iso_sql_token *t = &sql->tokens.items[at];
  return t->type == ISO_SQL_WORD && strlen(word) == t->length &&
         strncasecmp(sql->text + t->start, word, t->length) == 0;
}

bool iso_sql_symbol(const iso_sql *sql, uint32_t at, const char *text) {
  if (at >= sql->count) return false;
  const iso_sql_token *t = &sql->tokens.items[at];
  return t->type == ISO_SQL_SYMBOL && strlen(text) == t->length && memcmp(sql->text + t->start, text, t->length) == 0;
}

bool iso_sql_is_name(const iso_sql *sql, uint32_t at) {
  if (at >= sql->count) return false;
  return sql->tokens.items[at].type == ISO_SQL_WORD || sql->tokens.items[at].type == ISO_SQL_QUOTED;
}

const char *iso_sql_name(const iso_sql *sql, uint32_t at, iso_arena *arena) {
  const iso_sql_token *t = &sql->tokens.items[at];
  const char *from = sql->text + t->start;
  char *made = iso_arena_text(arena, from, t->length);
  if (made == NULL) return NULL;
  if (t->type == ISO_SQL_WORD) {
    for (char *c = made; sql->dialect == ISO_TRACK_POSTGRES && *c != '\0'; c++) {
      if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
    }
    return made;
  }
  char quote = from[0];
  size_t out = 0;
  for (size_t i = 1; i + 1 < t->length; i++) {
    made[out++] = from[i];
    if (from[i] == quote && from[i + 1] == quote) i++;
  }
  made[out] = '\0';
  return made;
}

const char *iso_sql_variable(const iso_sql *sql, uint32_t at, iso_arena *arena) {
  const iso_sql_token *t = &sql->tokens.items[at];
  bool in_quotes = t->type == ISO_SQL_QUOTED_VARIABLE;
  return iso_arena_text(arena, sql->text + t->start + (in_quotes ? 2 : 1), t->length - (in_quotes ? 3 : 1));
}

bool iso_sql_same_name(iso_track_dialect dialect, const char *a, const char *b) {
  return dialect == ISO_TRACK_POSTGRES ? strcmp(a, b) == 0 : strcasecmp(a, b) == 0;
}

const char *iso_sql_quote_name(iso_track_dialect dialect, const char *name, iso_arena *arena) {
  char quote = dialect == ISO_TRACK_MARIADB ? '`' : '"';
  size_t length = strlen(name), out = 0;
  char *made = iso_arena_alloc(arena, 2 * length + 3, 1);
  if (made == NULL) return NULL;
  made[out++] = quote;
  for (size_t i = 0; i < length; i++) {
    if (name[i] == quote) made[out++] = quote;
    made[out++] = name[i];
  }
  made[out] = quote;
  return made;
}

uint32_t iso_sql_skip(const iso_sql *sql, uint32_t at) {
  return (iso_sql_symbol(sql, at, "(") ? sql->tokens.items[at].match : at) + 1;
}

uint32_t iso_sql_find(const iso_sql *sql, uint32_t first, uint32_t end, const char *const *words) {
  for (uint32_t i = first; i < end; i = iso_sql_skip(sql, i)) {
    bool dotted = i > 0 && iso_sql_symbol(sql, i - 1, ".");
    for (size_t w = 0; words[w] != NULL && !dotted; w++) {
      if (iso_sql_is(sql, i, words[w])) return i;
    }
  }
  return end;
}

uint32_t iso_sql_part(const iso_sql *sql, uint32_t first, uint32_t end) {
  while (first < end && !iso_sql_symbol(sql, first, ",")) first = iso_sql_skip(sql, first);
  return first < end ? first : end;
}
