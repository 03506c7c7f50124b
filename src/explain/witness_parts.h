/* witness_parts.h - gathering the transactions, operations, keys and edges of a witness, each once.
 * Notes own their lists until iso_witness_parts_free.  Failure is sticky: check `failed` once at the end. */
#ifndef ISO_EXPLAIN_WITNESS_PARTS_H
#define ISO_EXPLAIN_WITNESS_PARTS_H

#include <isoproof/check.h>

#include "base/arena.h"
#include "base/vector.h"
#include "history/history.h"

typedef struct iso_witness_parts {
  const isoproof_history *h;
  ISO_VEC(uint64_t) txns; /* the initial one left out */
  ISO_VEC(uint64_t) ops;
  ISO_VEC(uint32_t) keys;
  ISO_VEC(isoproof_edge) edges;
  bool failed;
} iso_witness_parts;

void iso_witness_parts_txn(iso_witness_parts *parts, uint32_t txn);
void iso_witness_parts_op(iso_witness_parts *parts, uint32_t op);
/* An edge with the operations it rests on (ISO_NO_OP for none) and all that they imply; the key is theirs. */
void iso_witness_parts_edge(iso_witness_parts *parts, const char *kind, uint32_t from, uint32_t to, uint32_t from_op,
                            uint32_t to_op);
/* Copies of the lists in the arena; false when memory is or was out. */
bool iso_witness_parts_hand_over(const iso_witness_parts *parts, iso_arena *arena, isoproof_anomaly *out);
const isoproof_edge *iso_witness_parts_copy_edges(const iso_witness_parts *parts, iso_arena *arena);
void iso_witness_parts_free(iso_witness_parts *parts);

#endif
