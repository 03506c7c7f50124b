/* event_path.h - a cheap path between two events, and the cycles of a graph of events.
 *
 * A path is cheap when it has few edges besides those of chains, which cost nothing: the order within a session needs
 * no explanation.  A finder owns its tables until iso_path_finder_free and refers to the graph.
 */
#ifndef ISO_CHECK_ORDER_EVENT_PATH_H
#define ISO_CHECK_ORDER_EVENT_PATH_H

#include "check/order/event_clock.h"

/* A step of a path: an edge, and the number of the derived edge that it is, + 1; 0 for one of the history. */
typedef struct iso_path_step {
  uint32_t from, to;
  uint32_t derived;
  bool of_chain;
} iso_path_step;

typedef struct iso_path {
  iso_path_step *items; /* from the first event on */
  size_t count, capacity;
} iso_path;

typedef struct iso_path_finder {
  const iso_event_graph *events;
  const iso_event_clocks *clocks; /* may be NULL; else only events that `from` is known to come before are looked at */
  const uint32_t *component;      /* may be NULL; else only events of the component of `to` are looked at */
  uint32_t before_round;          /* derived edges of this round and later ones are left out */
  bool use_chosen;                /* chosen edges are steps too */
  uint64_t effort_limit;          /* edges to look at at most */
  uint32_t *seen;                 /* by event: stamp */
  uint32_t *cost;
  iso_path_step *via; /* the first step of the path from here */
  uint32_t stamp;
  bool failed;                       /* memory was out */
  ISO_VEC(uint32_t) near, far, next; /* events to go on from: at the cost at hand, at one more, scratch */
} iso_path_finder;

isoproof_status iso_path_finder_make(const iso_event_graph *events, const iso_event_clocks *clocks,
                                     iso_path_finder *finder, isoproof_error *error);
void iso_path_finder_free(iso_path_finder *finder);

/* Fills *path and returns its cost; UINT32_MAX when there is none, the effort went beyond the
 * limit, or memory was out, which the finder remembers.  From an event
 * to itself it is a cycle. */
uint32_t iso_path_find(iso_path_finder *finder, uint32_t from, uint32_t to, iso_path *path);

/* The strongly connected component of each event, ISO_NO_EVENT for one on no cycle; *count of them.  The caller frees
 * the array. */
isoproof_status iso_event_components(const iso_event_graph *events, uint32_t **component, uint32_t *count,
                                     isoproof_error *error);

#endif
