/* plan.h - a tracker from the inside: its statements with what is sent for them, and the rows that it has met.
 *
 * The tracker owns everything here; sessions only refer to it.
 */
#ifndef ISO_TRACK_PLAN_H
#define ISO_TRACK_PLAN_H

#include <pthread.h>

#include "track/shape.h"

/* Keys of the history: each table has a range of its own.  Rows of a single integer key below half of it have that
 * number; all others are numbered as they are met. */
#define ISO_TRACK_RANGE (INT64_C(1) << 26)
#define ISO_TRACK_DIRECT (ISO_TRACK_RANGE / 2)

/* A piece of what is sent. */
typedef enum iso_piece_kind {
  ISO_PIECE_TEXT,
  ISO_PIECE_VARIABLE,
  ISO_PIECE_QUOTED_VARIABLE,
  ISO_PIECE_VERSION
} iso_piece_kind;
typedef struct iso_piece {
  iso_piece_kind kind;
  uint32_t start, length; /* of the text; of a variable: its number in `start` */
} iso_piece;

typedef struct iso_plan {
  iso_sql sql;
  iso_shape shape;
  iso_track_extent extent;
  const char *explanation;
  const char *sent;  /* the text of the pieces, the version as its mark */
  const char *shown; /* the same for people */
  ISO_VEC(iso_piece) pieces;
  ISO_VEC(const char *) variables;
  ISO_VEC(const iso_table *) added; /* the tables of the columns that are added to the answer, in order */
  bool writes;                      /* rows of a tracked table: there is a version in it */
  bool logged;                      /* MariaDB, UPDATE: rows are told by a variable of the session */
  bool whole;                       /* the conditions tell all that it asked for */
  bool pinned;                      /* by them, one row or a list of rows by their keys */
} iso_plan;

typedef struct iso_row_entry {
  uint64_t hash;
  const iso_table *table;
  const char *text; /* its key */
  const char *name;
  int64_t key;
  bool initial; /* it was there at the start */
} iso_row_entry;

/* The rows that were met so far. */
typedef struct iso_row_book {
  pthread_mutex_t lock;
  iso_arena arena;
  ISO_VEC(iso_row_entry *) entries;
  uint32_t *slots; /* entry + 1 */
  size_t mask;
  uint64_t seed;
} iso_row_book;

struct iso_tracker {
  iso_track_dialect dialect;
  iso_value_tag tag;
  uint32_t sessions;
  iso_schema tables;
  ISO_VEC(char *) setup; /* texts */
  ISO_VEC(iso_plan *) plans;
  bool decided;
  ISO_VEC(const char *) instrument, restore, initial_sql;
  ISO_VEC(const iso_table *) initial_tables;
  iso_row_book rows;
  ISO_VEC(iso_jsonl_row) initial;
};

/* Makes what is sent for a statement, once it is decided which tables are tracked. */
isoproof_status iso_plan_rewrite(iso_tracker *tracker, iso_plan *plan, isoproof_error *error);
/* What is recorded of it, in words. */
void iso_plan_explain(iso_tracker *tracker, iso_plan *plan);
/* The statements about a table as a whole. */
isoproof_status iso_tracker_plan_table(iso_tracker *tracker, const iso_table *table, isoproof_error *error);

/* A cell of an answer: a row by its key, and numbers and contents behind it. */
typedef struct iso_told_row {
  const iso_table *table;
  int64_t key;
  bool initial;       /* it was there at the start */
  bool absent;        /* there is none: an outer join found nothing */
  int64_t numbers[2]; /* versions as they are in the table */
  bool null[2];
  iso_jsonl_column *columns; /* of those that predicates ask for */
  size_t column_count;
} iso_told_row;

typedef ISO_VEC(iso_told_row) iso_told_rows;

/* How many columns of a table predicates ask for. */
size_t iso_table_asked(const iso_table *table);
/* What a cell tells: one row or several, how many versions behind the key, and contents behind these.  `initial`: rows
 * at the start, each of which comes once. */
typedef struct iso_told_form {
  bool several;
  int numbers;
  bool contents, initial;
} iso_told_form;

isoproof_status iso_told_read(iso_tracker *tracker, const iso_table *table, const char *text, iso_told_form form,
                              iso_arena *arena, iso_told_rows *rows, isoproof_error *error);

/* A part of a key, as text or as a number. */
typedef struct iso_key_part {
  bool is_text;
  int64_t integer;
  const char *text;
  size_t length;
} iso_key_part;

enum { ISO_MOST_KEY_PARTS = 16 };

isoproof_status iso_row_book_make(iso_row_book *book, isoproof_error *error);
void iso_row_book_free(iso_row_book *book);
/* The row of a key, new when it was not met before; *was_initial: it was there at the start, as far as was said before
 * this call (`initial` says it). */
isoproof_status iso_row_book_find(iso_row_book *book, const iso_table *table, const iso_key_part *parts, bool initial,
                                  int64_t *key, bool *was_initial, isoproof_error *error);

#endif
