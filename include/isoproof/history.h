/* isoproof/history.h - histories: open one from a file, build one by hand, look inside.
 *
 * A history is immutable.  Sessions are numbered in the order in which they first appear in the input; transactions
 * are numbered session by session, in session order; operations are numbered transaction by transaction, in program
 * order.  So the transactions of a session and the operations of a transaction are ranges of numbers.
 */
#ifndef ISOPROOF_HISTORY_H
#define ISOPROOF_HISTORY_H

#include <isoproof/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isoproof_history isoproof_history;

/* A key, a value, a name of a session: what the database and its clients talk about. */
typedef enum isoproof_scalar_type {
  ISOPROOF_NIL,      /* no value: the initial version of a key */
  ISOPROOF_NONE,     /* not recorded: a read whose result the client never learnt */
  ISOPROOF_INTEGER,  /* `integer` */
  ISOPROOF_UNSIGNED, /* `integer` holds the bits of an unsigned number above INT64_MAX */
  ISOPROOF_STRING,   /* `text`, UTF-8 */
  ISOPROOF_KEYWORD,  /* `text` without the leading colon */
  ISOPROOF_SYMBOL    /* `text` verbatim: true, 1.5, a big number, an EDN symbol or character */
} isoproof_scalar_type;

/* Frozen. */
typedef struct isoproof_scalar {
  isoproof_scalar_type type;
  uint32_t length; /* of text, in bytes */
  int64_t integer;
  const char *text; /* not terminated; owned by the history (or, when passed in, by the caller) */
} isoproof_scalar;

ISOPROOF_API isoproof_scalar isoproof_integer(int64_t integer);
ISOPROOF_API isoproof_scalar isoproof_string(const char *text);
ISOPROOF_API isoproof_scalar isoproof_nil(void);
ISOPROOF_API bool isoproof_scalar_equal(isoproof_scalar a, isoproof_scalar b);
/* Writes the scalar as people read it (1, x, :x, nil), terminated; returns the full length, as snprintf does. */
ISOPROOF_API size_t isoproof_scalar_format(isoproof_scalar scalar, char *buffer, size_t size);

/* Kinds of operations: C name, name in isoproof's own formats, name in Jepsen's formats, one letter for people,
 * whether it observes (reads), what its value is. */
#define ISOPROOF_OP_LIST(X)                                                                                            \
  X(READ, "r", "r", 'r', true, "register read: a value, nil for the initial one")                                      \
  X(WRITE, "w", "w", 'w', false, "register write: a value")                                                            \
  X(READ_LIST, "read-list", "r", 'r', true, "list read: elements in order")                                            \
  X(APPEND, "append", "append", 'a', false, "list append: an element")                                                 \
  X(READ_SET, "read-set", "r", 'r', true, "set read: elements in any order")                                           \
  X(ADD, "add", "add", 'a', false, "set add: an element")                                                              \
  X(READ_COUNTER, "read-counter", "r", 'r', true, "counter read: a number")                                            \
  X(INCREMENT, "inc", "inc", 'i', false, "counter increment: a number, perhaps negative")                              \
  X(READ_PREDICATE, "read-predicate", "rp", 'p', true, "predicate read: the rows that matched")

typedef enum isoproof_op_kind {
#define ISOPROOF_X(name, own, jepsen, letter, observes, text) ISOPROOF_OP_##name,
  ISOPROOF_OP_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_OP_KINDS
} isoproof_op_kind;

ISOPROOF_API const char *isoproof_op_kind_name(isoproof_op_kind kind);
ISOPROOF_API bool isoproof_op_kind_observes(isoproof_op_kind kind);

typedef enum isoproof_txn_status {
  ISOPROOF_TXN_COMMITTED,
  ISOPROOF_TXN_ABORTED,
  ISOPROOF_TXN_UNKNOWN /* the client never learnt */
} isoproof_txn_status;

ISOPROOF_API const char *isoproof_txn_status_name(isoproof_txn_status status);

/* ---- looking inside ---- */

typedef struct isoproof_counts {
  size_t struct_size; /* sizeof(isoproof_counts), set by the caller */
  uint64_t sessions;
  uint64_t transactions;
  uint64_t committed;
  uint64_t aborted;
  uint64_t unknown;
  uint64_t operations; /* a read by predicate, or a count, is one, whatever it observes */
  uint64_t keys;
  bool has_times; /* every transaction has a start, and every one that is not unknown an end */
} isoproof_counts;

