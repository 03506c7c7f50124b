/* isoproof/cluster.h - private database servers on loopback, and faults that happen to them during a run.
 *
 * A cluster lives in a temporary folder and ends with isolde_cluster_stop, or with the process that started it, however
 * that ends: a guardian process sees to it that no server and no file is left.
 *
 * Ownership: the caller owns clusters and faults, and frees the faults first; what a pointer out of one of them shows
 * lives as long as it does.
 */
#ifndef ISOLDE_CLUSTER_H
#define ISOLDE_CLUSTER_H

#include <isoproof/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- clusters ---- */

/* What can be started: C name, name, driver, whether ":N" may say how many nodes, how many nodes without it, title. */
#define ISOLDE_CLUSTER_LIST(X)                                                                                         \
  X(POSTGRES, "postgres", "postgres", false, 1, "one PostgreSQL server")                                               \
  X(STANDBY, "postgres:standby", "postgres", false, 2, "PostgreSQL, and a hot standby that may only be read")          \
  X(MARIADB, "mariadb", "mariadb", false, 1, "one MariaDB server")                                                     \
  X(GALERA, "galera", "mariadb", true, 3, "a Galera cluster of MariaDB servers")

typedef enum isolde_cluster_kind {
#define ISOLDE_X(name, id, driver, counted, nodes, title) ISOLDE_CLUSTER_##name,
  ISOLDE_CLUSTER_LIST(ISOLDE_X)
#undef ISOLDE_X
      ISOLDE_CLUSTER_KINDS
} isolde_cluster_kind;

enum { ISOLDE_CLUSTER_MOST_NODES = 9 };

/* "galera" and its title, by number from 0; NULL after the last. */
ISOLDE_API const char *isolde_cluster_kind_name(size_t number);
ISOLDE_API const char *isolde_cluster_kind_title(size_t number);

/* ---- faults ---- */

/* C name, name, what happens. */
#define ISOLDE_FAULT_LIST(X)                                                                                           \
  X(KILL, "kill", "every process of a node is killed, and the node started again later")                               \
  X(PAUSE, "pause", "every process of a node is stopped, and goes on later as if nothing had been")                    \
  X(PARTITION, "partition", "nothing gets through to a node or from it; later, everything does")                       \
  X(RESTART, "restart", "a node is shut down in good order and started again")                                         \
  X(CLOCK, "clock", "the clock of a node jumps, and jumps back later")

typedef enum isolde_fault {
#define ISOLDE_X(name, id, text) ISOLDE_FAULT_##name,
  ISOLDE_FAULT_LIST(ISOLDE_X)
#undef ISOLDE_X
      ISOLDE_FAULTS
} isolde_fault;

/* By number from 0; NULL after the last. */
ISOLDE_API const char *isolde_fault_name(size_t number);
ISOLDE_API const char *isolde_fault_meaning(size_t number);

typedef struct isolde_cluster isolde_cluster;

typedef struct isolde_cluster_options {
  size_t struct_size; /* sizeof(isolde_cluster_options) */
  const char *kind;   /* "galera:3", "postgres", ... */
  unsigned faults;    /* bits 1 << isolde_fault: those that the cluster has to be prepared for */
} isolde_cluster_options;

/* Whether a kind could be started here: the path of its server, terminated, or an error as isolde_cluster_start has it,
 * ISOLDE_ERR_UNSUPPORTED where something is not installed. */
ISOLDE_API isolde_status isolde_cluster_find(const char *kind, char *server, size_t size, isolde_error *error);
/* Starts the servers and waits until each of them serves.  ISOLDE_ERR_USAGE: no such kind, or a fault that this kind
 * cannot have; ISOLDE_ERR_UNSUPPORTED: something is not installed or not permitted; ISOLDE_ERR_IO: a server failed. */
ISOLDE_API isolde_status isolde_cluster_start(const isolde_cluster_options *options, isolde_task *task,
                                              isolde_cluster **cluster, isolde_error *error);
/* Ends the servers and removes the folder.  Accepts NULL. */
ISOLDE_API void isolde_cluster_stop(isolde_cluster *cluster);
ISOLDE_API size_t isolde_cluster_nodes(const isolde_cluster *cluster);
/* One URL a node, as isolde_run_options wants them. */
ISOLDE_API const char *const *isolde_cluster_urls(const isolde_cluster *cluster);
/* The file that a node logs to; NULL after the last. */
ISOLDE_API const char *isolde_cluster_log(const isolde_cluster *cluster, size_t node);
ISOLDE_API const char *isolde_cluster_folder(const isolde_cluster *cluster);

/* ---- faults during a run ---- */

typedef struct isolde_fault_options {
  size_t struct_size;   /* sizeof(isolde_fault_options) */
  unsigned faults;      /* bits; among those that the cluster was prepared for */
  double interval;      /* seconds from the end of a fault to the next one; 0: 5 */
  double duration;      /* seconds that a fault lasts; 0: 2, and 8 with Galera, which needs 6 to give up a node */
  const size_t *target; /* nodes that may be hit; NULL: all */
  size_t target_count;
  uint64_t seed; /* decides what happens to whom */
} isolde_fault_options;

typedef struct isolde_faults isolde_faults;
ISOLDE_API isolde_status isolde_faults_new(isolde_cluster *cluster, const isolde_fault_options *options,
                                           isolde_faults **faults, isolde_error *error);
ISOLDE_API void isolde_faults_free(isolde_faults *faults);
/* The companion of a run, with an isolde_faults as its user: one fault after the other, each told by two events,
 * "fault KIND node N begin" (and perhaps ": DETAILS") before anything happens, and "fault KIND node N end" when all
 * nodes serve again; "fault KIND node N failed: REASON" where something went wrong.  When the run is to end, a fault is
 * undone at once, and the companion waits until all nodes serve. */
ISOLDE_API void isolde_faults_companion(isolde_run_handle *run, void *faults);
/* A fault that happened; times are those of the history. */
typedef struct isolde_fault_record {
  isolde_fault kind;
  size_t node;
  int64_t begin_ns, end_ns; /* -1: it has not ended */
  const char *detail;       /* "+20 s", "from peers"; "" where there is nothing to say */
  const char *problem;      /* why it could not be done or undone; "" where all went well */
} isolde_fault_record;
/* In the order in which they happened, when the run has ended; false after the last.  The first 1500 are kept. */
ISOLDE_API bool isolde_faults_at(const isolde_faults *faults, size_t number, isolde_fault_record *out);
/* How many there were so far, of a kind. */
ISOLDE_API uint64_t isolde_faults_count(const isolde_faults *faults, isolde_fault kind);
/* Why a fault could not be done or undone, the first such reason; "" where all went well. */
ISOLDE_API const char *isolde_faults_problem(const isolde_faults *faults);

#ifdef __cplusplus
}
#endif

#endif
