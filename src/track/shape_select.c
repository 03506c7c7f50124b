/* SELECT: its tables, its columns, and whether its answer has all rows that match. */
#include <string.h>

#include "track/shape.h"

/* ---- FROM ---- */

bool iso_shape_table(iso_shaper *s, uint32_t at, uint32_t end, uint32_t *next) {
  static const char *const no_alias[] = {
      "JOIN",    "INNER", "LEFT",          "RIGHT",  "FULL",      "CROSS",   "NATURAL",     "ON",
      "USING",   "OUTER", "STRAIGHT_JOIN", "USE",    "FORCE",     "IGNORE",  "TABLESAMPLE", "PARTITION",
      "INDEXED", "NOT",   "SET",           "VALUES", "SELECT",    "DEFAULT", "OVERRIDING",  "FOR",
      "WITH",    "WHERE", "ORDER",         "LIMIT",  "RETURNING", "GROUP",   NULL};
  iso_source made = {NULL, NULL, NULL};
  const char *name = iso_schema_name(s->tables, s->sql, at, next);
  if (name == NULL || *next > end) return iso_shape_other(s, "what it reads FROM was not understood");
  made.table = iso_schema_get(s->tables, name);
  if (made.table == NULL) return iso_shape_other(s, "memory is out");
  made.alias = made.table->last;
  bool as = iso_sql_is(s->sql, *next, "AS"), named = *next < end && iso_sql_is_name(s->sql, *next);
  if (as || (named && iso_sql_find(s->sql, *next, *next + 1, no_alias) == *next + 1)) {
    *next += as;
    if (*next >= end || !iso_sql_is_name(s->sql, *next)) return iso_shape_other(s, "an alias was not understood");
    made.alias = iso_sql_name(s->sql, (*next)++, &s->tables->arena);
  }
  made.sql = made.alias != NULL ? iso_sql_quote_name(s->tables->dialect, made.alias, &s->tables->arena) : NULL;
  if (made.sql == NULL || !iso_vec_push(&s->shape->sources, made)) return iso_shape_other(s, "memory is out");
  return true;
}

/* One of FROM: a table, or something in parentheses. */
static bool item(iso_shaper *s, uint32_t at, uint32_t end, uint32_t *next) {
  if (!iso_sql_symbol(s->sql, at, "(")) return iso_shape_table(s, at, end, next);
  if (!iso_sql_is(s->sql, at + 1, "SELECT")) return iso_shape_other(s, "parentheses in FROM are not understood");
  *next = iso_sql_skip(s->sql, at);
  *next += iso_sql_is(s->sql, *next, "AS");
  if (*next >= end || !iso_sql_is_name(s->sql, *next)) return iso_shape_other(s, "a sub-query in FROM has no name");
  iso_source made = {NULL, iso_sql_name(s->sql, (*next)++, &s->tables->arena), ""};
  if (made.alias == NULL || !iso_vec_push(&s->shape->sources, made)) return iso_shape_other(s, "memory is out");
  s->shape->partly = "those that its sub-query reads";
  return true;
}

bool iso_shape_from(iso_shaper *s, uint32_t first, uint32_t end) {
  static const char *const joins[] = {"JOIN",  "INNER",   "LEFT",          "RIGHT", "FULL",
                                      "CROSS", "NATURAL", "STRAIGHT_JOIN", NULL};
  const iso_sql *sql = s->sql;
  for (uint32_t at = first;;) {
    if (!item(s, at, end, &at)) return false;
    if (at < end && iso_sql_is(sql, at, "ON")) {
      uint32_t join = iso_sql_find(sql, at, end, joins), comma = iso_sql_part(sql, at, end);
      at = join < comma ? join : comma;
    } else if (at < end && iso_sql_is(sql, at, "USING") && iso_sql_symbol(sql, at + 1, "(")) {
      at = iso_sql_skip(sql, at + 1);
    }
    if (at >= end) return true;
    if (iso_sql_symbol(sql, at, ",")) {
      at++;
      continue;
    }
    if (iso_sql_is(sql, at, "NATURAL")) return iso_shape_other(s, "NATURAL JOIN compares all columns");
    while (at < end && (iso_sql_is(sql, at, "INNER") || iso_sql_is(sql, at, "LEFT") || iso_sql_is(sql, at, "RIGHT") ||
                        iso_sql_is(sql, at, "FULL") || iso_sql_is(sql, at, "CROSS") || iso_sql_is(sql, at, "OUTER")))
      at++;
    if (at >= end || !iso_sql_is(sql, at, "JOIN")) return iso_shape_other(s, "what it reads FROM was not understood");
    at++;
  }
}

