/* fault_apply.c - each fault on one node, or on all: doing, undoing. */
#include <signal.h>

#include "cluster/fault.h"

enum { SHUTDOWN_SECONDS = 20, KILL_SECONDS = 10, START_TRIES = 3 };
#define ALONE_SECONDS 0.3

bool iso_fault_is_for_all(isoproof_fault_kind kind) {
  return kind == ISOPROOF_FAULT_KILL_ALL || kind == ISOPROOF_FAULT_RESTART_ALL;
}

/* ---- ending ---- */

static isoproof_status wait_for_end(isoproof_cluster *cluster, const iso_node *node, double seconds,
                                    isoproof_error *error) {
  iso_process_state state;
  return iso_guardian_wait(&cluster->guardian, (unsigned)node->number, seconds, &state, NULL, error);
}

static isoproof_status kill_node(isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  ISO_TRY(iso_guardian_signal(&cluster->guardian, (unsigned)node->number, SIGKILL, error));
  return wait_for_end(cluster, node, KILL_SECONDS, error);
}

/* All of them stand still before the first one dies: nobody notices that another one is gone. */
static isoproof_status kill_all(isoproof_cluster *cluster, isoproof_error *error) {
  for (unsigned i = 0; i < cluster->node_count; i++)
    ISO_TRY(iso_guardian_signal(&cluster->guardian, i, SIGSTOP, error));
  for (unsigned i = 0; i < cluster->node_count; i++)
    ISO_TRY(iso_guardian_signal(&cluster->guardian, i, SIGKILL, error));
  for (size_t i = 0; i < cluster->node_count; i++)
    ISO_TRY(wait_for_end(cluster, &cluster->nodes[i], KILL_SECONDS, error));
  return ISOPROOF_OK;
}

static isoproof_status ask_to_end(isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  return iso_guardian_signal(&cluster->guardian, (unsigned)node->number, cluster->type->shutdown_signal, error);
}

static isoproof_status await_shutdown(isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  isoproof_status status = wait_for_end(cluster, node, SHUTDOWN_SECONDS, error);
  return status == ISOPROOF_ERR_TIMEOUT ? kill_node(cluster, node, error) : status;
}

static isoproof_status shut_down(isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  ISO_TRY(ask_to_end(cluster, node, error));
  return await_shutdown(cluster, node, error);
}

static isoproof_status shut_all_down(isoproof_cluster *cluster, isoproof_error *error) {
  for (size_t i = 0; i < cluster->node_count; i++) ISO_TRY(ask_to_end(cluster, &cluster->nodes[i], error));
  for (size_t i = 0; i < cluster->node_count; i++) ISO_TRY(await_shutdown(cluster, &cluster->nodes[i], error));
  return ISOPROOF_OK;
}

/* ---- starting again ---- */

/* A node may be refused by the others while they still expect the one that died. */
static isoproof_status start_again(isoproof_cluster *cluster, iso_node *node, isoproof_error *error) {
  isoproof_status status = ISOPROOF_OK;
  for (int i = 0; i < START_TRIES; i++) {
    ISO_TRY(iso_node_spawn(cluster, node, false, error));
    status = iso_node_wait(cluster, node, cluster->type->start_seconds, NULL, error);
    if (status == ISOPROOF_OK) return ISOPROOF_OK;
    ISO_TRY(kill_node(cluster, node, error));
  }
  return status;
}

/* The one that the others need comes first: the primary, or the node of Galera that has most. */
static isoproof_status start_all_again(isoproof_cluster *cluster, isoproof_error *error) {
  size_t first = cluster->primary, known = cluster->expected;
  if (cluster->kind == ISOPROOF_CLUSTER_GALERA) ISO_TRY(iso_galera_recover(cluster, &first, error));
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < cluster->node_count && status == ISOPROOF_OK; i++) {
    size_t number = i == 0 ? first : i <= first ? i - 1 : i;
    cluster->expected = i + 1;
    status = start_again(cluster, &cluster->nodes[number], error);
  }
  cluster->expected = known;
  return status;
}

static isoproof_status start_node(isoproof_cluster *cluster, iso_node *node, isoproof_error *error) {
  return cluster->node_count == 1 ? start_all_again(cluster, error) : start_again(cluster, node, error);
}

/* ---- promotion ---- */

static void cut_standbys_off(const isoproof_cluster *cluster, bool cut) {
  for (size_t i = 0; i < cluster->node_count; i++)
    if (cluster->nodes[i].peers != NULL) iso_proxy_silence(cluster->nodes[i].peers, cut);
}

/* Where the primary is cut off first, it goes on alone for a while, and what it has not sent stays unsent: a standby
 * that was promoted does not listen any more. */
