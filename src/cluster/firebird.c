/* firebird.c - one Firebird server with a database of its own.
 *
 * A server takes its settings, its users and its locks from the folder that FIREBIRD names; so it gets one of its own,
 * with links to what is installed.  Only its log, should it have something to say, is where the installation has it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cluster/cluster.h"

enum { TOOL_SECONDS = 120 };

static isoproof_status find(isoproof_cluster *cluster, isoproof_error *error) {
  static const char *const servers[] = {"/usr/sbin/firebird", "/opt/firebird/bin/firebird", NULL};
  static const char *const shells[] = {"/usr/bin/isql-fb", "/opt/firebird/bin/isql", NULL};
  static const char *const fixers[] = {"/usr/bin/gfix", "/opt/firebird/bin/gfix", NULL};
  static const char *const plugins[] = {"/usr/lib/*/firebird/*/plugins.conf", "/opt/firebird/plugins.conf", NULL};
  ISO_TRY(iso_cluster_find(cluster, "firebird", servers, "firebird3.0-server", &cluster->server, error));
  ISO_TRY(iso_cluster_find(cluster, "isql-fb", shells, "firebird3.0-utils", &cluster->installer, error));
  ISO_TRY(iso_cluster_find(cluster, "gfix", fixers, "firebird3.0-utils", &cluster->copier, error));
  return iso_cluster_find(cluster, "plugins.conf", plugins, "firebird3.0-server-core", &cluster->provider, error);
}

static isoproof_status plan(isoproof_cluster *cluster, iso_node *node, isoproof_error *error) {
  (void)error;
  const char *root = iso_cluster_text(cluster, "%s/root", node->folder);
  const char *lock = iso_cluster_text(cluster, "%s/lock", node->folder);
  const char *arguments[] = {cluster->server, "-e", root, "-el", lock};
  const char *more[] = {iso_cluster_text(cluster, "FIREBIRD=%s", root),
                        iso_cluster_text(cluster, "FIREBIRD_LOCK=%s", lock),
                        iso_cluster_text(cluster, "FIREBIRD_TMP=%s/tmp", node->folder), "ISC_USER=SYSDBA"};
  static const char form[] = "firebird://SYSDBA:isoproof@127.0.0.1:%u%s/isoproof.fdb";
  uint16_t clients = node->clients != NULL ? iso_proxy_port(node->clients) : node->ports[0];
  node->arguments = iso_cluster_list(cluster, arguments, sizeof arguments / sizeof *arguments);
  node->environment = iso_cluster_environment(cluster, node, more, sizeof more / sizeof *more);
  node->direct = iso_cluster_text(cluster, form, (unsigned)node->ports[0], node->folder);
  node->url = iso_cluster_text(cluster, form, (unsigned)clients, node->folder);
  return ISOPROOF_OK;
}

/* Links to what is installed, and settings of our own.  A deadlock is looked for after a second. */
static isoproof_status make_root(isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  static const char *const parts[] = {"plugins.conf", "plugins", "intl", "firebird.msg", "tzdata"};
  size_t length = (size_t)(strrchr(cluster->provider, '/') - cluster->provider);
  char path[512], target[512];
  ISO_TRY(iso_cluster_folder(cluster, iso_cluster_text(cluster, "%s/root", node->folder), error));
  ISO_TRY(iso_cluster_folder(cluster, iso_cluster_text(cluster, "%s/lock", node->folder), error));
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    snprintf(target, sizeof target, "%.*s/%s", (int)length, cluster->provider, parts[i]);
    snprintf(path, sizeof path, "%s/root/%s", node->folder, parts[i]);
    if (access(target, R_OK) == 0 && symlink(target, path) != 0) return iso_fail_errno(error, path, "making a link");
  }
  ISO_TRY(iso_cluster_write(cluster, iso_cluster_text(cluster, "%s/root/databases.conf", node->folder), "", error));
  const char *settings = iso_cluster_text(cluster,
                                          "RemoteBindAddress = 127.0.0.1\nRemoteServicePort = %u\nSecurityDatabase = "
                                          "%s/security.fdb\nDatabaseAccess = Restrict %s\nTempDirectories = %s/tmp\n"
                                          "AuthServer = Srp\nWireCrypt = Disabled\nServerMode = Super\n"
                                          "DeadlockTimeout = 1\n",
                                          (unsigned)node->ports[0], node->folder, node->folder, node->folder);
  return iso_cluster_write(cluster, iso_cluster_text(cluster, "%s/root/firebird.conf", node->folder), settings, error);
}

/* Tools work without the server, and nobody asks them for a password. */
static isoproof_status install(isoproof_cluster *cluster, iso_node *node, isoproof_task *task, isoproof_error *error) {
  const char *database = iso_cluster_text(cluster, "%s/isoproof.fdb", node->folder);
  const char *script = iso_cluster_text(cluster, "%s/install.sql", node->folder);
  const char *statements = iso_cluster_text(cluster,
                                            "CREATE DATABASE '%s/security.fdb';\nCREATE USER SYSDBA PASSWORD "
                                            "'isoproof' USING PLUGIN Srp;\nCOMMIT;\nCREATE DATABASE '%s' PAGE_SIZE "
                                            "8192;\nCOMMIT;\n",
                                            node->folder, database);
  const char *const create[] = {cluster->installer, "-q", "-b", "-i", script, NULL};
  const char *const quicken[] = {cluster->copier, "-write", "async", database, NULL};
  if (database == NULL) return iso_fail_memory(error);
  ISO_TRY(make_root(cluster, node, error));
  ISO_TRY(iso_cluster_write(cluster, script, statements, error));
  ISO_TRY(iso_cluster_tool(cluster, node, create, TOOL_SECONDS, task, error));
  return iso_cluster_tool(cluster, node, quicken, TOOL_SECONDS, task, error);
}

static isoproof_status ready(const isoproof_cluster *cluster, const iso_node *node, isoproof_error *error) {
  (void)cluster;
  return iso_node_ask(node, "SELECT 1 FROM RDB$DATABASE", 0, NULL, 0, error);
}

const iso_cluster_type iso_cluster_firebird = {
    .user = "firebird",
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