/* ---- columns ---- */

static uint32_t source_of(const iso_shaper *s, const char *alias) {
  for (uint32_t i = 0; i < s->shape->sources.count; i++) {
    if (iso_sql_same_name(s->tables->dialect, s->shape->sources.items[i].alias, alias)) return i;
  }
  return UINT32_MAX;
}

/* Whether a name stands for a whole row: that of a table, and no column. */
static bool is_whole_row(const iso_shaper *s, uint32_t at) {
  const iso_sql *sql = s->sql;
  if (!iso_sql_is_name(sql, at) || iso_sql_symbol(sql, at + 1, ".") || iso_sql_symbol(sql, at + 1, "(") ||
      iso_sql_symbol(sql, at - 1, ".") || iso_sql_is(sql, at - 1, "AS"))
    return false;
  const char *name = iso_sql_name(sql, at, &s->tables->arena);
  if (name == NULL || source_of(s, name) == UINT32_MAX) return false;
  for (size_t i = 0; i < s->shape->sources.count; i++) {
    const iso_table *table = s->shape->sources.items[i].table;
    if (table != NULL && iso_table_column(s->tables, table, name) != UINT32_MAX) return false;
  }
  return true;
}

/* A part that is `*` or `alias.*`. */
static bool star(iso_shaper *s, uint32_t first, uint32_t end) {
  const iso_sql *sql = s->sql;
  bool all = end - first == 1 && iso_sql_symbol(sql, first, "*");
  bool of_one = end - first == 3 && iso_sql_is_name(sql, first) && iso_sql_symbol(sql, first + 1, ".") &&
                iso_sql_symbol(sql, first + 2, "*");
  if (!all && !of_one) return true;
  iso_star made = {first, end, UINT32_MAX};
  if (of_one) {
    const char *alias = iso_sql_name(sql, first, &s->tables->arena);
    made.source = alias != NULL ? source_of(s, alias) : UINT32_MAX;
    if (made.source == UINT32_MAX) return iso_shape_other(s, "a * among its columns was not understood");
  }
  if (s->shape->sources.count > 1 && all) {
    for (uint32_t i = 0; i < sql->count; i++) {
      if (iso_sql_is(sql, i, "USING")) return iso_shape_other(s, "what * stands for behind USING was not understood");
    }
  }
  for (size_t i = 0; i < s->shape->sources.count; i++) {
    if (made.source != UINT32_MAX && made.source != i) continue;
    if (s->shape->sources.items[i].table == NULL) return iso_shape_other(s, "* stands for the columns of a sub-query");
  }
  return iso_vec_push(&s->shape->stars, made) || iso_shape_other(s, "memory is out");
}

bool iso_shape_columns(iso_shaper *s, uint32_t first, uint32_t end) {
  for (uint32_t part = first, next; part < end; part = next + 1) {
    next = iso_sql_part(s->sql, part, end);
    if (!star(s, part, next)) return false;
  }
  for (uint32_t i = first; i < end; i++) {
    if (is_whole_row(s, i)) {
      const char *name = iso_sql_name(s->sql, i, &s->tables->arena);
      uint32_t source = name != NULL ? source_of(s, name) : UINT32_MAX;
      iso_table *table = source != UINT32_MAX ? s->shape->sources.items[source].table : NULL;
      if (table != NULL)
        iso_table_refuse(table, "a statement takes its rows as a whole, and must not see more columns");
      return iso_shape_other(s, "it takes rows as a whole");
    }
  }
  return true;
}

/* A * in a sub-query would see columns that are added; only EXISTS does not care. */
static bool check_inner_stars(iso_shaper *s) {
  const iso_sql *sql = s->sql;
  for (uint32_t i = 1; i < sql->count; i++) {
    if (!iso_sql_symbol(sql, i, "(") || !iso_sql_is(sql, i + 1, "SELECT") || iso_sql_is(sql, i - 1, "EXISTS")) continue;
    for (uint32_t j = i + 2; j < sql->tokens.items[i].match; j = iso_sql_skip(sql, j)) {
      bool lists = iso_sql_is(sql, j - 1, "SELECT") || iso_sql_is(sql, j - 1, "DISTINCT") ||
                   iso_sql_symbol(sql, j - 1, ",") || iso_sql_symbol(sql, j - 1, ".");
      if (iso_sql_symbol(sql, j, "*") && lists) return iso_shape_other(s, "a sub-query asks for all columns");
    }
  }
  return true;
}

