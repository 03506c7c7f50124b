/* jsonl.h - isoproof's own text form, one JSON object per line (docs/format-jsonl.md): writing single lines.
 *
 * A recorder writes a header and then transactions as they end; the history writer uses the same functions.  Nothing
 * here owns anything; texts must be valid UTF-8.
 */
#ifndef ISO_FORMAT_JSONL_H
#define ISO_FORMAT_JSONL_H

#include <isoproof/history.h>

#include "base/output.h"
#include "history/isolation.h"
#include "history/rows.h"

enum { ISO_JSONL_VERSION = 1, ISO_JSONL_FACTS = 4096, ISO_JSONL_FACT_NAME = 255 };

/* The fact by which a recorder says in the first header that an end will come, and in the last one that it has. */
#define ISO_JSONL_FINISHED "finished"
#define ISO_JSONL_FINISHED_NO "no"

/* The first field of a header, whose value is the version. */
#define ISO_JSONL_HEADER "isoproof"
/* The field of the line that says which rows there are at the start. */
#define ISO_JSONL_INITIAL_ROWS "initial_rows"
/* The field of a line that says what rows are called. */
#define ISO_JSONL_ROW_NAMES "row_names"

/* Fields of a transaction: C name, text. */
#define ISO_JSONL_FIELD_LIST(X)                                                                                        \
  X(SESSION, "session")                                                                                                \
  X(STATUS, "status")                                                                                                  \
  X(ID, "id")                                                                                                          \
  X(START, "start")                                                                                                    \
  X(END, "end")                                                                                                        \
  X(START_INDEX, "start_index")                                                                                        \
  X(END_INDEX, "end_index")                                                                                            \
  X(NODE, "node")                                                                                                      \
  X(ERROR, "error")                                                                                                    \
  X(NAME, "name")                                                                                                      \
  X(STATEMENTS, "statements")                                                                                          \
  X(ISOLATION, "isolation")                                                                                            \
  X(OPS, "ops")

typedef struct iso_jsonl_fact {
  const char *name, *value;
  size_t name_length, value_length;
} iso_jsonl_fact;

/* A column of a row, and what is in it: nil, an integer or a string. */
typedef struct iso_jsonl_column {
  isoproof_scalar name, content;
} iso_jsonl_column;

/* A row with its value, and the contents of columns that predicates ask for. */
typedef struct iso_jsonl_row {
  int64_t key, value;
  const iso_jsonl_column *columns;
  size_t column_count;
} iso_jsonl_row;

/* A row, and what people call it: "accounts[id=7]". */
typedef struct iso_jsonl_row_name {
  int64_t key;
  const char *name;
} iso_jsonl_row_name;

/* A condition on a column.  `or_next`: it or the one that follows it has to be met. */
typedef struct iso_jsonl_condition {
  isoproof_scalar column, operand;
  iso_comparison comparison;
  bool or_next;
} iso_jsonl_condition;

typedef struct iso_jsonl_op {
  isoproof_op_kind kind;
  isoproof_scalar key;
  isoproof_scalar value;           /* when there are no elements */
  const isoproof_scalar *elements; /* of a list or set read, else NULL */
  size_t count;                    /* of elements, or of rows */
  /* What is done to rows.  Of writes and misses `kind` does not matter; a read by predicate has a predicate instead of
   * a key, and rows unless they are not known (`rows` is NULL, the value none); a count has its number as value. */
  iso_row_form form;
  iso_predicate predicate;
  const iso_row_value *rows;
  const iso_jsonl_column *columns; /* of an insert, update or upsert: contents that predicates ask for */
  size_t column_count;
  const iso_jsonl_condition *where; /* of a predicate: conditions on columns, beside those of `predicate` */
  size_t where_count;
  uint32_t statement; /* the number of the statement that did it, N of a fact statement.N; 0: none */
} iso_jsonl_op;

typedef struct iso_jsonl_txn {
  isoproof_scalar session;
  isoproof_txn_status status;
  bool has_id;
  int64_t id;
  int64_t start, end;             /* ISOPROOF_NO_TIME */
  int64_t start_index, end_index; /* -1 */
  isoproof_scalar node, error;    /* nil */
  isoproof_scalar name;           /* of the kind of transaction, such as "transfer"; nil */
  iso_txn_isolation isolation;    /* the level that is its own, ISO_ISOLATION_NONE */
  const iso_jsonl_op *ops;
  size_t count;
} iso_jsonl_txn;

void iso_jsonl_write_header(iso_output *output, bool initial_is_zero, const iso_jsonl_fact *facts, size_t count);
void iso_jsonl_write_txn(iso_output *output, const iso_jsonl_txn *txn);
/* Rows that were there before the first transaction, with their values; before the first transaction. */
void iso_jsonl_write_initial_rows(iso_output *output, const iso_row_value *rows, size_t count);
/* The same with contents of columns. */
void iso_jsonl_write_initial_contents(iso_output *output, const iso_jsonl_row *rows, size_t count);
/* What rows are called, such as "accounts[id=7]", one line; anywhere behind the header. */
void iso_jsonl_write_row_names(iso_output *output, const iso_jsonl_row_name *names, size_t count);
/* A session that may stay without transactions. */
void iso_jsonl_write_session(iso_output *output, isoproof_scalar name);

#endif
