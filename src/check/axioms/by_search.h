/* by_search.h - the causal axiom without clocks, as far as that goes.
 *
 * The commit order is searched for (check/causal/causal_order.h) instead of forcing every edge there is.  When nothing
 * but CO forms is in the way, these are all instances, and weaker axioms have none but CO forms of the same reads
 * either: in the order that was found every other writer is where it must be.
 */
#ifndef ISO_CHECK_AXIOMS_BY_SEARCH_H
#define ISO_CHECK_AXIOMS_BY_SEARCH_H

#include "check/axioms/weak.h"

/* Decides the causal axiom, or leaves it undecided. */
isoproof_status iso_weak_try_causal(iso_weak *weak, isoproof_task *task, isoproof_error *error);
/* Decides a weaker axiom of a history of large transactions if there is an order that causal allows: every axiom allows
 * it.  Otherwise nothing is said, not even about causal. */
isoproof_status iso_weak_try_by_causal(iso_weak *weak, iso_axiom axiom, isoproof_task *task, isoproof_error *error);

/* How t1 and t2 of every instance are ordered in CO, which has no cycle. */
isoproof_status iso_weak_mark_by_query(const iso_weak *weak, iso_axiom_result *result, isoproof_task *task,
                                       isoproof_error *error);

/* By t1, t2, t3 and read. */
void iso_weak_sort_instances(iso_axiom_result *result);

#endif