/* Whether it aggregates between two tokens, sub-queries and windows apart. */
static bool aggregates(const iso_sql *sql, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) {
    if (iso_sql_symbol(sql, i, "(") && iso_sql_is(sql, i + 1, "SELECT")) {
      i = sql->tokens.items[i].match;
      continue;
    }
    if (!iso_sql_is_name(sql, i) || !iso_sql_symbol(sql, i + 1, "(") || iso_call_of(sql, i) != ISO_CALL_AGGREGATE)
      continue;
    uint32_t next = iso_sql_skip(sql, i + 1);
    if (iso_sql_is(sql, next, "FILTER")) next = iso_sql_skip(sql, next + 1);
    if (!iso_sql_is(sql, next, "OVER")) return true;
  }
  return false;
}

/* ---- the whole ---- */

static bool finish(iso_shaper *s, uint32_t from, uint32_t end) {
  static const char *const clauses[] = {"WHERE",  "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT",
                                        "OFFSET", "FETCH", "FOR",    "LOCK",   NULL};
  const iso_sql *sql = s->sql;
  iso_shape *shape = s->shape;
  uint32_t where = iso_sql_find(sql, from, end, (const char *const[]){"WHERE", NULL});
  uint32_t from_end = iso_sql_find(sql, from, end, clauses);
  if (!iso_shape_from(s, from + 1, from_end)) return false;
  uint32_t behind = where < end ? where + 1 : from_end;
  uint32_t where_end = iso_sql_find(sql, behind, end, clauses);
  for (uint32_t i = where_end; i < end; i = iso_sql_skip(sql, i)) {
    shape->aggregated = shape->aggregated || iso_sql_is(sql, i, "GROUP");
    if (iso_sql_is(sql, i, "HAVING")) shape->rows_why = "HAVING leaves groups out";
    if (iso_sql_is(sql, i, "LIMIT") || iso_sql_is(sql, i, "OFFSET") || iso_sql_is(sql, i, "FETCH"))
      shape->rows_why = "it asks for a part of the rows (LIMIT)";
    if (iso_sql_is(sql, i, "SKIP")) shape->rows_why = "it skips rows that are locked";
  }
  if (iso_shape_has_query(sql, 1, end) && shape->partly == NULL) shape->partly = "those that its sub-queries read";
  shape->aggregated = shape->aggregated || aggregates(sql, where_end, end);
  if (where < end) {
    iso_shape_where(s, where + 1, where_end);
  } else {
    iso_shape_where(s, end, end);
  }
  return true;
}

bool iso_shape_select(iso_shaper *s, uint32_t first, uint32_t end) {
  static const char *const sets[] = {"UNION", "INTERSECT", "EXCEPT", "MINUS", NULL};
  static const char *const ends[] = {"FROM", NULL};
  const iso_sql *sql = s->sql;
  iso_shape *shape = s->shape;
  shape->kind = ISO_SHAPE_SELECT;
  if (iso_sql_find(sql, first, end, sets) < end)
    return iso_shape_other(s, "the rows behind UNION, INTERSECT and EXCEPT are not told by the answer");
  if (iso_sql_is(sql, first, "DISTINCT"))
    return iso_shape_other(s, "DISTINCT: a row of the answer stands for rows that it does not tell");
  if (iso_sql_find(sql, first, end, (const char *const[]){"INTO", NULL}) < end)
    return iso_shape_other(s, "SELECT INTO writes");
  uint32_t from = iso_sql_find(sql, first, end, ends);
  while (from < end && iso_sql_is(sql, from - 1, "DISTINCT")) from = iso_sql_find(sql, from + 1, end, ends);
  if (!check_inner_stars(s)) return false;
  if (from == end && iso_shape_has_query(sql, first, end))
    return iso_shape_other(s, "what sub-queries read is not told by the answer");
  if (from == end) {
    shape->kind = ISO_SHAPE_NOTHING;
    return true;
  }
  shape->list_end = from;
  shape->aggregated = aggregates(sql, first, from);
  return finish(s, from, end) && iso_shape_columns(s, first, from);
}
