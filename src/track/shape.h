/* shape.h - what a statement is: which tables it reads and writes, which rows it asks for, where its parts are.
 *
 * A shape says nothing that is not certain.  What is not understood completely has a reason in `why`, and tables that
 * it may write are refused.  A shape owns its vectors until iso_shape_free and refers to its tokens and tables.
 */
#ifndef ISO_TRACK_SHAPE_H
#define ISO_TRACK_SHAPE_H

#include "track/table.h"

typedef enum iso_shape_kind {
  ISO_SHAPE_OTHER,   /* not understood: `why` */
  ISO_SHAPE_NOTHING, /* touches no row */
  ISO_SHAPE_SAVEPOINT,
  ISO_SHAPE_ROLLBACK_TO,
  ISO_SHAPE_RELEASE,
  ISO_SHAPE_SELECT,
  ISO_SHAPE_INSERT,
  ISO_SHAPE_UPDATE,
  ISO_SHAPE_DELETE
} iso_shape_kind;

/* A table in FROM. */
typedef struct iso_source {
  iso_table *table;  /* NULL: no plain table */
  const char *alias; /* its name in the statement */
  const char *sql;   /* the same in quotes */
} iso_source;

typedef enum iso_operand { ISO_OPERAND_TOKEN, ISO_OPERAND_TRUE, ISO_OPERAND_FALSE, ISO_OPERAND_NONE } iso_operand;

/* A condition of WHERE; `or_next`: it or the next one. */
typedef struct iso_where {
  uint32_t column;
  iso_comparison comparison;
  bool or_next;
  iso_operand operand;
  bool negative;  /* a minus is before the token */
  uint32_t token; /* a number, a string or a variable */
} iso_where;

/* What a `*` among columns stands for. */
typedef struct iso_star {
  uint32_t first, end; /* tokens */
  uint32_t source;     /* UINT32_MAX: all */
} iso_star;

typedef struct iso_shape {
  iso_shape_kind kind;
  const char *why;             /* OTHER: why it is not tracked */
  const char *savepoint;       /* its name */
  ISO_VEC(iso_source) sources; /* SELECT: FROM; of a write: its table is the first */
  ISO_VEC(iso_star) stars;
  /* WHERE, where there is but one source: all of it as conditions that have to be met.  `where_why`: it was not
   * understood, because ...; NULL: it was. */
  ISO_VEC(iso_where) where;
  const char *where_why;
  bool aggregated;      /* SELECT: rows of the answer stand for many rows */
  const char *rows_why; /* not all rows that match are in the answer: LIMIT and its like; NULL otherwise */
  const char *partly; /* rows of other tables that it reads are not recorded: "those that its sub-query reads"; NULL */
  /* Places, all of them tokens. */
  uint32_t list_end;     /* SELECT, and INSERT ... SELECT: behind the columns */
  uint32_t columns_open; /* INSERT: the parenthesis of its columns; 0: there is none */
  uint32_t values_first; /* INSERT ... VALUES: the first row; 0: there is none */
  uint32_t values_end;
  uint32_t value_count; /* INSERT without columns: values per row */
  uint32_t defaults;    /* INSERT ... DEFAULT VALUES: the first word */
  uint32_t set_end;     /* UPDATE ... SET, INSERT ... SET: behind the assignments */
  uint32_t upsert_end;  /* ON CONFLICT ... SET, ON DUPLICATE KEY UPDATE: behind the assignments; 0: there are none */
  uint32_t table_end;   /* INSERT: behind the table and its alias */
  uint32_t returning;   /* RETURNING; the number of tokens if there is none */
  bool from_others;     /* UPDATE ... FROM, DELETE ... USING: names need their table */
} iso_shape;

/* Looks at a statement; refuses tables that it writes in ways that are not understood.  Tables that nobody knows yet
 * become tables that are not known. */
isoproof_status iso_shape_read(iso_schema *tables, const iso_sql *sql, iso_shape *shape, isoproof_error *error);
void iso_shape_free(iso_shape *shape);

/* ---- for those who make shapes ---- */

typedef struct iso_shaper {
  iso_schema *tables;
  const iso_sql *sql;
  iso_shape *shape;
  isoproof_error *error;
} iso_shaper;

/* Not understood: false, so that `return iso_shape_other(...)` reads well. */
bool iso_shape_other(iso_shaper *s, const char *why);
/* The functions that it calls, those of its stars that have no place, names of whole rows; false: not understood. */
bool iso_shape_check_calls(iso_shaper *s);
bool iso_shape_select(iso_shaper *s, uint32_t first, uint32_t end);
bool iso_shape_insert(iso_shaper *s);
bool iso_shape_update(iso_shaper *s);
bool iso_shape_delete(iso_shaper *s);
/* FROM a, b JOIN c ON ... between two tokens: adds sources. */
bool iso_shape_from(iso_shaper *s, uint32_t first, uint32_t end);
/* One table with its alias; *next is behind it. */
bool iso_shape_table(iso_shaper *s, uint32_t at, uint32_t end, uint32_t *next);
/* The columns of a SELECT or RETURNING: notes the stars; false: not understood. */
bool iso_shape_columns(iso_shaper *s, uint32_t first, uint32_t end);
/* WHERE between two tokens (first == end: there is none), of the only source. */
void iso_shape_where(iso_shaper *s, uint32_t first, uint32_t end);
/* Whether a token is within a sub-query that begins behind `first`. */
bool iso_shape_has_query(const iso_sql *sql, uint32_t first, uint32_t end);

/* What is known of a function: it aggregates, it does not; ISO_CALL_UNKNOWN. */
typedef enum iso_call { ISO_CALL_UNKNOWN, ISO_CALL_PLAIN, ISO_CALL_AGGREGATE, ISO_CALL_NO_FUNCTION } iso_call;
iso_call iso_call_of(const iso_sql *sql, uint32_t at);

#endif
