/* isoproof/run.h - run a workload on a database and record the history.
 *
 * Each session is a thread with a connection of its own.  The history is written as it goes, in isoproof's JSON lines:
 * one write per transaction, when it has ended, so that a crash of the client loses at most the last line.
 *
 * Ownership: isoproof_run hands a summary to the caller, who frees it with isoproof_run_summary_free; options are the
 * caller's.
 */
#ifndef ISOPROOF_RUN_H
#define ISOPROOF_RUN_H

#include <isoproof/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for classes of errors in the structs below; how many there are, isoproof_error_class_at tells. */
enum { ISOPROOF_ERROR_CLASS_ROOM = 32 };
/* "serialization", "deadlock", ...; NULL after the last. */
ISOPROOF_API const char *isoproof_error_class_at(size_t number);

/* Counters of a run, while it goes on and in the end. */
typedef struct isoproof_run_counts {
  uint64_t committed, aborted, unknown;
  uint64_t retried;                           /* transactions that are a new attempt of an aborted one */
  uint64_t errors[ISOPROOF_ERROR_CLASS_ROOM]; /* statements and commits that failed, by class */
  uint64_t broken_totals;                     /* bank: committed reads of all accounts with a wrong total */
  /* Latency of committed transactions, from BEGIN to the answer to COMMIT; with a rate, from the moment at which they
   * were due (but for workloads whose sessions meet). */
  int64_t p50_ns, p90_ns, p99_ns, max_ns;
  double seconds; /* since the sessions began */
  /* With a rate: how late transactions began; and since when, in the end, some were due that no session had begun. */
  int64_t lag_p50_ns, lag_p99_ns, lag_max_ns, behind_ns;
} isoproof_run_counts;

typedef struct isoproof_run_progress {
  const isoproof_run_counts *counts; /* valid during the call */
  double rate;                       /* transactions per second, of late */
  double seconds_limit;              /* 0 none */
  uint64_t txns_limit;               /* 0 none */
  uint32_t sessions_live;            /* that have not ended */
  const char *fault; /* what happens to the database at the moment ("kill node 1"), valid during the call; NULL none */
} isoproof_run_progress;

/* Called a few times per second from the thread that called isoproof_run. */
typedef void (*isoproof_run_progress_fn)(const isoproof_run_progress *progress, void *user);

/* A run that goes on, for companions. */
typedef struct isoproof_run_handle isoproof_run_handle;
/* Whatever is to happen beside the sessions (faults, for example): runs in a thread of its own from the first
 * transaction on; the run ends only after it has returned. */
typedef void (*isoproof_run_companion_fn)(isoproof_run_handle *run, void *user);
/* Waits; false once the run is to end, and then at once. */
ISOPROOF_API bool isoproof_run_wait(isoproof_run_handle *run, double seconds);
/* Nanoseconds on the clock of the history. */
ISOPROOF_API int64_t isoproof_run_now(const isoproof_run_handle *run);
/* The name of a table of the run, by number from 0; false after the last, and where the database has none. */
ISOPROOF_API bool isoproof_run_table_at(const isoproof_run_handle *run, size_t number, char *name, size_t size);
/* For companions that have written tables anew (OPTIMIZE TABLE), or are about to: what the tables are is learned again,
 * so that the end of the run does not take it for interference.  Whatever was done to them before is told first. */
ISOPROOF_API void isoproof_run_tables_change(isoproof_run_handle *run, bool done);
/* Puts an event into the history, as the fact event.N with the value "NANOSECONDS TEXT", and returns the nanoseconds.
 * The first 3000 are kept. */
ISOPROOF_API int64_t isoproof_run_event(isoproof_run_handle *run, const char *text);

/* One run by several clients, on machines of their own: they have the same options, and each takes its share of the
 * sessions, those whose number modulo `count` is its own number.  Values, names of sessions and so on are never the
 * same in two clients.  Client 0 makes the tables and removes them; the rate is divided by sessions.  Times are those
 * of CLOCK_MONOTONIC_RAW, less the fact `clock-base` (nanoseconds) of the history: whoever joins the histories has to
 * compare the clocks (isoproof-mpi does).  Not for workloads in rounds, nor for scripts. */
