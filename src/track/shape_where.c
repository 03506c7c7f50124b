/* WHERE as conditions on columns that all have to be met, where it is nothing else. */
#include <string.h>

#include "track/shape.h"

typedef struct {
  iso_shaper *s;
  const iso_table *table;
  const char *alias;
} reader;

static bool refuse(const reader *r, const char *why) {
  if (r->s->shape->where_why == NULL) r->s->shape->where_why = why;
  return false;
}

static bool add(const reader *r, const iso_where *made) {
  return iso_vec_push(&r->s->shape->where, *made) || refuse(r, "memory is out");
}

/* A column, perhaps behind the name of its table; *next is behind it. */
static bool column(const reader *r, uint32_t at, uint32_t *next, uint32_t *number) {
  const iso_sql *sql = r->s->sql;
  iso_arena *arena = &r->s->tables->arena;
  if (!iso_sql_is_name(sql, at)) return false;
  const char *name = iso_sql_name(sql, at, arena);
  *next = at + 1;
  if (name != NULL && iso_sql_symbol(sql, at + 1, ".") && iso_sql_is_name(sql, at + 2)) {
    if (!iso_sql_same_name(sql->dialect, name, r->alias)) return false;
    name = iso_sql_name(sql, at + 2, arena);
    *next = at + 3;
  }
  *number = name != NULL ? iso_table_column(r->s->tables, r->table, name) : UINT32_MAX;
  return *number != UINT32_MAX;
}

/* A value: an integer, a string, TRUE, FALSE or a variable. */
static bool operand(const reader *r, uint32_t at, uint32_t *next, iso_where *made) {
  const iso_sql *sql = r->s->sql;
  made->negative = iso_sql_symbol(sql, at, "-");
  at += made->negative;
  if (at >= sql->count) return false;
  iso_sql_type type = sql->tokens.items[at].type;
  made->token = at;
  *next = at + 1;
  made->operand = iso_sql_is(sql, at, "TRUE")    ? ISO_OPERAND_TRUE
                  : iso_sql_is(sql, at, "FALSE") ? ISO_OPERAND_FALSE
                                                 : ISO_OPERAND_TOKEN;
  if (made->operand != ISO_OPERAND_TOKEN) return !made->negative;
  if (type == ISO_SQL_STRING || type == ISO_SQL_QUOTED_VARIABLE) return !made->negative;
  return type == ISO_SQL_NUMBER || type == ISO_SQL_VARIABLE;
}

static const struct {
  const char *symbol;
  iso_comparison straight, turned;
} comparisons[] = {
    {"=", ISO_COMPARE_EQUAL, ISO_COMPARE_EQUAL},      {"==", ISO_COMPARE_EQUAL, ISO_COMPARE_EQUAL},
    {"<>", ISO_COMPARE_UNEQUAL, ISO_COMPARE_UNEQUAL}, {"!=", ISO_COMPARE_UNEQUAL, ISO_COMPARE_UNEQUAL},
    {"<", ISO_COMPARE_LESS, ISO_COMPARE_GREATER},     {"<=", ISO_COMPARE_LESS_EQUAL, ISO_COMPARE_GREATER_EQUAL},
    {">", ISO_COMPARE_GREATER, ISO_COMPARE_LESS},     {">=", ISO_COMPARE_GREATER_EQUAL, ISO_COMPARE_LESS_EQUAL}};

static bool comparison(const iso_sql *sql, uint32_t at, bool turned, iso_comparison *found) {
  for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
    if (!iso_sql_symbol(sql, at, comparisons[i].symbol)) continue;
    *found = turned ? comparisons[i].turned : comparisons[i].straight;
    return true;
  }
  return false;
}

