/* small.h - histories of a few transactions, small enough to list all of them: of registers, or of lists.
 *
 * A transaction reads first and writes afterwards, and no read is of its own writes: what README.md says why nothing
 * else needs to be looked at.  Transactions are numbered so that sessions go upwards, and of registers reads, too.
 * Everything is a plain value.
 */
#ifndef DISTINGUISH_SMALL_H
#define DISTINGUISH_SMALL_H

#include <isoproof/isoproof.h>

enum {
  SMALL_TXNS = 4,
  SMALL_OPS = 8,
  SMALL_KEYS = SMALL_OPS / 2,
  SMALL_INITIAL = -1,
  SMALL_NOBODY = -2,
  SMALL_TEXT = 1024
};

typedef struct small_op {
  bool write;
  int8_t source; /* of a read: the transaction that wrote the value, SMALL_INITIAL, or SMALL_NOBODY */
  uint8_t key;
} small_op;

typedef struct small_history {
  uint8_t txns, ops, sessions, keys;
  uint8_t session[SMALL_TXNS];   /* numbered in the order of their first transactions */
  uint8_t first[SMALL_TXNS + 1]; /* operations of a transaction: first[t] .. first[t + 1] - 1 */
  small_op op[SMALL_OPS];
  bool lists; /* a write appends, and a read shows what its source had appended, and before */
  uint8_t order[SMALL_KEYS][SMALL_TXNS]; /* of lists: who appended to a key, in the order of the list */
} small_history;

/* What a level may need beyond that: times, and a level of each transaction's own. */
typedef struct small_frame {
  bool timed, labelled;
  uint8_t start[SMALL_TXNS], end[SMALL_TXNS];
  uint8_t label[SMALL_TXNS]; /* numbers of isoproof_isolation_at */
} small_frame;

/* Whether the transaction writes the key. */
bool small_writes(const small_history *history, unsigned txn, unsigned key);
/* How many transactions write the key. */
unsigned small_writers(const small_history *history, unsigned key);
/* Which transactions (bits) must come before each, by sessions, and of registers by reads, directly. */
void small_order(const small_history *history, uint8_t before[SMALL_TXNS]);
/* Whether every transaction is a single operation. */
bool small_single(const small_history *history);

/* As Plume text, or as JSON lines where there are lists, times or levels. */
void small_text(const small_history *history, const small_frame *frame, char text[SMALL_TEXT]);
/* As a history to check; NULL when memory runs out. */
isoproof_history *small_build(const small_history *history, const small_frame *frame);

#endif
