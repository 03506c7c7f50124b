/* What a statement asks for, once its values are known: rows by key, or conditions on columns. */
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "track/session.h"

/* The text of 'abc' or 'it''s', without its quotes; NULL when memory is out. */
static char *unquote(iso_arena *arena, const char *text, size_t length) {
  char *made = iso_arena_alloc(arena, length + 1, 1);
  size_t out = 0;
  for (size_t i = 1; made != NULL && i + 1 < length; i++) {
    made[out++] = text[i];
    if (text[i] == '\'') i++;
  }
  return made;
}

/* A string in plain quotes, and nothing else. */
static bool is_string(const char *text, size_t length, bool backslashes) {
  if (length < 2 || text[0] != '\'' || text[length - 1] != '\'') return false;
  for (size_t i = 1; i + 1 < length; i++) {
    if (text[i] == '\\' && backslashes) return false;
    if (text[i] != '\'') continue;
    if (i + 2 >= length || text[i + 1] != '\'') return false;
    i++;
  }
  return true;
}

static isoproof_scalar text_scalar(const char *text) {
  return (isoproof_scalar){.type = ISOPROOF_STRING, .text = text, .length = (uint32_t)strlen(text)};
}

/* The value of an operand; false: it is none that can be compared exactly. */
static bool value_of(iso_track_session *s, const iso_where *w, const char *const *values, isoproof_scalar *made) {
  const iso_sql *sql = &s->plan->sql;
  const iso_sql_token *t = &sql->tokens.items[w->token];
  const char *text = sql->text + t->start;
  size_t length = t->length;
  *made = isoproof_nil();
  if (w->operand == ISO_OPERAND_NONE) return true;
  if (w->operand != ISO_OPERAND_TOKEN) {
    *made = isoproof_integer(w->operand == ISO_OPERAND_TRUE);
    return true;
  }
  if (t->type == ISO_SQL_VARIABLE || t->type == ISO_SQL_QUOTED_VARIABLE) {
    bool in_quotes = t->type == ISO_SQL_QUOTED_VARIABLE;
    size_t skip = in_quotes ? 2 : 1, name = length - skip - in_quotes, number = 0;
    while (strlen(s->plan->variables.items[number]) != name ||
           memcmp(s->plan->variables.items[number], text + skip, name) != 0)
      number++;
    text = values[number];
    length = strlen(text);
    if (in_quotes) {
      const char *copy = iso_arena_text(&s->arena, text, length);
      if (copy != NULL) *made = text_scalar(copy);
      return copy != NULL;
    }
  }
  int64_t integer;
  if (iso_parse_i64(text, length, &integer)) {
    if (w->negative && text[0] == '-') return false;
    *made = isoproof_integer(w->negative ? -integer : integer);
    return true;
  }
  if (w->negative) return false;
  if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0) {
    *made = isoproof_integer(strcasecmp(text, "true") == 0);
    return t->type == ISO_SQL_VARIABLE;
  }
  if (!is_string(text, length, s->tracker->dialect == ISO_TRACK_MARIADB)) return false;
  const char *copy = unquote(&s->arena, text, length);
  if (copy != NULL) *made = text_scalar(copy);
  return copy != NULL;
}

/* Whether values of that type are compared with the column as the history does it. */
static bool suits(const iso_column *column, const iso_where *w, const isoproof_scalar *value) {
  if (w->operand == ISO_OPERAND_NONE) return true;
  return (column->kind == ISO_COLUMN_TEXT) == (value->type == ISOPROOF_STRING);
}

static bool is_key(const iso_table *table, uint32_t column, size_t *place) {
  for (*place = 0; *place < table->key.count; ++*place) {
    if (table->key.items[*place] == column) return true;
  }
  return false;
}

static isoproof_status add_key(iso_track_session *s, const iso_table *table, const iso_key_part *parts,
                               isoproof_error *error) {
  bool initial;
  return iso_row_book_find(&s->tracker->rows, table, parts, false, &s->keys[s->key_count++], &initial, error);
}

/* Narrows the rows that are covered, where keys are their numbers; true: the condition says no more than that. */
static void narrow(iso_track_session *s, const iso_table *table, const iso_where *w, bool listed,
                   const isoproof_scalar *value) {
  int64_t base = (int64_t)table->number * ISO_TRACK_RANGE, number = value->integer;
  bool direct = table->key.count == 1 && table->key.items[0] == w->column && value->type == ISOPROOF_INTEGER &&
                number >= 0 && number < ISO_TRACK_DIRECT;
  /* Keys from ISO_TRACK_DIRECT on have other numbers: only an upper bound leaves them out, and negative ones are
   * among them. */
  if (!direct || listed) return;
  if ((w->comparison == ISO_COMPARE_GREATER_EQUAL || w->comparison == ISO_COMPARE_GREATER) &&
      base + number > s->key_low)
    s->key_low = base + number;
}

static isoproof_status resolve(iso_track_session *s, const iso_table *table, const char *const *values,
                               isoproof_error *error) {
  const iso_shape *shape = &s->plan->shape;
  iso_key_part parts[ISO_MOST_KEY_PARTS];
  memset(parts, 0, sizeof parts);
  bool single = table->key.count == 1;
  for (size_t i = 0; i < shape->where.count; i++) {
    const iso_where *w = &shape->where.items[i];
    const iso_column *column = &table->columns.items[w->column];
    bool listed = w->or_next || (i > 0 && shape->where.items[i - 1].or_next);
    isoproof_scalar value;
    size_t place;
    s->whole = s->whole && value_of(s, w, values, &value) && suits(column, w, &value);
    if (!s->whole) return ISOPROOF_OK;
    if (s->plan->pinned && is_key(table, w->column, &place)) {
      parts[place] = (iso_key_part){.is_text = value.type == ISOPROOF_STRING,
                                    .integer = value.integer,
                                    .text = value.text,
                                    .length = value.length};
      if (single) ISO_TRY(add_key(s, table, parts, error));
      continue;
    }
    narrow(s, table, w, listed, &value);
    s->where[s->where_count++] = (iso_jsonl_condition){
        .column = text_scalar(column->name), .operand = value, .comparison = w->comparison, .or_next = w->or_next};
  }
  return s->plan->pinned && !single ? add_key(s, table, parts, error) : ISOPROOF_OK;
}

isoproof_status iso_session_conditions(iso_track_session *s, const char *const *values, isoproof_error *error) {
  const iso_shape *shape = &s->plan->shape;
  s->where_count = s->key_count = 0;
  s->whole = s->plan->whole;
  if (!s->whole) return ISOPROOF_OK;
  const iso_table *table = shape->sources.items[0].table;
  s->where = iso_arena_alloc(&s->arena, shape->where.count + 1, sizeof *s->where);
  s->keys = iso_arena_alloc(&s->arena, shape->where.count + 1, sizeof *s->keys);
  if (s->where == NULL || s->keys == NULL) return iso_fail_memory(error);
  s->key_low = (int64_t)table->number * ISO_TRACK_RANGE;
  s->key_high = s->key_low + ISO_TRACK_RANGE - 1;
  return resolve(s, table, values, error);
}