/* column IN (a, b), column NOT IN (a, b) */
static bool in_list(const reader *r, uint32_t open, uint32_t end, uint32_t number, bool negated) {
  const iso_sql *sql = r->s->sql;
  uint32_t close = iso_sql_symbol(sql, open, "(") ? sql->tokens.items[open].match : end;
  if (close + 1 != end || close == open + 1) return false;
  for (uint32_t at = open + 1, next; at < close; at = next + 1) {
    iso_where made = {.column = number, .comparison = negated ? ISO_COMPARE_UNEQUAL : ISO_COMPARE_EQUAL};
    if (!operand(r, at, &next, &made)) return false;
    if (next != close && !iso_sql_symbol(sql, next, ",")) return false;
    made.or_next = !negated && next != close;
    if (!add(r, &made)) return false;
  }
  return true;
}

/* column BETWEEN a AND b */
static bool between(const reader *r, uint32_t at, uint32_t end, uint32_t number) {
  iso_where low = {.column = number, .comparison = ISO_COMPARE_GREATER_EQUAL},
            high = {.column = number, .comparison = ISO_COMPARE_LESS_EQUAL};
  uint32_t next;
  if (!operand(r, at, &next, &low) || !iso_sql_is(r->s->sql, next, "AND")) return false;
  return operand(r, next + 1, &next, &high) && next == end && add(r, &low) && add(r, &high);
}

static bool is_something(const reader *r, uint32_t at, uint32_t end, uint32_t number) {
  const iso_sql *sql = r->s->sql;
  iso_where made = {.column = number, .operand = ISO_OPERAND_NONE};
  if (at + 1 == end && iso_sql_is(sql, at, "NULL")) {
    made.comparison = ISO_COMPARE_IS_NULL;
    return add(r, &made);
  }
  if (at + 2 == end && iso_sql_is(sql, at, "NOT") && iso_sql_is(sql, at + 1, "NULL")) {
    made.comparison = ISO_COMPARE_IS_NOT_NULL;
    return add(r, &made);
  }
  return false;
}

/* A column alone, or behind NOT: true, or false. */
static bool truth(const reader *r, uint32_t at, uint32_t end) {
  bool negated = iso_sql_is(r->s->sql, at, "NOT");
  uint32_t next;
  iso_where made = {.comparison = ISO_COMPARE_EQUAL, .operand = negated ? ISO_OPERAND_FALSE : ISO_OPERAND_TRUE};
  if (!column(r, at + negated, &next, &made.column) || next != end) return false;
  return r->table->columns.items[made.column].kind == ISO_COLUMN_BOOLEAN && add(r, &made);
}

static bool condition(const reader *r, uint32_t at, uint32_t end) {
  const iso_sql *sql = r->s->sql;
  uint32_t next, number;
  iso_where made = {.or_next = false};
  if (column(r, at, &next, &number)) {
    made.column = number;
    bool negated = iso_sql_is(sql, next, "NOT");
    if (next == end) return truth(r, at, end);
    if (iso_sql_is(sql, next, "IS")) return is_something(r, next + 1, end, number);
    if (iso_sql_is(sql, next + negated, "IN")) return in_list(r, next + negated + 1, end, number, negated);
    if (iso_sql_is(sql, next, "BETWEEN")) return between(r, next + 1, end, number);
    return comparison(sql, next, false, &made.comparison) && operand(r, next + 1, &next, &made) && next == end &&
           add(r, &made);
  }
  if (iso_sql_is(sql, at, "NOT")) return truth(r, at, end);
  if (!operand(r, at, &next, &made) || !comparison(sql, next, true, &made.comparison)) return false;
  return column(r, next + 1, &next, &made.column) && next == end && add(r, &made);
}

/* The end of the condition that begins at a token: the next AND that does not belong to a BETWEEN. */
static uint32_t condition_end(const iso_sql *sql, uint32_t at, uint32_t end) {
  bool between_ands = false;
  for (; at < end; at = iso_sql_skip(sql, at)) {
    if (iso_sql_is(sql, at, "BETWEEN")) between_ands = true;
    if (!iso_sql_is(sql, at, "AND")) continue;
    if (!between_ands) return at;
    between_ands = false;
  }
  return end;
}

