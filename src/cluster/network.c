/* network.c - a network namespace of their own for the nodes of a cluster that connect to each other.
 *
 * All nodes are on the loopback device of that namespace, each with an address of its own, which it also sends from, so
 * that a rule of the routing policy can make what goes between two of them disappear: silently, as a broken network
 * would do it, and without a trace on the network of this machine.  Clients come in by the sockets of the servers in
 * the file system, which do not know of namespaces.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cluster/cluster.h"

enum { TOOL_SECONDS = 10, FIRST_ADDRESS = 11 };

bool iso_network_wanted(isoproof_cluster *cluster) {
  static const char *const places[] = {"/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip", NULL};
  if ((cluster->faults & 1U << ISOPROOF_FAULT_PARTITION) == 0 || cluster->type != &iso_cluster_galera) return false;
  if (cluster->node_count < 2 || geteuid() != 0) return false;
  return iso_cluster_find(cluster, "ip", places, "iproute2", &cluster->router, NULL) == ISOPROOF_OK;
}

const char *iso_network_address(isoproof_cluster *cluster, const iso_node *node) {
  if (!cluster->guardian.own_network) return "127.0.0.1";
  return iso_cluster_text(cluster, "127.0.0.%zu", FIRST_ADDRESS + node->number);
}

/* `ip rule ...` as root in the namespace. */
static isoproof_status rule(isoproof_cluster *cluster, const char *const *arguments, isoproof_error *error) {
  static const char *const environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL};
  char log[128];
  snprintf(log, sizeof log, "%s/network.log", cluster->folder);
  iso_command command = {.arguments = arguments,
                         .environment = environment,
                         .directory = cluster->folder,
                         .log = log,
                         .end_signal = SIGKILL};
  return iso_guardian_run(&cluster->guardian, &command, TOOL_SECONDS, NULL, error);
}

isoproof_status iso_network_prepare(isoproof_cluster *cluster, isoproof_error *error) {
  if (!cluster->guardian.own_network) return ISOPROOF_OK;
  /* The rule for local addresses comes first by default, and nothing can come before it. */
  const char *const later[] = {cluster->router, "rule", "add", "pref", "100", "lookup", "local", NULL};
  const char *const not_first[] = {cluster->router, "rule", "del", "pref", "0", NULL};
  ISO_TRY(rule(cluster, later, error));
  return rule(cluster, not_first, error);
}

isoproof_status iso_network_cut(isoproof_cluster *cluster, const iso_node *node, bool cut, isoproof_error *error) {
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < 2 * cluster->node_count; i++) {
    const iso_node *other = &cluster->nodes[i / 2];
    char here[32], there[32];
    if (other == node) continue;
    snprintf(here, sizeof here, "127.0.0.%zu", FIRST_ADDRESS + node->number);
    snprintf(there, sizeof there, "127.0.0.%zu", FIRST_ADDRESS + other->number);
    bool out = i % 2 == 0;
    const char *const arguments[] = {cluster->router,    "rule", cut ? "add" : "del", "pref",      "10", "from",
                                     out ? here : there, "to",   out ? there : here,  "blackhole", NULL};
    /* What can be healed is healed, whatever else fails. */
    isoproof_status one = rule(cluster, arguments, status == ISOPROOF_OK ? error : NULL);
    if (status == ISOPROOF_OK) status = one;
  }
  return status;
}
