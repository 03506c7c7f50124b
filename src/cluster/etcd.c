/* etcd.c - etcd, alone or as a cluster of several nodes. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cluster/cluster.h"
#include "database/driver.h"

enum { PORT_CLIENTS, PORT_PEERS };
enum { ARGUMENTS_MOST = 48, ASK_MS = 3000 };

static isoproof_status find(isoproof_cluster *cluster, isoproof_error *error) {
  static const char *const names[] = {"etcd", NULL};
  static const char *const servers[] = {"/usr/bin/etcd", "/usr/local/bin/etcd", NULL};
  if (cluster->server_folder != NULL) return iso_server_folder_find(cluster, names, &cluster->server, error);
  return iso_cluster_find(cluster, "etcd", servers, "etcd-server", &cluster->server, error);
}

/* Where others find a node: behind its proxy, so that what it sends to them can be lost. */
static unsigned peer_port(const iso_node *node) {
  return node->peers != NULL ? iso_proxy_port(node->peers) : node->ports[PORT_PEERS];
}

/* "node0=http://127.0.0.1:1,node1=http://127.0.0.1:2" */
static const char *members(isoproof_cluster *cluster) {
  char text[512] = "";
  size_t used = 0;
  for (size_t i = 0; i < cluster->node_count; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%snode%zu=http://127.0.0.1:%u", i > 0 ? "," : "", i,
                             peer_port(&cluster->nodes[i]));
  return iso_cluster_text(cluster, "--initial-cluster=%s", text);
}

/* Its settings have '-' where others have '_'. */
static const char *setting(isoproof_cluster *cluster, const iso_server_setting *given) {
  char name[128];
  size_t length = strlen(given->name);
  if (length >= sizeof name) return NULL;
  for (size_t i = 0; i <= length; i++) name[i] = (char)(given->name[i] == '_' ? '-' : given->name[i]);
  return iso_cluster_text(cluster, "--%s=%s", name, given->value);
}

static isoproof_status plan(isoproof_cluster *cluster, iso_node *node, isoproof_error *error) {
  (void)error;
  const char *texts[ARGUMENTS_MOST] = {cluster->server, "--logger=zap", "--log-level=warn"};
  unsigned clients = node->ports[PORT_CLIENTS];
  size_t n = 3;
  texts[n++] = iso_cluster_text(cluster, "--name=node%zu", node->number);
  texts[n++] = iso_cluster_text(cluster, "--data-dir=%s/data", node->folder);
  texts[n++] = iso_cluster_text(cluster, "--listen-client-urls=http://127.0.0.1:%u", clients);
  texts[n++] = iso_cluster_text(cluster, "--advertise-client-urls=http://127.0.0.1:%u", clients);
  texts[n++] = iso_cluster_text(cluster, "--listen-peer-urls=http://127.0.0.1:%u", (unsigned)node->ports[PORT_PEERS]);
  texts[n++] = iso_cluster_text(cluster, "--initial-advertise-peer-urls=http://127.0.0.1:%u", peer_port(node));
  texts[n++] = members(cluster);
  /* A transaction that reads or writes much is not to be refused for that. */
  texts[n++] = "--max-txn-ops=100000";
  for (size_t i = 0; i < cluster->choice.setting_count; i++)
    texts[n++] = setting(cluster, &cluster->choice.settings[i]);
  node->arguments = iso_cluster_list(cluster, texts, n);
  node->environment = iso_cluster_environment(cluster, node, NULL, 0);
  node->direct = iso_cluster_text(cluster, "etcd://127.0.0.1:%u/", clients);
  node->url = iso_cluster_text(cluster, "etcd://127.0.0.1:%u/",
                               node->clients != NULL ? (unsigned)iso_proxy_port(node->clients) : clients);
  return ISOPROOF_OK;
}

static isoproof_status install(isoproof_cluster *cluster, iso_node *node, isoproof_task *task, isoproof_error *error) {
  (void)cluster, (void)node, (void)task, (void)error;
  return ISOPROOF_OK;
}

/* Whether a node answers what all have to agree on; *leads whether it is the leader. */
static isoproof_status ask(const iso_node *node, bool *leads, isoproof_error *error) {
  const iso_database_options how = {.connect_timeout_ms = ASK_MS, .statement_timeout_ms = ASK_MS};
  iso_database *database = NULL;
  iso_connection *connection = NULL;
  iso_reply reply = {0};
  const iso_setting *setting;
  isoproof_status status = iso_database_open(&node->direct, 1, &how, &database, error);
  if (status == ISOPROOF_OK) status = iso_connect(database, 0, &connection, error);
  if (status == ISOPROOF_OK && iso_do(connection, &(iso_driver_request){.kind = ISO_PING}, &reply) != ISO_OUTCOME_OK)
    status = iso_fail(error, ISOPROOF_ERR_IO, "node %zu answers %s", node->number, reply.message);
  *leads = false;
  for (size_t i = 0; status == ISOPROOF_OK && (setting = iso_database_setting(database, i)) != NULL; i++)
    *leads |= strcmp(setting->name, "leader") == 0 && strcmp(setting->value, "this node") == 0;
  iso_reply_free(&reply);
  iso_disconnect(connection);
  iso_database_close(database);
  return status;
}

/* Nothing is served before most nodes are there; when all of them are, all serve. */
static isoproof_status ready(const isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  bool leads;
  if (cluster->expected <= cluster->node_count / 2) return ISOPROOF_OK;
  ISO_TRY(ask(node, &leads, error));
  for (size_t i = 0; cluster->expected == cluster->node_count && i < cluster->node_count; i++)
    if (&cluster->nodes[i] != node) ISO_TRY(ask(&cluster->nodes[i], &leads, error));
  return ISOPROOF_OK;
}

size_t iso_etcd_leader(const isoproof_cluster *cluster) {
  for (size_t i = 0; i < cluster->node_count; i++) {
    bool leads;
    if (ask(&cluster->nodes[i], &leads, NULL) == ISOPROOF_OK && leads) return i;
  }
  return 0;
}

const iso_cluster_type iso_cluster_etcd = {
    .user = "etcd",
    .faults = 1U << ISOPROOF_FAULT_KILL | 1U << ISOPROOF_FAULT_PAUSE | 1U << ISOPROOF_FAULT_PARTITION |
              1U << ISOPROOF_FAULT_RESTART | 1U << ISOPROOF_FAULT_KILL_ALL | 1U << ISOPROOF_FAULT_RESTART_ALL |
              1U << ISOPROOF_FAULT_PROMOTE | 1U << ISOPROOF_FAULT_COMMAND,
    .end_signal = SIGKILL,
    .shutdown_signal = SIGTERM,
    .start_seconds = 60,
    .fault_duration = 3,
    .find = find,
    .plan = plan,
    .install = install,
    .ready = ready,
};
