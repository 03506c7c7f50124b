/* jepsen.h - one operation of a Jepsen or Elle history, as both dialects write it.
 *
 * Shared by the part that reads a map into an operation (jepsen_op.c) and the part that pairs operations up
 * (jepsen_pairs.c).  An operation refers to nothing but codes of the pool; its micro-operations belong to `micro`.
 */
#ifndef ISO_FORMAT_JEPSEN_H
#define ISO_FORMAT_JEPSEN_H

#include "format/micro_op.h"

/* Keys of an operation that we know: C name, text.  The last four are beyond what Jepsen itself writes: `id`, `node`
 * and `isolation` carry what other formats know of a transaction; `initial-reads` says that in an operation that did
 * not succeed [:r k nil] is a read of the initial version and [:r k] one without a result, where otherwise both are the
 * latter. */
#define ISO_JEPSEN_FIELD_LIST(X)                                                                                       \
  X(INDEX, "index")                                                                                                    \
  X(TIME, "time")                                                                                                      \
  X(PROCESS, "process")                                                                                                \
  X(TYPE, "type")                                                                                                      \
  X(F, "f")                                                                                                            \
  X(VALUE, "value")                                                                                                    \
  X(ERROR, "error")                                                                                                    \
  X(NODE, "node")                                                                                                      \
  X(ID, "id")                                                                                                          \
  X(INITIAL_READS, "initial-reads")                                                                                    \
  X(ISOLATION, "isolation")

/* How rows are told in a history of registers: a deletion is a write of this keyword, and the transaction that wrote
 * the initial state begins with a query of this name. */
#define ISO_JEPSEN_DEAD "elle/dead"
#define ISO_JEPSEN_INIT_MARK "init"

/* Types of operations: C name, text. */
#define ISO_JEPSEN_TYPE_LIST(X)                                                                                        \
  X(INVOKE, "invoke")                                                                                                  \
  X(OK, "ok")                                                                                                          \
  X(FAIL, "fail")                                                                                                      \
  X(INFO, "info")

typedef enum iso_jepsen_type {
  ISO_JEPSEN_NO_TYPE,
#define ISO_X(name, text) ISO_JEPSEN_##name,
  ISO_JEPSEN_TYPE_LIST(ISO_X)
#undef ISO_X
} iso_jepsen_type;

/* What the value of an operation is. */
typedef enum iso_jepsen_shape {
  ISO_JEPSEN_NOTHING, /* nil or absent */
  ISO_JEPSEN_MICRO,   /* a list of micro-operations */
  ISO_JEPSEN_OTHER,   /* something else */
  ISO_JEPSEN_BROKEN   /* micro-operations with a mistake, see `problem` of the reader */
} iso_jepsen_shape;

typedef struct iso_jepsen_op {
  iso_jepsen_type type;
  iso_jepsen_shape shape;
  bool has_f, is_txn; /* there is an f that is not nil; it is txn, or init */
  bool is_init;       /* f is init: the value is a map of keys and values, all of them written at once */
  bool initial_reads;
  bool has_index; /* index was there, if only as nil */
  bool has_id;
  int64_t index; /* -1 none */
  int64_t time;  /* ISOPROOF_NO_TIME */
  int64_t id;
  iso_value process, node, error;
  iso_txn_isolation isolation; /* the level that is its own */
  uint64_t line;
} iso_jepsen_op;

/* Reads the map that the current token opens.  In `micro`, the value of a read is ISO_VALUE_NIL where the input says
 * nil and ISO_VALUE_NONE where it says nothing.  *deferred describes what is wrong with a broken value. */
isoproof_status iso_jepsen_read_op(iso_tokenizer *t, iso_pool *pool, iso_jepsen_op *op, iso_micro_op *micro,
                                   isoproof_error *deferred);
/* Takes in fields of the map at hand that are written as Jepsen writes them, right from the window; the next token is
 * whatever follows (jepsen_fields.c). */
void iso_jepsen_take_fields(iso_tokenizer *t, iso_jepsen_op *op);

#endif
