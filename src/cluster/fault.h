/* fault.h - doing a fault to a node, or to all of them, and undoing it.  The cluster stays its owner's; one thread at a
 * time. */
#ifndef ISO_CLUSTER_FAULT_H
#define ISO_CLUSTER_FAULT_H

#include "cluster/cluster.h"

/* What a partition separates a node from; bits. */
enum { ISO_FROM_CLIENTS = 1, ISO_FROM_PEERS = 2 };
/* What a node can be separated from. */
int iso_fault_scopes(const isoproof_cluster *cluster, const iso_node *node);

/* How a primary ends before a standby is promoted. */
enum { ISO_PROMOTE_KILLED, ISO_PROMOTE_CUT_OFF };

typedef struct iso_fault {
  isoproof_fault_kind kind;
  iso_node *node;           /* NULL: all of them */
  int detail;               /* by how many seconds the clock jumps; what a partition separates from; ... */
  isoproof_run_handle *run; /* during which it happens */
  const char *command;      /* of the user; NULL none */
} iso_fault;

isoproof_status iso_fault_begin(isoproof_cluster *cluster, const iso_fault *fault, isoproof_error *error);
/* Returns when every node serves again. */
isoproof_status iso_fault_end(isoproof_cluster *cluster, const iso_fault *fault, isoproof_error *error);
/* Whether a fault happens to all nodes at once. */
bool iso_fault_is_for_all(isoproof_fault_kind kind);

/* ---- maintenance.c ---- */

bool iso_fault_is_maintenance(isoproof_fault_kind kind);
/* Bits with those that `maintenance` stands for in its place. */
unsigned iso_fault_expand(const isoproof_cluster *cluster, unsigned faults);
/* The detail of a VACUUM that writes the table anew; others do not. */
enum { ISO_VACUUM_FULL = 0 };
const char *iso_maintenance_words(isoproof_fault_kind kind, int detail);
isoproof_status iso_maintenance_begin(const isoproof_cluster *cluster, const iso_fault *fault, isoproof_error *error);
isoproof_status iso_maintenance_end(const iso_fault *fault, isoproof_error *error);

/* ---- fault_command.c ---- */

/* Executes the command of the user for a phase, "begin" or "end"; what it prints goes to the log of commands. */
isoproof_status iso_fault_command(isoproof_cluster *cluster, const iso_fault *fault, const char *phase,
                                  isoproof_error *error);

#endif
