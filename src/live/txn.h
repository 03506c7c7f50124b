/* txn.h - a transaction that the live checker holds in memory: one block, immutable, shared by whoever still needs it.
 *
 * Its values are codes of the pool of the live checker, and its keys numbers of its own.  Whoever keeps a transaction
 * holds a reference; the last one to let go frees it.
 */
#ifndef ISO_LIVE_TXN_H
#define ISO_LIVE_TXN_H

#include "history/builder.h"

/* An operation.  A list or set read has its elements from `first` on in those of the transaction; a read by predicate
 * or a count (`form`) has its statement there. */
typedef struct iso_live_op {
  uint8_t kind; /* isoproof_op_kind */
  uint8_t form; /* iso_row_form */
  uint32_t key; /* number in the live checker; nothing for statements */
  iso_value value;
  uint32_t first, count;
} iso_live_op;

/* What a read by predicate or a count returned: its rows, from `first_row` on. */
typedef struct iso_live_statement {
  iso_predicate predicate;
  int64_t counted;
  uint32_t first_row, row_count;
  bool answered;
} iso_live_statement;

typedef struct iso_live_txn {
  uint32_t references;
  bool repeats;     /* when it arrived: it writes what was, perhaps, written before */
  uint32_t session; /* number in the live checker */
  uint64_t place;   /* in its session */
  uint64_t number;  /* in the order of ends */
  iso_txn_info info;
  int64_t real_start, real_end; /* as the real-time levels see them (history/real_time.h) */
  uint32_t op_count;
  size_t bytes;
  iso_live_op *ops;
  iso_live_statement *statements;
  iso_row_value *rows;
  iso_value *elements;
} iso_live_txn;

/* How much room a transaction takes, and where its statements are. */
typedef struct iso_live_shape {
  uint32_t ops, elements, statements, rows;
  uint32_t first_statement; /* of the batch */
} iso_live_shape;
/* One without operations so far, and with room for them; NULL when memory is out. */
iso_live_txn *iso_live_txn_allocate(const iso_live_shape *shape);

/* From codes of one pool to codes of another, one at a time. */
typedef struct iso_live_carrier {
  iso_pool_view from;
  iso_pool *to;
} iso_live_carrier;
isoproof_status iso_live_carry(const iso_live_carrier *carrier, iso_value value, iso_value *out, isoproof_error *error);

/* Copies a transaction of a batch; the caller has the only reference, and sets session, place and number.  `keys` has
 * the numbers of the keys of the batch. */
isoproof_status iso_live_txn_copy(const isoproof_history *batch, uint32_t txn, iso_pool *pool, const uint32_t *keys,
                                  iso_live_txn **out, isoproof_error *error);
static inline iso_live_txn *iso_live_txn_keep(iso_live_txn *txn) {
  txn->references++;
  return txn;
}
void iso_live_txn_drop(iso_live_txn *txn);

/* Begins the transaction in a builder whose session of that number is given; `pool` is that of the transaction. */
isoproof_status iso_live_txn_begin(const iso_live_txn *txn, const iso_pool *pool, uint32_t session,
                                   isoproof_builder *builder, isoproof_error *error);
/* Adds one of its operations to the transaction that was begun; `keys` has the names of the keys. */
isoproof_status iso_live_txn_op(const iso_live_txn *txn, const iso_live_op *op, const iso_pool *pool,
                                const iso_value *keys, isoproof_builder *builder, isoproof_error *error);
/* Adds a read of a list with these elements. */
isoproof_status iso_live_put_list(const iso_value *elements, uint32_t count, iso_value key, const iso_pool *pool,
                                  isoproof_builder *builder, isoproof_error *error);

/* isoproof_op_kind_observes without a call, as it is asked of every operation several times. */
static inline bool iso_live_op_observes(const iso_live_op *op) {
  static const bool observing[] = {
#define ISO_X(name, own, jepsen, letter, observes, text) observes,
      ISOPROOF_OP_LIST(ISO_X)
#undef ISO_X
  };
  return op->kind < sizeof observing && observing[op->kind];
}

#endif
