/* run_cluster.h - the options that start private servers and break them, which run and test share; coo uses the
 * servers.
 *
 * A run_cluster owns servers and faults until run_cluster_stop.
 */
#ifndef CLI_OPTIONS_RUN_CLUSTER_H
#define CLI_OPTIONS_RUN_CLUSTER_H

#include <isoproof/cluster.h>
#include <isoproof/json.h>
#include <stdio.h>

#include "cli/options/options.h"

enum {
  CLUSTER_KIND,
  CLUSTER_SERVER,
  CLUSTER_FAULTS,
  CLUSTER_COMMAND,
  CLUSTER_INTERVAL,
  CLUSTER_DURATION,
  CLUSTER_TARGETS,
  CLUSTER_OPTIONS
};

#define CLUSTER_HELP                                                                                                   \
  "Start private servers for the run, and remove them in the end; galera:N and etcd:N have N nodes. After a comma: "   \
  "of a standby "                                                                                                      \
  "sync, sync=N, delay=TIME, standbys=N; of all set.NAME=VALUE, a setting of the servers. Of SQLite, DuckDB and "      \
  "RocksDB, which are embedded: a private database."
#define CLUSTER_SERVER_HELP                                                                                            \
  "Take the servers from this folder (or its bin, sbin, libexec): another version, a package of npm, a build of "      \
  "one's own."

#define CLUSTER_ROWS(first)                                                                                            \
  [(first) + CLUSTER_KIND] = {.name = "cluster",                                                                       \
                              .type = OPTION_CHOICE,                                                                   \
                              .choices = cluster_name_at,                                                              \
                              .accepts = cluster_known,                                                                \
                              .help = CLUSTER_HELP,                                                                    \
                              .group = "Servers and faults"},                                                          \
             [(first) + CLUSTER_SERVER] = {.name = "server",                                                           \
                                           .argument = "FOLDER",                                                       \
                                           .type = OPTION_FILE,                                                        \
                                           .help = CLUSTER_SERVER_HELP,                                                \
                                           .initial = "where packages put them",                                       \
                                           .group = "Servers and faults"},                                             \
             [(first) + CLUSTER_COMMAND] =                                                                             \
                 {.name = "fault-command",                                                                             \
                  .argument = "COMMAND",                                                                               \
                  .type = OPTION_TEXT,                                                                                 \
                  .help = "A fault of one's own, also with --db: the shell executes it when the fault begins and "     \
                          "when it ends, with ISOPROOF_FAULT_PHASE (begin, end), _NODE, _URL, _PID and _FOLDER in "    \
                          "its environment.",                                                                          \
                  .group = "Servers and faults"},                                                                      \
             [(first) +                                                                                                \
                 CLUSTER_FAULTS] = {.name = "faults",                                                                  \
                                    .type = OPTION_LIST,                                                               \
                                    .choices = fault_name_at,                                                          \
                                    .help =                                                                            \
                                        "Break the private servers while the run goes on, in these ways by turns, "    \
                                        "and heal them.",                                                              \
                                    .group = "Servers and faults"},                                                    \
             [(first) + CLUSTER_INTERVAL] = {.name = "fault-interval",                                                 \
                                             .argument = "SECONDS",                                                    \
                                             .type = OPTION_NUMBER,                                                    \
                                             .min = 0.01,                                                              \
                                             .max = 1e6,                                                               \
                                             .help = "From the end of a fault to the next one, and before the first.", \
                                             .initial = "5",                                                           \
                                             .group = "Servers and faults"},                                           \
             [(first) + CLUSTER_DURATION] = {.name = "fault-duration",                                                 \
                                             .argument = "SECONDS",                                                    \
                                             .type = OPTION_NUMBER,                                                    \
                                             .min = 0.01,                                                              \
                                             .max = 1e6,                                                               \
                                             .help = "How long a fault lasts.",                                        \
                                             .initial = "2; 8 with Galera, which gives up a silent node after 6",      \
                                             .group = "Servers and faults"},                                           \
             [(first) + CLUSTER_TARGETS] = {.name = "fault-targets",                                                   \
                                            .argument = "N,..",                                                        \
                                            .type = OPTION_LIST,                                                       \
                                            .help = "Break these nodes only; the first one is 0.",                     \
                                            .initial = "all",                                                          \
                                            .group = "Servers and faults"}

/* For the table. */
const char *cluster_name_at(size_t number);
bool cluster_known(const char *name);
/* The URL of a private database of a kind that needs no server; NULL for all others. */
const char *const *cluster_embedded(const char *name);
const char *fault_name_at(size_t number);

/* Starts servers and says where they are; an exit code, after a message where that is not EXIT_SATISFIED. */
int cluster_start(const isoproof_cluster_options *which, bool quiet, isoproof_cluster **servers);

typedef struct run_cluster {
  isoproof_cluster *servers;
  isoproof_fault_injector *faults;
  isoproof_fault_options how; /* no faults without any in it */
  bool attached;              /* the servers are somebody else's */
  size_t targets[ISOPROOF_CLUSTER_MOST_NODES];
} run_cluster;

/* Starts the servers that the options ask for, if any, and tells the run; an exit code as above.  `values` are those of
 * the CLUSTER_OPTIONS. */
int run_cluster_start(run_cluster *cluster, const option_value *values, bool quiet, isoproof_run_options *run);
/* The same with servers that run already, and stay somebody else's: NULL where the options need none. */
int run_cluster_use(run_cluster *cluster, const option_value *values, isoproof_cluster *servers,
                    isoproof_run_options *run);
/* Gives the next run its faults, if the options ask for some; those of the run before are forgotten. */
int run_cluster_faults(run_cluster *cluster, uint64_t seed, isoproof_run_options *run);
void run_cluster_stop(run_cluster *cluster);
/* A line that counts the faults, if there are some. */
void run_cluster_summary(FILE *out, const run_cluster *cluster);
/* "faults":{...},"fault_times":[...] inside an open object, if faults were asked for. */
void run_cluster_json(isoproof_json *j, const run_cluster *cluster);
/* Copies the log of each node to FOLDER/node-N.log; false after a message. */
bool run_cluster_save_logs(const run_cluster *cluster, const char *folder);

#endif
