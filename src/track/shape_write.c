/* INSERT, UPDATE and DELETE: which table, and where versions can be put. */
#include "track/shape.h"

/* Whether assignments between two tokens leave the key alone: a = 1, t.a = 1, (a, b) = (1, 2). */
static bool assignments(iso_shaper *s, uint32_t first, uint32_t end) {
  const iso_sql *sql = s->sql;
  const iso_table *table = s->shape->sources.items[0].table;
  for (uint32_t part = first, next; part < end; part = next + 1) {
    next = iso_sql_part(sql, part, end);
    uint32_t name = iso_sql_symbol(sql, part, "(") ? part + 1 : part,
             stop = iso_sql_symbol(sql, part, "(") ? sql->tokens.items[part].match : part + 1;
    for (; name < stop; name = iso_sql_part(sql, name, stop) + 1) {
      if (iso_sql_symbol(sql, name + 1, ".")) name += 2;
      const char *column = iso_sql_is_name(sql, name) ? iso_sql_name(sql, name, &s->tables->arena) : NULL;
      if (column == NULL) return iso_shape_other(s, "what it sets was not understood");
      uint32_t number = iso_table_column(s->tables, table, column);
      if (number == UINT32_MAX && table->known)
        return iso_shape_other(s, "it sets a column that the table does not have");
      for (size_t k = 0; k < table->key.count; k++) {
        if (table->key.items[k] == number)
          return iso_shape_other(s, "it changes a primary key, so that rows become others");
      }
      if (stop == part + 1) break;
    }
  }
  return first < end || iso_shape_other(s, "what it sets was not understood");
}

static bool returning(iso_shaper *s, uint32_t first) {
  iso_shape *shape = s->shape;
  shape->returning = iso_sql_find(s->sql, first, s->sql->count, (const char *const[]){"RETURNING", NULL});
  return shape->returning == s->sql->count || iso_shape_columns(s, shape->returning + 1, s->sql->count);
}

/* The target must be a table whose triggers are known. */
static bool target(iso_shaper *s) {
  const iso_table *table = s->shape->sources.items[0].table;
  if (!table->known) {
    const char *why = "a statement writes %s, which the setup does not make: its triggers may write any table";
    iso_schema_refuse_all(s->tables, iso_schema_text(s->tables, why, table->name));
  } else if (table->reacts) {
    const char *why = "a statement writes %s, whose triggers, rules or keys may write any table";
    iso_schema_refuse_all(s->tables, iso_schema_text(s->tables, why, table->name));
  }
  return true;
}

/* WHERE, and what comes behind it, of an UPDATE or DELETE. */
static bool rest(iso_shaper *s, uint32_t first, const char *others) {
  static const char *const ends[] = {"ORDER", "LIMIT", "RETURNING", NULL};
  const iso_sql *sql = s->sql;
  iso_shape *shape = s->shape;
  uint32_t where = iso_sql_find(sql, first, sql->count, (const char *const[]){"WHERE", NULL});
  uint32_t from = iso_sql_find(sql, first, sql->count, (const char *const[]){others, NULL});
  if (from < where) {
    if (sql->dialect == ISO_TRACK_MARIADB) return iso_shape_other(s, "it names several tables");
    shape->from_others = true;
    shape->partly = "those of the other tables that it names";
  }
  uint32_t where_end = iso_sql_find(sql, where < sql->count ? where : first, sql->count, ends);
  if (iso_shape_has_query(sql, 1, sql->count)) shape->partly = "those that its sub-queries read";
  uint32_t limit = iso_sql_find(sql, first, sql->count, (const char *const[]){"LIMIT", NULL});
  if (limit < sql->count) shape->rows_why = "it changes a part of the rows (LIMIT)";
  if (shape->from_others) {
    shape->where_why = "it names several tables";
  } else if (where < sql->count) {
    iso_shape_where(s, where + 1, where_end);
  } else {
    iso_shape_where(s, sql->count, sql->count);
  }
  return returning(s, first) && target(s);
}

