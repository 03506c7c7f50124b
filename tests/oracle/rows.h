/* rows.h - small histories of rows and predicates, and which levels they satisfy, straight from the definitions.
 *
 * A history is a plain value of the caller's, without pointers; it is not read through the library, which is what the
 * oracle is there to test.  A row is a key whose versions are absent or a value.  What a read by predicate observed of
 * the rows that it did not return is not known: a history satisfies a level if some choice of observed versions does,
 * so the oracle tries them all (and, for each, all orders: oracle.h).  Time is exponential; a choice is given up as
 * soon as the part of it that was made breaks the level, which more reads cannot mend.
 */
#ifndef ORACLE_ROWS_H
#define ORACLE_ROWS_H

#include "tests/oracle/mixed.h"

enum { ROWS_TXNS = 6, ROWS_OPS = 6, ROWS_KEYS = 4 };

/* Operations: C name, name in the text form, whether it writes. */
#define ROW_OP_LIST(X)                                                                                                 \
  X(INSERT, "insert", true)                                                                                            \
  X(UPDATE, "update", true)                                                                                            \
  X(UPSERT, "upsert", true)                                                                                            \
  X(DELETE, "delete", true)                                                                                            \
  X(MISSED_UPDATE, "missed-update", false)                                                                             \
  X(MISSED_DELETE, "missed-delete", false)                                                                             \
  X(READ, "r", false)                                                                                                  \
  X(SELECT, "rp", false)                                                                                               \
  X(COUNT, "count", false)

typedef enum row_op_kind {
#define ROW_X(name, text, writes) ROW_##name,
  ROW_OP_LIST(ROW_X)
#undef ROW_X
      ROW_OP_KINDS
} row_op_kind;

/* A version: a value, or absent. */
typedef struct row_value {
  bool present;
  int64_t value;
} row_value;

/* Every condition that is there must hold; bounds belong to the ranges, a rest is never negative. */
typedef struct row_predicate {
  bool of_keys, of_values, of_rest;
  int64_t key_low, key_high, value_low, value_high, divisor, rest;
} row_predicate;

typedef struct row_op {
  row_op_kind kind;
  bool answered;             /* a read whose answer came; others say nothing */
  unsigned row;              /* of single rows */
  row_value value;           /* written, or read */
  row_predicate predicate;   /* SELECT, COUNT */
  row_value rows[ROWS_KEYS]; /* SELECT: those that were returned are present */
  unsigned counted;          /* COUNT */
} row_op;

typedef struct row_txn {
  unsigned session;
  isoproof_txn_status status;
  int64_t start, end; /* where the history has times */
  mixed_level level;  /* its own, where it has one */
  unsigned count;
  row_op ops[ROWS_OPS];
} row_txn;

/* Transactions of one session stand in its order. */
typedef struct row_history {
  unsigned rows, count;
  int64_t keys[ROWS_KEYS];
  row_value initial[ROWS_KEYS];
  bool timed;
  row_txn txns[ROWS_TXNS];
} row_history;

bool row_covers(const row_predicate *predicate, int64_t key);
/* An absent row matches nothing. */
bool row_matches(const row_predicate *predicate, int64_t key, row_value value);
bool row_op_writes(row_op_kind kind);
const char *row_op_name(row_op_kind kind);

/* What a transaction wrote last to a row before its operation number `before`; NULL when nothing. */
const row_op *row_own_write(const row_txn *txn, unsigned row, unsigned before);

/* Judges every level.  False when it would take too many steps. */
bool rows_judge(const row_history *history, bool satisfied[ORACLE_LEVELS]);

/* The same with each transaction held to its own level (tests/oracle/mixed.h). */
bool rows_judge_mixed(const row_history *history, bool *satisfied);

/* Second opinions (rows_replay.c), by carrying out a history in every order and comparing every answer with what a
 * store would have said.  First, with transactions at one instant each or (not serial) with a snapshot at their
 * beginning and a commit later: serializable and snapshot isolation, perhaps with real time. */
bool rows_replay(const row_history *history, bool serial, bool real_time);

/* Second, with a commit order and, for each transaction, any set of earlier ones that it sees, those of its session
 * among them: read atomic.  With transitive sets causal, with writers of one row seeing each other update atomic, with
 * both parallel snapshot isolation, with beginnings of the commit order prefix. */
typedef struct row_sight {
  bool transitive, exclusive, prefix;
} row_sight;
bool rows_replay_sight(const row_history *history, row_sight sight);

#endif
