/* dag_order.h - the order of the nodes as a list with labels that can be compared.  Owns nothing; works on the nodes of
 * a graph.
 *
 * Labels are numbers between 1 and 2^62 - 1, with room between them.  Where the room is used up, the nodes around are
 * spread again: over the smallest aligned range of 2^i labels that has at most 2^(i/2) nodes, which keeps the cost
 * of an insertion logarithmic on average. */
#ifndef ISO_SOLVER_DAG_ORDER_H
#define ISO_SOLVER_DAG_ORDER_H

#include "solver/dag.h"

/* The order of all nodes, from nothing. */
void iso_label_spread(iso_dag *graph, const uint32_t *order, uint32_t count);
/* Puts nodes that are in no order yet at the end. */
void iso_label_append(iso_dag *graph, uint32_t first, uint32_t count);
/* Moves nodes, given in the order that they have, to directly after another one that is not among them; ISO_NONE moves
 * them to the front. */
void iso_label_move(iso_dag *graph, const struct iso_dag_rank *run, uint32_t count, uint32_t after);

/* A node with the label to sort it by. */
typedef struct iso_dag_rank {
  uint64_t label;
  uint32_t node;
} iso_dag_rank;

#endif