/* False when struct_size is not set. */
ISOPROOF_API bool isoproof_history_counts(const isoproof_history *history, isoproof_counts *counts);
/* The name of the format it was read from, as in isoproof/format.h; "memory" when it was built by hand. */
ISOPROOF_API const char *isoproof_history_format(const isoproof_history *history);

#define ISOPROOF_NO_TIME INT64_MIN

typedef struct isoproof_session {
  size_t struct_size;   /* sizeof(isoproof_session), set by the caller */
  isoproof_scalar name; /* as in the input */
  uint64_t first_txn;
  uint64_t txn_count;
} isoproof_session;

typedef struct isoproof_txn {
  size_t struct_size; /* sizeof(isoproof_txn), set by the caller */
  uint64_t session;
  uint64_t index; /* within its session */
  isoproof_txn_status status;
  bool has_id;
  int64_t id;    /* its own id in the input */
  int64_t start; /* nanoseconds (or whatever unit the input has), ISOPROOF_NO_TIME where unknown */
  int64_t end;
  isoproof_scalar node;  /* nil where unknown */
  isoproof_scalar error; /* code of the error that ended it, nil where none */
  uint64_t first_op;
  uint64_t op_count;
  const char *isolation;  /* id of the level that is its own ("serializable"), NULL where it has none */
  isoproof_scalar called; /* which of the application's transactions it is ("transfer"), nil where unknown */
} isoproof_txn;

typedef struct isoproof_op {
  size_t struct_size; /* sizeof(isoproof_op), set by the caller */
  isoproof_op_kind kind;
  isoproof_scalar key;
  isoproof_scalar value;  /* list and set reads: nil, none, or the number of elements */
  uint64_t element_count; /* of a list or set read, see isoproof_history_element_at */
} isoproof_op;

/* The levels that transactions can carry as their own, weakest first, by id: `number` from 0; NULL after the last. */
ISOPROOF_API const char *isoproof_isolation_at(size_t number);

/* Each returns false when the number is out of range, or when struct_size is not set.  The operations of a transaction
 * are those from first_op on; a read by predicate, or a count, is one for each row that it may have seen, so that there
 * may be more or fewer of them than `operations` says. */
ISOPROOF_API bool isoproof_history_session_at(const isoproof_history *history, uint64_t session, isoproof_session *out);
ISOPROOF_API bool isoproof_history_txn_at(const isoproof_history *history, uint64_t txn, isoproof_txn *out);
ISOPROOF_API bool isoproof_history_op_at(const isoproof_history *history, uint64_t op, isoproof_op *out);
ISOPROOF_API bool isoproof_history_element_at(const isoproof_history *history, uint64_t op, uint64_t position,
                                              isoproof_scalar *out);

/* ---- rows ----
 *
 * A row is a key, an integer, and its value is an integer.  That it is absent is a version of it: the initial one,
 * unless the history says otherwise, and what a delete writes.  In a history a row is a register: writes of rows are
 * operations of kind WRITE (nil: a delete), and a read by predicate or a count is a run of operations of kind READ, one
 * per row that it could match, whose value is that of the row returned, nil where the row was absent, and none where it
 * was absent or did not match, or was perhaps counted. */

/* What was done to rows: C name, name in isoproof's own formats. */
#define ISOPROOF_ROW_FORM_LIST(X)                                                                                      \
  X(NONE, "")                                                                                                          \
  X(INSERT, "insert")                                                                                                  \
  X(UPDATE, "update")                                                                                                  \
  X(UPSERT, "upsert")                                                                                                  \
  X(DELETE, "delete")                                                                                                  \
  X(MISSED_UPDATE, "missed-update") /* found no row */                                                                 \
  X(MISSED_DELETE, "missed-delete") /* found no row */                                                                 \
  X(PREDICATE, "rp")                /* read by predicate */                                                            \
  X(COUNT, "count")                 /* how many rows match a predicate */

typedef enum isoproof_row_form {
#define ISOPROOF_X(name, id) ISOPROOF_ROW_##name,
  ISOPROOF_ROW_FORM_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_ROW_FORMS
} isoproof_row_form;

