/* toml.c - keys, tables and arrays of TOML, without recursion. */
#include "toml/toml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "toml/parser.h"

/* ---- errors ---- */

static isoproof_status fail(iso_toml_parser *p, uint64_t line, uint64_t column, const char *format, va_list arguments) {
  char text[512];
  vsnprintf(text, sizeof text, format, arguments);
  iso_place place = {p->document->file, line, column, -1};
  return iso_fail_at(p->error, ISOPROOF_ERR_FORMAT, place, "%s", text);
}

isoproof_status iso_toml_fail(iso_toml_parser *p, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  isoproof_status status = fail(p, p->line, iso_toml_column(p), format, arguments);
  va_end(arguments);
  return status;
}

isoproof_status iso_toml_fail_at(iso_toml_parser *p, uint64_t line, uint64_t column, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  isoproof_status status = fail(p, line, column, format, arguments);
  va_end(arguments);
  return status;
}

isoproof_status iso_toml_expected(iso_toml_parser *p, const char *what) {
  char quoted[256];
  size_t left = (size_t)(p->end - p->at), length = 0;
  while (length < left && length < 40 && p->at[length] != '\n' && p->at[length] != '\r') length++;
  if (left > 0 && length == 0) return iso_toml_fail(p, "expected %s, found the end of the line", what);
  return iso_toml_fail(p, "expected %s, found %s", what, iso_quote(p->at, length, quoted));
}

/* ---- space ---- */

static void skip_space(iso_toml_parser *p) {
  while (p->at < p->end && (*p->at == ' ' || *p->at == '\t')) p->at++;
}

static isoproof_status skip_comment(iso_toml_parser *p) {
  if (iso_toml_peek(p) != '#') return ISOPROOF_OK;
  for (; p->at < p->end && iso_toml_newline(p) == 0; p->at++) {
    unsigned char c = (unsigned char)*p->at;
    if ((c < 0x20 && c != '\t') || c == 0x7f)
      return iso_toml_fail(p, "expected a comment without control characters, found \\x%02x", c);
  }
  return ISOPROOF_OK;
}

/* Space, comments and ends of lines. */
static isoproof_status skip_lines(iso_toml_parser *p) {
  for (;;) {
    skip_space(p);
    ISO_TRY(skip_comment(p));
    size_t newline = iso_toml_newline(p);
    if (newline == 0) return ISOPROOF_OK;
    iso_toml_pass_newline(p, newline);
  }
}

static isoproof_status end_line(iso_toml_parser *p) {
  skip_space(p);
  ISO_TRY(skip_comment(p));
  size_t newline = iso_toml_newline(p);
  if (newline > 0)
    iso_toml_pass_newline(p, newline);
  else if (p->at < p->end)
    return iso_toml_expected(p, "the end of the line");
  return ISOPROOF_OK;
}

/* ---- keys ---- */

static bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static isoproof_status read_part(iso_toml_parser *p, iso_toml_key *key) {
  *key = (iso_toml_key){.line = p->line, .column = iso_toml_column(p)};
  char c = iso_toml_peek(p);
  if (c == '"' || c == '\'') return iso_toml_read_string(p, true, &key->text, &key->length);
  const char *first = p->at;
  while (p->at < p->end && is_bare(*p->at)) p->at++;
  key->length = (size_t)(p->at - first);
  if (key->length == 0) return iso_toml_expected(p, "a key");
  key->text = iso_arena_text(&p->document->arena, first, key->length);
  return key->text != NULL ? ISOPROOF_OK : iso_fail_memory(p->error);
}

/* a."b c".d, into the list of parts. */
static isoproof_status read_key(iso_toml_parser *p) {
  p->keys.count = 0;
  for (;;) {
    iso_toml_key key;
    skip_space(p);
    ISO_TRY(read_part(p, &key));
    if (!iso_vec_push(&p->keys, key)) return iso_fail_memory(p->error);
    if (p->keys.count > ISO_TOML_DEPTH) return iso_toml_fail(p, "expected a key of at most %d parts", ISO_TOML_DEPTH);
    skip_space(p);
    if (iso_toml_peek(p) != '.') return ISOPROOF_OK;
    p->at++;
  }
}

