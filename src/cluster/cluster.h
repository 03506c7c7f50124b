/* cluster.h - a cluster, inside: its nodes, and what the kinds of clusters have to provide.
 *
 * The cluster owns its texts (in its arena), proxies and guardian from isoproof_cluster_start to isoproof_cluster_stop.
 */
#ifndef ISO_CLUSTER_CLUSTER_H
#define ISO_CLUSTER_CLUSTER_H

#include <isoproof/cluster.h>

#include "base/arena.h"
#include "cluster/guardian.h"
#include "cluster/options.h"
#include "cluster/proxy.h"

enum { ISO_NODE_PORTS = 4 };

typedef struct iso_node {
  size_t number;
  const char *folder, *log;
  const char *socket;    /* in the file system, of MariaDB */
  const char *lock_file; /* see iso_command; NULL none */
  const char *clock;     /* the file that says how far its clock is off; NULL where that cannot be changed */
  const char *url;       /* for clients */
  const char *direct;    /* past the proxies */
  uint16_t ports[ISO_NODE_PORTS];
  iso_proxy *clients; /* between clients and the server; NULL: no partitions */
  iso_proxy *peers;   /* between this node and the one it replicates from (etcd: those that listen to it); NULL: no
                         proxy */
  const char *const *arguments;
  const char *const *first_arguments; /* for the start of the cluster; NULL: the same */
  const char *const *next_arguments;  /* for its next start only; NULL: the same */
  const char *const *environment;
} iso_node;

typedef struct iso_cluster_type {
  const char *user;               /* who runs the servers when we are root */
  unsigned faults;                /* bits: possible ones */
  const char *maintenance_schema; /* where the tables of a run are, for servers that need to be told; NULL */
  int end_signal;                 /* at once, but leaving nothing behind */
  int shutdown_signal;            /* in good order */
  double start_seconds;           /* no start takes longer */
  double fault_duration;          /* if not told */
  /* Finds the programs. */
  isoproof_status (*find)(isoproof_cluster *cluster, isoproof_error *error);
  /* Fills arguments, environment and direct URL of a node, whose folder and ports are there. */
  isoproof_status (*plan)(isoproof_cluster *cluster, iso_node *node, isoproof_error *error);
  /* Makes the data of a node; those before it serve already. */
  isoproof_status (*install)(isoproof_cluster *cluster, iso_node *node, isoproof_task *task, isoproof_error *error);
  /* Whether a node does all it should; an error says why not. */
  isoproof_status (*ready)(const isoproof_cluster *cluster, const iso_node *node, isoproof_error *error);
  /* Once, when the first node is ready; may be NULL. */
  isoproof_status (*first)(const isoproof_cluster *cluster, const iso_node *node, isoproof_error *error);
} iso_cluster_type;

struct isoproof_cluster {
  isoproof_cluster_kind kind;
  iso_cluster_choice choice;
  const iso_cluster_type *type;
  unsigned faults;
  iso_arena arena;
  const char *folder;
  const char *command_log; /* what commands of the user print */
  iso_guardian guardian;
  iso_ports ports;
  bool change_user;
  uid_t user;
  gid_t group;
  const char *server_folder; /* where the user wants the servers from; NULL: where packages put them */
  const char *libraries;     /* LD_LIBRARY_PATH=... for programs of that folder; NULL: they find them */
  const char *server, *installer, *provider, *copier, *rebuilder, *fake_clock,
      *router; /* programs and libraries; NULL: not needed */
  iso_node nodes[ISOPROOF_CLUSTER_MOST_NODES];
  const char *urls[ISOPROOF_CLUSTER_MOST_NODES + 1];
  size_t node_count;
  size_t expected; /* nodes that were started, and should know each other */
  size_t primary;  /* the node that takes writes, where the others do not */
};

extern const iso_cluster_type iso_cluster_postgres, iso_cluster_standby, iso_cluster_mariadb, iso_cluster_galera,
    iso_cluster_firebird, iso_cluster_redis, iso_cluster_etcd;

/* Servers of somebody else, to which only commands of the user's own happen. */
extern const iso_cluster_type iso_cluster_attached;

/* ---- for the kinds ---- */