/* What was done to a row, or, of reads by predicate and counts, to many. */
typedef struct isoproof_statement {
  size_t struct_size; /* sizeof(isoproof_statement), set by the caller */
  isoproof_row_form form;
  bool has_keys;             /* key_low <= key <= key_high */
  bool has_values;           /* value_low <= value <= value_high */
  bool has_rest;             /* the value modulo divisor, never negative, is rest */
  bool answered;             /* false: no answer came */
  int64_t key_low, key_high; /* these are of reads by predicate and counts only */
  int64_t value_low, value_high;
  int64_t divisor, rest;
  int64_t counted;             /* what a count returned */
  uint64_t first_op, op_count; /* its operations in the history */
} isoproof_statement;

/* The statement that an operation belongs to; false when the operation is none on rows. */
ISOPROOF_API bool isoproof_history_statement_of(const isoproof_history *history, uint64_t op, isoproof_statement *out);

/* The name of a transaction, "s2t3": sessions by their own number where the input has numbers, else by position. */
ISOPROOF_API size_t isoproof_history_txn_name(const isoproof_history *history, uint64_t txn, char *buffer, size_t size);

/* Where an operation stands in its input.  `line` is 0 or `offset` is -1 where they do not apply.  Frozen. */
typedef struct isoproof_position {
  const char *file;
  uint64_t line;
  int64_t offset;
} isoproof_position;
ISOPROOF_API bool isoproof_history_position_of(const isoproof_history *history, uint64_t op, isoproof_position *out);

/* Facts about a run that a header can carry: seed, command line, database, version, isolation, ... */
ISOPROOF_API const char *isoproof_history_fact(const isoproof_history *history, const char *name);

/* What whoever reads a verdict has to know about the history behind it: C name, code, sentence.  A sentence may be more
 * specific than that of the list. */
#define ISOPROOF_NOTICE_LIST(X)                                                                                        \
  X(TRUNCATED, "truncated", "the last line was cut off, and is left out")                                              \
  X(MAYBE_TRUNCATED, "maybe-truncated", "the last line has no end: its last value may have been cut off")              \
  X(UNFINISHED, "unfinished", "the recorded run came to no end: its last part may be missing")                         \
  X(LEFT_OUT, "left-out", "operations that are no part of a transaction are left out")                                 \
  X(REPEATED_VALUES, "repeated-values",                                                                                \
    "values are written more than once: a level is satisfied when it is so for some choice of the writes that reads "  \
    "observed")                                                                                                        \
  X(UNTRACKED, "untracked",                                                                                            \
    "what statements of a script read or wrote is not recorded, or only in part: what is satisfied may be violated "   \
    "by that part")                                                                                                    \
  X(CLOCKS, "clocks", "several machines recorded it: times are widened by what is not certain of their clocks")

typedef enum isoproof_notice_code {
#define ISOPROOF_X(name, id, text) ISOPROOF_NOTICE_##name,
  ISOPROOF_NOTICE_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_NOTICES
} isoproof_notice_code;

/* "truncated", "unfinished", ... */
ISOPROOF_API const char *isoproof_notice_code_name(isoproof_notice_code code);

typedef struct isoproof_notice {
  size_t struct_size;  /* sizeof(isoproof_notice), set by the caller */
  const char *code;    /* "truncated"; a saved result may have codes that are not in the list */
  uint64_t line;       /* 0 where it has none */
  const char *message; /* in a sentence */
} isoproof_notice;

/* The notices of a history, `number` from 0; false after the last.  They are kept as facts (`notice.1`, ...), so that
 * converting a history to the formats with a header keeps them. */
ISOPROOF_API bool isoproof_history_notice_at(const isoproof_history *history, size_t number, isoproof_notice *out);

ISOPROOF_API void isoproof_history_free(isoproof_history *history);

/* ---- reading ---- */

typedef struct isoproof_open_options {
  size_t struct_size; /* sizeof(isoproof_open_options) */
  const char *format; /* NULL: detect from the content */
} isoproof_open_options;

/* Opens a file, a directory (Cobra and Viper logs), or "-" for standard input.  gzip and zstd are seen through.
 * `options` and `task` may be NULL. */
ISOPROOF_API isoproof_status isoproof_history_open(const char *path, const isoproof_open_options *options,
                                                   isoproof_task *task, isoproof_history **history,
                                                   isoproof_error *error);
