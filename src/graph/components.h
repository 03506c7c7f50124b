/* components.h - strongly connected components of some transactions, by Tarjan's algorithm without recursion.
 * The caller owns all arrays that are filled. */
#ifndef ISO_GRAPH_COMPONENTS_H
#define ISO_GRAPH_COMPONENTS_H

#include <stdbool.h>
#include <stdint.h>

/* A graph by predecessors: gives the predecessors of a transaction one by one, starting with *at = 0, and UINT32_MAX
 * after the last.  Whoever is given must be one of the members. */
typedef struct iso_walk {
  const void *graph;
  uint32_t (*next)(const void *graph, uint32_t txn, uint32_t *at);
} iso_walk;

typedef struct iso_components {
  uint32_t *of;       /* by transaction: the number of its component, UINT32_MAX for one on no cycle */
  uint32_t *sequence; /* may be NULL: the members such that predecessors come first, each component in one piece */
  uint32_t count;     /* of components */
} iso_components;

/* Numbers the components of the members in the order of their completion.  `of` (txns entries) and `sequence` (as many
 * as members) are the caller's; false when memory is out. */
bool iso_components_find(const iso_walk *walk, uint32_t txns, const uint32_t *members, uint32_t member_count,
                         iso_components *out);

#endif
