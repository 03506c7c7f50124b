/* witness_parts.h - gathering the transactions, operations, keys and edges of a witness, each once.
 * Notes own their lists until iso_notes_free.  Failure is sticky: check `failed` once at the end. */
#ifndef ISO_EXPLAIN_WITNESS_PARTS_H
#define ISO_EXPLAIN_WITNESS_PARTS_H

#include <isoproof/check.h>

#include "base/arena.h"
#include "base/vector.h"
#include "history/history.h"

typedef struct iso_notes {
  const isoproof_history *h;
  ISO_VEC(uint64_t) txns; /* the initial one left out */
  ISO_VEC(uint64_t) ops;
  ISO_VEC(uint32_t) keys;
  ISO_VEC(isoproof_edge) edges;
  bool failed;
} iso_notes;

void iso_notes_txn(iso_notes *notes, uint32_t txn);
void iso_notes_op(iso_notes *notes, uint32_t op);
/* An edge with the operations it rests on (ISO_NO_OP for none) and all that they imply; the key is theirs. */
void iso_notes_edge(iso_notes *notes, const char *kind, uint32_t from, uint32_t to, uint32_t from_op, uint32_t to_op);
/* Copies of the lists in the arena; false when memory is or was out. */
bool iso_notes_hand_over(const iso_notes *notes, iso_arena *arena, isoproof_anomaly *out);
const isoproof_edge *iso_notes_copy_edges(const iso_notes *notes, iso_arena *arena);
void iso_notes_free(iso_notes *notes);

#endif
