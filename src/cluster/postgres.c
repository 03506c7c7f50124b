/* postgres.c - PostgreSQL, alone or with a hot standby. */
#include <signal.h>
#include <string.h>

#include "cluster/cluster.h"

enum { TOOL_SECONDS = 120 };

static isoproof_status find(isoproof_cluster *cluster, isoproof_error *error) {
  static const char *const servers[] = {"/usr/lib/postgresql/*/bin/postgres", "/usr/pgsql-*/bin/postgres", NULL};
  static const char *const initializers[] = {"/usr/lib/postgresql/*/bin/initdb", "/usr/pgsql-*/bin/initdb", NULL};
  static const char *const copiers[] = {"/usr/lib/postgresql/*/bin/pg_basebackup", "/usr/pgsql-*/bin/pg_basebackup",
                                        NULL};
  static const char *const clocks[] = {"/usr/lib/*/faketime/libfaketimeMT.so.1",
                                       "/usr/lib*/faketime/libfaketimeMT.so.1", NULL};
  ISO_TRY(iso_cluster_find(cluster, "postgres", servers, "postgresql", &cluster->server, error));
  ISO_TRY(iso_cluster_find(cluster, "initdb", initializers, "postgresql", &cluster->installer, error));
  if (cluster->kind == ISOPROOF_CLUSTER_STANDBY)
    ISO_TRY(iso_cluster_find(cluster, "pg_basebackup", copiers, "postgresql", &cluster->copier, error));
  if ((cluster->faults & 1U << ISOPROOF_FAULT_CLOCK) == 0) return ISOPROOF_OK;
  return iso_cluster_find(cluster, "libfaketimeMT.so.1", clocks, "libfaketime", &cluster->fake_clock, error);
}

/* The file with the offset is read again every second. */
static void plan_clock(isoproof_cluster *cluster, iso_node *node) {
  if (cluster->fake_clock == NULL) {
    node->environment = iso_cluster_environment(cluster, node, NULL, 0);
    return;
  }
  node->clock = iso_cluster_text(cluster, "%s/clock", node->folder);
  const char *more[] = {iso_cluster_text(cluster, "LD_PRELOAD=%s", cluster->fake_clock),
                        iso_cluster_text(cluster, "FAKETIME_TIMESTAMP_FILE=%s", node->clock),
                        "FAKETIME_CACHE_DURATION=1",
                        "DONT_FAKE_MONOTONIC=1",
                        "FAKETIME_DONT_FAKE_MONOTONIC=1",
                        "FAKETIME_DONT_RESET=1"};
  node->environment = iso_cluster_environment(cluster, node, more, sizeof more / sizeof *more);
}

static isoproof_status plan(isoproof_cluster *cluster, iso_node *node, isoproof_error *error) {
  (void)error;
  /* Everything below the folder: a killed server must leave nothing elsewhere. */
  const char *arguments[] = {cluster->server,
                             "-D",
                             iso_cluster_text(cluster, "%s/data", node->folder),
                             "-p",
                             iso_cluster_text(cluster, "%u", (unsigned)node->ports[0]),
                             "-h",
                             "127.0.0.1",
                             "-k",
                             node->folder,
                             "-c",
                             "fsync=off",
                             "-c",
                             "deadlock_timeout=200ms",
                             "-c",
                             "max_connections=300",
                             "-c",
                             "dynamic_shared_memory_type=mmap",
                             "-c",
                             "wal_receiver_timeout=5s"};
  node->arguments = iso_cluster_list(cluster, arguments, sizeof arguments / sizeof *arguments);
  node->lock_file = iso_cluster_text(cluster, "%s/data/postmaster.pid", node->folder);
  node->direct =
      iso_cluster_text(cluster, "postgres://postgres@127.0.0.1:%u/postgres?sslmode=disable", (unsigned)node->ports[0]);
  node->url = node->clients == NULL
                  ? node->direct
                  : iso_cluster_text(cluster, "postgres://postgres@127.0.0.1:%u/postgres?sslmode=disable",
                                     (unsigned)iso_proxy_port(node->clients));
  plan_clock(cluster, node);
  return ISOPROOF_OK;
}

/* A standby is a copy of the primary that goes on copying; -R notes from where. */
static isoproof_status copy_primary(isoproof_cluster *cluster, iso_node *node, isoproof_task *task,
                                    isoproof_error *error) {
  uint16_t from = node->peers != NULL ? iso_proxy_port(node->peers) : cluster->nodes[0].ports[0];
  const char *texts[] = {cluster->copier,
                         "-D",
                         iso_cluster_text(cluster, "%s/data", node->folder),
                         "-h",
                         "127.0.0.1",
                         "-p",
                         iso_cluster_text(cluster, "%u", (unsigned)from),
                         "-U",
                         "postgres",
                         "-R",
                         "-X",
                         "stream",
                         "-c",
                         "fast",
                         "--no-sync"};
  const char *const *arguments = iso_cluster_list(cluster, texts, sizeof texts / sizeof *texts);
  if (arguments == NULL) return iso_fail_memory(error);
  return iso_cluster_tool(cluster, node, arguments, TOOL_SECONDS, task, error);
}

static isoproof_status install(isoproof_cluster *cluster, iso_node *node, isoproof_task *task, isoproof_error *error) {
  if (node->number > 0) return copy_primary(cluster, node, task, error);
  const char *texts[] = {cluster->installer,
                         "-D",
                         iso_cluster_text(cluster, "%s/data", node->folder),
                         "-A",
                         "trust",
                         "-U",
                         "postgres",
                         "--no-sync",
                         "-E",
                         "UTF8",
                         "--locale=C"};
  const char *const *arguments = iso_cluster_list(cluster, texts, sizeof texts / sizeof *texts);
  if (arguments == NULL) return iso_fail_memory(error);
  return iso_cluster_tool(cluster, node, arguments, TOOL_SECONDS, task, error);
}

static isoproof_status ready(const isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  (void)cluster;
  char answer[16];
  return iso_node_ask(node, "SELECT 1", 0, answer, sizeof answer, error);
}

const iso_cluster_type iso_cluster_postgres = {.user = "postgres",
                                               .faults = (1U << ISOPROOF_FAULTS) - 1,
                                               .end_signal = SIGQUIT,
                                               .shutdown_signal = SIGINT,
                                               .start_seconds = 60,
                                               .fault_duration = 2,
                                               .find = find,
                                               .plan = plan,
                                               .install = install,
                                               .ready = ready};
