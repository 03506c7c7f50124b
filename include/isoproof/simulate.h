/* isoproof/simulate.h - histories from a simulated database whose isolation, and whose bugs, are known.
 *
 * Sessions run interleaved, one operation at a time, on a multi-version store in memory, all decided by a seed.  What
 * it produces at a level satisfies that level by construction; each injected bug is reported with the transactions
 * that are to blame.
 *
 * Times are those of a simulated clock: a transaction starts when its session asks for it, before it can have any
 * effect, and ends after its commit; they are truthful, so that serializable histories are even strictly serializable
 * and those of snapshot isolation strongly so.  No transaction aborts but those asked for.  Keys, sessions and values
 * are integers; the values (elements) of a key are unique among all its writes, those of aborted transactions
 * included.  With lists, a session more than asked for reads every key in the end, 1000 per transaction.
 *
 * With rows, transactions abort when they are in each other's way, as on a database that notices at the commit; queries
 * are of up to 10 keys or, where there are at most 200 keys, of values.  Bugs concern rows beyond the keys asked for.
 */
#ifndef ISOPROOF_SIMULATE_H
#define ISOPROOF_SIMULATE_H

#include <isoproof/history.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Levels the store can give: C name, id (a level of isoproof/level.h), sentence. */
#define ISOPROOF_SIM_LEVEL_LIST(X)                                                                                     \
  X(SERIALIZABLE, "serializable", "one serial order, agreed when transactions begin")                                  \
  X(SNAPSHOT, "snapshot-isolation", "a snapshot at the beginning, no two concurrent writers of a key")                 \
  X(PARALLEL_SNAPSHOT, "parallel-snapshot-isolation", "snapshots of replicas, no two concurrent writers of a key")     \
  X(CAUSAL, "causal", "snapshots of replicas that receive transactions in causal order")                               \
  X(READ_ATOMIC, "read-atomic", "all or nothing of each transaction that is read from, perhaps stale")                 \
  X(READ_COMMITTED, "read-committed", "each read sees the newest committed version of its moment")

typedef enum isoproof_sim_level {
#define ISOPROOF_X(name, id, text) ISOPROOF_SIM_##name,
  ISOPROOF_SIM_LEVEL_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_SIM_LEVELS
} isoproof_sim_level;

/* Bugs that can be switched on: C name, id, weakest level it breaks (by id), sentence.  A bug is a handful of
 * transactions, on top of those asked for, by up to four different sessions on up to two keys.  Whatever else happens,
 * it breaks the level; in a serializable run it breaks nothing weaker. */
#define ISOPROOF_SIM_BUG_LIST(X)                                                                                       \
  X(LOST_UPDATE, "lost-update", "parallel-snapshot-isolation",                                                         \
    "two transactions read one version and both overwrite it")                                                         \
  X(WRITE_SKEW, "write-skew", "serializable", "two transactions each overwrite what the other read")                   \
  X(LONG_FORK, "long-fork", "prefix", "two readers see two independent writes in opposite orders")                     \
  X(FRACTURED_READ, "fractured-read", "read-atomic", "a reader sees half of a transaction's writes")                   \
  X(CAUSALITY_VIOLATION, "causality-violation", "causal", "a reader sees an effect without its cause")                 \
  X(STALE_READ, "stale-read", "strong-snapshot-isolation", "a reader misses a write that ended before it began")       \
  X(ABORTED_READ, "aborted-read", "read-committed", "a reader sees a write that was rolled back")                      \
  X(INTERMEDIATE_READ, "intermediate-read", "read-committed", "a reader sees a write that its writer overwrote")       \
  X(NON_REPEATABLE_READ, "non-repeatable-read", "cut-isolation", "a reader sees two versions of one key")              \
  X(OWN_WRITE_MISSED, "own-write-missed", "read-committed", "a transaction does not see its own write")                \
  X(THIN_AIR_READ, "thin-air-read", "read-committed", "a reader sees a value that nobody wrote")                       \
  X(DUPLICATE_APPEND, "duplicate-append", "read-committed", "an element is appended twice (lists only)")               \
  X(PHANTOM, "phantom", "serializable",                                                                                \
    "two transactions each count rows and insert what the other one misses (rows only)")                               \
  X(LOST_DELETE, "lost-delete", "strong-snapshot-isolation", "a delete succeeds, and the row stays (rows only)")       \
  X(RESURRECTED_ROW, "resurrected-row", "strong-snapshot-isolation",                                                   \
    "a deleted row is back with its old value (rows only)")                                                            \
  X(MISSED_INSERT, "missed-insert", "strong-snapshot-isolation",                                                       \
    "a read by predicate misses the last row inserted (rows only)")

typedef enum isoproof_sim_bug {
#define ISOPROOF_X(name, id, level, text) ISOPROOF_SIM_BUG_##name,
  ISOPROOF_SIM_BUG_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_SIM_BUGS
} isoproof_sim_bug;