/* The same for bytes in memory; `name` is used in errors and positions. */
ISOPROOF_API isoproof_status isoproof_history_open_memory(const void *data, size_t size, const char *name,
                                                          const isoproof_open_options *options, isoproof_task *task,
                                                          isoproof_history **history, isoproof_error *error);

/* Resolves every register read to the write it observed, in parallel, and keeps the result in the handle.  Calling
 * it is optional: what needs it does it.  Reports how many reads nobody's write explains and how many writes repeat
 * a value of their key, unless `out` is NULL. */
typedef struct isoproof_resolution {
  size_t struct_size;        /* sizeof(isoproof_resolution), set by the caller */
  uint64_t reads;            /* register reads with a recorded value */
  uint64_t initial;          /* of the initial version */
  uint64_t thin_air;         /* of a value that nobody wrote */
  uint64_t duplicate_writes; /* writes of a value that an earlier write of the key, or the initial version, has */
} isoproof_resolution;
ISOPROOF_API isoproof_status isoproof_history_resolve(isoproof_history *history, isoproof_task *task,
                                                      isoproof_resolution *out, isoproof_error *error);

/* ---- building by hand ---- */

typedef struct isoproof_builder isoproof_builder;

ISOPROOF_API isoproof_status isoproof_builder_new(isoproof_builder **builder, isoproof_error *error);
ISOPROOF_API void isoproof_builder_free(isoproof_builder *builder);
/* The session of that name, made when it is new; its number in the history to come. */
ISOPROOF_API isoproof_status isoproof_builder_session(isoproof_builder *builder, isoproof_scalar name,
                                                      uint32_t *session, isoproof_error *error);
/* Starts a transaction at the end of a session; it stays open until the next begin or finish. */
ISOPROOF_API isoproof_status isoproof_builder_begin(isoproof_builder *builder, uint32_t session,
                                                    isoproof_txn_status status, isoproof_error *error);
/* Times of the open transaction; ISOPROOF_NO_TIME where unknown. */
ISOPROOF_API isoproof_status isoproof_builder_times(isoproof_builder *builder, int64_t start, int64_t end,
                                                    isoproof_error *error);
/* The isolation level of the open transaction, its own, for the level `mixed`: a name of read-committed, read-atomic,
 * causal, prefix, snapshot-isolation or serializable (isoproof/level.h); NULL: none.  Any other name is
 * ISOPROOF_ERR_USAGE. */
ISOPROOF_API isoproof_status isoproof_builder_isolation(isoproof_builder *builder, const char *level,
                                                        isoproof_error *error);
/* Adds an operation with a scalar value to the open transaction. */
ISOPROOF_API isoproof_status isoproof_builder_op(isoproof_builder *builder, isoproof_op_kind kind, isoproof_scalar key,
                                                 isoproof_scalar value, isoproof_error *error);
/* Adds a list or set read with its elements. */
ISOPROOF_API isoproof_status isoproof_builder_elements(isoproof_builder *builder, isoproof_op_kind kind,
                                                       isoproof_scalar key, const isoproof_scalar *elements,
                                                       size_t count, isoproof_error *error);
/* Adds a write of a row, or an update or delete that found none; the value is not looked at where there is none. */
ISOPROOF_API isoproof_status isoproof_builder_row(isoproof_builder *builder, isoproof_row_form form, int64_t key,
                                                  int64_t value, isoproof_error *error);
/* Adds a read by predicate with the rows that it returned (`count` keys and values), or a count.  The operations of the
 * statement are not looked at: finish finds them, as they are of all rows of the history. */
ISOPROOF_API isoproof_status isoproof_builder_statement(isoproof_builder *builder, const isoproof_statement *statement,
                                                        const int64_t *keys, const int64_t *values, size_t count,
                                                        isoproof_error *error);
/* Says that a row is there at the start, once per row. */
ISOPROOF_API isoproof_status isoproof_builder_initial_row(isoproof_builder *builder, int64_t key, int64_t value,
                                                          isoproof_error *error);
/* Makes the history and empties the builder, which can then be used again or freed. */
ISOPROOF_API isoproof_status isoproof_builder_finish(isoproof_builder *builder, isoproof_history **history,
                                                     isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
