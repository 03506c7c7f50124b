/* oracle.h - which levels a small history satisfies, straight from the definitions, by enumeration.
 *
 * It looks at the history through the public API only and shares no code with the checkers that it is there to test:
 * simple and obviously right rather than fast, though fast enough for thousands of small histories per second.  Time is
 * exponential: over the orders of the writers of a key, or of all transactions.  The caller owns the verdicts, a plain
 * value; nothing is allocated.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <isoproof/isoproof.h>

/* Levels: C name, id as in isoproof/level.h. */
#define ORACLE_LEVEL_LIST(X)                                                                                           \
  X(CUT_ISOLATION, "cut-isolation")                                                                                    \
  X(READ_COMMITTED, "read-committed")                                                                                  \
  X(READ_ATOMIC, "read-atomic")                                                                                        \
  X(CAUSAL, "causal")                                                                                                  \
  X(PREFIX, "prefix")                                                                                                  \
  X(UPDATE_ATOMIC, "update-atomic")                                                                                    \
  X(PARALLEL_SNAPSHOT, "parallel-snapshot-isolation")                                                                  \
  X(SNAPSHOT, "snapshot-isolation")                                                                                    \
  X(SERIALIZABLE, "serializable")                                                                                      \
  X(STRONG_SNAPSHOT, "strong-snapshot-isolation")                                                                      \
  X(STRICT_SERIALIZABLE, "strict-serializable")                                                                        \
  X(READ_YOUR_WRITES, "read-your-writes")                                                                              \
  X(MONOTONIC_READS, "monotonic-reads")                                                                                \
  X(MONOTONIC_WRITES, "monotonic-writes")                                                                              \
  X(WRITES_FOLLOW_READS, "writes-follow-reads")

typedef enum oracle_level {
#define ORACLE_X(name, id) ORACLE_##name,
  ORACLE_LEVEL_LIST(ORACLE_X)
#undef ORACLE_X
      ORACLE_LEVELS
} oracle_level;

/* Anomalies inside one transaction, and the cyclic causal order: C name, code. */
#define ORACLE_TAP_LIST(X)                                                                                             \
  X(THIN_AIR, "TAP-a")                                                                                                 \
  X(ABORTED_READ, "TAP-b")                                                                                             \
  X(FUTURE_READ, "TAP-c")                                                                                              \
  X(NOT_MY_OWN, "TAP-d")                                                                                               \
  X(NOT_MY_LAST, "TAP-e")                                                                                              \
  X(INTERMEDIATE, "TAP-f")                                                                                             \
  X(CYCLIC, "TAP-g")                                                                                                   \
  X(NON_REPEATABLE, "TAP-j")                                                                                           \
  X(BROKEN_LIST, "broken-list") /* an element twice, or the appends of a transaction torn apart */

typedef enum oracle_tap {
#define ORACLE_X(name, code) ORACLE_TAP_##name,
  ORACLE_TAP_LIST(ORACLE_X)
#undef ORACLE_X
      ORACLE_TAPS
} oracle_tap;

typedef struct oracle_verdicts {
  bool satisfied[ORACLE_LEVELS];
  bool tap[ORACLE_TAPS];
} oracle_verdicts;

/* Judges.  False when the history is too large for enumeration (about 15 transactions that took effect), has
 * operations other than those on registers and lists, or writes one value twice to one key.  Without times the
 * real-time levels are those without real time. */
bool oracle_judge(const isoproof_history *history, oracle_verdicts *verdicts);
/* The same for some levels only, one bit each: the strong ones take most of the time. */
bool oracle_judge_some(const isoproof_history *history, uint32_t levels, oracle_verdicts *verdicts);

/* Adya's levels, without session order: PL-SI and PL-3.  False as above. */
bool oracle_judge_unordered(const isoproof_history *history, bool *snapshot, bool *serializable);

const char *oracle_level_id(oracle_level level);
const char *oracle_tap_code(oracle_tap tap);
/* ORACLE_LEVELS when there is none. */
oracle_level oracle_level_find(const char *id);

/* Whether the first level implies the second, by the implications between the levels above. */
bool oracle_implies(oracle_level stronger, oracle_level weaker);

#endif
