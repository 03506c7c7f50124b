/* elle_book.h - a small history of lists or of registers in plain arrays, for tests/oracle/elle_oracle.h.
 *
 * Read through the public API alone.  A fixed-size value, owned by the caller.
 */
#ifndef ORACLE_ELLE_BOOK_H
#define ORACLE_ELLE_BOOK_H

#include <isoproof/isoproof.h>

enum { BOOK_TXNS = 12, BOOK_OPS = 48, BOOK_KEYS = 3, BOOK_ELEMENTS = 12 };

/* A value is an integer; nil, the initial one, is BOOK_NIL. */
#define BOOK_NIL INT64_MIN

typedef struct book_op {
  unsigned txn, key;
  bool reads, known; /* a read whose value was not recorded is not known */
  int64_t value;     /* of a write, or of a read of a register */
  int64_t element[BOOK_ELEMENTS];
  unsigned elements;
} book_op;

typedef struct book {
  unsigned txns, ops, keys;
  isoproof_txn txn[BOOK_TXNS];
  unsigned first_op[BOOK_TXNS + 1];
  book_op op[BOOK_OPS];
  bool counts[BOOK_TXNS]; /* committed, or seen by somebody who counts */
} book;

/* False when the history is too large, or has values that are no integers. */
bool book_load(const isoproof_history *history, book *out);

/* The operation that wrote a value to a key; -1 when nobody did. */
int book_writer(const book *b, unsigned key, int64_t value);
/* Whether a list read shows a value. */
bool book_shows(const book_op *read, int64_t value);
/* Whether there is another write of the key after this one in its transaction. */
bool book_is_replaced(const book *b, unsigned write);

/* Codes of the anomalies that single transactions and single keys give away, as one bit each of this list. */
#define BOOK_ANOMALY_LIST(X)                                                                                           \
  X(G1A, "G1a")                                                                                                        \
  X(G1B, "G1b")                                                                                                        \
  X(INTERNAL, "internal")                                                                                              \
  X(FUTURE_READ, "future-read")                                                                                        \
  X(INCOMPATIBLE, "incompatible-order")                                                                                \
  X(DUPLICATES, "duplicate-elements")                                                                                  \
  X(DIRTY_UPDATE, "dirty-update")                                                                                      \
  X(LOST_UPDATE, "lost-update")                                                                                        \
  X(GARBAGE, "garbage-read")

typedef enum book_anomaly {
#define ORACLE_X(name, code) BOOK_##name,
  BOOK_ANOMALY_LIST(ORACLE_X)
#undef ORACLE_X
      BOOK_ANOMALIES
} book_anomaly;

const char *book_anomaly_code(book_anomaly anomaly);
unsigned book_anomalies(const book *b, bool lists);

#endif
