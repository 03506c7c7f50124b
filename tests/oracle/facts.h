/* facts.h - what a small history says: who read from whom, and what is wrong inside single transactions.
 *
 * A fixed-size value without pointers into anything, owned by the caller.  Node 0 is the initial transaction, which
 * wrote the initial version of every key; the other nodes are the transactions that took effect: the committed ones,
 * and the unknown ones that a transaction that took effect has read from.
 */
#ifndef ORACLE_FACTS_H
#define ORACLE_FACTS_H

#include "tests/oracle/oracle.h"

enum { FACTS_NODES = 16, FACTS_TXNS = 40, FACTS_KEYS = 64, FACTS_OPS = 512, FACTS_ELEMENTS = 2048 };

/* A relation over nodes: bit b of row a says that a is related to b. */
typedef struct relation {
  uint32_t row[FACTS_NODES];
} relation;

/* A read of another transaction's write. */
typedef struct external_read {
  unsigned reader, writer, key;
  unsigned position; /* of the read in its transaction */
} external_read;

typedef struct facts {
  unsigned nodes;
  unsigned keys;
  uint64_t txn[FACTS_NODES];
  relation so, wr, rt;
  uint32_t writers[FACTS_KEYS];    /* per key: nodes that wrote it, the initial one left out */
  relation list_order[FACTS_KEYS]; /* per key: what list reads say about the order of its writers */
  external_read reads[FACTS_OPS];
  unsigned read_count;
  bool tap[ORACLE_TAPS];
} facts;

/* False when the history is too large or cannot be judged. */
bool facts_gather(const isoproof_history *history, facts *out);

/* Whether these reads satisfy a level, apart from what is wrong inside single transactions (oracle.c).  More reads
 * never mend what fewer of them break. */
bool oracle_judge_facts(const facts *f, oracle_level level);
/* Whether the level forbids reading a key from two other transactions. */
bool oracle_needs_repeatable_reads(oracle_level level);

#endif
