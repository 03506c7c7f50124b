/* jepsen_pairs.h - operations of a Jepsen history in the order of the file: invocations meet their completions, and
 * become transactions.
 *
 * A process is a slot with the invocation that it has open; where a process invokes again before its completion came,
 * the earlier invocations are parked.  Until iso_jepsen_pairs_own or the end the pairs refer to the operations that
 * they were given; they own everything else until iso_jepsen_pairs_free.
 */
#ifndef ISO_FORMAT_JEPSEN_PAIRS_H
#define ISO_FORMAT_JEPSEN_PAIRS_H

#include "format/jepsen.h"

/* The invocation that a process has open, or had last. */
typedef struct iso_jepsen_slot {
  bool open;
  bool borrowed; /* the operations are somebody else's */
  iso_jepsen_shape shape;
  uint32_t session; /* ISO_JEPSEN_NO_SESSION until a transaction of the process is seen */
  uint64_t line;    /* of the last invocation, 0 none */
  int64_t time, index;
  bool has_id;
  int64_t id;
  iso_value node;
  iso_txn_isolation isolation;
  const iso_op_add *ops;
  size_t count;
  ISO_VEC(iso_op_add) own; /* where the operations are when they are not borrowed */
  uint32_t parked;         /* earlier invocations that are still open: the latest of them + 1, 0 none */
  uint32_t parked_count;
} iso_jepsen_slot;

#define ISO_JEPSEN_NO_SESSION UINT32_MAX

typedef struct iso_jepsen_pairs {
  isoproof_builder *builder;
  iso_pool *pool;
  const char *name; /* of the input */
  isoproof_error *error;
  iso_numbering processes; /* process -> slot */
  bool has_txns;
  uint64_t other_invocations, other_completions;
  uint64_t other_line; /* of the first operation of a client that is no transaction; 0 when there is none */
  ISO_VEC(iso_jepsen_slot) slots;
  ISO_VEC(iso_jepsen_slot)
  parking;                     /* invocations that were followed by another one of their process; closed ones stay */
  ISO_VEC(iso_op_add) spare;   /* the operations of a closed slot, to be used again */
  ISO_VEC(uint32_t) borrowers; /* slots that may have borrowed operations */
  const iso_jepsen_op *op;     /* the operation at hand */
  const iso_micro_ops *micro;
  uint64_t ordinal; /* of the next operation */
} iso_jepsen_pairs;

/* All of them, and `name`, must outlive the pairs. */
void iso_jepsen_pairs_init(iso_jepsen_pairs *pairs, isoproof_builder *builder, const char *name, isoproof_error *error);
void iso_jepsen_pairs_free(iso_jepsen_pairs *pairs);
/* Takes the next operation in, whose value is not broken.  Reads of nil are settled in `micro`. */
isoproof_status iso_jepsen_pairs_add(iso_jepsen_pairs *pairs, iso_jepsen_op *op, const iso_micro_ops *micro);
/* Whether the operation has to do with transactions at all. */
bool iso_jepsen_is_other(const iso_jepsen_op *op);
/* Makes the pairs independent of the operations that they were given. */
isoproof_status iso_jepsen_pairs_own(iso_jepsen_pairs *pairs);
/* Goes on with a builder that was finished and is empty: the pairs speak in codes of `done`, what became of it. */
isoproof_status iso_jepsen_pairs_carry(iso_jepsen_pairs *pairs, const isoproof_history *done, isoproof_error *error);
/* The end of the history: what is open has an unknown outcome. */
isoproof_status iso_jepsen_pairs_finish(iso_jepsen_pairs *pairs);

#endif
