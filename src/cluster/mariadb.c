/* mariadb.c - MariaDB, alone or as a Galera cluster. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"

enum { TOOL_SECONDS = 120, ARGUMENTS_MOST = 64 };
/* What the ports of a node are for. */
enum { PORT_CLIENTS, PORT_GROUP, PORT_IST, PORT_SST };

static isoproof_status find(isoproof_cluster *cluster, isoproof_error *error) {
  static const char *const server_names[] = {"mariadbd", "mysqld", NULL};
  static const char *const installer_names[] = {"mariadb-install-db", "mysql_install_db", NULL};
  static const char *const servers[] = {"/usr/sbin/mariadbd", "/usr/libexec/mariadbd", NULL};
  static const char *const installers[] = {"/usr/bin/mariadb-install-db", NULL};
  static const char *const providers[] = {"/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so",
                                          "/usr/lib/libgalera_smm.so", NULL};
  static const char *const nowhere[] = {NULL};
  const char *rsync;
  if (cluster->server_folder != NULL) {
    ISO_TRY(iso_server_folder_find(cluster, server_names, &cluster->server, error));
    ISO_TRY(iso_server_folder_find(cluster, installer_names, &cluster->installer, error));
  } else {
    ISO_TRY(iso_cluster_find(cluster, "mariadbd", servers, "mariadb-server", &cluster->server, error));
    ISO_TRY(iso_cluster_find(cluster, "mariadb-install-db", installers, "mariadb-server", &cluster->installer, error));
  }
  if (cluster->kind != ISOPROOF_CLUSTER_GALERA) return ISOPROOF_OK;
  ISO_TRY(iso_cluster_find(cluster, "libgalera_smm.so", providers, "galera-4", &cluster->provider, error));
  ISO_TRY(iso_cluster_find(cluster, "rsync", nowhere, "rsync", &rsync, error));
  return iso_cluster_find(cluster, "cp", nowhere, "coreutils", &cluster->copier, error);
}

/* "gcomm://127.0.0.1:1,127.0.0.1:2" */
static const char *group_address(isoproof_cluster *cluster) {
  char text[512] = "gcomm://";
  for (size_t i = 0; i < cluster->node_count; i++) {
    size_t used = strlen(text);
    const char *address = iso_network_address(cluster, &cluster->nodes[i]);
    if (address == NULL) return NULL;
    snprintf(text + used, sizeof text - used, "%s%s:%u", i > 0 ? "," : "", address,
             (unsigned)cluster->nodes[i].ports[PORT_GROUP]);
  }
  return iso_cluster_text(cluster, "--wsrep-cluster-address=%s", text);
}

static size_t galera_arguments(isoproof_cluster *cluster, const iso_node *node, const char **texts) {
  unsigned group = node->ports[PORT_GROUP], ist = node->ports[PORT_IST];
  const char *address = iso_network_address(cluster, node);
  size_t n = 0;
  if (address == NULL) address = "";
  texts[n++] = "--binlog-format=ROW";
  texts[n++] = "--innodb-autoinc-lock-mode=2";
  texts[n++] = "--wsrep-on=ON";
  texts[n++] = "--wsrep-cluster-name=isoproof";
  texts[n++] = "--wsrep-sst-method=rsync";
  texts[n++] = iso_cluster_text(cluster, "--wsrep-provider=%s", cluster->provider);
  texts[n++] = group_address(cluster);
  texts[n++] = iso_cluster_text(cluster, "--wsrep-node-name=node%zu", node->number);
  texts[n++] = iso_cluster_text(cluster, "--wsrep-node-address=%s:%u", address, group);
  texts[n++] =
      iso_cluster_text(cluster, "--wsrep-node-incoming-address=127.0.0.1:%u", (unsigned)node->ports[PORT_CLIENTS]);
  texts[n++] = iso_cluster_text(cluster, "--wsrep-sst-receive-address=%s:%u", address, (unsigned)node->ports[PORT_SST]);
  texts[n++] = iso_cluster_text(cluster,
                                "--wsrep-provider-options=base_host=%s;base_port=%u;gmcast.listen_addr=tcp://%s:%u;"
                                "ist.recv_addr=%s:%u;gcache.size=16M",
                                address, group, address, group, address, ist);
  return n;
}

