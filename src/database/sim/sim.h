/* sim.h - the simulated database, inside: keys, sessions, and the table of functions of a level.
 *
 * One iso_sim owns everything below until isoproof_simulate ends.  The transactions of the workload are known in full
 * when they begin, which is what makes every level possible without a single abort for conflicts: a transaction waits
 * for what it needs, and only for transactions that began earlier.  A step costs O(1) however many sessions there are,
 * plus what the level does: O(replicas) for the replicated ones, amortized over deliveries, and for read atomic the
 * writes of the transactions that are read from.
 */
#ifndef ISO_DATABASE_SIM_SIM_H
#define ISO_DATABASE_SIM_SIM_H

#include "base/task.h"
#include "base/vector.h"
#include "history/builder.h"
#include "workload/op_mix.h"

#define ISO_SIM_NONE UINT32_MAX
/* Simulated time of one step. */
enum { ISO_SIM_STEP_NS = 1000 };

/* An operation of a running transaction. */
typedef struct iso_sim_op {
  uint32_t key;
  /* Write: the value.  Register read: the value seen, 0 for the initial one.  List read: how many elements of the
   * key's list are seen; own appends come after them. */
  uint32_t value;
  uint32_t own; /* the last earlier write of the key in the same transaction, or ISO_SIM_NONE */
  bool write;
  bool final;     /* no later write of the key in the transaction */
  uint32_t extra; /* list reads of scripts: one more element after the others, 0 for none */
  /* Serializable: what has to commit before the operation can run. */
  uint32_t wait_session, wait_number;
} iso_sim_op;

/* A declared write, and its place in the queue of its key. */
typedef struct iso_sim_claim {
  uint32_t session, key, op; /* op: the final write */
  bool exclusive;            /* no other transaction that declares this key may run at the same time */
  bool granted;
  struct iso_sim_claim *previous, *next;
} iso_sim_claim;

typedef struct iso_sim_key {
  uint32_t next_value;      /* the last value given to a write of the key, 0 at first */
  uint32_t current;         /* the newest version: a value, or the length of the list */
  uint32_t writer, version; /* who wrote the newest version; what they mean depends on the level */
  uint32_t stamp, last_op;  /* scratch: the last write of the transaction that is being planned */
  uint32_t read_back;       /* scratch: stamp of the last transaction that reads the key after writing it */
  iso_sim_claim *first, *last;
} iso_sim_key;

typedef struct iso_sim_list {
  uint32_t *items;
  size_t count, capacity;
} iso_sim_list;

typedef enum iso_sim_phase {
  ISO_SIM_IDLE,     /* between transactions */
  ISO_SIM_QUEUED,   /* waits for its claims */
  ISO_SIM_ADMITTED, /* has them, takes its snapshot next */
  ISO_SIM_RUNNING,
} iso_sim_phase;

typedef struct iso_sim_session {
  iso_sim_phase phase;
  iso_fate fate;
  uint32_t next_op;
  uint32_t number;      /* of the running transaction, 0 when idle */
  uint32_t claims_open; /* not yet granted */
  uint32_t first_waiter, next_waiter;
  uint32_t replica;
  const struct iso_sim_engine *engine; /* of its transaction: that of the simulation, unless levels are mixed */
  iso_txn_isolation isolation;         /* the level that its transaction carries */
  uint32_t finished;                   /* transactions of this session in the history so far */
  int64_t start;
  ISO_VEC(iso_sim_op) ops;
  ISO_VEC(iso_sim_claim) claims;
} iso_sim_session;

typedef struct iso_sim iso_sim;

/* Which transactions may not run at the same time. */
typedef enum iso_sim_rule {
  ISO_SIM_SHARED,    /* any may */
  ISO_SIM_READ_BACK, /* two that append to one list, when one of them reads it after its append: what it reads must
                        stay the beginning of the list */
  ISO_SIM_EXCLUSIVE  /* two that write one key */
} iso_sim_rule;

/* What makes a level. */
typedef struct iso_sim_engine {
  iso_sim_rule rule;
  isoproof_status (*open)(iso_sim *sim, isoproof_error *error); /* may be NULL, as the next three */
  void (*close)(iso_sim *sim);
  void (*tick)(iso_sim *sim);   /* before every step: what happens in the background */
  void (*settle)(iso_sim *sim); /* everything committed becomes visible everywhere */
  isoproof_status (*grow)(iso_sim *sim, uint32_t keys, isoproof_error *error); /* may be NULL: more keys exist */
  /* Decides what the reads will see, as far as that is decided when a transaction begins. */
  isoproof_status (*begin)(iso_sim *sim, uint32_t session, isoproof_error *error);
  /* An operation's turn: ISO_SIM_NONE when it is done, else the session that it has to wait for. */
  uint32_t (*step)(iso_sim *sim, uint32_t session, iso_sim_op *op);
  /* Makes the final writes visible; only called when the transaction takes effect. */
  isoproof_status (*commit)(iso_sim *sim, uint32_t session, isoproof_error *error);
  /* Commits a scripted transaction, which never began. */
  isoproof_status (*install)(iso_sim *sim, uint32_t session, isoproof_error *error);
} iso_sim_engine;

/* A transaction whose list reads are no prefixes of the final lists, written to the history when those are known:
 * the history stores prefixes of the longest list for free, but takes the first lists it sees for the right ones. */
typedef struct iso_sim_deferred {
  uint32_t txn; /* of the builder */
  size_t first_op, end_op;
} iso_sim_deferred;

