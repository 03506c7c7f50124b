/* sql.h - SQL as a flat list of tokens, in the dialects of PostgreSQL, SQLite and MariaDB.
 *
 * Strings, quoted identifiers, dollar quotes and comments are told apart as each database does; parentheses know their
 * partners.  A text owns its copy and its tokens until iso_sql_free.
 */
#ifndef ISO_TRACK_SQL_H
#define ISO_TRACK_SQL_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vector.h"
#include "track/track.h"

typedef enum iso_sql_type {
  ISO_SQL_END,
  ISO_SQL_WORD,            /* a keyword or a name without quotes */
  ISO_SQL_QUOTED,          /* a name in quotes */
  ISO_SQL_STRING,          /* '...' without escapes but doubled quotes */
  ISO_SQL_OTHER_STRING,    /* any other string */
  ISO_SQL_NUMBER,          /* digits only */
  ISO_SQL_OTHER_NUMBER,    /* 1.5, 1e3, 0x1f */
  ISO_SQL_VARIABLE,        /* :name */
  ISO_SQL_QUOTED_VARIABLE, /* :'name' */
  ISO_SQL_SYMBOL,
  ISO_SQL_VERSION /* the byte that stands for the version in a rewritten statement */
} iso_sql_type;

#define ISO_SQL_VERSION_MARK '\x01'

typedef struct iso_sql_token {
  iso_sql_type type;
  uint32_t start, length;
  uint32_t match; /* of a parenthesis: its partner */
  uint32_t depth; /* parentheses around it */
} iso_sql_token;

typedef struct iso_sql {
  iso_track_dialect dialect;
  char *text;
  ISO_VEC(iso_sql_token) tokens; /* the last one is ISO_SQL_END */
  uint32_t count;                /* without it */
  const char *problem;           /* why it cannot be read, NULL otherwise: there are no tokens then */
} iso_sql;

isoproof_status iso_sql_read(iso_track_dialect dialect, const char *text, iso_sql *sql, isoproof_error *error);
void iso_sql_free(iso_sql *sql);

/* Whether a token is that keyword (upper case), or that symbol; false behind the end. */
bool iso_sql_is(const iso_sql *sql, uint32_t at, const char *word);
bool iso_sql_symbol(const iso_sql *sql, uint32_t at, const char *symbol);
/* Whether it may be a name. */
bool iso_sql_is_name(const iso_sql *sql, uint32_t at);
/* A name as the database takes it: without quotes, unquoted ones of PostgreSQL in lower case.  NULL: memory is out. */
const char *iso_sql_name(const iso_sql *sql, uint32_t at, iso_arena *arena);
/* A variable without colon and quotes. */
const char *iso_sql_variable(const iso_sql *sql, uint32_t at, iso_arena *arena);
bool iso_sql_same_name(iso_track_dialect dialect, const char *a, const char *b);
/* A name in quotes, as every dialect takes it. */
const char *iso_sql_quote_name(iso_track_dialect dialect, const char *name, iso_arena *arena);

/* The first keyword of a list (NULL at its end) at the depth of `first` from there on; `end` if there is none. */
uint32_t iso_sql_find(const iso_sql *sql, uint32_t first, uint32_t end, const char *const *words);
/* The token behind the one at `at`, or behind its partner if that opens a parenthesis. */
uint32_t iso_sql_skip(const iso_sql *sql, uint32_t at);
/* The end of the part of a list that begins at `first`: the next comma of its depth, or `end`. */
uint32_t iso_sql_part(const iso_sql *sql, uint32_t first, uint32_t end);

#endif
