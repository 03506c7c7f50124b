/* isoproof/stats.h - the shape of a history in numbers. */
#ifndef ISOPROOF_STATS_H
#define ISOPROOF_STATS_H

#include <isoproof/history.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isoproof_stats {
  size_t struct_size; /* sizeof(isoproof_stats), set by the caller */
  uint64_t empty_sessions;
  uint64_t empty_transactions;
  uint64_t by_kind[16]; /* operations by isoproof_op_kind */
  uint64_t reads;       /* operations that observe */
  uint64_t writes;
  double read_ratio; /* reads / operations, 0 when empty */
  uint64_t ops_per_txn_min, ops_per_txn_max;
  double ops_per_txn_mean;
  uint64_t txns_per_session_min, txns_per_session_max;
  double txns_per_session_mean;
  double abort_ratio;       /* aborted / transactions */
  double top_key_share;     /* share of the operations that touch the busiest key */
  double top_percent_share; /* share that touches the busiest 1 % of keys (at least one key) */
  double zipf_exponent; /* least-squares slope of log frequency over log rank, 0 for uniform; -1 where too few keys */
  double keys_for_half_share; /* smallest share of the keys that takes half of the operations */
  isoproof_scalar top_key;
  uint64_t longest_list;
  /* Where the history has times: transactions open at once. */
  double concurrency_mean;
  uint64_t concurrency_max;
  int64_t first_start, last_end; /* ISOPROOF_NO_TIME where unknown */
  uint64_t by_isolation[16];     /* transactions by the level that is their own: isoproof_isolation_at */
} isoproof_stats;

/* What isoproof_history_counts does not tell. */
ISOPROOF_API isoproof_status isoproof_history_stats(const isoproof_history *history, isoproof_task *task,
                                                    isoproof_stats *stats, isoproof_error *error);

/* ---- effort ---- */

/* What must happen for an anomaly to have a chance: two transactions that overlap in time, whatever became of them, and
 * what they do.  A database that prevents the anomaly makes one of them wait or fail; where there is no such pair, that
 * the anomaly did not appear says nothing.  C name, code, name, what the two transactions do. */
#define ISOPROOF_CHANCE_LIST(X)                                                                                        \
  X(DIRTY_WRITE, "G0", "dirty write", "both wrote the same two keys")                                                  \
  X(ABORTED_READ, "G1a", "aborted read", "one read a key that the other wrote and then rolled back")                   \
  X(INTERMEDIATE_READ, "G1b", "intermediate read", "one read a key that the other wrote more than once")               \
  X(NON_REPEATABLE_READ, "non-repeatable-read", "non-repeatable read", "one read a key twice that the other wrote")    \
  X(FRACTURED_READ, "fractured-read", "fractured read", "one read two keys that the other wrote")                      \
  X(LOST_UPDATE, "lost-update", "lost update", "both read a key and then wrote it")                                    \
  X(LONG_FORK, "long-fork", "long fork", "both read two keys while others wrote one each")                             \
  X(WRITE_SKEW, "write-skew", "write skew", "each read a key that the other wrote")

typedef enum isoproof_chance {
#define ISOPROOF_X(name, code, title, what) ISOPROOF_CHANCE_##name,
  ISOPROOF_CHANCE_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_CHANCES
} isoproof_chance;

typedef struct isoproof_chance_info {
  const char *code, *name;
  const char *what; /* "both read a key and then wrote it" */
} isoproof_chance_info;

/* In the order of isoproof_chance; NULL after the last. */
ISOPROOF_API const isoproof_chance_info *isoproof_chance_at(size_t number);

/* How hard a run tried. */
typedef struct isoproof_effort {
  size_t struct_size;    /* sizeof(isoproof_effort), set by the caller */
  uint64_t keys_written; /* keys with a version that a committed transaction wrote; of these the number of versions: */
  uint64_t versions_min, versions_median, versions_max;
  /* What follows is 0 where the history has no times. */
  uint64_t transactions;   /* looked at: of a very long history its beginning */
  uint64_t conflicting;    /* of these: overlap another one that has a key in common, which one of the two wrote */
  double concurrency_mean; /* transactions open at once */
  uint64_t concurrency_max;
  uint64_t chances[16]; /* pairs, by isoproof_chance; a pair counts once for each key, or two keys, that it is about */
  bool has_times;
  bool at_least; /* not everything was looked at: conflicting and chances are lower bounds */
} isoproof_effort;

/* Near-linear in operations, and bounded: the first million operations, 64 pairs of keys per transaction. */
ISOPROOF_API isoproof_status isoproof_history_effort(const isoproof_history *history, isoproof_task *task,
                                                     isoproof_effort *effort, isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
