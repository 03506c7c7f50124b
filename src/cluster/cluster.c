/* cluster.c - from "galera:3" to servers that run, and to their end. */
#include "cluster/cluster.h"

#include <isoproof/database.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/abi.h"
#include "base/text.h"
#include "base/vector.h"
#include "cluster/fault.h"

/* Sockets live below the folder, and their paths may have 107 bytes. */
enum { MOST_FOLDER_BYTES = 80 };

/* ---- tables ---- */

static const iso_cluster_type *type_of(isoproof_cluster_kind kind) {
  switch (kind) {
  case ISOPROOF_CLUSTER_POSTGRES:
    return &iso_cluster_postgres;
  case ISOPROOF_CLUSTER_STANDBY:
    return &iso_cluster_standby;
  case ISOPROOF_CLUSTER_MARIADB:
    return &iso_cluster_mariadb;
  case ISOPROOF_CLUSTER_FIREBIRD:
    return &iso_cluster_firebird;
  case ISOPROOF_CLUSTER_REDIS:
  case ISOPROOF_CLUSTER_REPLICA:
    return &iso_cluster_redis;
  case ISOPROOF_CLUSTER_ETCD:
    return &iso_cluster_etcd;
  case ISOPROOF_CLUSTER_GALERA:
  case ISOPROOF_CLUSTER_KINDS:
    break;
  }
  return &iso_cluster_galera;
}

/* ---- options ---- */

static isoproof_status take_options(isoproof_cluster *cluster, const isoproof_cluster_options *given,
                                    isoproof_error *error) {
  isoproof_cluster_options options = {0};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_cluster_options, &options, given, error));
  ISO_TRY(iso_cluster_parse(options.kind, &cluster->arena, &cluster->choice, error));
  cluster->kind = cluster->choice.kind;
  cluster->node_count = cluster->choice.nodes;
  cluster->type = type_of(cluster->kind);
  cluster->faults = iso_fault_expand(cluster, options.faults);
  for (size_t i = 0; i < ISOPROOF_FAULTS; i++)
    if ((cluster->faults & ~cluster->type->faults & 1U << i) != 0)
      return iso_fail(error, ISOPROOF_ERR_USAGE, "faults: %s cannot happen to %s", isoproof_fault_kind_at(i),
                      iso_cluster_kind_name(cluster->kind));
  return iso_server_folder_take(cluster, options.server, error);
}

/* ---- the folder ---- */

/* Servers refuse to run as root: then it is the user that their package made. */
static isoproof_status find_user(isoproof_cluster *cluster, isoproof_error *error) {
  char buffer[4096];
  struct passwd entry, *found = NULL;
  if (geteuid() != 0) return ISOPROOF_OK;
  if (getpwnam_r(cluster->type->user, &entry, buffer, sizeof buffer, &found) != 0 || found == NULL)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "the servers of %s do not run as root, and there is no user %s to run them",
                    iso_cluster_kind_name(cluster->kind), cluster->type->user);
  cluster->change_user = true;
  cluster->user = found->pw_uid;
  cluster->group = found->pw_gid;
  return ISOPROOF_OK;
}

static isoproof_status own(const isoproof_cluster *cluster, const char *path, isoproof_error *error) {
  if (!cluster->change_user || chown(path, cluster->user, cluster->group) == 0) return ISOPROOF_OK;
  return iso_fail_errno(error, path, "give it to the user of the servers");
}

isoproof_status iso_cluster_folder(const isoproof_cluster *cluster, const char *path, isoproof_error *error) {
  if (path == NULL) return iso_fail_memory(error);
  if (mkdir(path, 0700) != 0) return iso_fail_errno(error, path, "make a folder");
  return own(cluster, path, error);
}

/* From here on the guardian removes it. */
static isoproof_status make_home(isoproof_cluster *cluster, isoproof_error *error) {
  const char *parent = getenv("TMPDIR");
  if (parent == NULL || parent[0] != '/') parent = "/tmp";
  char path[MOST_FOLDER_BYTES + 1];
  int length = snprintf(path, sizeof path, "%s/isoproof-cluster-XXXXXX", parent);
  if (length < 0 || (size_t)length >= sizeof path)
    return iso_fail(error, ISOPROOF_ERR_LIMIT,
                    "TMPDIR: expected at most %d bytes, because sockets live there, found %s", MOST_FOLDER_BYTES - 22,
                    parent);
  if (mkdtemp(path) == NULL) return iso_fail_errno(error, path, "make a temporary folder");
  cluster->folder = iso_cluster_text(cluster, "%s", path);
  cluster->command_log = iso_cluster_text(cluster, "%s/command.log", path);
  isoproof_status status =
      cluster->folder == NULL || cluster->command_log == NULL ? iso_fail_memory(error) : own(cluster, path, error);
  if (status == ISOPROOF_OK) status = iso_guardian_start(&cluster->guardian, path, iso_network_wanted(cluster), error);
  if (status != ISOPROOF_OK) (void)rmdir(path);
  return status;
}

