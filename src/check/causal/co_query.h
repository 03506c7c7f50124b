/* co_query.h - which of many pairs of transactions are causally ordered?
 *
 * The answer for a few hundred pairs at a time, by one sweep over the transactions between them (check/causal/sweep.h):
 * no clock for every session is made, so it costs the same however many sessions there are.
 */
#ifndef ISO_CHECK_CAUSAL_CO_QUERY_H
#define ISO_CHECK_CAUSAL_CO_QUERY_H

#include "check/order/commit_order.h"

typedef struct iso_co_pair {
  uint32_t earlier, later; /* transactions */
  bool ordered;            /* the answer: `earlier` is CO-before `later` */
} iso_co_pair;

/* Answers all pairs.  `co` is the order of CO alone, which has no cycle. */
isoproof_status iso_co_query(const iso_view *view, const iso_order *co, iso_co_pair *pairs, size_t count,
                             isoproof_task *task, isoproof_error *error);

#endif
