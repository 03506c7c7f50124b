/* commit_order.h - is CO plus known WW edges and some forced edges acyclic, and if not, where are the cycles?
 *
 * Sessions are chains, so a topological sort only ever looks at the first open transaction of each session, and an
 * edge needs no list of successors: whoever waits for a transaction queues up at it.  Nothing here recurses.
 * An order owns its arrays until iso_order_free.
 */
#ifndef ISO_CHECK_ORDER_COMMIT_ORDER_H
#define ISO_CHECK_ORDER_COMMIT_ORDER_H

#include "check/view/versions.h"
#include "graph/edge.h"

/* Forced edges `from` before `to`, collected in any order. */
typedef struct iso_edge {
  uint32_t from, to;
} iso_edge;

typedef struct iso_edges {
  const iso_versions *known; /* where given, the WW edges of lists belong to these, too */
  ISO_VEC(iso_edge) list;
  /* By target, once iso_edges_index was called. */
  uint32_t *first; /* txns + 1 */
  uint32_t *from;
} iso_edges;

isoproof_status iso_edges_index(iso_edges *edges, uint32_t txns, isoproof_error *error);
void iso_edges_free(iso_edges *edges);

typedef struct iso_order {
  /* All that take part: first in an order that respects all edges, as far as that goes; after `count`, if cycles were
   * looked for, the rest in an order that respects the edges between cycles, each cycle in one piece. */
  uint32_t *sequence;
  uint32_t count;      /* all that take part when there is no cycle */
  uint32_t *component; /* where there is a cycle: its number by transaction, ISO_NO_TXN for one on no cycle */
  uint32_t components;
} iso_order;

/* Sorts; `forced` may be NULL.  With `find_cycles`, strongly connected components of what is left are found too. */
isoproof_status iso_order_make(const iso_view *view, const iso_edges *forced, bool find_cycles, isoproof_task *task,
                               iso_order *order, isoproof_error *error);
void iso_order_free(iso_order *order);

static inline bool iso_order_is_acyclic(const iso_view *view, const iso_order *order) {
  return order->count == view->taking_part;
}

/* The predecessors of a transaction one by one: SO, WR, WW, forced.  Start with *at = 0; ISO_NO_TXN after the last. */
uint32_t iso_next_predecessor(const iso_view *view, const iso_edges *forced, uint32_t txn, uint32_t *at);

/* The same with what makes it one, and of some kinds only; CM is a forced edge. */
typedef struct iso_predecessor {
  uint32_t from;
  iso_edge_kind kind;
  uint32_t place; /* in view->reads, versions->ww or forced->from */
} iso_predecessor;

bool iso_next_of_kinds(const iso_view *view, const iso_edges *forced, iso_edge_set kinds, uint32_t txn, uint32_t *at,
                       iso_predecessor *out);

#endif