/* Whether the comparison means what the history takes it for. */
static bool is_exact(const iso_sql *sql, const iso_table *table, const iso_where *w, const char **why) {
  const iso_column *c = &table->columns.items[w->column];
  *why = "it compares with a value of another type";
  bool equality = w->comparison == ISO_COMPARE_EQUAL || w->comparison == ISO_COMPARE_UNEQUAL;
  iso_sql_type type = w->operand == ISO_OPERAND_TOKEN ? sql->tokens.items[w->token].type : ISO_SQL_END;
  bool text = type == ISO_SQL_STRING || type == ISO_SQL_QUOTED_VARIABLE,
       logical = w->operand == ISO_OPERAND_TRUE || w->operand == ISO_OPERAND_FALSE;
  if (c->generated) *why = "it asks for a column that is generated by an expression";
  if (c->generated) return false;
  if (w->operand == ISO_OPERAND_NONE && c->kind != ISO_COLUMN_OPAQUE) return true;
  switch (c->kind) {
  case ISO_COLUMN_INTEGER:
    return !text && (!logical || sql->dialect != ISO_TRACK_POSTGRES);
  case ISO_COLUMN_BOOLEAN:
    return (logical || type == ISO_SQL_VARIABLE) && equality;
  case ISO_COLUMN_TEXT:
    if (!equality) *why = "the order of text is not known to isoproof";
    return equality && !logical && type != ISO_SQL_NUMBER;
  case ISO_COLUMN_LABEL:
  case ISO_COLUMN_OPAQUE:
    break;
  }
  *why = "it asks for a column whose comparisons are not known to isoproof (its type or its collation)";
  return false;
}

/* A part of WHERE that is still to be looked at. */
typedef struct {
  uint32_t first, end;
} span;

/* Looks at one part: takes its first condition, and puts back what is left. */
static bool read_part(const reader *r, span part, span left[2], size_t *count) {
  const iso_sql *sql = r->s->sql;
  uint32_t stop = condition_end(sql, part.first, part.end);
  *count = 0;
  if (stop < part.end) left[(*count)++] = (span){stop + 1, part.end};
  if (iso_sql_symbol(sql, part.first, "(") && iso_sql_skip(sql, part.first) == stop) {
    left[(*count)++] = (span){part.first + 1, stop - 1};
    return true;
  }
  bool alternatives = iso_sql_find(sql, part.first, stop, (const char *const[]){"OR", NULL}) < stop;
  return (!alternatives && condition(r, part.first, stop)) ||
         refuse(r, "its WHERE is more than comparisons of columns with values, joined by AND");
}

void iso_shape_where(iso_shaper *s, uint32_t first, uint32_t end) {
  iso_shape *shape = s->shape;
  ISO_VEC(span) parts = {NULL, 0, 0};
  if (shape->sources.count != 1 || shape->sources.items[0].table == NULL) {
    shape->where_why = "it reads several tables";
    return;
  }
  reader r = {.s = s, .table = shape->sources.items[0].table, .alias = shape->sources.items[0].alias};
  if (first < end && !iso_vec_push(&parts, ((span){first, end}))) refuse(&r, "memory is out");
  while (parts.count > 0 && shape->where_why == NULL) {
    span left[2];
    size_t count;
    if (!read_part(&r, parts.items[--parts.count], left, &count)) break;
    for (size_t i = 0; i < count; i++) {
      if (!iso_vec_push(&parts, left[i])) refuse(&r, "memory is out");
    }
  }
  iso_vec_free(&parts);
  for (size_t i = 0; i < shape->where.count && shape->where_why == NULL; i++) {
    const char *why;
    if (!is_exact(s->sql, r.table, &shape->where.items[i], &why)) shape->where_why = why;
  }
  if (shape->where_why != NULL) shape->where.count = 0;
}
