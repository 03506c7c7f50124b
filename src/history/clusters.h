/* clusters.h - single operations on registers, in real time: one sort finds an order, or what contradicts it.
 *
 * Where every read says which write it observed, a write and its reads are a cluster, whose operations stand next to
 * each other in any order that explains the reads (Gibbons and Korach, SIAM J. Computing 1997).  One cluster must come
 * before another one of its key when some operation of it ended before one of the other began.  There is an order when
 * no two clusters must each come before the other; and orders of the keys can always be joined to one (locality,
 * Herlihy and Wing 1990).  Nothing is owned.
 */
#ifndef ISO_HISTORY_CLUSTERS_H
#define ISO_HISTORY_CLUSTERS_H

#include "base/error.h"
#include "base/task.h"

typedef struct iso_timed_op {
  int64_t start, end; /* INT64_MAX for an end that nobody knows */
  uint32_t key;
  uint32_t
      cluster; /* of writes: any numbers below `writes`, each one write's; then `writes` + key for initial versions */
  bool is_write;
} iso_timed_op;

typedef struct iso_timed_ops {
  const iso_timed_op *items;
  uint32_t count, keys, writes;
} iso_timed_ops;

enum { ISO_CLUSTER_BLAMED = 6 };

typedef struct iso_cluster_verdict {
  bool violated;
  uint32_t blamed[ISO_CLUSTER_BLAMED]; /* violated: operations that contradict each other, ascending */
  uint32_t blamed_count;
} iso_cluster_verdict;

/* Decides; n log n.  Without a violation `order` (which may be NULL, and has room for all) becomes the operations one
 * after the other, as they may have taken effect. */
isoproof_status iso_clusters_judge(const iso_timed_ops *ops, isoproof_task *task, uint32_t *order,
                                   iso_cluster_verdict *verdict, isoproof_error *error);

#endif
