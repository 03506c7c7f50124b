/* causal_order.h - is there a commit order that the causal axiom allows?
 *
 * Take any order of the transactions that respects CO.  A read of x by t3 from t1 can only force something against this
 * order when a writer t2 of x stands between t1 and t3 in it and is causally before t3: writers before t1 are where
 * they must be, and those after t3 are not before t3.  So only the writers between matter.  Where sessions are few,
 * short clocks tell whether they are causally before t3 (check/causal/between.h).  Where there are many, that is found
 * for a few hundred writers at a time, by one sweep over the transactions from the first of them to the last reader
 * concerned, a bit for each.  What is forced is added, the order is repaired, and so on until
 * nothing is forced against the order (it is a commit order) or the forced edges close a cycle (there is none).  The
 * work of the sweeps is in the product of transactions and the distance between a writer and a reader that it could
 * concern, not of transactions and sessions.
 */
#ifndef ISO_CHECK_CAUSAL_CAUSAL_ORDER_H
#define ISO_CHECK_CAUSAL_CAUSAL_ORDER_H

#include "check/order/sequence.h"
#include "check/view/versions.h"

typedef enum iso_causal_answer {
  ISO_CAUSAL_OPEN, /* too many writers stand far before the readers that they could concern */
  ISO_CAUSAL_YES,  /* there is one */
  ISO_CAUSAL_CONTRADICTED /* there is none, but there would be one if what contradicts CO outright were left out */,
  ISO_CAUSAL_NO /* there is none even then */
} iso_causal_answer;

/* A read of x by t3 from t1, and t2, the last writer of x in its session that is causally before t3: t2 must come
 * before t1. */
typedef struct iso_forced_pair {
  uint32_t read; /* place in view->reads */
  uint32_t t2;
} iso_forced_pair;

typedef struct iso_forced_pairs {
  iso_forced_pair *items;
  size_t count, capacity;
} iso_forced_pairs;

typedef struct iso_causal {
  iso_causal_answer answer;
  uint32_t rounds;
  /* By read and t2.  Contradicted: all with t1 causally before t2.  No: all that can be on a cycle, and others. */
  iso_forced_pairs pairs;
  iso_sequence sequence; /* the order at the end: where there is one, it is that; empty where CO has a cycle */
} iso_causal;

/* CO must have no cycle.  The caller frees the result with iso_causal_free. */
isoproof_status iso_causal_order(iso_view *view, const iso_versions *versions, isoproof_task *task, iso_causal *causal,
                                 isoproof_error *error);
/* The same without lists, beginning as near to the order of when[transaction] as CO allows; open where CO has a cycle.
 */
isoproof_status iso_causal_order_from(iso_view *view, const int64_t *when, isoproof_task *task, iso_causal *causal,
                                      isoproof_error *error);
void iso_causal_free(iso_causal *causal);

#endif
