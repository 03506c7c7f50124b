/* known_cycles.h - cycles among what is known before any axiom is asked: SO, WR, and the WW of lists.
 * Nothing is owned: findings go to their list. */
#ifndef ISO_CHECK_AXIOMS_KNOWN_CYCLES_H
#define ISO_CHECK_AXIOMS_KNOWN_CYCLES_H

#include "check/order/commit_order.h"
#include "result/finding.h"

/* Adds the cycles to the findings.  `co` is the order of SO and WR, `known` that of all three (the same where there are
 * no lists), both with their components.  A pattern counts once a strongly connected component of its kinds of edges,
 * if an edge there is on no cycle of fewer kinds. */
isoproof_status iso_known_cycles_report(const iso_view *view, const iso_edges *edges, const iso_order *co,
                                        const iso_order *known, iso_findings *findings, isoproof_error *error);

#endif
