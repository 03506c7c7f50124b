/* solver_events.h - the events that a solver has been told about, and what is known of their order.
 *
 * A node of the solver stands for an event.  When an event is added, edges to and from its neighbours in each chain
 * carry everything that the clocks say about it and the nodes so far: from the last node of the chain that comes before
 * it, and to the first one that comes after it.  It owns its tables until iso_solver_events_free and refers to the
 * rest.
 */
#ifndef ISO_CHECK_STRONG_SOLVER_EVENTS_H
#define ISO_CHECK_STRONG_SOLVER_EVENTS_H

#include "check/order/event_clock.h"
#include "solver/solver.h"

/* Told of an edge that is known, as two nodes. */
typedef isoproof_status (*iso_known_edge_fn)(void *context, uint32_t from, uint32_t to, isoproof_error *error);

typedef struct iso_solver_events {
  const iso_event_graph *events;
  const iso_event_clocks *clocks; /* NULL: every event is a node from the start, with its number */
  uint32_t *node;                 /* by event, + 1 */
  ISO_VEC(uint32_t) event;        /* by node */
  struct iso_chain_nodes {
    uint32_t *items;
    size_t count, capacity;
  } * chain; /* events that are nodes, ascending */
} iso_solver_events;

isoproof_status iso_solver_events_make(const iso_event_graph *events, const iso_event_clocks *clocks,
                                       iso_solver_events *nodes, isoproof_error *error);
void iso_solver_events_free(iso_solver_events *nodes);
/* The node of an event, new when it has none; the edges of a new one go to `known`. */
isoproof_status iso_solver_event(iso_solver_events *nodes, uint32_t event, iso_known_edge_fn known, void *context,
                                 uint32_t *node, bool *is_new, isoproof_error *error);

#endif