bool iso_shape_update(iso_shaper *s) {
  static const char *const ends[] = {"FROM", "WHERE", "ORDER", "LIMIT", "RETURNING", NULL};
  const iso_sql *sql = s->sql;
  iso_shape *shape = s->shape;
  uint32_t set;
  shape->kind = ISO_SHAPE_UPDATE;
  if (iso_sql_is(sql, 1, "OR") || iso_sql_is(sql, 1, "IGNORE") || iso_sql_is(sql, 1, "LOW_PRIORITY") ||
      iso_sql_is(sql, 1, "ONLY"))
    return iso_shape_other(s, "this form of UPDATE is not understood");
  if (!iso_shape_table(s, 1, sql->count, &set)) return false;
  if (!iso_sql_is(sql, set, "SET")) return iso_shape_other(s, "this form of UPDATE is not understood");
  shape->set_end = iso_sql_find(sql, set + 1, sql->count, ends);
  while (shape->set_end < sql->count && iso_sql_is(sql, shape->set_end - 1, "DISTINCT"))
    shape->set_end = iso_sql_find(sql, shape->set_end + 1, sql->count, ends);
  return assignments(s, set + 1, shape->set_end) && rest(s, shape->set_end, "FROM");
}

bool iso_shape_delete(iso_shaper *s) {
  const iso_sql *sql = s->sql;
  uint32_t next;
  s->shape->kind = ISO_SHAPE_DELETE;
  if (!iso_sql_is(sql, 1, "FROM") || iso_sql_is(sql, 2, "ONLY"))
    return iso_shape_other(s, "this form of DELETE is not understood");
  if (!iso_shape_table(s, 2, sql->count, &next)) return false;
  bool ends = next == sql->count || iso_sql_is(sql, next, "WHERE") || iso_sql_is(sql, next, "USING") ||
              iso_sql_is(sql, next, "ORDER") || iso_sql_is(sql, next, "LIMIT") || iso_sql_is(sql, next, "RETURNING");
  if (!ends) return iso_shape_other(s, "this form of DELETE is not understood");
  return rest(s, next, "USING");
}

/* ---- INSERT ---- */

/* VALUES (...), (...): where each row ends, all of them of one length. */
static bool values(iso_shaper *s, uint32_t first) {
  const iso_sql *sql = s->sql;
  iso_shape *shape = s->shape;
  shape->values_first = first;
  uint32_t at = first;
  for (;; at++) {
    if (!iso_sql_symbol(sql, at, "(")) return iso_shape_other(s, "VALUES was not understood");
    uint32_t close = sql->tokens.items[at].match, count = 0;
    for (uint32_t part = at + 1; part < close; part = iso_sql_part(sql, part, close) + 1) count++;
    if (at != first && count != shape->value_count) return iso_shape_other(s, "its rows are of different lengths");
    shape->value_count = count;
    at = close + 1;
    if (!iso_sql_symbol(sql, at, ",")) break;
  }
  shape->values_end = at;
  if (iso_shape_has_query(sql, first, at)) shape->partly = "those that its sub-queries read";
  return true;
}

/* INSERT ... SELECT: the version becomes one more column of the query. */
static bool query(iso_shaper *s, uint32_t first, uint32_t end) {
  static const char *const sets[] = {"UNION", "INTERSECT", "EXCEPT", "MINUS", NULL};
  const iso_sql *sql = s->sql;
  if (iso_sql_find(sql, first, end, sets) < end)
    return iso_shape_other(s, "the query that it inserts was not understood");
  uint32_t from = iso_sql_find(sql, first, end, (const char *const[]){"FROM", NULL});
  for (uint32_t i = first + 1; i < from; i++) {
    bool lists = iso_sql_is(sql, i - 1, "SELECT") || iso_sql_symbol(sql, i - 1, ",") || iso_sql_symbol(sql, i - 1, ".");
    if (iso_sql_symbol(sql, i, "*") && lists)
      return iso_shape_other(s, "the query that it inserts asks for all columns");
  }
  if (s->shape->columns_open == 0) return iso_shape_other(s, "it names no columns for the rows of its query");
  s->shape->list_end = from;
  if (from < end) s->shape->partly = "those that its query reads";
  return true;
}