static const char *url_of(isoproof_cluster *cluster, unsigned port, const char *database) {
  return iso_cluster_text(cluster, "mariadb://root@127.0.0.1:%u/%s?no-defaults=1", port, database);
}

/* Servers of a folder have their messages and scripts there. */
static const char *base_of(isoproof_cluster *cluster) {
  const char *root = iso_server_folder_root(cluster, cluster->server);
  return root != NULL ? iso_cluster_text(cluster, "--basedir=%s", root) : NULL;
}

static isoproof_status plan(isoproof_cluster *cluster, iso_node *node, isoproof_error *error) {
  (void)error;
  const char *texts[ARGUMENTS_MOST] = {cluster->server, "--no-defaults"};
  size_t n = 2;
  texts[n++] = iso_cluster_text(cluster, "--datadir=%s/data", node->folder);
  texts[n++] = iso_cluster_text(cluster, "--tmpdir=%s/tmp", node->folder);
  texts[n++] = iso_cluster_text(cluster, "--socket=%s", node->socket);
  texts[n++] = iso_cluster_text(cluster, "--pid-file=%s/pid", node->folder);
  texts[n++] = iso_cluster_text(cluster, "--port=%u", (unsigned)node->ports[PORT_CLIENTS]);
  texts[n++] = "--bind-address=127.0.0.1";
  texts[n++] = "--skip-name-resolve";
  texts[n++] = "--max-connections=500";
  texts[n++] = "--innodb-buffer-pool-size=64M";
  texts[n++] = "--innodb-log-file-size=16M";
  texts[n++] = "--innodb-flush-log-at-trx-commit=2";
  if (cluster->server_folder != NULL) texts[n++] = base_of(cluster);
  /* The usual 50 seconds would outlast the clients, and keep a node of Galera from noticing that another one died. */
  texts[n++] = "--innodb-lock-wait-timeout=5";
  if (cluster->kind == ISOPROOF_CLUSTER_GALERA) n += galera_arguments(cluster, node, texts + n);
  for (size_t i = 0; i < cluster->choice.setting_count; i++)
    texts[n++] =
        iso_cluster_text(cluster, "--%s=%s", cluster->choice.settings[i].name, cluster->choice.settings[i].value);
  node->arguments = iso_cluster_list(cluster, texts, n);
  if (cluster->kind == ISOPROOF_CLUSTER_GALERA) {
    texts[n++] = "--wsrep-new-cluster";
    node->first_arguments = iso_cluster_list(cluster, texts, n);
  }
  unsigned port = node->clients == NULL ? node->ports[PORT_CLIENTS] : iso_proxy_port(node->clients);
  node->url = url_of(cluster, port, "isoproof");
  node->direct = cluster->guardian.own_network
                     ? iso_cluster_text(cluster, "mariadb://root@localhost/mysql?no-defaults=1&socket=%s", node->socket)
                     : url_of(cluster, node->ports[PORT_CLIENTS], "mysql");
  node->environment = iso_cluster_environment(cluster, node, NULL, 0);
  return ISOPROOF_OK;
}

/* The data of the first node, before anything runs on it, are as good as new data and come sooner. */
static isoproof_status copy_data(isoproof_cluster *cluster, iso_node *node, isoproof_task *task,
                                 isoproof_error *error) {
  const char *texts[] = {cluster->copier, "-a", "--", iso_cluster_text(cluster, "%s/fresh", cluster->nodes[0].folder),
                         iso_cluster_text(cluster, "%s/data", node->folder)};
  const char *const *arguments = iso_cluster_list(cluster, texts, sizeof texts / sizeof *texts);
  if (arguments == NULL) return iso_fail_memory(error);
  return iso_cluster_tool(cluster, node, arguments, TOOL_SECONDS, task, error);
}