typedef enum isoproof_run_point {
  ISOPROOF_POINT_TABLES, /* client 0: the tables are there; the others wait for that */
  ISOPROOF_POINT_READY,  /* all sessions are connected */
  ISOPROOF_POINT_ENDED   /* all sessions have ended; client 0 does what is left */
} isoproof_run_point;

typedef struct isoproof_run_share {
  size_t struct_size; /* sizeof(isoproof_run_share) */
  uint32_t number, count;
  uint64_t run; /* the number that tables and values carry: the same in all clients, random, not 0 */
  /* Called by the thread that called isoproof_run: returns once every client that is still there has come to the
   * point, with the largest `*most` of all; anything but ISOPROOF_OK is the end of the run. */
  isoproof_status (*meet)(isoproof_run_point point, uint64_t *most, void *user, isoproof_error *error);
  void *user;
} isoproof_run_share;

typedef struct isoproof_run_options {
  size_t struct_size;      /* sizeof(isoproof_run_options) */
  const char *const *urls; /* of the nodes; sessions are spread over them */
  size_t url_count;
  const char *isolation;                     /* by the database's own name or a usual alias; NULL: its default */
  const isoproof_workload_options *workload; /* NULL: mixed, with its defaults */
  double seconds;                            /* stop then; 0: no limit */
  uint32_t retries;                          /* new attempts after an abort */
  double statement_timeout;                  /* seconds, 0 none */
  double lock_timeout;                       /* seconds, 0: what the database does by itself */
  uint32_t tables;                           /* spread the keys over that many */
  const char *table;                         /* their name; NULL: one that no other run has, "isoproof_..." */
  bool keep_tables;                          /* do not remove the tables in the end, nor let later runs do so */
  const char *path;                          /* of the history, "-" standard output */
  const char *command; /* how the run was started, for the header, where it has no passwords; may be NULL */
  isoproof_run_progress_fn progress; /* may be NULL */
  void *progress_user;
  isoproof_run_companion_fn companion; /* may be NULL */
  void *companion_user;
  /* Told, in one line, what else was done to the database (tables of runs that are gone, removed), or could not be. */
  isoproof_notice_fn notice; /* may be NULL */
  void *notice_user;
  const char *password; /* for nodes whose URLs have none; NULL: what the client library finds by itself */
  /* By the names below; NULL: as the workload needs it. */
  const char *layout;     /* of the tables */
  const char *access;     /* the path by which statements find their rows */
  const char *statements; /* how they are sent */
  /* Whether statements that do not depend on each other's answers go in one round trip. */
  const char *round_trips;
  /* Settings of sessions, by the database's own names: "synchronous_commit=local", "enable_seqscan=off".  What has no
   * name is one more value of the one before it: sessions on the same node take turns. */
  const char *const *session_settings;
  size_t session_setting_count;
  /* Asked a few times per second by the thread that called isoproof_run: true ends the run as its time would. */
  bool (*over)(void *user); /* may be NULL */
  /* Asked by every session before a transaction, from its own thread: true lets it wait for a moment and ask again. */
  bool (*hold)(void *user); /* may be NULL */
  void *over_user;          /* of both */
  /* The load.  Without any of it, every session begins a transaction when it has ended the one before. */
  double rate;       /* transactions per second of all sessions together, due at random moments, whatever the database
                        does in between (an open loop); 0: no schedule */
  double think_time; /* seconds that a session waits after a transaction */
  bool think_exponential; /* that is the mean, else always the same */
  double ramp;            /* seconds over which the sessions of the run, and those that a phase adds, begin */
  /* Phases: so many sessions (up to those of the workload) for so many seconds each; the run ends with the last, or
   * after `seconds`. */
  const uint32_t *phase_sessions;
  const double *phase_seconds;
  size_t phase_count;
  /* After how many seconds of waiting the database looks for a deadlock, where sessions can set that; 0: what the
   * database does, but no more than isoproof_run_deadlock_default where it lets us. */
  double deadlock_timeout;
  /* Scripts (docs/scripts.md) to be run instead of a workload, of which sessions, txns and seed count all the same:
   * their paths, each perhaps with "@WEIGHT"; variables for them, "NAME=VALUE". */
  const char *const *scripts;
  size_t script_count;
  const char *const *definitions;
  size_t definition_count;
  bool instrument; /* the tables of the scripts are there: columns are added to them, and taken away in the end */
  const isoproof_run_share *share; /* NULL: there is only this client */
} isoproof_run_options;