/* Text in the arena; NULL when memory is out. */
const char *iso_cluster_text(isoproof_cluster *cluster, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Copies `count` texts and a NULL into the arena; NULL when memory is out or one of them is NULL. */
const char *const *iso_cluster_list(isoproof_cluster *cluster, const char *const *texts, size_t count);
/* PATH, HOME and so on, and up to four more. */
const char *const *iso_cluster_environment(isoproof_cluster *cluster, const iso_node *node, const char *const *more,
                                           size_t count);
/* Makes a folder that belongs to the user of the servers; the path may be NULL, which is a lack of memory. */
isoproof_status iso_cluster_folder(const isoproof_cluster *cluster, const char *path, isoproof_error *error);
/* Writes a file that belongs to the user of the servers; path and text may be NULL, which is a lack of memory. */
isoproof_status iso_cluster_write(const isoproof_cluster *cluster, const char *path, const char *text,
                                  isoproof_error *error);
/* Runs a tool as the user of the servers; its output goes to the log of the node. */
isoproof_status iso_cluster_tool(isoproof_cluster *cluster, const iso_node *node, const char *const *arguments,
                                 double seconds, isoproof_task *task, isoproof_error *error);
/* The same, with a file of its own for the output. */
isoproof_status iso_cluster_tool_to(isoproof_cluster *cluster, const iso_node *node, const char *log,
                                    const char *const *arguments, double seconds, isoproof_error *error);
/* The first of these paths, or below PATH, that is there; ISOPROOF_ERR_UNSUPPORTED names what is missing. */
isoproof_status iso_cluster_find(isoproof_cluster *cluster, const char *name, const char *const *patterns,
                                 const char *package, const char **found, isoproof_error *error);
/* Asks a node past the proxies: the cell of row 0 in a column goes to `answer`.  Any failure is an error. */
isoproof_status iso_node_ask(const iso_node *node, const char *sql, uint32_t column, char *answer, size_t size,
                             isoproof_error *error);
/* Does something on a node that may take so long. */
isoproof_status iso_node_execute(const iso_node *node, const char *sql, uint32_t timeout_ms, isoproof_error *error);

/* ---- postgres.c ---- */

/* Makes the standby that has received most the primary; the old one does not run. */
isoproof_status iso_postgres_promote(isoproof_cluster *cluster, isoproof_error *error);
/* Makes a node, which does not run, a standby of the primary, with a new copy of its data. */
isoproof_status iso_postgres_rebuild(isoproof_cluster *cluster, const iso_node *node, isoproof_error *error);

/* ---- galera.c ---- */

/* After all nodes of a Galera cluster have gone: which one has most, and starts the others; it is made ready for that,
 * and every node knows how far it is. */
isoproof_status iso_galera_recover(isoproof_cluster *cluster, size_t *first, isoproof_error *error);

/* ---- etcd.c ---- */

/* The node that leads now, as far as the nodes tell; 0 where none does. */
size_t iso_etcd_leader(const isoproof_cluster *cluster);

/* ---- server_folder.c ---- */

/* The folder of the servers, by its real path; NULL leaves it out. */
isoproof_status iso_server_folder_take(isoproof_cluster *cluster, const char *folder, isoproof_error *error);
/* The first of these programs that is there. */
isoproof_status iso_server_folder_find(isoproof_cluster *cluster, const char *const *names, const char **found,
                                       isoproof_error *error);
/* The folder above that of a program; NULL when memory is out. */
const char *iso_server_folder_root(isoproof_cluster *cluster, const char *program);
/* Makes the links that libraries of the folder lack, once the cluster has a folder of its own. */
isoproof_status iso_server_folder_link(isoproof_cluster *cluster, isoproof_error *error);

/* ---- network.c ---- */

/* Whether the cluster needs a network of its own, and could have one. */
bool iso_network_wanted(isoproof_cluster *cluster);
isoproof_status iso_network_prepare(isoproof_cluster *cluster, isoproof_error *error);
/* Of a node, for its peers; NULL when memory is out. */
const char *iso_network_address(isoproof_cluster *cluster, const iso_node *node);
/* Nothing passes between a node and its peers, or everything again. */
isoproof_status iso_network_cut(isoproof_cluster *cluster, const iso_node *node, bool cut, isoproof_error *error);

/* ---- for the faults ---- */

/* `first`: with the arguments of the node that starts the cluster. */
isoproof_status iso_node_spawn(isoproof_cluster *cluster, iso_node *node, bool first, isoproof_error *error);
/* Waits until it serves; ISOPROOF_ERR_IO when it ended instead. */
isoproof_status iso_node_wait(isoproof_cluster *cluster, const iso_node *node, double seconds, isoproof_task *task,
                              isoproof_error *error);
/* Puts its clock off by so many seconds. */
isoproof_status iso_node_set_clock(const isoproof_cluster *cluster, const iso_node *node, int seconds,
                                   isoproof_error *error);

#endif
