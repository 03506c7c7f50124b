/* postgres.c - PostgreSQL, alone or with hot standbys. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cluster/cluster.h"

enum { TOOL_SECONDS = 120, ARGUMENTS_MOST = 96, PROMOTE_TRIES = 300, PROMOTE_STEP_US = 100 * 1000 };
enum {
  USUAL_FAULTS = 1 << ISOPROOF_FAULT_KILL | 1 << ISOPROOF_FAULT_PAUSE | 1 << ISOPROOF_FAULT_PARTITION |
                 1 << ISOPROOF_FAULT_RESTART | 1 << ISOPROOF_FAULT_CLOCK | 1 << ISOPROOF_FAULT_STALL |
                 1 << ISOPROOF_FAULT_KILL_ALL | 1 << ISOPROOF_FAULT_RESTART_ALL | 1 << ISOPROOF_FAULT_VACUUM |
                 1 << ISOPROOF_FAULT_REINDEX | 1 << ISOPROOF_FAULT_INDEX | 1 << ISOPROOF_FAULT_CLUSTER |
                 1 << ISOPROOF_FAULT_ANALYZE | 1 << ISOPROOF_FAULT_MAINTENANCE | 1 << ISOPROOF_FAULT_COMMAND
};

/* ---- programs ---- */

/* One program, from the folder that the user named or from where packages put it. */
static isoproof_status find_program(isoproof_cluster *cluster, const char *name, const char **found,
                                    isoproof_error *error) {
  if (cluster->server_folder != NULL)
    return iso_server_folder_find(cluster, (const char *const[]){name, NULL}, found, error);
  const char *const patterns[] = {iso_cluster_text(cluster, "/usr/lib/postgresql/*/bin/%s", name),
                                  iso_cluster_text(cluster, "/usr/pgsql-*/bin/%s", name), NULL};
  if (patterns[0] == NULL || patterns[1] == NULL) return iso_fail_memory(error);
  return iso_cluster_find(cluster, name, patterns, "postgresql", found, error);
}

static isoproof_status find(isoproof_cluster *cluster, isoproof_error *error) {
  static const char *const nowhere[] = {NULL};
  static const char *const clocks[] = {"/usr/lib/*/faketime/libfaketimeMT.so.1",
                                       "/usr/lib*/faketime/libfaketimeMT.so.1", NULL};
  ISO_TRY(find_program(cluster, "postgres", &cluster->server, error));
  ISO_TRY(find_program(cluster, "initdb", &cluster->installer, error));
  if (cluster->kind == ISOPROOF_CLUSTER_STANDBY)
    ISO_TRY(iso_cluster_find(cluster, "cp", nowhere, "coreutils", &cluster->copier, error));
  if ((cluster->faults & 1U << ISOPROOF_FAULT_PROMOTE) != 0)
    ISO_TRY(find_program(cluster, "pg_basebackup", &cluster->rebuilder, error));
  if ((cluster->faults & 1U << ISOPROOF_FAULT_CLOCK) == 0) return ISOPROOF_OK;
  return iso_cluster_find(cluster, "libfaketimeMT.so.1", clocks, "libfaketime", &cluster->fake_clock, error);
}

/* ---- arguments ---- */

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

/* Every node may become the primary, so all have the same settings: those of the other role mean nothing. */
static size_t standby_arguments(isoproof_cluster *cluster, const char **texts) {
  const iso_cluster_choice *choice = &cluster->choice;
  size_t n = 0;
  texts[n++] = "wal_receiver_timeout=5s";
  texts[n++] = "wal_retrieve_retry_interval=200ms";
  texts[n++] = "wal_keep_size=1GB";
  if (choice->sync == 1) texts[n++] = "synchronous_standby_names=*";
  if (choice->sync > 1) texts[n++] = iso_cluster_text(cluster, "synchronous_standby_names=ANY %zu (*)", choice->sync);
  if (choice->delay != NULL) texts[n++] = iso_cluster_text(cluster, "recovery_min_apply_delay=%s", choice->delay);
  return n;
}

static const char *url_of(isoproof_cluster *cluster, unsigned port) {
  return iso_cluster_text(cluster, "postgres://postgres@127.0.0.1:%u/postgres?sslmode=disable", port);
}

