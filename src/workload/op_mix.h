/* op_mix.h - the general workload, a mix of operations: what each transaction will do, decided by a seed alone.
 *
 * A mix owns its buffers until iso_op_mix_free; the operations of a transaction are valid until the next call.
 */
#ifndef ISO_WORKLOAD_OP_MIX_H
#define ISO_WORKLOAD_OP_MIX_H

#include "workload/keys.h"

/* Longest transaction. */
enum { ISO_OP_MIX_MAX_OPS = 1000000 };

typedef struct iso_op_mix_options {
  uint64_t seed;
  uint32_t ops_min, ops_max;
  double read_share, rmw_share, abort_share, unknown_share;
  iso_key_source source;
  double long_share; /* of transactions that have long_ops operations instead */
  uint32_t long_ops;
  uint32_t appends_per_key; /* a key is replaced by a fresh one after that many writes; 0 never */
} iso_op_mix_options;

/* How a transaction is to end. */
typedef enum iso_fate {
  ISO_FATE_COMMIT,
  ISO_FATE_ABORT,
  ISO_FATE_UNKNOWN_DONE, /* the client never learns that it committed */
  ISO_FATE_UNKNOWN_LOST
} iso_fate;

static inline bool iso_fate_takes_effect(iso_fate fate) {
  return fate == ISO_FATE_COMMIT || fate == ISO_FATE_UNKNOWN_DONE;
}

typedef struct iso_op_mix_op {
  bool write;
  uint32_t key;
  uint32_t position; /* where in the distribution the key stood */
} iso_op_mix_op;

typedef struct iso_op_mix_txn {
  iso_fate fate;
  const iso_op_mix_op *ops;
  uint32_t count;
} iso_op_mix_txn;

typedef struct iso_op_mix iso_op_mix;

/* ISOPROOF_ERR_USAGE names the option that makes no sense. */
isoproof_status iso_op_mix_new(const iso_op_mix_options *options, iso_op_mix **mix, isoproof_error *error);
void iso_op_mix_free(iso_op_mix *mix);

/* The next transaction.
 *
 * A write that is to be a read-modify-write takes two operations.  The share of reads counts those reads in, so that it
 * cannot fall below rmw_share / (1 + rmw_share). */
isoproof_status iso_op_mix_next(iso_op_mix *mix, iso_op_mix_txn *txn, isoproof_error *error);

/* How many keys exist so far: keys are numbered from 0 without gaps. */
uint32_t iso_op_mix_keys(const iso_op_mix *mix);
/* Two different keys (one when `second` is NULL) that transactions use now, drawn from the distribution; false when
 * the draw met one key twice. */
bool iso_op_mix_draw(iso_op_mix *mix, iso_random *random, uint32_t *first, uint32_t *second);
/* The key in use at a position below the number of keys in the options. */
uint32_t iso_op_mix_key_at(const iso_op_mix *mix, uint32_t position);

#endif
