/* isoproof/history.h - histories: open one from a file, build one by hand, look inside.
 *
 * A history is immutable.  Sessions are numbered in the order in which they first appear in the input; transactions
 * are numbered session by session, in session order; operations are numbered transaction by transaction, in program
 * order.  So the transactions of a session and the operations of a transaction are ranges of numbers.
 */
#ifndef ISOLDE_HISTORY_H
#define ISOLDE_HISTORY_H

#include <isoproof/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isolde_history isolde_history;

/* A key, a value, a name of a session: what the database and its clients talk about. */
typedef enum isolde_scalar_type {
  ISOLDE_NIL,      /* no value: the initial version of a key */
  ISOLDE_NONE,     /* not recorded: a read whose result the client never learnt */
  ISOLDE_INTEGER,  /* `integer` */
  ISOLDE_UNSIGNED, /* `integer` holds the bits of an unsigned number above INT64_MAX */
  ISOLDE_STRING,   /* `text`, UTF-8 */
  ISOLDE_KEYWORD,  /* `text` without the leading colon */
  ISOLDE_SYMBOL    /* `text` verbatim: true, 1.5, a big number, an EDN symbol or character */
} isolde_scalar_type;

typedef struct isolde_scalar {
  isolde_scalar_type type;
  uint32_t length; /* of text, in bytes */
  int64_t integer;
  const char *text; /* not terminated; owned by the history (or, when passed in, by the caller) */
} isolde_scalar;

ISOLDE_API isolde_scalar isolde_integer(int64_t integer);
ISOLDE_API isolde_scalar isolde_string(const char *text);
ISOLDE_API isolde_scalar isolde_nil(void);
ISOLDE_API bool isolde_scalar_equal(isolde_scalar a, isolde_scalar b);
/* Writes the scalar as people read it (1, x, :x, nil), terminated; returns the full length, as snprintf does. */
ISOLDE_API size_t isolde_scalar_format(isolde_scalar scalar, char *buffer, size_t size);

/* Kinds of operations: C name, name in isolde's own formats, name in Jepsen's formats, one letter for people,
 * whether it observes (reads), what its value is. */
#define ISOLDE_OP_LIST(X)                                                                                              \
  X(READ, "r", "r", 'r', true, "register read: a value, nil for the initial one")                                      \
  X(WRITE, "w", "w", 'w', false, "register write: a value")                                                            \
  X(READ_LIST, "read-list", "r", 'r', true, "list read: elements in order")                                            \
  X(APPEND, "append", "append", 'a', false, "list append: an element")                                                 \
  X(READ_SET, "read-set", "r", 'r', true, "set read: elements in any order")                                           \
  X(ADD, "add", "add", 'a', false, "set add: an element")                                                              \
  X(READ_COUNTER, "read-counter", "r", 'r', true, "counter read: a number")                                            \
  X(INCREMENT, "inc", "inc", 'i', false, "counter increment: a number, perhaps negative")                              \
  X(READ_PREDICATE, "read-predicate", "rp", 'p', true, "predicate read: the rows that matched")

typedef enum isolde_op_kind {
#define ISOLDE_X(name, own, jepsen, letter, observes, text) ISOLDE_OP_##name,
  ISOLDE_OP_LIST(ISOLDE_X)
#undef ISOLDE_X
      ISOLDE_OP_KINDS
} isolde_op_kind;

ISOLDE_API const char *isolde_op_kind_name(isolde_op_kind kind);
ISOLDE_API bool isolde_op_kind_observes(isolde_op_kind kind);

typedef enum isolde_txn_status {
  ISOLDE_COMMITTED,
  ISOLDE_ABORTED,
  ISOLDE_UNKNOWN /* the client never learnt */
} isolde_txn_status;

ISOLDE_API const char *isolde_txn_status_name(isolde_txn_status status);

/* ---- looking inside ---- */

typedef struct isolde_counts {
  uint64_t sessions;
  uint64_t transactions;
  uint64_t committed;
  uint64_t aborted;
  uint64_t unknown;
  uint64_t operations;
  uint64_t keys;
  bool has_times; /* every transaction has a start, and every one that is not unknown an end */
} isolde_counts;

ISOLDE_API void isolde_history_counts(const isolde_history *history, isolde_counts *counts);
/* The name of the format it was read from, as in isoproof/format.h; "memory" when it was built by hand. */
ISOLDE_API const char *isolde_history_format(const isolde_history *history);

#define ISOLDE_NO_TIME INT64_MIN

typedef struct isolde_session {
  isolde_scalar name; /* as in the input */
  uint64_t first_txn;
  uint64_t txns;
} isolde_session;

typedef struct isolde_txn {
  uint64_t session;
  uint64_t index; /* within its session */
  isolde_txn_status status;
  bool has_id;
  int64_t id;    /* its own id in the input */
  int64_t start; /* nanoseconds (or whatever unit the input has), ISOLDE_NO_TIME where unknown */
  int64_t end;
  isolde_scalar node;  /* nil where unknown */
  isolde_scalar error; /* code of the error that ended it, nil where none */
  uint64_t first_op;
  uint64_t ops;
} isolde_txn;

