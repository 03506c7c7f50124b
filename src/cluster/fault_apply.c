/* fault_apply.c - each fault on one node: doing, undoing. */
#include <signal.h>

#include "cluster/fault.h"

enum { SHUTDOWN_SECONDS = 20, KILL_SECONDS = 10, START_TRIES = 3 };

static isoproof_status kill_node(isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  iso_process_state state;
  unsigned slot = (unsigned)node->number;
  ISO_TRY(iso_guardian_signal(&cluster->guardian, slot, SIGKILL, error));
  return iso_guardian_wait(&cluster->guardian, slot, KILL_SECONDS, &state, NULL, error);
}

static isoproof_status shut_down(isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  iso_process_state state;
  unsigned slot = (unsigned)node->number;
  ISO_TRY(iso_guardian_signal(&cluster->guardian, slot, cluster->type->shutdown_signal, error));
  isoproof_status status = iso_guardian_wait(&cluster->guardian, slot, SHUTDOWN_SECONDS, &state, NULL, error);
  return status == ISOPROOF_ERR_TIMEOUT ? kill_node(cluster, node, error) : status;
}

/* A node may be refused by the others while they still expect the one that died. */
static isoproof_status start_again(isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  isoproof_status status = ISOPROOF_OK;
  for (int i = 0; i < START_TRIES; i++) {
    ISO_TRY(iso_node_spawn(cluster, node, false, error));
    status = iso_node_wait(cluster, node, cluster->type->start_seconds, NULL, error);
    if (status == ISOPROOF_OK) return ISOPROOF_OK;
    ISO_TRY(kill_node(cluster, node, error));
  }
  return status;
}

int iso_fault_scopes(const isoproof_cluster *cluster, const iso_node *node) {
  bool peers = node->peers != NULL || cluster->guardian.own_network;
  return (node->clients != NULL ? ISO_FROM_CLIENTS : 0) | (peers ? ISO_FROM_PEERS : 0);
}

static isoproof_status partition(isoproof_cluster *cluster, const iso_node *node, int scope, bool silent,
                                 isoproof_error *error) {
  if ((scope & ISO_FROM_CLIENTS) != 0 && node->clients != NULL) iso_proxy_silence(node->clients, silent);
  if ((scope & ISO_FROM_PEERS) == 0) return ISOPROOF_OK;
  if (node->peers != NULL) iso_proxy_silence(node->peers, silent);
  return cluster->guardian.own_network ? iso_network_cut(cluster, node, silent, error) : ISOPROOF_OK;
}

isoproof_status iso_fault_begin(isoproof_cluster *cluster, const iso_node *node, isoproof_fault_kind kind, int detail,
                                isoproof_error *error) {
  switch (kind) {
  case ISOPROOF_FAULT_KILL:
    return kill_node(cluster, node, error);
  case ISOPROOF_FAULT_PAUSE:
    return iso_guardian_signal(&cluster->guardian, (unsigned)node->number, SIGSTOP, error);
  case ISOPROOF_FAULT_STALL:
    return iso_guardian_stall(&cluster->guardian, (unsigned)node->number, true, error);
  case ISOPROOF_FAULT_PARTITION:
    return partition(cluster, node, detail, true, error);
  case ISOPROOF_FAULT_RESTART:
    return shut_down(cluster, node, error);
  case ISOPROOF_FAULT_CLOCK:
    return iso_node_set_clock(cluster, node, detail, error);
  case ISOPROOF_FAULTS:
    break;
  }
  return iso_fail(error, ISOPROOF_ERR_USAGE, "expected a fault, found number %d", (int)kind);
}

static isoproof_status undo(isoproof_cluster *cluster, const iso_node *node, isoproof_fault_kind kind, int detail,
                            isoproof_error *error) {
  switch (kind) {
  case ISOPROOF_FAULT_KILL:
  case ISOPROOF_FAULT_RESTART:
    return start_again(cluster, node, error);
  case ISOPROOF_FAULT_PAUSE:
    return iso_guardian_signal(&cluster->guardian, (unsigned)node->number, SIGCONT, error);
  case ISOPROOF_FAULT_STALL:
    return iso_guardian_stall(&cluster->guardian, (unsigned)node->number, false, error);
  case ISOPROOF_FAULT_PARTITION:
    return partition(cluster, node, detail, false, error);
  case ISOPROOF_FAULT_CLOCK:
    return iso_node_set_clock(cluster, node, 0, error);
  case ISOPROOF_FAULTS:
    break;
  }
  return iso_fail(error, ISOPROOF_ERR_USAGE, "expected a fault, found number %d", (int)kind);
}

isoproof_status iso_fault_end(isoproof_cluster *cluster, const iso_node *node, isoproof_fault_kind kind, int detail,
                              isoproof_error *error) {
  ISO_TRY(undo(cluster, node, kind, detail, error));
  for (size_t i = 0; i < cluster->node_count; i++)
    ISO_TRY(iso_node_wait(cluster, &cluster->nodes[i], cluster->type->start_seconds, NULL, error));
  return ISOPROOF_OK;
}