/* ---- the tree ---- */

static iso_toml_node *find(const iso_toml_node *table, const char *key, size_t length) {
  for (iso_toml_node *one = table->first; one != NULL; one = one->next)
    if (one->key_length == length && memcmp(one->key, key, length) == 0) return one;
  return NULL;
}

/* A new member; of an array where `key` is NULL. */
static isoproof_status add(iso_toml_parser *p, iso_toml_node *to, const iso_toml_key *key, iso_toml_kind kind,
                           iso_toml_origin origin, iso_toml_node **made) {
  if (++p->nodes > ISO_TOML_MOST_NODES)
    return iso_toml_fail(p, "expected at most %d values, found more", ISO_TOML_MOST_NODES);
  iso_toml_node *node = iso_arena_alloc(&p->document->arena, 1, sizeof *node);
  if (node == NULL) return iso_fail_memory(p->error);
  *node = (iso_toml_node){.kind = kind,
                          .origin = origin,
                          .key = key != NULL ? key->text : "",
                          .key_length = key != NULL ? key->length : 0,
                          .text = "",
                          .line = key != NULL ? key->line : p->line,
                          .column = key != NULL ? key->column : iso_toml_column(p)};
  if (to->last != NULL)
    to->last->next = node;
  else
    to->first = node;
  to->last = node;
  to->count++;
  *made = node;
  return ISOPROOF_OK;
}

static isoproof_status defined_twice(iso_toml_parser *p, const iso_toml_key *key, const iso_toml_node *first) {
  char quoted[256];
  return iso_toml_fail_at(p, key->line, key->column, "the key %s is defined twice, first in line %llu",
                          iso_quote(key->text, key->length, quoted), (unsigned long long)first->line);
}

/* From the table of a key = value to the one that holds the value, by all parts but the last. */
static isoproof_status descend_dots(iso_toml_parser *p, iso_toml_node **table) {
  for (size_t i = 0; i + 1 < p->keys.count; i++) {
    const iso_toml_key *key = &p->keys.items[i];
    iso_toml_node *next = find(*table, key->text, key->length);
    if (next == NULL) {
      ISO_TRY(add(p, *table, key, ISO_TOML_TABLE, ISO_TOML_BY_DOTS, &next));
    } else if (next->kind != ISO_TOML_TABLE || (next->origin != ISO_TOML_BY_DOTS && next->origin != ISO_TOML_BY_PATH)) {
      return defined_twice(p, key, next);
    } else {
      next->origin = ISO_TOML_BY_DOTS;
    }
    *table = next;
  }
  return ISOPROOF_OK;
}

/* The same for a header, from the root: through the last element of arrays of tables. */
static isoproof_status descend_path(iso_toml_parser *p, iso_toml_node **table) {
  for (size_t i = 0; i + 1 < p->keys.count; i++) {
    const iso_toml_key *key = &p->keys.items[i];
    iso_toml_node *next = find(*table, key->text, key->length);
    if (next == NULL)
      ISO_TRY(add(p, *table, key, ISO_TOML_TABLE, ISO_TOML_BY_PATH, &next));
    else if ((next->kind != ISO_TOML_TABLE && next->kind != ISO_TOML_ARRAY) || next->origin == ISO_TOML_BY_VALUE)
      return defined_twice(p, key, next);
    if (next == NULL) return iso_fail_memory(p->error);
    *table = next->kind == ISO_TOML_ARRAY ? next->last : next;
  }
  return ISOPROOF_OK;
}

/* ---- values ---- */

static isoproof_status open_node(iso_toml_parser *p, iso_toml_node *node, iso_toml_kind kind) {
  if (p->depth == ISO_TOML_DEPTH)
    return iso_toml_fail(p, "expected at most %d brackets within each other", ISO_TOML_DEPTH);
  node->kind = kind;
  p->open[p->depth++] = (iso_toml_open){.node = node};
  p->at++;
  return ISOPROOF_OK;
}