/* ---- nodes ---- */

static isoproof_status add_proxies(isoproof_cluster *cluster, iso_node *node, isoproof_error *error) {
  bool partitions = (cluster->faults & 1U << ISOPROOF_FAULT_PARTITION) != 0;
  bool promotions = (cluster->faults & 1U << ISOPROOF_FAULT_PROMOTE) != 0;
  const char *path = cluster->guardian.own_network ? node->socket : NULL;
  if (partitions) ISO_TRY(iso_proxy_start(node->ports[0], path, &node->clients, error));
  if (cluster->kind == ISOPROOF_CLUSTER_ETCD && partitions && cluster->node_count > 1)
    return iso_proxy_start(node->ports[1], NULL, &node->peers, error);
  /* Who the primary is changes behind the proxy. */
  if (cluster->kind == ISOPROOF_CLUSTER_REPLICA && partitions && node->number > 0)
    return iso_proxy_start(cluster->nodes[0].ports[0], NULL, &node->peers, error);
  if (cluster->kind != ISOPROOF_CLUSTER_STANDBY || !(partitions || promotions)) return ISOPROOF_OK;
  return iso_proxy_start(cluster->nodes[cluster->primary].ports[0], NULL, &node->peers, error);
}

static isoproof_status plan_nodes(isoproof_cluster *cluster, isoproof_error *error) {
  ISO_TRY(iso_hold_ports(&cluster->ports, cluster->node_count * ISO_NODE_PORTS, error));
  for (size_t i = 0; i < cluster->node_count; i++) {
    iso_node *node = &cluster->nodes[i];
    node->number = i;
    node->folder = iso_cluster_text(cluster, "%s/node%zu", cluster->folder, i);
    node->log = iso_cluster_text(cluster, "%s/node%zu/log", cluster->folder, i);
    node->socket = iso_cluster_text(cluster, "%s/socket", node->folder);
    memcpy(node->ports, cluster->ports.ports + i * ISO_NODE_PORTS, sizeof node->ports);
    if (node->socket == NULL) return iso_fail_memory(error);
    ISO_TRY(iso_cluster_folder(cluster, node->folder, error));
    ISO_TRY(iso_cluster_folder(cluster, iso_cluster_text(cluster, "%s/tmp", node->folder), error));
    ISO_TRY(add_proxies(cluster, node, error));
  }
  for (size_t i = 0; i < cluster->node_count; i++) {
    iso_node *node = &cluster->nodes[i];
    ISO_TRY(cluster->type->plan(cluster, node, error));
    if (node->arguments == NULL || node->environment == NULL || node->url == NULL || node->direct == NULL)
      return iso_fail_memory(error);
    if (node->clock != NULL) ISO_TRY(iso_node_set_clock(cluster, node, 0, error));
    cluster->urls[i] = node->url;
  }
  return ISOPROOF_OK;
}

static isoproof_status start_nodes(isoproof_cluster *cluster, isoproof_task *task, isoproof_error *error) {
  for (size_t i = 0; i < cluster->node_count; i++) {
    iso_node *node = &cluster->nodes[i];
    iso_task_progress(task, "starting servers", "nodes", i, cluster->node_count);
    ISO_TRY(cluster->type->install(cluster, node, task, error));
    ISO_TRY(iso_node_spawn(cluster, node, i == 0, error));
    cluster->expected = i + 1;
    ISO_TRY(iso_node_wait(cluster, node, cluster->type->start_seconds, task, error));
    if (i == 0 && cluster->type->first != NULL) ISO_TRY(cluster->type->first(cluster, node, error));
  }
  return ISOPROOF_OK;
}

/* ---- all ---- */