typedef struct isolde_op {
  isolde_op_kind kind;
  isolde_scalar key;
  isolde_scalar value; /* list and set reads: nil, none, or the number of elements */
  uint64_t elements;   /* of a list or set read, see isolde_history_element */
} isolde_op;

/* Each returns false when the number is out of range. */
ISOLDE_API bool isolde_history_session(const isolde_history *history, uint64_t session, isolde_session *out);
ISOLDE_API bool isolde_history_txn(const isolde_history *history, uint64_t txn, isolde_txn *out);
ISOLDE_API bool isolde_history_op(const isolde_history *history, uint64_t op, isolde_op *out);
ISOLDE_API bool isolde_history_element(const isolde_history *history, uint64_t op, uint64_t position,
                                       isolde_scalar *out);

/* The name of a transaction, "s2t3": sessions by their own number where the input has numbers, else by position. */
ISOLDE_API size_t isolde_history_txn_name(const isolde_history *history, uint64_t txn, char *buffer, size_t size);

/* Where an operation stands in its input.  `line` is 0 or `offset` is -1 where they do not apply. */
typedef struct isolde_position {
  const char *file;
  uint64_t line;
  int64_t offset;
} isolde_position;
ISOLDE_API bool isolde_history_position(const isolde_history *history, uint64_t op, isolde_position *out);

/* Facts about a run that a header can carry: seed, command line, database, version, isolation, ... */
ISOLDE_API const char *isolde_history_fact(const isolde_history *history, const char *name);

ISOLDE_API void isolde_history_free(isolde_history *history);

/* ---- reading ---- */

typedef struct isolde_open_options {
  size_t struct_size; /* sizeof(isolde_open_options) */
  const char *format; /* NULL: detect from the content */
} isolde_open_options;

/* Opens a file, a directory (Cobra and Viper logs), or "-" for standard input.  gzip and zstd are seen through.
 * `options` and `task` may be NULL. */
ISOLDE_API isolde_status isolde_history_open(const char *path, const isolde_open_options *options, isolde_task *task,
                                             isolde_history **history, isolde_error *error);
/* The same for bytes in memory; `name` is used in errors and positions. */
ISOLDE_API isolde_status isolde_history_open_memory(const void *data, size_t size, const char *name,
                                                    const isolde_open_options *options, isolde_task *task,
                                                    isolde_history **history, isolde_error *error);

/* Resolves every register read to the write it observed, in parallel, and keeps the result in the handle.  Calling
 * it is optional: what needs it does it.  Reports how many reads nobody's write explains and how many writes repeat
 * a value of their key. */
typedef struct isolde_resolution {
  uint64_t reads;            /* register reads with a recorded value */
  uint64_t initial;          /* of the initial version */
  uint64_t thin_air;         /* of a value that nobody wrote */
  uint64_t duplicate_writes; /* writes of a value that an earlier write of the key, or the initial version, has */
} isolde_resolution;
ISOLDE_API isolde_status isolde_history_resolve(isolde_history *history, isolde_task *task, isolde_resolution *out,
                                                isolde_error *error);

/* ---- building by hand ---- */

typedef struct isolde_builder isolde_builder;

ISOLDE_API isolde_status isolde_builder_new(isolde_builder **builder, isolde_error *error);
ISOLDE_API void isolde_builder_free(isolde_builder *builder);
/* The session of that name, made when it is new; its number in the history to come. */
ISOLDE_API isolde_status isolde_builder_session(isolde_builder *builder, isolde_scalar name, uint32_t *session,
                                                isolde_error *error);
/* Starts a transaction at the end of a session; it stays open until the next begin or finish. */
ISOLDE_API isolde_status isolde_builder_begin(isolde_builder *builder, uint32_t session, isolde_txn_status status,
                                              isolde_error *error);
/* Times of the open transaction; ISOLDE_NO_TIME where unknown. */
ISOLDE_API isolde_status isolde_builder_times(isolde_builder *builder, int64_t start, int64_t end, isolde_error *error);
/* Adds an operation with a scalar value to the open transaction. */
ISOLDE_API isolde_status isolde_builder_op(isolde_builder *builder, isolde_op_kind kind, isolde_scalar key,
                                           isolde_scalar value, isolde_error *error);
/* Adds a list or set read with its elements. */
ISOLDE_API isolde_status isolde_builder_elements(isolde_builder *builder, isolde_op_kind kind, isolde_scalar key,
                                                 const isolde_scalar *elements, size_t count, isolde_error *error);
/* Makes the history and empties the builder, which can then be used again or freed. */
ISOLDE_API isolde_status isolde_builder_finish(isolde_builder *builder, isolde_history **history, isolde_error *error);

#ifdef __cplusplus
}
#endif

#endif