static isoproof_status promote(isoproof_cluster *cluster, const iso_fault *fault, isoproof_error *error) {
  bool cut = fault->detail == ISO_PROMOTE_CUT_OFF;
  if (cut) {
    cut_standbys_off(cluster, true);
    (void)isoproof_run_wait(fault->run, ALONE_SECONDS);
  }
  isoproof_status status = kill_node(cluster, fault->node, error);
  if (status == ISOPROOF_OK && cluster->kind != ISOPROOF_CLUSTER_ETCD) status = iso_postgres_promote(cluster, error);
  if (cut) cut_standbys_off(cluster, false);
  return status;
}

/* Where nobody could be promoted, the old primary still is the only one. */
static isoproof_status come_back(isoproof_cluster *cluster, iso_node *old, isoproof_error *error) {
  if (cluster->primary != old->number) ISO_TRY(iso_postgres_rebuild(cluster, old, error));
  return start_again(cluster, old, error);
}

/* ---- partitions ---- */

int iso_fault_scopes(const isoproof_cluster *cluster, const iso_node *node) {
  bool follows = node->number != cluster->primary || cluster->kind == ISOPROOF_CLUSTER_ETCD;
  bool peers = (node->peers != NULL && follows) || cluster->guardian.own_network;
  return (node->clients != NULL ? ISO_FROM_CLIENTS : 0) | (peers ? ISO_FROM_PEERS : 0);
}

static isoproof_status partition(isoproof_cluster *cluster, const iso_node *node, int scope, bool silent,
                                 isoproof_error *error) {
  if ((scope & ISO_FROM_CLIENTS) != 0 && node->clients != NULL) iso_proxy_silence(node->clients, silent);
  if ((scope & ISO_FROM_PEERS) == 0) return ISOPROOF_OK;
  if (node->peers != NULL) iso_proxy_silence(node->peers, silent);
  return cluster->guardian.own_network ? iso_network_cut(cluster, node, silent, error) : ISOPROOF_OK;
}

/* ---- all ---- */

isoproof_status iso_fault_begin(isoproof_cluster *cluster, const iso_fault *fault, isoproof_error *error) {
  switch (fault->kind) {
  case ISOPROOF_FAULT_KILL:
    return kill_node(cluster, fault->node, error);
  case ISOPROOF_FAULT_PAUSE:
    return iso_guardian_signal(&cluster->guardian, (unsigned)fault->node->number, SIGSTOP, error);
  case ISOPROOF_FAULT_STALL:
    return iso_guardian_stall(&cluster->guardian, (unsigned)fault->node->number, true, error);
  case ISOPROOF_FAULT_PARTITION:
    return partition(cluster, fault->node, fault->detail, true, error);
  case ISOPROOF_FAULT_RESTART:
    return shut_down(cluster, fault->node, error);
  case ISOPROOF_FAULT_CLOCK:
    return iso_node_set_clock(cluster, fault->node, fault->detail, error);
  case ISOPROOF_FAULT_KILL_ALL:
    return kill_all(cluster, error);
  case ISOPROOF_FAULT_RESTART_ALL:
    return shut_all_down(cluster, error);
  case ISOPROOF_FAULT_PROMOTE:
    return promote(cluster, fault, error);
  case ISOPROOF_FAULT_COMMAND:
    return iso_fault_command(cluster, fault, "begin", error);
  default:
    break;
  }
  if (iso_fault_is_maintenance(fault->kind)) return iso_maintenance_begin(cluster, fault, error);
  return iso_fail(error, ISOPROOF_ERR_USAGE, "expected a fault, found number %d", (int)fault->kind);
}

static isoproof_status undo(isoproof_cluster *cluster, const iso_fault *fault, isoproof_error *error) {
  switch (fault->kind) {
  case ISOPROOF_FAULT_KILL:
  case ISOPROOF_FAULT_RESTART:
    return start_node(cluster, fault->node, error);
  case ISOPROOF_FAULT_PAUSE:
    return iso_guardian_signal(&cluster->guardian, (unsigned)fault->node->number, SIGCONT, error);
  case ISOPROOF_FAULT_STALL:
    return iso_guardian_stall(&cluster->guardian, (unsigned)fault->node->number, false, error);
  case ISOPROOF_FAULT_PARTITION:
    return partition(cluster, fault->node, fault->detail, false, error);
  case ISOPROOF_FAULT_CLOCK:
    return iso_node_set_clock(cluster, fault->node, 0, error);
  case ISOPROOF_FAULT_KILL_ALL:
  case ISOPROOF_FAULT_RESTART_ALL:
    return start_all_again(cluster, error);
  case ISOPROOF_FAULT_PROMOTE:
    return come_back(cluster, fault->node, error);
  case ISOPROOF_FAULT_COMMAND:
    return iso_fault_command(cluster, fault, "end", error);
  default:
    return iso_maintenance_end(fault, error);
  }
}

isoproof_status iso_fault_end(isoproof_cluster *cluster, const iso_fault *fault, isoproof_error *error) {
  ISO_TRY(undo(cluster, fault, error));
  for (size_t i = 0; i < cluster->node_count; i++)
    ISO_TRY(iso_node_wait(cluster, &cluster->nodes[i], cluster->type->start_seconds, NULL, error));
  return ISOPROOF_OK;
}
