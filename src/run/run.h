/* run.h - a run, inside: what its sessions share, and one transaction on a connection.
 *
 * The run owns generator, database, recorder and sessions from isoproof_run's beginning to its end; a session belongs
 * to its thread while that runs, but for the counters, which are atomic.
 */
#ifndef ISO_RUN_RUN_H
#define ISO_RUN_RUN_H

#include <isoproof/run.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/task.h"
#include "database/driver.h"
#include "run/histogram.h"
#include "run/load.h"
#include "run/meeting.h"
#include "run/recorder.h"
#include "run/script.h"
#include "workload/generator.h"

_Static_assert((int)ISO_ERROR_CLASSES <= (int)ISOPROOF_ERROR_CLASS_ROOM, "there must be room for every class");

enum { ISO_ACTIVE_FAULTS = 16 };

/* What happens to the database at the moment. */
typedef struct iso_active_faults {
  char items[ISO_ACTIVE_FAULTS][80];
  uint32_t count;
} iso_active_faults;
enum { ISO_INTERFERENCE_BYTES = 400 };

/* How many answers a transaction waits for: C name, name, meaning. */
#define ISO_ROUND_TRIPS_LIST(X)                                                                                        \
  X(SINGLE, "single", "that to each statement")                                                                        \
  X(BATCHED, "batched", "those to all statements that do not depend on each other at once")                            \
  X(BOTH, "both", "the one or the other, drawn for each round")

typedef enum iso_round_trips {
#define ISO_X(name, id, text) ISO_TRIPS_##name,
  ISO_ROUND_TRIPS_LIST(ISO_X)
#undef ISO_X
      ISO_TRIPS
} iso_round_trips;

typedef struct iso_session_counts {
  _Atomic uint64_t committed, aborted, unknown, retried, broken_totals;
  _Atomic uint64_t errors[ISO_ERROR_CLASSES];
  iso_histogram latency;
  iso_histogram lag; /* behind the schedule, where there is one */
} iso_session_counts;

