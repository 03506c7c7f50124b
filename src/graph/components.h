/* components.h - strongly connected components (Tarjan 1972), in time linear in nodes and edges and without recursion.
 *
 * The graph is given as compressed sparse rows, or by a function that walks over the neighbours of a node; whether
 * those are successors or predecessors makes no difference to the components.  A node is on a cycle when its component
 * has another node: edges from a node to itself do not count.  The caller owns all arrays that are passed in and
 * filled.
 */
#ifndef ISO_GRAPH_COMPONENTS_H
#define ISO_GRAPH_COMPONENTS_H

#include "base/task.h"

#define ISO_NO_COMPONENT UINT32_MAX

/* The components of two nodes or more, numbered in the order of their completion: whoever leads to another component
 * has the larger number. */
typedef struct iso_components {
  uint32_t *of; /* by node: the number of its component, ISO_NO_COMPONENT for one on no cycle */
  uint32_t
      *sequence;  /* may be NULL; else all nodes looked at, each after those it leads to, a component in one piece */
  uint32_t count; /* of components */
} iso_components;

/* Components of compressed sparse rows: the edges of node v lead to to[first[v]] .. to[first[v + 1] - 1].  `of` and
 * `sequence` have one place per node. */
isoproof_status iso_components_of_rows(const uint32_t *first, const uint32_t *to, uint32_t nodes, isoproof_task *task,
                                       iso_components *out, isoproof_error *error);

/* A graph by its neighbours: gives those of a node one by one, beginning with *cursor = 0, and UINT32_MAX after the
 * last. */
typedef struct iso_neighbours {
  const void *graph;
  uint32_t (*next)(const void *graph, uint32_t node, uint64_t *cursor);
} iso_neighbours;

/* Components of some of `nodes` nodes; neighbours of members are members.  `of` has one place per node, and is
 * ISO_NO_COMPONENT for whoever is no member; `sequence` has one place per member. */
isoproof_status iso_components_of_members(const iso_neighbours *neighbours, uint32_t nodes, const uint32_t *members,
                                          uint32_t member_count, isoproof_task *task, iso_components *out,
                                          isoproof_error *error);

/* The nodes of each component, ascending, as rows of one array. */
typedef struct iso_component_rows {
  uint32_t *first; /* one per component, and the end */
  uint32_t *node;
} iso_component_rows;

isoproof_status iso_component_rows_make(const iso_components *components, uint32_t nodes, iso_component_rows *rows,
                                        isoproof_error *error);
void iso_component_rows_free(iso_component_rows *rows);

#endif