/* What isoproof makes of the scripts of a run, without running anything: for each statement what is added to it, what
 * is recorded of it, or why it is not.  Only with `instrument` the database is asked, for its catalogue.
 * ISOPROOF_ERR_USAGE names file and line of what makes no sense. */
ISOPROOF_API isoproof_status isoproof_script_explain(const isoproof_run_options *options, isoproof_write_fn write,
                                                     void *user, isoproof_error *error);

/* "keyed", "indexed", ...; "auto", "index", ...; "prepared", "plain"; "single", "batched", "both" (drawn for each round
 * of a workload in rounds); NULL after the last. */
ISOPROOF_API const char *isoproof_layout_at(size_t number);
ISOPROOF_API const char *isoproof_access_at(size_t number);
ISOPROOF_API const char *isoproof_statements_at(size_t number);
ISOPROOF_API const char *isoproof_round_trips_at(size_t number);

/* Seconds.  A server that looks for deadlocks only after a second spends most of a run that has conflicts waiting: with
 * a hundredth of that, 40 times as many transactions go through (docs/load.md). */
ISOPROOF_API double isoproof_run_deadlock_default(void);

/* Fills in the defaults, up to the struct_size that is set: a mixed workload of 8 sessions for 3 seconds on a private
 * SQLite database; no path.  False when struct_size is not set. */
ISOPROOF_API bool isoproof_run_defaults(isoproof_run_options *options);

typedef struct isoproof_run_summary isoproof_run_summary;
ISOPROOF_API void isoproof_run_summary_free(isoproof_run_summary *summary);
ISOPROOF_API const isoproof_run_counts *isoproof_run_summary_counts(const isoproof_run_summary *summary);
ISOPROOF_API const char *isoproof_run_summary_database(const isoproof_run_summary *summary);  /* "PostgreSQL 15.18" */
ISOPROOF_API const char *isoproof_run_summary_driver(const isoproof_run_summary *summary);    /* "postgres" */
ISOPROOF_API const char *isoproof_run_summary_isolation(const isoproof_run_summary *summary); /* "repeatable read" */
/* The level that what the database documents for it amounts to (with lists perhaps a weaker one), by id; NULL when that
 * is none that isoproof knows. */
ISOPROOF_API const char *isoproof_run_summary_claim(const isoproof_run_summary *summary);
/* What the documentation says, and what to know about it; "" where there is nothing to say. */
ISOPROOF_API const char *isoproof_run_summary_claim_note(const isoproof_run_summary *summary);
/* Title and address of the chapter that says it (isoproof_claim_at has all of them); "" where there is none. */
ISOPROOF_API const char *isoproof_run_summary_claim_source(const isoproof_run_summary *summary);
/* What matters for the results; false after the last. */
ISOPROOF_API bool isoproof_run_summary_setting_at(const isoproof_run_summary *summary, size_t number, const char **name,
                                                  const char **value);
/* The URL of a node without its password; NULL after the last. */
ISOPROOF_API const char *isoproof_run_summary_url_at(const isoproof_run_summary *summary, size_t node);
/* The name of the tables; "" where the database has none. */
ISOPROOF_API const char *isoproof_run_summary_table(const isoproof_run_summary *summary);
/* The words of the server for the last error of a class; "" where there was none. */
ISOPROOF_API const char *isoproof_run_summary_last_error(const isoproof_run_summary *summary, size_t error_class);
/* Invariants of scripts that were broken. */
ISOPROOF_API uint64_t isoproof_run_summary_broken_invariants(const isoproof_run_summary *summary);
/* Whether it was cancelled before its end.  The history is valid all the same. */
ISOPROOF_API bool isoproof_run_summary_cancelled(const isoproof_run_summary *summary);

/* Opens the database, makes the tables, runs, removes them.  Cancelling the task ends the run early and cleanly, which
 * is no error.  ISOPROOF_ERR_USAGE names what makes no sense, such as a table that exists and is not isoproof's:
 * nothing was changed then.  ISOPROOF_ERR_IO is a database or a file that failed.  ISOPROOF_ERR_INTERFERENCE: somebody
 * else changed the tables; the history says so by its fact `interference`, and isoproof_check refuses it. */
ISOPROOF_API isoproof_status isoproof_run(const isoproof_run_options *options, isoproof_task *task,
                                          isoproof_run_summary **summary, isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
