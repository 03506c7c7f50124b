/* derived_orders.h - orders of the versions of registers that follow from dependencies between transactions.
 *
 * If r comes after s by write- and read-dependencies, both s and t wrote x, and r read x from t, then x of s came
 * before x of t: had it come after, r would have missed it, which is a cycle with one anti-dependency.  So t comes
 * after s, from which more may follow, up to a fixpoint.  That a system lets no such cycle happen is what
 * consistent-view and all that is stronger promise; a contradiction then breaks them.  The pairs own their list until
 * iso_derived_orders_free.
 */
#ifndef ISO_ELLE_INFER_DERIVED_ORDERS_H
#define ISO_ELLE_INFER_DERIVED_ORDERS_H

#include "elle/infer/registers.h"

/* The version that `before_op` wrote came before that of `after_op`, as `read_op` shows. */
typedef struct iso_derived_order {
  uint32_t before, after; /* transactions */
  uint32_t before_op, after_op, read_op;
} iso_derived_order;

typedef struct iso_derived_orders {
  ISO_VEC(iso_derived_order) pairs;
  uint32_t rounds;
  bool gave_up; /* more may follow */
} iso_derived_orders;

/* The graph holds the known dependencies of the registers.  A round walks over the graph once per 64 transactions that
 * write, and there are as many rounds as something new follows: `budget` limits the steps of all (0: the usual). */
isoproof_status iso_derived_orders_find(const iso_registers *registers, const iso_dependency_graph *graph,
                                        uint64_t budget, isoproof_task *task, iso_derived_orders *derived_orders,
                                        isoproof_error *error);
void iso_derived_orders_free(iso_derived_orders *derived_orders);
/* The known dependencies and those that follow: who wrote the earlier version, and who read it, before who wrote the
 * later one. */
isoproof_status iso_derived_orders_edges(const iso_derived_orders *derived_orders, const iso_registers *registers,
                                         const iso_dependency_graph *graph, iso_dependency_list *edges,
                                         isoproof_error *error);

#endif
