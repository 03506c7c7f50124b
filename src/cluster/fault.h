/* fault.h - doing a fault to a node, and undoing it.  The cluster stays its owner's; one thread at a time. */
#ifndef ISO_CLUSTER_FAULT_H
#define ISO_CLUSTER_FAULT_H

#include "cluster/cluster.h"

/* What a partition separates a node from; bits. */
enum { ISO_FROM_CLIENTS = 1, ISO_FROM_PEERS = 2 };
/* What a node can be separated from. */
int iso_fault_scopes(const isoproof_cluster *cluster, const iso_node *node);

/* `detail` is by how many seconds the clock jumps, or what a partition separates from; else 0. */
isoproof_status iso_fault_begin(isoproof_cluster *cluster, const iso_node *node, isoproof_fault_kind kind, int detail,
                                isoproof_error *error);
/* Returns when every node serves again. */
isoproof_status iso_fault_end(isoproof_cluster *cluster, const iso_node *node, isoproof_fault_kind kind, int detail,
                              isoproof_error *error);

#endif
