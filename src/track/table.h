/* table.h - the tables of a script: columns, keys, and why a table is not tracked.
 *
 * Tables belong to a set, which owns them and their texts until iso_schema_free.
 */
#ifndef ISO_TRACK_TABLE_H
#define ISO_TRACK_TABLE_H

#include "track/sql.h"

#define ISO_TRACK_VERSION "isoproof_version"
#define ISO_TRACK_PREVIOUS "isoproof_previous"

/* What the contents of a column are good for. */
typedef enum iso_column_kind {
  ISO_COLUMN_OPAQUE,  /* nothing: values that are equal may look different */
  ISO_COLUMN_LABEL,   /* values that are equal look the same, as long as they are in the table */
  ISO_COLUMN_INTEGER, /* and compare as integers */
  ISO_COLUMN_BOOLEAN, /* and compare as 0 and 1 */
  ISO_COLUMN_TEXT     /* and are equal byte by byte */
} iso_column_kind;

typedef struct iso_column {
  const char *name, *quoted;
  iso_column_kind kind;
  bool generated; /* by an expression */
  bool asked;     /* some predicate of the script asks for it: versions carry its content */
} iso_column;

typedef struct iso_table {
  const char *name; /* "accounts", "shop.accounts" */
  const char *sql;  /* the same in quotes */
  const char *last; /* its last part */
  bool known;       /* its columns and its key are */
  const char *why;  /* not tracked: the rest of a sentence, "it has no primary key"; NULL: tracked */
  uint32_t number;  /* among those that are tracked: its place in the keys of the history */
  ISO_VEC(iso_column) columns;
  ISO_VEC(uint32_t) key; /* columns */
  bool catalogued;       /* not made by the setup */
  bool reacts;           /* catalogued, with triggers or rules, or a view: who writes it may write others */
} iso_table;

typedef struct iso_schema {
  iso_track_dialect dialect;
  iso_arena arena;
  ISO_VEC(iso_table *) items;
  const char *why_none;            /* nothing is tracked, because ...; NULL */
  ISO_VEC(const char *) functions; /* that the setup makes: what they name is not tracked */
} iso_schema;

void iso_schema_free(iso_schema *tables);

/* A name that begins at a token, perhaps with the names of schemas before it; *end is behind it.  NULL: there is none,
 * or memory is out. */
const char *iso_schema_name(iso_schema *tables, const iso_sql *sql, uint32_t at, uint32_t *end);
/* NULL: there is none of that name. */
iso_table *iso_schema_find(const iso_schema *tables, const char *name);
/* That one, or a new one that is not known; NULL: memory is out. */
iso_table *iso_schema_get(iso_schema *tables, const char *name);
/* Says why a table is not tracked; the first reason counts. */
void iso_table_refuse(iso_table *table, const char *why);
/* Whether a text has a word, whatever the case of its letters. */
bool iso_text_has_word(const char *text, const char *word);
/* Refuses every table whose name is somewhere in the statement, be it in a string. */
void iso_schema_refuse_named(iso_schema *tables, const iso_sql *sql, const char *why);
/* Refuses all. */
void iso_schema_refuse_all(iso_schema *tables, const char *why);
/* A sentence in the set's own memory; "" when memory is out. */
const char *iso_schema_text(iso_schema *tables, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The number of a column by name; UINT32_MAX: none. */
uint32_t iso_table_column(const iso_schema *tables, const iso_table *table, const char *name);
/* The kind of a column of a type such as "character varying(20)", with a collation or without (NULL). */
iso_column_kind iso_column_kind_of(iso_track_dialect dialect, const char *type, const char *collation);
isoproof_status iso_table_add_column(iso_schema *tables, iso_table *table, const char *name, iso_column_kind kind,
                                     bool generated, isoproof_error *error);
isoproof_status iso_table_add_key(iso_schema *tables, iso_table *table, const char *column, isoproof_error *error);
/* Everything is there: refuses what cannot be tracked. */
void iso_table_settle(iso_schema *tables, iso_table *table);

/* A statement of the setup. */
isoproof_status iso_schema_setup(iso_schema *tables, const iso_sql *sql, isoproof_error *error);

/* A query of what a table is (track/catalogue.c), and what its answer says. */
const char *iso_table_catalogue_sql(iso_schema *tables, const iso_table *table);
isoproof_status iso_table_catalogue(iso_schema *tables, iso_table *table, const iso_reply *reply,
                                    isoproof_error *error);

#endif