/* One thread counts, others look. */
static inline void iso_count(_Atomic uint64_t *counter) {
  atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* What a step of the running transaction saw. */
typedef struct iso_seen {
  bool present;
  int64_t value;
} iso_seen;

struct iso_session {
  isoproof_run_handle *run;
  uint32_t number; /* of the generator */
  int64_t name; /* in the history: after an unknown outcome a new one, as the old transaction may still be going on */
  size_t node;
  bool set;     /* the connection has the settings of the session */
  bool reading; /* the node takes no writes now: only the reads of programs are done, and writes read instead */
  pthread_t thread;
  bool started; /* the thread */
  atomic_bool ended;
  iso_connection *connection;
  iso_session_log log;
  iso_reply reply;
  iso_session_counts counts;
  iso_random thinking;
  /* The running transaction. */
  uint64_t taken;
  ISO_VEC(iso_seen) seen; /* by step */
  ISO_VEC(iso_jsonl_op) ops;
  ISO_VEC(iso_data_key) keys; /* by operation */
  ISO_VEC(size_t) first_part; /* by operation: the first of its elements or rows */
  ISO_VEC(isoproof_scalar) elements;
  ISO_VEC(iso_row_value) rows;
  iso_reply *replies;               /* ISO_MOST_BATCH of them, once they are needed */
  int64_t due;                      /* when the schedule wants it to begin; ISO_UNSCHEDULED: there is none */
  int64_t began;                    /* when its statements began, or its BEGIN where it did not wait for others */
  bool doubtful;                    /* the database did not say whether a step changed a row: it must not commit */
  char (*key_texts)[ISO_KEY_BYTES]; /* by operation, where keys are texts */
  size_t key_text_room;
  char code[ISO_CODE_BYTES]; /* of the error that ended it */
  /* The last words of the server by class. */
  char (*messages)[ISO_MESSAGE_BYTES];
  isoproof_error problem; /* why the session gave up: memory, a workload that ends */
  isoproof_status status;
  iso_script_session script;
};

/* The time after which the database looks for a deadlock. */
typedef struct iso_timeouts {
  double deadlock_ms;  /* what sessions set; 0: nothing */
  bool asked;          /* somebody asked for it: it must be had */
  bool short_waits;    /* the database looks for none: sessions wait for locks only shortly */
  atomic_bool refused; /* the database does not let them */
} iso_timeouts;

struct isoproof_run_handle {
  const isoproof_run_options *options;
  const isoproof_workload_options *workload;
  iso_generator *generator;
  iso_database *database;
  const iso_isolation *isolation;
  iso_layout layout;
  iso_access access;
  iso_sending statements;
  iso_round_trips round_trips;
  iso_run_script *script; /* instead of the workload; NULL */
  iso_recorder recorder;
  iso_session_log log; /* for header and events; under the lock */
  iso_load load;
  bool has_load;
  iso_timeouts timeouts;
  iso_session *sessions; /* one more than asked for, for the final reads */
  uint32_t session_count;
  _Atomic int64_t next_name;
  clockid_t clock;
  struct timespec base;     /* of the clock */
  isoproof_run_share share; /* number 0 of 1 where there is only this client */
  /* Workloads in rounds. */
  iso_meeting meeting;
  bool has_meeting;
  bool begins_early;                /* transactions begin before the sessions meet */
  uint64_t made_rounds, old_rounds; /* tables of rounds up to these are there, and were removed again */
  uint32_t next_batch;              /* how many tables to make next; 0: none are needed */
  isoproof_status rounds_status;    /* why no more could be made; under the lock */
  isoproof_error rounds_problem;
  pthread_mutex_t lock;
  pthread_cond_t stopped; /* with the lock */
  atomic_bool stop;
  uint32_t events;
  iso_active_faults faults;                  /* under the lock */
  char interference[ISO_INTERFERENCE_BYTES]; /* what somebody else did to the tables, the first of it; under the lock */
};

/* ---- active_faults.c ---- */

/* Takes note of an event. */
void iso_active_faults_note(iso_active_faults *active, const char *event);
/* The latest one in words; NULL when there is none. */
const char *iso_active_faults_name(const iso_active_faults *active, char *text, size_t size);

/* Waits until a moment of the clock of the history; false when the run is to end. */
bool iso_run_sleep_until(const isoproof_run_handle *run, int64_t moment);
/* Tells every session to end after its transaction. */
void iso_run_stop(isoproof_run_handle *run);
static inline bool iso_run_stopping(const isoproof_run_handle *run) {
  return atomic_load_explicit(&run->stop, memory_order_relaxed);
}

/* Ends the run: somebody else changes its tables, so that what it sees says nothing about the database. */
void iso_run_interfered(isoproof_run_handle *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool iso_run_was_interfered(isoproof_run_handle *run);

/* ---- open.c, header.c ---- */

/* Opens the database and makes its tables. */
isoproof_status iso_run_open_database(isoproof_run_handle *run, isoproof_error *error);
isoproof_status iso_run_write_header(isoproof_run_handle *run, isoproof_error *error);

/* ---- note.c ---- */

/* Whether a row was refused since there is one of its key. */
static inline bool iso_reply_refuses_row(const iso_reply *reply) {
  return reply->outcome != ISO_OUTCOME_OK && reply->error_class == ISO_CLASS_CONSTRAINT;
}

/* Adds a step with its answer to what will be recorded of the transaction; false when memory is out. */
bool iso_note_answer(iso_session *session, const iso_program *program, const iso_program_step *step, iso_data_key key,
                     int64_t value, const iso_reply *reply);
/* Records the transaction. */
isoproof_status iso_note_txn(iso_session *session, isoproof_txn_status status, int64_t start, int64_t end,
                             isoproof_error *error);

/* ---- rounds.c ---- */

/* Readies the run for a workload in rounds: the meeting, and the first tables where it needs some. */
isoproof_status iso_rounds_prepare(isoproof_run_handle *run, isoproof_error *error);
/* Writes the rows that are there before the first transaction, and waits until every node has them. */
isoproof_status iso_rounds_write_initial(isoproof_run_handle *run, isoproof_error *error);

/* ---- share.c ---- */

/* Takes the share of this client out of the options, and checks that the workload can be shared; ISOPROOF_ERR_USAGE. */
isoproof_status iso_share_take(isoproof_run_handle *run, isoproof_error *error);
/* Waits for the other clients, if there are any. */
isoproof_status iso_share_meet(isoproof_run_handle *run, isoproof_run_point point, uint64_t *most,
                               isoproof_error *error);
/* Makes the tables, or finds those that client 0 has made. */
isoproof_status iso_share_tables(isoproof_run_handle *run, isoproof_error *error);
/* Starts the clock of the history, which says so where there are several clients. */
void iso_share_start_clock(isoproof_run_handle *run);
/* How many sessions of the workload are those of this client, and the number of one of them. */
uint32_t iso_share_sessions(const isoproof_run_handle *run);
uint32_t iso_share_session(const isoproof_run_handle *run, uint32_t own);
/* A name for a session that nobody else has. */
int64_t iso_share_next_name(isoproof_run_handle *run);
/* Whether this client does what only one can do. */
static inline bool iso_share_is_first(const isoproof_run_handle *run) { return run->share.number == 0; }

/* ---- session_settings.c ---- */

/* Whether the settings make sense; ISOPROOF_ERR_USAGE. */
isoproof_status iso_session_settings_check(const isoproof_run_options *options, isoproof_error *error);
/* Gives a session that has just connected its settings; ISOPROOF_ERR_USAGE when the database refuses one. */
isoproof_status iso_session_settings_apply(iso_session *session, isoproof_error *error);

/* ---- timeouts.c ---- */

/* What sessions are to set, from the options and the settings of the database; ISOPROOF_ERR_USAGE where somebody asks
 * for what it does not have. */
isoproof_status iso_timeouts_choose(isoproof_run_handle *run, isoproof_error *error);
/* Gives a session that has just connected its time-outs; ISOPROOF_ERR_USAGE when the database refuses what was asked
 * for.  What nobody asked for may be refused. */
isoproof_status iso_timeouts_apply(iso_session *session, isoproof_error *error);
/* Puts them into the history, once sessions have them. */
void iso_timeouts_note(isoproof_run_handle *run);

/* ---- transaction.c ---- */

typedef struct iso_txn_end {
  isoproof_txn_status status;
  bool begun;
  iso_outcome outcome; /* of the call that ended it */
} iso_txn_end;

/* Runs a program as one transaction on the connection of the session and records it, unless it could not begin. */
isoproof_status iso_run_txn(iso_session *session, const iso_program *program, iso_txn_end *end, isoproof_error *error);

/* Keeps what the server said of a failure. */
void iso_session_keep_error(iso_session *session);
/* The fate of a transaction whose last call was answered with the reply; an open one is rolled back. */
isoproof_txn_status iso_session_end_failed(iso_session *session);
/* Counts a transaction that has ended. */
void iso_session_count_end(iso_session *session, isoproof_txn_status status, int64_t latency);

/* ---- session.c ---- */

/* Connects where that is needed; false when it fails. */
bool iso_session_connect(iso_session *session);
/* Waits a moment that doubles from failure to failure; false when the run is to end. */
bool iso_session_pause(iso_session *session, uint32_t *pause_ms);
/* After a transaction: pauses if the database is not well. */
void iso_session_rest(iso_session *session, const iso_txn_end *end, uint32_t *pause_ms);

/* The body of a thread; the argument is the session. */
void *iso_session_main(void *argument);
/* The final reads, in the calling thread. */
isoproof_status iso_session_final(iso_session *session, isoproof_error *error);
isoproof_status iso_session_open(iso_session *session, isoproof_run_handle *run, uint32_t number,
                                 isoproof_error *error);
void iso_session_free(iso_session *session);

#endif
