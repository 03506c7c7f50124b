/* scc.h - strongly connected components of compressed sparse rows, without recursion.
 * The caller owns the columns passed in and out. */
#ifndef ISO_GRAPH_SCC_H
#define ISO_GRAPH_SCC_H

#include "base/task.h"

#define ISO_ALONE UINT32_MAX

/* component[v] becomes the number of v's component among those of two nodes or more, ISO_ALONE where v is alone;
 * *count how many there are.  Edges from a node to itself do not count. */
isoproof_status iso_scc(const uint32_t *first, const uint32_t *to, uint32_t nodes, isoproof_task *task,
                        uint32_t *component, uint32_t *count, isoproof_error *error);

/* The members of each component: rows of one array. */
typedef struct iso_members {
  uint32_t *first; /* count + 1 */
  uint32_t *node;
} iso_members;
isoproof_status iso_members_make(const uint32_t *component, uint32_t nodes, uint32_t count, iso_members *members,
                                 isoproof_error *error);
void iso_members_free(iso_members *members);

#endif