static isoproof_status plan(isoproof_cluster *cluster, iso_node *node, isoproof_error *error) {
  (void)error;
  /* Everything below the folder: a killed server must leave nothing elsewhere. */
  const char *arguments[ARGUMENTS_MOST] = {cluster->server,
                                           "-D",
                                           iso_cluster_text(cluster, "%s/data", node->folder),
                                           "-p",
                                           iso_cluster_text(cluster, "%u", (unsigned)node->ports[0]),
                                           "-h",
                                           "127.0.0.1",
                                           "-k",
                                           node->folder};
  const char *settings[32] = {"fsync=off", "deadlock_timeout=200ms", "max_connections=300",
                              "dynamic_shared_memory_type=mmap"};
  size_t count = 9, set = 4;
  if (cluster->kind == ISOPROOF_CLUSTER_STANDBY) set += standby_arguments(cluster, settings + set);
  for (size_t i = 0; i < cluster->choice.setting_count; i++)
    settings[set++] =
        iso_cluster_text(cluster, "%s=%s", cluster->choice.settings[i].name, cluster->choice.settings[i].value);
  for (size_t i = 0; i < set; i++) {
    arguments[count++] = "-c";
    arguments[count++] = settings[i];
  }
  node->arguments = iso_cluster_list(cluster, arguments, count);
  node->lock_file = iso_cluster_text(cluster, "%s/data/postmaster.pid", node->folder);
  node->direct = url_of(cluster, node->ports[0]);
  node->url = node->clients == NULL ? node->direct : url_of(cluster, iso_proxy_port(node->clients));
  plan_clock(cluster, node);
  return ISOPROOF_OK;
}

/* ---- data ---- */

static isoproof_status run_tool(isoproof_cluster *cluster, const iso_node *node, const char *const *texts, size_t count,
                                isoproof_task *task, isoproof_error *error) {
  const char *const *arguments = iso_cluster_list(cluster, texts, count);
  if (arguments == NULL) return iso_fail_memory(error);
  return iso_cluster_tool(cluster, node, arguments, TOOL_SECONDS, task, error);
}

static isoproof_status append_to(const isoproof_cluster *cluster, const char *path, const char *text,
                                 isoproof_error *error) {
  if (path == NULL || text == NULL) return iso_fail_memory(error);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  size_t length = strlen(text);
  bool good = fd >= 0 && (!cluster->change_user || fchown(fd, cluster->user, cluster->group) == 0) &&
              write(fd, text, length) == (ssize_t)length;
  isoproof_status status = good ? ISOPROOF_OK : iso_fail_errno(error, path, "write it");
  if (fd >= 0) close(fd);
  return status;
}

/* Data that are a copy of the primary's become those of a standby, which says from where it goes on copying. */
static isoproof_status make_standby(isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  unsigned from = node->peers != NULL ? iso_proxy_port(node->peers) : cluster->nodes[cluster->primary].ports[0];
  const char *from_where = iso_cluster_text(
      cluster, "primary_conninfo = 'host=127.0.0.1 port=%u user=postgres sslmode=disable application_name=node%zu'\n",
      from, node->number);
  ISO_TRY(
      append_to(cluster, iso_cluster_text(cluster, "%s/data/postgresql.auto.conf", node->folder), from_where, error));
  return append_to(cluster, iso_cluster_text(cluster, "%s/data/standby.signal", node->folder), "", error);
}

/* The data of the primary before it ever ran serve every node: what was written since comes by replication. */
static isoproof_status copy_fresh(isoproof_cluster *cluster, const iso_node *node, isoproof_task *task,
                                  isoproof_error *error) {
  const char *texts[] = {cluster->copier, "-a", "--", iso_cluster_text(cluster, "%s/fresh", cluster->nodes[0].folder),
                         iso_cluster_text(cluster, "%s/data", node->folder)};
  ISO_TRY(run_tool(cluster, node, texts, sizeof texts / sizeof *texts, task, error));
  return node->number == cluster->primary ? ISOPROOF_OK : make_standby(cluster, node, error);
}

static isoproof_status install(isoproof_cluster *cluster, iso_node *node, isoproof_task *task, isoproof_error *error) {
  if (node->number > 0) return copy_fresh(cluster, node, task, error);
  bool shared = cluster->kind == ISOPROOF_CLUSTER_STANDBY;
  const char *texts[] = {cluster->installer,
                         "-D",
                         iso_cluster_text(cluster, "%s/%s", node->folder, shared ? "fresh" : "data"),
                         "-A",
                         "trust",
                         "-U",
                         "postgres",
                         "--no-sync",
                         "-E",
                         "UTF8",
                         "--locale=C"};
  ISO_TRY(run_tool(cluster, node, texts, sizeof texts / sizeof *texts, task, error));
  return shared ? copy_fresh(cluster, node, task, error) : ISOPROOF_OK;
}

