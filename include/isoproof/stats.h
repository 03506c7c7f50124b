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
} isoproof_stats;

/* What isoproof_history_counts does not tell. */
ISOPROOF_API isoproof_status isoproof_history_stats(const isoproof_history *history, isoproof_task *task,
                                                    isoproof_stats *stats, isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
