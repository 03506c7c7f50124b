/* ship.h - the operations of a piece of the history on their way to the parts that have their keys.
 *
 * A piece is a range of transactions as a process read them.  Operations go in runs, one per transaction and part; the
 * part of a key follows from its code, which means the same in all processes.  Elements of lists go once per key, and a
 * list read as the length of its prefix.  A piece refers to the columns of a history.
 */
#ifndef ISO_PARTS_SHIP_H
#define ISO_PARTS_SHIP_H

#include "base/hash.h"
#include "base/task.h"
#include "history/history.h"
#include "parts/bytes.h"

/* The columns of the operations of a history, which may be gone from it (iso_piece_take). */
typedef struct iso_piece {
  const uint8_t *op_kind;
  const uint32_t *op_key;
  const iso_value *op_value;
  const uint32_t *txn_first_op;
  const iso_value *key_name;
  const uint64_t *list_first, *odd_first; /* NULL where there are no lists */
  const iso_value *list_values, *odd_values;
  uint32_t first_txn, end_txn;
  uint32_t first_key, end_key; /* the keys whose lists this piece ships */
  uint32_t keys;
  const uint32_t *number; /* by transaction: its number in the whole; NULL: its own */
  const uint32_t *place;  /* by transaction: the place of its first operation in the whole; NULL: 0 */
  const iso_value *code;  /* by entry of the pool: its code in the whole; NULL: its own */
  bool in_file;           /* the columns lie in a mapped file: pages that were read are let go */
} iso_piece;

/* A piece of all transactions of a history. */
iso_piece iso_piece_of(const isoproof_history *history);

/* The code in the whole. */
static inline iso_value iso_piece_code(const iso_piece *piece, iso_value value) {
  bool own = piece->code == NULL || value < ISO_VALUE_INTERNED || value >= ISO_VALUE_COUNTED;
  return own ? value : piece->code[value & ~ISO_VALUE_INTERNED];
}

/* The part that has a key, by its code in the whole. */
static inline uint32_t iso_part_of(iso_value key, uint32_t parts) {
  return (uint32_t)((iso_hash_u64(key, UINT64_C(0x9e3779b97f4a7c15)) >> 32) * parts >> 32);
}

/* Stands for all parts. */
#define ISO_ALL_PARTS UINT32_MAX

/* How an operation travels: kind, place in its transaction, key and value (codes of the whole); an odd list has the
 * number of its elements as its value, and they follow.  A run has the number of its transaction and its length before
 * it. */
enum { ISO_SHIPPED_OP = 11, ISO_SHIPPED_RUN = 6 };
/* Longer transactions cannot be told apart by place. */
enum { ISO_MOST_OPS_PER_TXN = 65535 };

/* Ships transactions from *txn on until all are shipped or about `most` bytes are, and moves *txn on: to[part] of every
 * part, or to[0] what goes to part `only`.  ISOPROOF_ERR_LIMIT where a transaction is too long. */
isoproof_status iso_ship_ops(const iso_piece *piece, uint32_t parts, uint32_t only, uint64_t most, uint32_t *txn,
                             iso_bytes *to, isoproof_task *task, isoproof_error *error);
/* Ships the longest list of each key, in the same way. */
isoproof_status iso_ship_lists(const iso_piece *piece, uint32_t parts, uint32_t only, iso_bytes *to,
                               isoproof_error *error);

#endif