static isoproof_status start(isoproof_cluster *cluster, const isoproof_cluster_options *options, isoproof_task *task,
                             isoproof_error *error) {
  ISO_TRY(take_options(cluster, options, error));
  ISO_TRY(find_user(cluster, error));
  ISO_TRY(cluster->type->find(cluster, error));
  ISO_TRY(make_home(cluster, error));
  ISO_TRY(iso_server_folder_link(cluster, error));
  ISO_TRY(iso_network_prepare(cluster, error));
  ISO_TRY(plan_nodes(cluster, error));
  return start_nodes(cluster, task, error);
}

isoproof_status isoproof_cluster_find(const char *kind, char *server, size_t size, isoproof_error *error) {
  isoproof_cluster *cluster = iso_alloc_zero(1, sizeof *cluster);
  isoproof_cluster_options options = {.struct_size = sizeof options, .kind = kind};
  if (cluster == NULL) return iso_fail_memory(error);
  isoproof_status status = take_options(cluster, &options, error);
  if (status == ISOPROOF_OK) status = find_user(cluster, error);
  if (status == ISOPROOF_OK) status = cluster->type->find(cluster, error);
  if (status == ISOPROOF_OK) snprintf(server, size, "%s", cluster->server);
  isoproof_cluster_stop(cluster);
  return status;
}

isoproof_status isoproof_cluster_start(const isoproof_cluster_options *options, isoproof_task *task,
                                       isoproof_cluster **out, isoproof_error *error) {
  isoproof_cluster *cluster = iso_alloc_zero(1, sizeof *cluster);
  *out = NULL;
  if (cluster == NULL) return iso_fail_memory(error);
  isoproof_status status = start(cluster, options, task, error);
  if (status == ISOPROOF_OK)
    *out = cluster;
  else
    isoproof_cluster_stop(cluster);
  return status;
}

/* ---- servers of somebody else ---- */

/* Nobody here knows whether they do. */
static isoproof_status always_ready(const isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  (void)cluster, (void)node, (void)error;
  return ISOPROOF_OK;
}

const iso_cluster_type iso_cluster_attached = {
    .faults = 1U << ISOPROOF_FAULT_COMMAND, .fault_duration = 2, .ready = always_ready};

static isoproof_status attach(isoproof_cluster *cluster, const char *const *urls, size_t count, isoproof_error *error) {
  if (count == 0 || count > ISOPROOF_CLUSTER_MOST_NODES)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "fault command: expected 1 to %d URLs, found %zu",
                    ISOPROOF_CLUSTER_MOST_NODES, count);
  cluster->type = &iso_cluster_attached;
  cluster->faults = cluster->type->faults;
  cluster->node_count = count;
  for (size_t i = 0; i < count; i++) {
    char shown[2048];
    isoproof_url_show(urls[i], shown, sizeof shown);
    cluster->nodes[i] = (iso_node){.number = i, .url = iso_cluster_text(cluster, "%s", shown)};
    cluster->urls[i] = cluster->nodes[i].url;
    if (cluster->urls[i] == NULL) return iso_fail_memory(error);
  }
  return make_home(cluster, error);
}

isoproof_status isoproof_cluster_attach(const char *const *urls, size_t count, isoproof_cluster **out,
                                        isoproof_error *error) {
  isoproof_cluster *cluster = iso_alloc_zero(1, sizeof *cluster);
  *out = NULL;
  if (cluster == NULL) return iso_fail_memory(error);
  isoproof_status status = attach(cluster, urls, count, error);
  if (status == ISOPROOF_OK)
    *out = cluster;
  else
    isoproof_cluster_stop(cluster);
  return status;
}

void isoproof_cluster_stop(isoproof_cluster *cluster) {
  if (cluster == NULL) return;
  iso_guardian_end(&cluster->guardian);
  for (size_t i = 0; i < ISOPROOF_CLUSTER_MOST_NODES; i++) {
    iso_proxy_stop(cluster->nodes[i].clients);
    iso_proxy_stop(cluster->nodes[i].peers);
  }
  iso_release_ports(&cluster->ports);
  iso_arena_free(&cluster->arena);
  free(cluster);
}

size_t isoproof_cluster_node_count(const isoproof_cluster *cluster) { return cluster->node_count; }
const char *const *isoproof_cluster_urls(const isoproof_cluster *cluster) { return cluster->urls; }
const char *isoproof_cluster_folder(const isoproof_cluster *cluster) { return cluster->folder; }

const char *isoproof_cluster_log_at(const isoproof_cluster *cluster, size_t node) {
  return node < cluster->node_count ? cluster->nodes[node].log : NULL;
}
