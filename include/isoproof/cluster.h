/* isoproof/cluster.h - private database servers on loopback, and faults that happen to them during a run.
 *
 * A cluster lives in a temporary folder and ends with isoproof_cluster_stop, or with the process that started it,
 * however that ends: a guardian process sees to it that no server and no file is left.
 *
 * Ownership: the caller owns clusters and faults, and frees the faults first; what a pointer out of one of them shows
 * lives as long as it does.
 */
#ifndef ISOPROOF_CLUSTER_H
#define ISOPROOF_CLUSTER_H

#include <isoproof/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- clusters ---- */

/* What can be started: C name, name, driver, whether ":N" may say how many nodes, how many nodes without it, title. */
#define ISOPROOF_CLUSTER_LIST(X)                                                                                       \
  X(POSTGRES, "postgres", "postgres", false, 1, "one PostgreSQL server")                                               \
  X(STANDBY, "postgres:standby", "postgres", false, 2, "PostgreSQL, and a hot standby that may only be read")          \
  X(MARIADB, "mariadb", "mariadb", false, 1, "one MariaDB server")                                                     \
  X(GALERA, "galera", "mariadb", true, 3, "a Galera cluster of MariaDB servers")                                       \
  X(FIREBIRD, "firebird", "firebird", false, 1, "one Firebird server")                                                 \
  X(REDIS, "redis", "redis", false, 1, "one Redis server")                                                             \
  X(REPLICA, "redis:replica", "redis", false, 2, "Redis, and a replica that may only be read")                         \
  X(ETCD, "etcd", "etcd", true, 1, "one etcd server, or a cluster of them")

typedef enum isoproof_cluster_kind {
#define ISOPROOF_X(name, id, driver, counted, nodes, title) ISOPROOF_CLUSTER_##name,
  ISOPROOF_CLUSTER_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_CLUSTER_KINDS
} isoproof_cluster_kind;

enum { ISOPROOF_CLUSTER_MOST_NODES = 9 };

/* "galera" and its title, by number from 0; NULL after the last. */
ISOPROOF_API const char *isoproof_cluster_kind_at(size_t number);
ISOPROOF_API const char *isoproof_cluster_kind_title(size_t number);

/* ---- faults ---- */

/* C name, name, what happens. */
#define ISOPROOF_FAULT_LIST(X)                                                                                         \
  X(KILL, "kill", "every process of a node is killed, and the node started again later")                               \
  X(PAUSE, "pause", "every process of a node is stopped, and goes on later as if nothing had been")                    \
  X(PARTITION, "partition", "nothing gets through to a node or from it; later, everything does")                       \
  X(RESTART, "restart", "a node is shut down in good order and started again")                                         \
  X(CLOCK, "clock", "the clock of a node jumps, and jumps back later")                                                 \
  X(STALL, "stall", "processes of sessions are stopped for a moment, one at a time, so that races become likely")      \
  X(KILL_ALL, "kill-all", "every process of every node is killed at once, and all nodes are started again later")      \
  X(RESTART_ALL, "restart-all", "all nodes are shut down at once, in good order, and started again later")             \
  X(PROMOTE, "promote", "the primary is killed and a standby takes its place; it comes back as a standby")             \
  X(VACUUM, "vacuum", "VACUUM (FREEZE), or now and then VACUUM FULL, of the tables of the run")                        \
  X(REINDEX, "reindex", "REINDEX TABLE CONCURRENTLY of the tables of the run")                                         \
  X(INDEX, "index", "CREATE INDEX CONCURRENTLY on the tables of the run, and DROP INDEX CONCURRENTLY later")           \
  X(CLUSTER, "cluster", "CLUSTER of the tables of the run")                                                            \
  X(ANALYZE, "analyze", "ANALYZE of the tables of the run")                                                            \
  X(OPTIMIZE, "optimize", "OPTIMIZE TABLE of the tables of the run")                                                   \
  X(MAINTENANCE, "maintenance", "all of the maintenance that the servers have, from vacuum to optimize, by turns")     \
  X(COMMAND, "command", "a command of the user's own is executed when the fault begins and when it ends")

typedef enum isoproof_fault_kind {
#define ISOPROOF_X(name, id, text) ISOPROOF_FAULT_##name,
  ISOPROOF_FAULT_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_FAULTS
} isoproof_fault_kind;

/* By number from 0; NULL after the last. */
ISOPROOF_API const char *isoproof_fault_kind_at(size_t number);
ISOPROOF_API const char *isoproof_fault_kind_meaning(size_t number);

typedef struct isoproof_cluster isoproof_cluster;

typedef struct isoproof_cluster_options {
  size_t struct_size; /* sizeof(isoproof_cluster_options) */
  /* KIND[,OPTION...]: "galera:3", "postgres", "postgres:standby,sync,delay=500ms,standbys=2".  Options of a standby:
   * `sync` (a commit waits for one standby, `sync=N` for N), `delay=TIME` (a standby applies what it got so much
   * later), `standbys=N`; of every kind: `set.NAME=VALUE`, a setting of the servers by their own name. */
  const char *kind;
  unsigned faults;    /* bits 1 << isoproof_fault_kind: those that the cluster has to be prepared for */
  const char *server; /* the folder to take the servers from (it, or its bin, sbin or libexec); NULL: where packages put
                         them */
} isoproof_cluster_options;

