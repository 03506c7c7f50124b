/* fault_do.c - each fault on one node: doing, undoing. */
#include <signal.h>

#include "run/fault.h"

enum { SHUTDOWN_SECONDS = 20, KILL_SECONDS = 10, START_TRIES = 3 };

static isolde_status kill_node(isolde_cluster *cluster, const iso_node *node, isolde_error *error) {
  iso_process_state state;
  unsigned slot = (unsigned)node->number;
  ISO_TRY(iso_guard_signal(&cluster->guard, slot, SIGKILL, error));
  return iso_guard_wait(&cluster->guard, slot, KILL_SECONDS, &state, NULL, error);
}

static isolde_status shut_down(isolde_cluster *cluster, const iso_node *node, isolde_error *error) {
  iso_process_state state;
  unsigned slot = (unsigned)node->number;
  ISO_TRY(iso_guard_signal(&cluster->guard, slot, cluster->type->shutdown_signal, error));
  isolde_status status = iso_guard_wait(&cluster->guard, slot, SHUTDOWN_SECONDS, &state, NULL, error);
  return status == ISOLDE_ERR_TIMEOUT ? kill_node(cluster, node, error) : status;
}

/* A node may be refused by the others while they still expect the one that died. */
static isolde_status start_again(isolde_cluster *cluster, const iso_node *node, isolde_error *error) {
  isolde_status status = ISOLDE_OK;
  for (int i = 0; i < START_TRIES; i++) {
    ISO_TRY(iso_node_spawn(cluster, node, false, error));
    status = iso_node_wait(cluster, node, cluster->type->start_seconds, NULL, error);
    if (status == ISOLDE_OK) return ISOLDE_OK;
    ISO_TRY(kill_node(cluster, node, error));
  }
  return status;
}

int iso_fault_scopes(const isolde_cluster *cluster, const iso_node *node) {
  bool peers = node->peers != NULL || cluster->guard.own_network;
  return (node->clients != NULL ? ISO_FROM_CLIENTS : 0) | (peers ? ISO_FROM_PEERS : 0);
}

static isolde_status partition(isolde_cluster *cluster, const iso_node *node, int scope, bool silent,
                               isolde_error *error) {
  if ((scope & ISO_FROM_CLIENTS) != 0 && node->clients != NULL) iso_proxy_silence(node->clients, silent);
  if ((scope & ISO_FROM_PEERS) == 0) return ISOLDE_OK;
  if (node->peers != NULL) iso_proxy_silence(node->peers, silent);
  return cluster->guard.own_network ? iso_network_cut(cluster, node, silent, error) : ISOLDE_OK;
}

isolde_status iso_fault_begin(isolde_cluster *cluster, const iso_node *node, isolde_fault kind, int detail,
                              isolde_error *error) {
  switch (kind) {
  case ISOLDE_FAULT_KILL:
    return kill_node(cluster, node, error);
  case ISOLDE_FAULT_PAUSE:
    return iso_guard_signal(&cluster->guard, (unsigned)node->number, SIGSTOP, error);
  case ISOLDE_FAULT_PARTITION:
    return partition(cluster, node, detail, true, error);
  case ISOLDE_FAULT_RESTART:
    return shut_down(cluster, node, error);
  case ISOLDE_FAULT_CLOCK:
    return iso_node_set_clock(cluster, node, detail, error);
  case ISOLDE_FAULTS:
    break;
  }
  return iso_fail(error, ISOLDE_ERR_USAGE, "expected a fault, found number %d", (int)kind);
}

static isolde_status undo(isolde_cluster *cluster, const iso_node *node, isolde_fault kind, int detail,
                          isolde_error *error) {
  switch (kind) {
  case ISOLDE_FAULT_KILL:
  case ISOLDE_FAULT_RESTART:
    return start_again(cluster, node, error);
  case ISOLDE_FAULT_PAUSE:
    return iso_guard_signal(&cluster->guard, (unsigned)node->number, SIGCONT, error);
  case ISOLDE_FAULT_PARTITION:
    return partition(cluster, node, detail, false, error);
  case ISOLDE_FAULT_CLOCK:
    return iso_node_set_clock(cluster, node, 0, error);
  case ISOLDE_FAULTS:
    break;
  }
  return iso_fail(error, ISOLDE_ERR_USAGE, "expected a fault, found number %d", (int)kind);
}

isolde_status iso_fault_end(isolde_cluster *cluster, const iso_node *node, isolde_fault kind, int detail,
                            isolde_error *error) {
  ISO_TRY(undo(cluster, node, kind, detail, error));
  for (size_t i = 0; i < cluster->node_count; i++)
    ISO_TRY(iso_node_wait(cluster, &cluster->nodes[i], cluster->type->start_seconds, NULL, error));
  return ISOLDE_OK;
}
