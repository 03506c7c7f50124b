/* teller.h - a witness in the making: what it names, and its words.
 * A teller owns its lists and words until iso_teller_free.  Failure is sticky: check `failed` once at the end. */
#ifndef ISO_ELLE_TELLER_H
#define ISO_ELLE_TELLER_H

#include "base/words.h"
#include "elle/elle.h"

typedef struct iso_teller {
  const isoproof_history *h;
  const iso_elle *e;
  iso_words words;
  ISO_VEC(uint64_t) txns;
  ISO_VEC(uint64_t) ops;
  ISO_VEC(isoproof_scalar) keys;
  ISO_VEC(isoproof_edge) edges;
  bool failed;
} iso_teller;

void iso_teller_free(iso_teller *teller);

/* Naming puts something on the lists; transactions and keys once, an operation with its transaction and key. */
void iso_teller_name_txn(iso_teller *teller, uint32_t txn);
void iso_teller_name_key(iso_teller *teller, uint32_t key);
void iso_teller_name_op(iso_teller *teller, uint32_t op);

/* "s1t2", the name of a key, "append x 3". */
void iso_teller_say_txn(iso_teller *teller, uint32_t txn);
void iso_teller_say_key(iso_teller *teller, uint32_t key);
void iso_teller_say_op(iso_teller *teller, uint32_t op);
/* What a read or a write is about: nil, 4, [1 2 3]; of a long list the end. */
void iso_teller_say_value(iso_teller *teller, uint32_t op);

/* A cycle of dependencies, step by step; false when the evidence does not explain it. */
bool iso_teller_tell_cycle(iso_teller *teller, const iso_dependency_cycle *cycle);
/* A lost update, with both reads and both writes; false when these are not there. */
bool iso_teller_tell_lost_update(iso_teller *teller, const iso_noncycle_anomaly *lost_update);

#endif
