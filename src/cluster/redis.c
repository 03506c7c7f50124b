/* redis.c - one Redis server, or one and a replica of it. */
#include <signal.h>
#include <string.h>

#include "cluster/cluster.h"
#include "database/driver.h"

static isoproof_status find(isoproof_cluster *cluster, isoproof_error *error) {
  static const char *const servers[] = {"/usr/bin/redis-server", "/usr/local/bin/redis-server", NULL};
  return iso_cluster_find(cluster, "redis-server", servers, "redis-server", &cluster->server, error);
}

/* What was answered is in the log of the system, if not on the disk: a server that is killed loses nothing. */
static isoproof_status plan(isoproof_cluster *cluster, iso_node *node, isoproof_error *error) {
  (void)error;
  const char *port = iso_cluster_text(cluster, "%u", (unsigned)node->ports[0]);
  const char *arguments[24] = {cluster->server, "--port",        port, "--bind", "127.0.0.1", "--dir",
                               node->folder,    "--daemonize",   "no", "--save", "",          "--appendonly",
                               "yes",           "--appendfsync", "no"};
  size_t count = 15;
  if (node->number > 0) {
    uint16_t from = node->peers != NULL ? iso_proxy_port(node->peers) : cluster->nodes[0].ports[0];
    arguments[count++] = "--replicaof";
    arguments[count++] = "127.0.0.1";
    arguments[count++] = iso_cluster_text(cluster, "%u", (unsigned)from);
  } else {
    arguments[count++] = "--repl-diskless-sync-delay";
    arguments[count++] = "0";
  }
  uint16_t clients = node->clients != NULL ? iso_proxy_port(node->clients) : node->ports[0];
  node->arguments = iso_cluster_list(cluster, arguments, count);
  node->environment = iso_cluster_environment(cluster, node, NULL, 0);
  node->direct = iso_cluster_text(cluster, "redis://127.0.0.1:%s/0", port);
  node->url = iso_cluster_text(cluster, "redis://127.0.0.1:%u/0", (unsigned)clients);
  return ISOPROOF_OK;
}

static isoproof_status install(isoproof_cluster *cluster, iso_node *node, isoproof_task *task, isoproof_error *error) {
  (void)cluster, (void)node, (void)task, (void)error;
  return ISOPROOF_OK;
}

/* Opening it looks at the server; a replica has to be connected with its master. */
static isoproof_status ready(const isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  const iso_database_options how = {.connect_timeout_ms = 3000, .statement_timeout_ms = 3000};
  iso_database *database = NULL;
  const iso_setting *setting;
  bool follows = false;
  (void)cluster;
  ISO_TRY(iso_database_open(&node->direct, 1, &how, &database, error));
  for (size_t i = 0; (setting = iso_database_setting(database, i)) != NULL; i++)
    follows |= strcmp(setting->name, "master_link_status") == 0 && strcmp(setting->value, "up") == 0;
  iso_database_close(database);
  if (node->number == 0 || follows) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "expected it to follow its master, found that it does not");
}

const iso_cluster_type iso_cluster_redis = {
    .user = "redis",
    .faults = 1U << ISOPROOF_FAULT_KILL | 1U << ISOPROOF_FAULT_PAUSE | 1U << ISOPROOF_FAULT_PARTITION |
              1U << ISOPROOF_FAULT_RESTART,
    .end_signal = SIGTERM,
    .shutdown_signal = SIGTERM,
    .start_seconds = 60,
    .fault_duration = 2,
    .find = find,
    .plan = plan,
    .install = install,
    .ready = ready,
};