/* ON CONFLICT ... DO UPDATE SET ..., ON DUPLICATE KEY UPDATE ... */
static bool conflict(iso_shaper *s, uint32_t at) {
  static const char *const ends[] = {"WHERE", "RETURNING", NULL};
  const iso_sql *sql = s->sql;
  uint32_t first;
  if (iso_sql_find(sql, at + 1, sql->count, (const char *const[]){"ON", NULL}) < sql->count) {
    bool by_constraint =
        iso_sql_is(sql, at + 1, "CONFLICT") && iso_sql_is(sql, at + 2, "ON") && iso_sql_is(sql, at + 3, "CONSTRAINT");
    if (!by_constraint) return iso_shape_other(s, "several conflicts are not understood");
  }
  if (iso_sql_is(sql, at + 1, "DUPLICATE")) {
    first = at + 4;
  } else {
    uint32_t act = iso_sql_find(sql, at + 1, sql->count, (const char *const[]){"DO", NULL});
    if (iso_sql_is(sql, act + 1, "NOTHING")) return true;
    if (!iso_sql_is(sql, act + 1, "UPDATE") || !iso_sql_is(sql, act + 2, "SET"))
      return iso_shape_other(s, "ON CONFLICT was not understood");
    first = act + 3;
  }
  s->shape->upsert_end = iso_sql_find(sql, first, sql->count, ends);
  if (iso_shape_has_query(sql, first, sql->count)) s->shape->partly = "those that its sub-queries read";
  return assignments(s, first, s->shape->upsert_end);
}

static bool source(iso_shaper *s, uint32_t at, uint32_t end) {
  const iso_sql *sql = s->sql;
  iso_shape *shape = s->shape;
  if (iso_sql_is(sql, at, "VALUES") || iso_sql_is(sql, at, "VALUE")) {
    if (!values(s, at + 1)) return false;
    return shape->values_end == end || iso_shape_other(s, "what comes behind VALUES was not understood");
  }
  if (iso_sql_is(sql, at, "SELECT")) return query(s, at, end);
  if (iso_sql_is(sql, at, "DEFAULT") && iso_sql_is(sql, at + 1, "VALUES") && shape->columns_open == 0) {
    shape->defaults = at;
    return at + 2 == end || iso_shape_other(s, "what comes behind DEFAULT VALUES was not understood");
  }
  if (iso_sql_is(sql, at, "SET") && sql->dialect == ISO_TRACK_MARIADB) {
    shape->set_end = end;
    return at + 1 < end || iso_shape_other(s, "what it sets was not understood");
  }
  return iso_shape_other(s, "this form of INSERT is not understood");
}

bool iso_shape_insert(iso_shaper *s) {
  const iso_sql *sql = s->sql;
  iso_shape *shape = s->shape;
  uint32_t at = 1;
  shape->kind = ISO_SHAPE_INSERT;
  if (iso_sql_is(sql, at, "OR") && iso_sql_is(sql, at + 1, "IGNORE")) at += 2;
  if (!iso_sql_is(sql, at, "INTO")) return iso_shape_other(s, "this form of INSERT is not understood");
  if (!iso_shape_table(s, at + 1, sql->count, &shape->table_end)) return false;
  at = shape->table_end;
  if (iso_sql_symbol(sql, at, "(") && !iso_sql_is(sql, at + 1, "SELECT")) {
    shape->columns_open = at;
    at = iso_sql_skip(sql, at);
  }
  if (iso_sql_is(sql, at, "OVERRIDING")) at += 3;
  static const char *const ends[] = {"ON", "RETURNING", NULL};
  uint32_t end = iso_sql_find(sql, at, sql->count, ends);
  /* The ON of a join is none of these. */
  while (end < sql->count && iso_sql_is(sql, end, "ON") && !iso_sql_is(sql, end + 1, "CONFLICT") &&
         !iso_sql_is(sql, end + 1, "DUPLICATE"))
    end = iso_sql_find(sql, end + 1, sql->count, ends);
  if (!source(s, at, end)) return false;
  if (iso_sql_is(sql, end, "ON") && !conflict(s, end)) return false;
  return returning(s, end) && target(s);
}