/* An injected bug to come. */
typedef struct iso_sim_plan {
  uint64_t when;  /* once so many transactions have begun */
  uint64_t order; /* among those of one moment, random */
  isoproof_sim_bug bug;
} iso_sim_plan;

/* An injected bug that has happened; transactions by session and position. */
typedef struct iso_sim_fault {
  isoproof_sim_bug bug;
  uint32_t sessions[4], indexes[4];
  uint32_t txns;
  uint32_t keys[2];
  uint32_t key_count;
} iso_sim_fault;

typedef ISO_VEC(iso_sim_fault) iso_sim_faults;

struct iso_sim {
  const isoproof_sim_options *options;
  const iso_sim_engine *engine;
  isoproof_task *task;
  isoproof_builder *builder;
  iso_op_mix *workload;
  iso_random random;
  uint64_t clock; /* steps */
  uint64_t begun; /* transactions taken from the workload */
  uint64_t ops;   /* operations written to the history */
  uint32_t stamp;
  uint32_t last_number;
  bool final_reads;

  ISO_VEC(iso_sim_key) keys;
  ISO_VEC(iso_sim_list) lists; /* where the workload is of lists */
  iso_sim_session *sessions;   /* one more than asked for: the last one does the final reads */
  uint32_t *runnable;
  uint32_t runnable_count;
  uint32_t *parked; /* idle sessions that wait for a bug to be injected */
  uint32_t parked_count;
  bool draining; /* every session parks, because no key was free */

  ISO_VEC(iso_sim_plan) plans;
  size_t next_plan;
  iso_sim_faults faults;
  ISO_VEC(iso_value) scratch;
  ISO_VEC(iso_sim_deferred) deferred;
  ISO_VEC(iso_sim_op) deferred_ops;

  void *level; /* of the engine */
};

/* ---- store.c: keys, lists, and what every level does alike ---- */

/* Makes room for keys below `count`. */
isoproof_status iso_sim_grow(iso_sim *sim, uint32_t count, isoproof_error *error);
void iso_sim_store_free(iso_sim *sim);
/* Fills `own`, `final`, the values of the writes and the claims from the operations of a session's transaction. */
isoproof_status iso_sim_plan_txn(iso_sim *sim, uint32_t session, isoproof_error *error);
/* Adds every append of the transaction to the lists and every final write to the registers. */
isoproof_status iso_sim_publish(iso_sim *sim, uint32_t session, isoproof_error *error);
/* Writes the transaction of a session to the history. */
isoproof_status iso_sim_record(iso_sim *sim, uint32_t session, isoproof_error *error);
/* Writes what was deferred. */
isoproof_status iso_sim_record_deferred(iso_sim *sim, isoproof_error *error);
int64_t iso_sim_now(const iso_sim *sim);

/* ---- admit.c: who may run beside whom ---- */

/* Queues the claims of a transaction; true when all are granted at once. */
bool iso_sim_claim_all(iso_sim *sim, uint32_t session);
/* Gives the claims back; the sessions that now have all of theirs become runnable. */
void iso_sim_release_all(iso_sim *sim, uint32_t session);

/* ---- schedule.c ---- */

void iso_sim_make_runnable(iso_sim *sim, uint32_t session);
isoproof_status iso_sim_run(iso_sim *sim, isoproof_error *error);

/* ---- bugs.c ---- */

/* How many sessions and keys a bug takes. */
uint32_t iso_sim_bug_sessions(const isoproof_sim_options *options, isoproof_sim_bug bug);
uint32_t iso_sim_bug_keys(isoproof_sim_bug bug);
/* Draws the moments. */
isoproof_status iso_sim_plan_bugs(iso_sim *sim, isoproof_error *error);
/* Whether a session that is idle has to wait because a bug is due. */
bool iso_sim_bug_due(const iso_sim *sim);
/* Parks an idle session and, when enough are parked, runs the script of the bug. */
isoproof_status iso_sim_park(iso_sim *sim, uint32_t session, isoproof_error *error);

/* ---- rows.c ---- */

/* Whether a bug is one of rows, and how many sessions it takes. */
static inline bool iso_sim_bug_is_of_rows(isoproof_sim_bug bug) { return bug >= ISOPROOF_SIM_BUG_PHANTOM; }
uint32_t iso_sim_row_bug_sessions(isoproof_sim_bug bug);
/* Runs transactions on rows into the builder; the faults are those that were injected. */
isoproof_status iso_sim_rows(const isoproof_sim_options *options, isoproof_builder *builder, iso_sim_faults *faults,
                             isoproof_task *task, isoproof_error *error);

/* ---- mixed.c: levels of their own ---- */

/* Gives the next transaction of a session its engine and, where levels are mixed, a level. */
void iso_sim_draw_level(iso_sim *sim, uint32_t session);
/* The same for one that is not drawn. */
void iso_sim_give_level(iso_sim *sim, uint32_t session, isoproof_sim_level level);
/* Whether levels are mixed; and whether they can be. */
bool iso_sim_is_mixed(const isoproof_sim_options *options);
isoproof_status iso_sim_check_mix(const isoproof_sim_options *options, isoproof_error *error);

/* ---- levels ---- */

extern const iso_sim_engine iso_sim_serializable, iso_sim_snapshot, iso_sim_read_committed; /* single.c */
extern const iso_sim_engine iso_sim_late_serializable;                                      /* single.c */
extern const iso_sim_engine iso_sim_parallel_snapshot, iso_sim_causal;                      /* replica.c */
extern const iso_sim_engine iso_sim_read_atomic;                                            /* atomic.c */

#endif