/* Key distributions: C name, id, sentence. */
#define ISOPROOF_KEY_DISTRIBUTION_LIST(X)                                                                              \
  X(UNIFORM, "uniform", "every key alike")                                                                             \
  X(ZIPF, "zipf", "the i-th key with weight 1 / i^s (s is the skew)")                                                  \
  X(HOTSPOT, "hotspot", "most operations (hot_share) on a few keys (hot_keys_share)")                                  \
  X(EXPONENTIAL, "exponential", "the i-th key with weight 2^(-s i) (s is the skew)")

typedef enum isoproof_key_distribution {
#define ISOPROOF_X(name, id, text) ISOPROOF_KEYS_##name,
  ISOPROOF_KEY_DISTRIBUTION_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_KEY_DISTRIBUTIONS
} isoproof_key_distribution;

typedef struct isoproof_sim_options {
  size_t struct_size; /* sizeof(isoproof_sim_options) */
  uint64_t seed;
  isoproof_sim_level level;
  uint32_t sessions;
  uint64_t txns;             /* in all, the final reads and the injected ones not counted */
  uint32_t ops_min, ops_max; /* per transaction, inclusive */
  double read_share;         /* of operations; at least rmw_share / (1 + rmw_share), whatever is asked for */
  double rmw_share;          /* of writes that are preceded by a read of their key in the same transaction */
  double abort_share;        /* of transactions that their client rolls back */
  double unknown_share;      /* of transactions whose client never learns the outcome (half of them did commit) */
  uint32_t keys;
  isoproof_key_distribution distribution;
  double skew; /* of zipf and exponential */
  double hot_share, hot_keys_share;
  bool lists;               /* list-append with a final read of every key instead of registers */
  uint32_t appends_per_key; /* lists: a key is replaced by a fresh one after that many appends; 0 never */
  uint32_t replicas;        /* of parallel-snapshot-isolation and causal */
  uint64_t bugs[32];        /* how many of each isoproof_sim_bug to inject */
  bool rows;                /* rows, with inserts, updates, upserts, deletes and queries, instead of registers */
  double predicate_share;   /* rows: of reads that are by predicate, half of them counts; rmw_share means nothing */
  double duplicate_share;   /* registers: of writes that write a value that their key had before; may hide bugs */
  /* Mixed isolation: the weights with which transactions get levels of their own, by isoproof_sim_level, instead of
   * `level`; all 0: none do.  For registers and lists, of serializable, snapshot-isolation and read-committed.  The
   * transactions of bugs are serializable, and so is the final read of lists. */
  uint32_t mix[16];
} isoproof_sim_options;

/* Fills in the defaults, up to the struct_size that is set: 10 sessions, 1000 transactions of 10 operations, half
 * reads, 100 keys, serializable, ...  False when struct_size is not set. */
ISOPROOF_API bool isoproof_sim_defaults(isoproof_sim_options *options);

ISOPROOF_API const char *isoproof_sim_level_name(isoproof_sim_level level);
ISOPROOF_API const char *isoproof_sim_bug_name(isoproof_sim_bug bug);
/* The id of the weakest level that the bug breaks. */
ISOPROOF_API const char *isoproof_sim_bug_level(isoproof_sim_bug bug);
/* By id or, for levels, by any alias; false when there is none. */
ISOPROOF_API bool isoproof_sim_level_find(const char *name, isoproof_sim_level *level);
ISOPROOF_API bool isoproof_sim_bug_find(const char *name, isoproof_sim_bug *bug);
ISOPROOF_API bool isoproof_key_distribution_find(const char *name, isoproof_key_distribution *keys);

/* An injected bug and the transactions (numbers in the history) that are to blame. */
typedef struct isoproof_injected_bug {
  size_t struct_size; /* sizeof(isoproof_injected_bug), set by the caller */
  isoproof_sim_bug bug;
  const char *level; /* the weakest level it breaks */
  uint64_t txns[4];
  size_t txn_count;
  isoproof_scalar keys[2];
  size_t key_count;
} isoproof_injected_bug;

typedef struct isoproof_injected_bugs isoproof_injected_bugs;
ISOPROOF_API size_t isoproof_injected_bug_count(const isoproof_injected_bugs *injected);
ISOPROOF_API bool isoproof_injected_bug_at(const isoproof_injected_bugs *injected, size_t number,
                                           isoproof_injected_bug *out);
ISOPROOF_API void isoproof_injected_bugs_free(isoproof_injected_bugs *injected);

/* Runs the simulation.  ISOPROOF_ERR_USAGE names the option that makes no sense, or the bug that does not fit: too few
 * sessions or keys for it, or lists needed.  `options`, `task` and `injected` may be NULL. */
ISOPROOF_API isoproof_status isoproof_simulate(const isoproof_sim_options *options, isoproof_task *task,
                                               isoproof_history **history, isoproof_injected_bugs **injected,
                                               isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
