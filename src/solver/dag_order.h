/* dag_order.h - the topological order as an order-maintenance list: which of two nodes comes first is a comparison of
 * labels.  Owns nothing; works on the nodes of a graph.
 *
 * Labels are numbers between 1 and 2^62 - 1, with room between them.  Where the room is used up, the nodes around are
 * relabelled: evenly over the smallest aligned range of 2^i labels that has fewer than 2^(i/2) nodes, which makes an
 * insertion O(log nodes) amortized (Bender, Cole, Demaine, Farach-Colton and Zito 2002, after Dietz and Sleator). */
#ifndef ISO_SOLVER_DAG_ORDER_H
#define ISO_SOLVER_DAG_ORDER_H

#include "solver/dag.h"

/* The order of all nodes, from nothing.  Linear. */
void iso_dag_order_build(iso_dag *graph, const uint32_t *order, uint32_t count);
/* Puts nodes that are in no order yet at the end. */
void iso_dag_order_append(iso_dag *graph, uint32_t first, uint32_t count);
/* Moves nodes, given in the order that they have, to directly after another one that is not among them; ISO_NONE moves
 * them to the front.  O(count log nodes) amortized. */
void iso_dag_order_move(iso_dag *graph, const struct iso_dag_rank *run, uint32_t count, uint32_t after);

/* A node with the label to sort it by. */
typedef struct iso_dag_rank {
  uint64_t label;
  uint32_t node;
} iso_dag_rank;

#endif
