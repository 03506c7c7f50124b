/* script.h - scripts of users in a run: what its sessions share, and one section on a connection.
 *
 * The run owns its iso_run_script from its beginning to its end; after iso_script_prepare nothing of it changes but the
 * counters, which are atomic, and the invariants, which belong to whoever checks them (the watcher, then the end).
 */
#ifndef ISO_RUN_SCRIPT_H
#define ISO_RUN_SCRIPT_H

#include <isoproof/run.h>
#include <pthread.h>
#include <stdatomic.h>

#include "database/driver.h"
#include "history/isolation.h"
#include "script/machine.h"
#include "track/track.h"

typedef struct iso_session iso_session;

/* How the statements of a transaction begin: the level of the database, and the one that the history tells. */
typedef struct iso_script_level {
  const iso_isolation *isolation;
  iso_txn_isolation told; /* none where the levels are not mixed, or the database documents none */
} iso_script_level;

/* What is known of a section, beside its commands. */
typedef struct iso_script_plan {
  iso_script_level level;
  uint32_t *statements;     /* by command: its number for the tracker, UINT32_MAX for none */
  iso_script_level *begins; /* by command: that of a BEGIN */
} iso_script_plan;

typedef struct iso_script_invariant {
  const iso_section *section;
  uint64_t checks, broken;
  int64_t first;          /* when it was first seen broken, on the clock of the history */
  bool in_the_end;        /* it was broken when nobody wrote any more */
  char *expected, *found; /* at the first time; NULL */
} iso_script_invariant;

typedef struct iso_run_script {
  iso_script *script;
  iso_script_quoting quoting;
  iso_tracker *tracker;
  iso_script_variables defined, inherited; /* from the command line; from the setup */
  iso_script_plan *plans;                  /* by section */
  bool instrument;                         /* the tables are those of the user */
  bool mixed;                              /* transactions have levels of their own */
  bool set_up;                             /* the setup has begun */
  _Atomic uint64_t started;                /* transactions */
  size_t names;                            /* of rows that are written already; under the lock of the run */
  ISO_VEC(iso_script_invariant) invariants;
  iso_connection *control; /* of setup, invariants and teardown; NULL: none at the moment */
  iso_machine machine;     /* of the same */
  bool has_machine;
  iso_reply reply;
  pthread_t watcher;
  bool watching;
} iso_run_script;

/* What a session has for scripts. */
typedef struct iso_script_session {
  iso_machine machine;
  bool open;
  iso_track_session *track;
  iso_reply after;
  ISO_VEC(const char *) values;
} iso_script_session;

/* ---- script_open.c ---- */

/* Reads the scripts and makes a tracker of their statements; nothing is sent to the database.  `database` may be NULL
 * where nothing is to be run: levels are not looked up then. */
isoproof_status iso_script_load(const isoproof_run_options *options, iso_database *database, uint32_t sessions,
                                iso_run_script **script, isoproof_error *error);
/* With `instrument`: asks for the tables that the scripts did not make; then decides what is tracked. */
isoproof_status iso_script_decide(iso_run_script *script, bool instrument, iso_connection *connection,
                                  isoproof_error *error);
void iso_script_unload(iso_run_script *script); /* accepts NULL */
/* The number of a section among all. */
size_t iso_script_number(const iso_run_script *script, const iso_section *section);

/* ---- script_place.c ---- */

/* Makes the place of the tables, carries out the setup, adds what tracking needs. */
isoproof_status iso_script_prepare(isoproof_run_handle *run, isoproof_error *error);
/* Puts what the history must know before its first transaction into it. */
isoproof_status iso_script_write_start(isoproof_run_handle *run, isoproof_error *error);
/* Rows that were met since the last call, by their names. */
void iso_script_write_names(isoproof_run_handle *run);
/* Carries out the teardown and removes the place; what fails is told as a notice. */
void iso_script_teardown(isoproof_run_handle *run);
/* A connection for setup, invariants and teardown, and what every connection needs. */
isoproof_status iso_script_connect(isoproof_run_handle *run, isoproof_error *error);
isoproof_status iso_script_enter(isoproof_run_handle *run, iso_connection *connection, iso_reply *reply,
                                 isoproof_error *error);

/* ---- script_transaction.c ---- */

/* The next transaction of a session, with its attempts; *more is false when there are to be no more. */
isoproof_status iso_script_next(iso_session *session, bool *more, uint32_t *pause_ms, isoproof_error *error);
isoproof_status iso_script_session_open(iso_session *session, isoproof_error *error);
void iso_script_session_close(iso_session *session);

/* ---- script_invariant.c ---- */

/* Checks all invariants once. */
void iso_script_check(isoproof_run_handle *run, bool in_the_end);
/* Checks them every second, in a thread of its own, until the run is to end. */
isoproof_status iso_script_watch_begin(isoproof_run_handle *run, isoproof_error *error);
void iso_script_watch_end(isoproof_run_handle *run);
/* After the last transaction: checks them once more, and puts what they were, and the names of rows, into the history.
 */
void iso_script_end(isoproof_run_handle *run);

#endif