/* A whole value, or the beginning of an array or inline table. */
static isoproof_status begin_value(iso_toml_parser *p, iso_toml_node *to, const iso_toml_key *key) {
  iso_toml_node *node = NULL;
  ISO_TRY(add(p, to, key, ISO_TOML_STRING, ISO_TOML_BY_VALUE, &node));
  switch (iso_toml_peek(p)) {
  case '"':
  case '\'':
    return iso_toml_read_string(p, false, &node->text, &node->length);
  case '[':
    return open_node(p, node, ISO_TOML_ARRAY);
  case '{':
    return open_node(p, node, ISO_TOML_TABLE);
  default:
    return iso_toml_read_scalar(p, node);
  }
}

static isoproof_status key_and_value(iso_toml_parser *p, iso_toml_node *table) {
  ISO_TRY(read_key(p));
  iso_toml_key key = p->keys.items[p->keys.count - 1];
  ISO_TRY(descend_dots(p, &table));
  const iso_toml_node *there = find(table, key.text, key.length);
  if (there != NULL) return defined_twice(p, &key, there);
  if (iso_toml_peek(p) != '=') return iso_toml_expected(p, "= after the key");
  p->at++;
  skip_space(p);
  return begin_value(p, table, &key);
}

/* One step inside an array: its end, a comma, or an element. */
static isoproof_status continue_array(iso_toml_parser *p, iso_toml_open *open) {
  ISO_TRY(skip_lines(p));
  if (iso_toml_peek(p) == ']') {
    p->at++;
    p->depth--;
    return ISOPROOF_OK;
  }
  if (open->has_value) {
    if (iso_toml_peek(p) != ',') return iso_toml_expected(p, "a comma or ] after an element");
    p->at++;
    open->has_value = false;
    return ISOPROOF_OK;
  }
  open->has_value = true;
  return begin_value(p, open->node, NULL);
}

/* The same inside an inline table, which is on one line and has no comma before its end. */
static isoproof_status continue_table(iso_toml_parser *p, iso_toml_open *open) {
  skip_space(p);
  if (iso_toml_peek(p) == '}' && (open->has_value || open->node->count == 0)) {
    p->at++;
    p->depth--;
    return ISOPROOF_OK;
  }
  if (open->has_value) {
    if (iso_toml_peek(p) != ',') return iso_toml_expected(p, "a comma or } after a value");
    p->at++;
    open->has_value = false;
    return ISOPROOF_OK;
  }
  open->has_value = true;
  return key_and_value(p, open->node);
}

static isoproof_status read_assignment(iso_toml_parser *p, iso_toml_node *table) {
  ISO_TRY(key_and_value(p, table));
  while (p->depth > 0) {
    iso_toml_open *open = &p->open[p->depth - 1];
    ISO_TRY(open->node->kind == ISO_TOML_ARRAY ? continue_array(p, open) : continue_table(p, open));
  }
  return end_line(p);
}

/* ---- headers ---- */

/* [a.b]: a table that no other header or value has defined. */
static isoproof_status open_table(iso_toml_parser *p, iso_toml_node *parent, iso_toml_node **table) {
  const iso_toml_key *key = &p->keys.items[p->keys.count - 1];
  iso_toml_node *there = find(parent, key->text, key->length);
  if (there == NULL) return add(p, parent, key, ISO_TOML_TABLE, ISO_TOML_BY_HEADER, table);
  if (there->kind != ISO_TOML_TABLE || there->origin != ISO_TOML_BY_PATH) return defined_twice(p, key, there);
  there->origin = ISO_TOML_BY_HEADER;
  there->line = key->line;
  there->column = key->column;
  *table = there;
  return ISOPROOF_OK;
}

/* [[a.b]]: one more element of an array of tables. */
static isoproof_status open_element(iso_toml_parser *p, iso_toml_node *parent, iso_toml_node **table) {
  const iso_toml_key *key = &p->keys.items[p->keys.count - 1];
  iso_toml_node *array = find(parent, key->text, key->length);
  if (array == NULL)
    ISO_TRY(add(p, parent, key, ISO_TOML_ARRAY, ISO_TOML_BY_HEADER, &array));
  else if (array->kind != ISO_TOML_ARRAY || array->origin != ISO_TOML_BY_HEADER)
    return defined_twice(p, key, array);
  ISO_TRY(add(p, array, NULL, ISO_TOML_TABLE, ISO_TOML_BY_HEADER, table));
  (*table)->line = key->line;
  (*table)->column = key->column;
  return ISOPROOF_OK;
}

