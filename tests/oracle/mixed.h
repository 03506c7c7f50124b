/* mixed.h - whether each transaction of a small history keeps to the level that is its own, by trying every commit
 * order.
 *
 * The definition of docs/levels.md, and nothing else: one total order of the transactions that contains session order,
 * reads-from and what list reads show, in which each transaction meets the axiom of its own level.  Nothing is owned.
 */
#ifndef ORACLE_MIXED_H
#define ORACLE_MIXED_H

#include "tests/oracle/facts.h"

/* Levels of transactions, in the order of their strength. */
typedef enum mixed_level {
  MIXED_NONE,
  MIXED_READ_COMMITTED,
  MIXED_READ_ATOMIC,
  MIXED_CAUSAL,
  MIXED_PREFIX,
  MIXED_SNAPSHOT,
  MIXED_SERIALIZABLE,
  MIXED_LEVELS
} mixed_level;

/* The level of the oracle (oracle.h) in which all transactions are held to it. */
oracle_level mixed_for_all(mixed_level level);
const char *mixed_level_id(mixed_level level);

/* The levels that the nodes of the facts carry in the history; false when one of them carries none. */
bool mixed_levels_of(const isoproof_history *history, const facts *f, mixed_level own[FACTS_NODES]);
/* Whether some commit order meets all axioms, apart from what is wrong inside single transactions. */
bool mixed_judge_facts(const facts *f, const mixed_level own[FACTS_NODES]);
/* Judges a history; false when it cannot be judged. */
bool mixed_judge(const isoproof_history *history, bool *satisfied);

#endif