static isoproof_status install(isoproof_cluster *cluster, iso_node *node, isoproof_task *task, isoproof_error *error) {
  if (node->number > 0) return copy_data(cluster, node, task, error);
  bool shared = cluster->node_count > 1;
  const char *texts[] = {cluster->installer,
                         "--no-defaults",
                         iso_cluster_text(cluster, "--datadir=%s/%s", node->folder, shared ? "fresh" : "data"),
                         "--auth-root-authentication-method=normal",
                         "--skip-test-db",
                         "--skip-name-resolve",
                         cluster->server_folder != NULL ? base_of(cluster) : "--no-defaults"};
  size_t count = sizeof texts / sizeof *texts;
  const char *const *arguments = iso_cluster_list(cluster, texts, cluster->server_folder != NULL ? count : count - 1);
  if (arguments == NULL) return iso_fail_memory(error);
  ISO_TRY(iso_cluster_tool(cluster, node, arguments, TOOL_SECONDS, task, error));
  return shared ? copy_data(cluster, node, task, error) : ISOPROOF_OK;
}

static isoproof_status first(const isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  (void)cluster;
  return iso_node_ask(node, "CREATE DATABASE IF NOT EXISTS isoproof", 0, NULL, 0, error);
}

static isoproof_status ready(const isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  (void)cluster;
  char answer[16];
  return iso_node_ask(node, "SELECT 1", 0, answer, sizeof answer, error);
}

/* A node that was silent for a while believes for a moment that all is well; the others know better. */
static isoproof_status ready_in_group(const isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  char answer[64], size[24];
  snprintf(size, sizeof size, "%zu", cluster->expected);
  ISO_TRY(iso_node_ask(node, "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'", 1, answer, sizeof answer, error));
  if (strcmp(answer, size) != 0)
    return iso_fail(error, ISOPROOF_ERR_IO, "expected it to be one of %s nodes, found %s", size, answer);
  ISO_TRY(iso_node_ask(node, "SHOW GLOBAL STATUS LIKE 'wsrep_local_state_comment'", 1, answer, sizeof answer, error));
  if (strcmp(answer, "Synced") == 0) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "expected it to be Synced, found %s", answer);
}

enum {
  USUAL_FAULTS = 1 << ISOPROOF_FAULT_KILL | 1 << ISOPROOF_FAULT_PAUSE | 1 << ISOPROOF_FAULT_PARTITION |
                 1 << ISOPROOF_FAULT_RESTART | 1 << ISOPROOF_FAULT_KILL_ALL | 1 << ISOPROOF_FAULT_RESTART_ALL |
                 1 << ISOPROOF_FAULT_ANALYZE | 1 << ISOPROOF_FAULT_OPTIMIZE | 1 << ISOPROOF_FAULT_MAINTENANCE |
                 1 << ISOPROOF_FAULT_COMMAND
};

const iso_cluster_type iso_cluster_mariadb = {.user = "mysql",
                                              .faults = USUAL_FAULTS,
                                              .maintenance_schema = "isoproof",
                                              .end_signal = SIGKILL,
                                              .shutdown_signal = SIGTERM,
                                              .start_seconds = 60,
                                              .fault_duration = 2,
                                              .find = find,
                                              .plan = plan,
                                              .install = install,
                                              .ready = ready,
                                              .first = first};

const iso_cluster_type iso_cluster_galera = {.user = "mysql",
                                             .faults = USUAL_FAULTS,
                                             .maintenance_schema = "isoproof",
                                             .end_signal = SIGKILL,
                                             .shutdown_signal = SIGTERM,
                                             .start_seconds = 120,
                                             .fault_duration = 8,
                                             .find = find,
                                             .plan = plan,
                                             .install = install,
                                             .ready = ready_in_group,
                                             .first = first};