static isoproof_status read_header(iso_toml_parser *p, iso_toml_node **table) {
  bool element = p->end - p->at >= 2 && p->at[1] == '[';
  p->at += element ? 2 : 1;
  ISO_TRY(read_key(p));
  if (iso_toml_peek(p) != ']' || (element && (p->end - p->at < 2 || p->at[1] != ']')))
    return iso_toml_expected(p, element ? "]] after the name of a table" : "] after the name of a table");
  p->at += element ? 2 : 1;
  iso_toml_node *parent = p->document->root;
  ISO_TRY(descend_path(p, &parent));
  ISO_TRY(element ? open_element(p, parent, table) : open_table(p, parent, table));
  return end_line(p);
}

/* ---- the document ---- */

static isoproof_status check_bytes(iso_toml_parser *p) {
  if (p->end - p->at > ISO_TOML_MOST_BYTES)
    return iso_toml_fail(p, "expected at most %d bytes, found more", ISO_TOML_MOST_BYTES);
  const char *first = p->at, *line_start = p->line_start;
  while (p->at < p->end) {
    size_t step = iso_utf8_step(p->at, (size_t)(p->end - p->at));
    if (step == 0) return iso_toml_fail(p, "expected UTF-8, found the byte \\x%02x", (unsigned char)*p->at);
    if (*p->at == '\n')
      iso_toml_pass_newline(p, 1);
    else
      p->at += step;
  }
  p->at = first;
  p->line_start = line_start;
  p->line = 1;
  return ISOPROOF_OK;
}

static isoproof_status read_document(iso_toml_parser *p) {
  iso_toml_node *table = p->document->root;
  ISO_TRY(check_bytes(p));
  for (;;) {
    ISO_TRY(skip_lines(p));
    if (p->at >= p->end) return ISOPROOF_OK;
    ISO_TRY(*p->at == '[' ? read_header(p, &table) : read_assignment(p, table));
  }
}

isoproof_status iso_toml_parse(const char *text, size_t length, const char *file, iso_toml *document,
                               isoproof_error *error) {
  static const char mark[] = "\xef\xbb\xbf"; /* some editors begin UTF-8 with it */
  size_t skipped = length >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
  *document = (iso_toml){.arena = ISO_ARENA_EMPTY, .file = file};
  document->root = iso_arena_alloc(&document->arena, 1, sizeof *document->root);
  if (document->root == NULL) return iso_fail_memory(error);
  *document->root = (iso_toml_node){.kind = ISO_TOML_TABLE, .origin = ISO_TOML_BY_HEADER, .key = "", .text = ""};
  iso_toml_parser p = {.document = document,
                       .at = text + skipped,
                       .end = text + length,
                       .line_start = text + skipped,
                       .line = 1,
                       .error = error};
  isoproof_status status = read_document(&p);
  iso_vec_free(&p.buffer);
  iso_vec_free(&p.keys);
  if (status != ISOPROOF_OK) iso_toml_free(document);
  return status;
}

void iso_toml_free(iso_toml *document) {
  iso_arena_free(&document->arena);
  document->root = NULL;
}

/* ---- looking ---- */

const iso_toml_node *iso_toml_find(const iso_toml_node *table, const char *key) {
  return table->kind == ISO_TOML_TABLE ? find(table, key, strlen(key)) : NULL;
}

const char *iso_toml_kind_name(iso_toml_kind kind) {
  static const char *const names[] = {
#define ISO_X(name, text) text,
      ISO_TOML_KIND_LIST(ISO_X)
#undef ISO_X
  };
  return names[kind];
}

iso_place iso_toml_place(const iso_toml *document, const iso_toml_node *node) {
  return (iso_place){document->file, node->line, node->column, -1};
}