/* Whether a kind could be started here: the path of its server, terminated, or an error as isoproof_cluster_start has
 * it, ISOPROOF_ERR_UNSUPPORTED where something is not installed. */
ISOPROOF_API isoproof_status isoproof_cluster_find(const char *kind, char *server, size_t size, isoproof_error *error);
/* Starts the servers and waits until each of them serves.  ISOPROOF_ERR_USAGE: no such kind, or a fault that this kind
 * cannot have; ISOPROOF_ERR_UNSUPPORTED: something is not installed or not permitted; ISOPROOF_ERR_IO: a server failed.
 */
ISOPROOF_API isoproof_status isoproof_cluster_start(const isoproof_cluster_options *options, isoproof_task *task,
                                                    isoproof_cluster **cluster, isoproof_error *error);
/* Servers that somebody else runs, by their URLs, for the fault `command` alone: nothing is done to them but by the
 * command of the user. */
ISOPROOF_API isoproof_status isoproof_cluster_attach(const char *const *urls, size_t count, isoproof_cluster **cluster,
                                                     isoproof_error *error);
/* Ends the servers and removes the folder.  Accepts NULL. */
ISOPROOF_API void isoproof_cluster_stop(isoproof_cluster *cluster);
ISOPROOF_API size_t isoproof_cluster_node_count(const isoproof_cluster *cluster);
/* One URL per node, as isoproof_run_options wants them. */
ISOPROOF_API const char *const *isoproof_cluster_urls(const isoproof_cluster *cluster);
/* The file that a node logs to; NULL after the last. */
ISOPROOF_API const char *isoproof_cluster_log_at(const isoproof_cluster *cluster, size_t node);
/* The file with what commands of the user printed, and how they ended; it is there once one was executed. */
ISOPROOF_API const char *isoproof_cluster_command_log(const isoproof_cluster *cluster);
ISOPROOF_API const char *isoproof_cluster_folder(const isoproof_cluster *cluster);

/* ---- faults during a run ---- */

typedef struct isoproof_fault_options {
  size_t struct_size;   /* sizeof(isoproof_fault_options) */
  unsigned faults;      /* bits; among those that the cluster was prepared for */
  double interval;      /* seconds from the end of a fault to the next one; 0: 5 */
  double duration;      /* seconds that a fault lasts; 0: 2, and 8 with Galera, which needs 6 to give up a node */
  const size_t *target; /* nodes that may be hit; NULL: all */
  size_t target_count;
  uint64_t seed; /* decides what happens to whom */
  /* The fault `command`: /bin/sh executes it, with ISOPROOF_FAULT_PHASE=begin and later =end in its environment (also
   * as $1), ISOPROOF_FAULT_NODE, _NODES, _URL (without a password), and _PID and _FOLDER of a server that isoproof
   * started.  It may take 60 s, or 10 s once the run is to end; then it is killed. */
  const char *command;
} isoproof_fault_options;

#define ISOPROOF_ALL_NODES ((size_t)-1)

typedef struct isoproof_fault_injector isoproof_fault_injector;
ISOPROOF_API isoproof_status isoproof_fault_injector_new(isoproof_cluster *cluster,
                                                         const isoproof_fault_options *options,
                                                         isoproof_fault_injector **faults, isoproof_error *error);
ISOPROOF_API void isoproof_fault_injector_free(isoproof_fault_injector *faults);
/* The companion of a run, with an isoproof_fault_injector as its user: one fault after the other, each recorded as two
 * events, "fault KIND node N begin" (and perhaps ": DETAILS") before anything happens, and "fault KIND node N end" when
 * all nodes serve again; "fault KIND node N failed: REASON" where something went wrong.  When the run is to end, a
 * fault is undone at once, and the companion waits until all nodes serve. */
ISOPROOF_API void isoproof_fault_injector_companion(isoproof_run_handle *run, void *faults);
/* A fault that happened; times are those of the history. */
typedef struct isoproof_fault_record {
  size_t struct_size; /* sizeof(isoproof_fault_record), set by the caller */
  isoproof_fault_kind kind;
  size_t node;              /* ISOPROOF_ALL_NODES: all of them at once */
  int64_t begin_ns, end_ns; /* -1: it has not ended */
  const char *detail;       /* "+20 s", "from peers"; "" where there is nothing to say */
  const char *problem;      /* why it could not be done or undone; "" where all went well */
} isoproof_fault_record;
/* In the order in which they happened, when the run has ended; false after the last.  The first 1500 are kept. */
ISOPROOF_API bool isoproof_fault_injector_record_at(const isoproof_fault_injector *faults, size_t number,
                                                    isoproof_fault_record *out);
/* How many there were so far, of a kind. */
ISOPROOF_API uint64_t isoproof_fault_injector_count(const isoproof_fault_injector *faults, isoproof_fault_kind kind);
/* Why a fault could not be done or undone, the first such reason; "" where all went well. */
ISOPROOF_API const char *isoproof_fault_injector_problem(const isoproof_fault_injector *faults);

#ifdef __cplusplus
}
#endif

#endif
