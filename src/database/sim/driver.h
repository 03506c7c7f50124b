/* driver.h - the simulated database that clients connect to: a store of versions, its nodes, and its bugs.
 *
 * One iso_sim_server belongs to an iso_database and owns entries and sessions until the database is closed; a mutex
 * guards everything in it.  Unlike the simulator of isoproof_simulate it does not know transactions before they happen,
 * so it is optimistic: a transaction runs on a snapshot, and conflicts show at its commit.  A read searches back
 * through the versions of its key, of which few are kept; a range looks at every key.
 */
#ifndef ISO_DATABASE_SIM_DRIVER_H
#define ISO_DATABASE_SIM_DRIVER_H

#include <isoproof/simulate.h>
#include <pthread.h>

#include "database/driver_table.h"
#include "workload/random.h"

enum {
  ISO_SIM_NODES = 16,
  ISO_SIM_LOG = 64, /* commits of a node that the others may still miss */
  ISO_SIM_LAG = 48  /* how many commits behind a stale snapshot may be */
};

/* Bugs that only this simulator has, beside those of isoproof/simulate.h: C name, name, weakest level that it breaks
 * for certain (others as it happens), sentence. */
#define ISO_SIM_DRIVER_BUG_LIST(X)                                                                                     \
  X(LOST_WRITE, "lost-write", "strong-snapshot-isolation", "a crash forgets the last commits")

enum {
  ISO_SIM_BEFORE_DRIVER_BUGS = ISOPROOF_SIM_BUGS - 1,
#define ISO_X(name, id, level, text) ISO_SIM_##name,
  ISO_SIM_DRIVER_BUG_LIST(ISO_X)
#undef ISO_X
      ISO_SIM_ALL_BUGS,
  ISO_SIM_NO_BUG
};

/* A vector clock with one time per node: what a node has, and what a transaction sees. */
typedef struct iso_sim_view {
  uint64_t times[ISO_SIM_NODES];
} iso_sim_view;

typedef struct iso_sim_version {
  uint64_t time;
  uint32_t node;
  bool absent;
  int64_t value;
} iso_sim_version;

/* A key.  Versions and elements are in the order of their times. */
typedef struct iso_sim_entry {
  int64_t key;
  ISO_VEC(iso_sim_version) versions;
  ISO_VEC(iso_sim_version) elements;
  bool has_aborted, has_intermediate;
  int64_t aborted, intermediate; /* values that nobody should see */
} iso_sim_entry;

typedef struct iso_sim_change {
  iso_request_kind kind;
  size_t entry;
  int64_t value;
  uint64_t time; /* when it was made, for appends */
} iso_sim_change;

typedef struct iso_sim_range {
  int64_t low, high;
  bool by_value;
} iso_sim_range;

typedef struct iso_sim_client {
  struct iso_sim_client *previous, *next;
  bool active;
  bool crashed; /* the server crashed under it: the connection is gone */
  uint64_t number;
  isoproof_sim_level level;
  uint32_t node;
  iso_random random;
  iso_sim_view view;
  uint64_t last_commit, last_seen; /* of this session */
  uint32_t bug;                    /* of this transaction; ISO_SIM_NO_BUG when it is a good one */
  bool bug_done;
  uint64_t hidden; /* the commit of this time is not seen */
  bool hides_key;  /* ... of this key only */
  int64_t hidden_key;
  ISO_VEC(size_t) reads;
  ISO_VEC(iso_sim_range) ranges;
  ISO_VEC(iso_sim_change) changes;
} iso_sim_client;

typedef struct iso_sim_commit {
  uint64_t time;
  iso_sim_view view;
} iso_sim_commit;

