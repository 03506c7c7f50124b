/* store.h - the state that transactions leave when they are carried out one after the other: the rows of tables.
 *
 * What a transaction did can be taken back, the last one first.  A store owns its maps until iso_store_free and refers
 * to the names of keys and to the pool of the live checker.
 */
#ifndef ISO_LIVE_STORE_H
#define ISO_LIVE_STORE_H

#include "base/vector.h"
#include "history/numbering.h"
#include "live/row_map.h"
#include "live/txn.h"

/* A row as an operation found it; or, while a transaction is looked at, as it left it itself. */
typedef struct iso_store_change {
  bool present;
  int64_t key, value;
} iso_store_change;

typedef struct iso_store {
  const iso_numbering *names; /* of keys */
  const iso_pool *pool;
  iso_row_map rows;     /* key -> value, of those that are there */
  iso_row_map by_value; /* the same by value and key, as soon as somebody asks for values alone */
  bool has_by_value;
  ISO_VEC(iso_store_change) own; /* scratch: by the transaction at hand, in its order */
} iso_store;

/* What one transaction overwrote; whoever has it frees `items`. */
typedef struct iso_store_undo {
  iso_store_change *items;
  uint32_t count;
} iso_store_undo;

/* Something that a transaction saw and the store does not have. */
typedef struct iso_store_want {
  bool known; /* one row with one value */
  int64_t key, value;
} iso_store_want;

void iso_store_free(iso_store *store);
bool iso_store_copy(iso_store *to, const iso_store *from);
uint64_t iso_store_bytes(const iso_store *store);

/* Whether an operation is one that a store understands. */
bool iso_store_knows(const iso_store *store, const iso_live_op *op);
/* The numbers of an operation on a row, which it has. */
int64_t iso_store_key(const iso_store *store, const iso_live_op *op);
int64_t iso_store_value(const iso_store *store, const iso_live_op *op);

/* Carries out what a transaction writes; false when memory is out. */
bool iso_store_apply(iso_store *store, const iso_live_txn *txn, iso_store_undo *undo);
/* Takes it back, and frees what was noted; only of the last one that was carried out. */
bool iso_store_revert(iso_store *store, iso_store_undo *undo);

/* Whether a transaction that is carried out now sees what it saw; reads of the pairs in `ignored` (key and value of a
 * row; may be NULL) say nothing.  Where it does not, *want says what is missing.  *failed: memory is out. */
bool iso_store_fits(iso_store *store, const iso_live_txn *txn, const iso_row_map *ignored, iso_store_want *want,
                    bool *failed);
/* Whether a statement returned a row that is among the pairs. */
bool iso_statement_shows(const iso_live_txn *txn, const iso_live_statement *statement, const iso_row_map *pairs);
/* Whether what `writer` writes, if it came right before, would change what `reader` sees now.  May say yes where it
 * would not. */
bool iso_store_disturbs(const iso_store *store, const iso_live_txn *writer, const iso_live_txn *reader);
/* Whether both write a key. */
bool iso_txns_overwrite(const iso_live_txn *a, const iso_live_txn *b);

/* Walks over the rows that a predicate picks, by the cheapest way; begin with a cursor of zeros but for these two. */
typedef struct iso_store_cursor {
  iso_store *store;
  const iso_predicate *predicate;
  const iso_row_node *node;
  bool begun, by_value;
  iso_row_value row; /* the one that was found */
} iso_store_cursor;
bool iso_store_next(iso_store_cursor *cursor);

#endif