/* A standby serves when it also follows its primary. */
static isoproof_status ready(const isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  char answer[64];
  if (cluster->kind != ISOPROOF_CLUSTER_STANDBY || node->number == cluster->primary)
    return iso_node_ask(node, "SELECT 1", 0, answer, sizeof answer, error);
  ISO_TRY(iso_node_ask(node, "SELECT coalesce((SELECT status FROM pg_stat_wal_receiver), 'not connected')", 0, answer,
                       sizeof answer, error));
  if (strcmp(answer, "streaming") == 0) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "expected it to follow its primary, found that it is %s", answer);
}

/* ---- promotion ---- */

/* Of the standbys, the one that has received most. */
static isoproof_status most_advanced(const isoproof_cluster *cluster, size_t *found, isoproof_error *error) {
  uint64_t most = 0;
  isoproof_status status = iso_fail(error, ISOPROOF_ERR_IO, "no standby is left");
  for (size_t i = 0; i < cluster->node_count; i++) {
    char answer[32];
    unsigned high, low;
    if (i == cluster->primary) continue;
    isoproof_status one =
        iso_node_ask(&cluster->nodes[i], "SELECT pg_last_wal_receive_lsn()", 0, answer, sizeof answer, error);
    if (one != ISOPROOF_OK || sscanf(answer, "%X/%X", &high, &low) != 2) continue;
    uint64_t position = (uint64_t)high << 32 | low;
    if (status == ISOPROOF_OK && position <= most) continue;
    most = position;
    *found = i;
    status = ISOPROOF_OK;
  }
  return status;
}

isoproof_status iso_postgres_promote(isoproof_cluster *cluster, isoproof_error *error) {
  size_t chosen = 0;
  char answer[16];
  ISO_TRY(most_advanced(cluster, &chosen, error));
  ISO_TRY(iso_node_ask(&cluster->nodes[chosen], "SELECT pg_promote(false)", 0, answer, sizeof answer, error));
  cluster->primary = chosen;
  for (size_t i = 0; i < cluster->node_count; i++)
    if (cluster->nodes[i].peers != NULL) iso_proxy_aim_at(cluster->nodes[i].peers, cluster->nodes[chosen].ports[0]);
  for (int i = 0; i < PROMOTE_TRIES; i++) {
    ISO_TRY(iso_node_ask(&cluster->nodes[chosen], "SELECT pg_is_in_recovery()", 0, answer, sizeof answer, error));
    if (strcmp(answer, "f") == 0) return ISOPROOF_OK;
    usleep(PROMOTE_STEP_US);
  }
  return iso_fail(error, ISOPROOF_ERR_TIMEOUT, "node %zu was promoted, and still takes no writes", chosen);
}

isoproof_status iso_postgres_rebuild(isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  const char *data = iso_cluster_text(cluster, "%s/data", node->folder);
  const char *removal[] = {"/bin/rm", "-rf", "--", data};
  const char *copy[] = {cluster->rebuilder,
                        "-D",
                        data,
                        "-h",
                        "127.0.0.1",
                        "-p",
                        iso_cluster_text(cluster, "%u", (unsigned)cluster->nodes[cluster->primary].ports[0]),
                        "-U",
                        "postgres",
                        "-X",
                        "fetch",
                        "-c",
                        "fast",
                        "--no-sync"};
  ISO_TRY(run_tool(cluster, node, removal, sizeof removal / sizeof *removal, NULL, error));
  ISO_TRY(run_tool(cluster, node, copy, sizeof copy / sizeof *copy, NULL, error));
  return make_standby(cluster, node, error);
}

const iso_cluster_type iso_cluster_postgres = {.user = "postgres",
                                               .faults = USUAL_FAULTS,
                                               .end_signal = SIGQUIT,
                                               .shutdown_signal = SIGINT,
                                               .start_seconds = 60,
                                               .fault_duration = 2,
                                               .find = find,
                                               .plan = plan,
                                               .install = install,
                                               .ready = ready};

const iso_cluster_type iso_cluster_standby = {.user = "postgres",
                                              .faults = USUAL_FAULTS | 1U << ISOPROOF_FAULT_PROMOTE,
                                              .end_signal = SIGQUIT,
                                              .shutdown_signal = SIGINT,
                                              .start_seconds = 60,
                                              .fault_duration = 2,
                                              .find = find,
                                              .plan = plan,
                                              .install = install,
                                              .ready = ready};