typedef struct iso_sim_server {
  pthread_mutex_t mutex;
  uint64_t clock; /* commits so far */
  uint64_t low;   /* no snapshot is or will be older */
  uint32_t nodes;
  uint64_t seed, connected;
  bool bugs[ISO_SIM_ALL_BUGS];
  uint32_t bug_list[ISO_SIM_ALL_BUGS], bug_count;
  double rate, lost_rate;
  iso_sim_view views[ISO_SIM_NODES];
  iso_sim_commit logs[ISO_SIM_NODES][ISO_SIM_LOG];
  uint64_t log_ends[ISO_SIM_NODES]; /* commits so far, of each node */
  /* For the bugs: the last commit of several keys; two commits that did not know of each other. */
  uint64_t last_wide, fork_first, fork_second;
  uint64_t last_committer;
  uint32_t fork_left; /* transactions that may still see only one of the two */
  iso_sim_client *clients;
  ISO_VEC(iso_sim_entry) entries;
  size_t *table; /* numbers of entries plus 1, by hash of key; 0 free */
  size_t table_mask;
} iso_sim_server;

/* ---- driver_store.c ---- */

/* The number of the entry of a key, made when there is none; SIZE_MAX when memory is out. */
size_t iso_sim_entry_of(iso_sim_server *server, int64_t key);
void iso_sim_server_clear(iso_sim_server *server);
/* Takes the snapshot of a transaction that begins. */
void iso_sim_take_view(iso_sim_server *server, iso_sim_client *client);
bool iso_sim_visible(const iso_sim_client *client, const iso_sim_entry *entry, const iso_sim_version *version);
/* The newest version that it sees, NULL when there is none; its own changes do not count. */
const iso_sim_version *iso_sim_newest(const iso_sim_client *client, const iso_sim_entry *entry);
bool iso_sim_in_range(const iso_sim_range *range, int64_t key, int64_t value);
/* What the transaction sees of a register; `own` says whether its own changes count. */
bool iso_sim_see(iso_sim_server *server, const iso_sim_client *client, size_t entry, bool own, int64_t *value);
/* Decides whether it may commit: NULL, or why not.  Linear in what it read and wrote, and for each range in all
 * keys. */
const char *iso_sim_conflict(const iso_sim_server *server, const iso_sim_client *client);
/* Makes the changes visible; false when memory is out (then nothing is).  Now and then also looks at all clients and
 * nodes for versions that nobody can see any more. */
bool iso_sim_apply(iso_sim_server *server, iso_sim_client *client);
/* Remembers what nobody should see. */
void iso_sim_forget(iso_sim_server *server, iso_sim_client *client);

/* ---- driver_bugs.c ---- */

const char *iso_sim_driver_bug_name(uint32_t bug);
const char *iso_sim_driver_bug_level(uint32_t bug);
bool iso_sim_driver_bug_find(const char *name, size_t length, uint32_t *bug);
/* Draws whether a transaction that begins will go wrong, and how; bends its snapshot. */
void iso_sim_draw_bug(iso_sim_server *server, iso_sim_client *client);
/* Before a read: a fractured one does not see what it reads first of a commit, and sees the rest of it. */
void iso_sim_bend_before(iso_sim_server *server, iso_sim_client *client, size_t entry);
/* Bends what a read of a register returns. */
void iso_sim_bend_read(iso_sim_server *server, iso_sim_client *client, size_t entry, bool *present, int64_t *value);
/* The same for lists. */
void iso_sim_bend_list(iso_sim_server *server, iso_sim_client *client, size_t entry, iso_reply *reply);
/* The entry that a read of a range leaves out though it matches; SIZE_MAX for none.  Linear in all keys. */
size_t iso_sim_missed(iso_sim_server *server, iso_sim_client *client, const iso_sim_range *range);
/* Whether the transaction gets away with conflicts on what it read, in ranges, or wrote. */
bool iso_sim_skips_reads(const iso_sim_client *client);
bool iso_sim_skips_ranges(const iso_sim_client *client);
bool iso_sim_skips_writes(const iso_sim_client *client);
/* After a commit. */
void iso_sim_after_commit(iso_sim_server *server, iso_sim_client *client, size_t keys);

#endif
