/* stepper.h - runs the statements of several sessions on a real database in a given order, as far as locks let them.
 *
 * A stepper owns its connections and its events until iso_stepper_close; the database is borrowed.
 *
 * A statement that has to wait for a lock is seen to wait (by the lock views of the server over a control connection,
 * by the driver, or where neither can tell because it does not answer within a settle time), and the next step goes on
 * meanwhile. Later steps of a session that waits are put off until it goes on.  After each step that may have set
 * others free, the sessions that waited are given the time to go on or to wait again, so that the order never depends
 * on luck.
 */
#ifndef ISO_COO_STEPPER_H
#define ISO_COO_STEPPER_H

#include "base/task.h"
#include "database/driver.h"

enum {
  ISO_STEPPER_SESSIONS = 8,
  ISO_STEPPER_ACTS = 64,    /* most steps of a script */
  ISO_STEPPER_EVENTS = 160, /* each step is at most one event and one rollback that follows from it */
  ISO_ACT_SQL_BYTES = 192,
  ISO_EVENT_ROWS = 8, /* most rows of a request that are kept */
  ISO_EVENT_RESULT_BYTES = 96
};

typedef enum iso_act_kind {
  ISO_ACT_STATEMENT,
  ISO_ACT_REQUEST, /* a request to the driver, for databases without SQL too */
  ISO_ACT_BEGIN,   /* a begin that stands by itself */
  ISO_ACT_COMMIT,
  ISO_ACT_ROLLBACK
} iso_act_kind;

/* One step of a script.  A session begins its transaction with its first step. */
typedef struct iso_act {
  uint32_t session;
  iso_act_kind kind;
  char sql[ISO_ACT_SQL_BYTES]; /* of a statement */
  iso_driver_request request;  /* of a request */
} iso_act;

static inline bool iso_act_ends(const iso_act *act) {
  return act->kind == ISO_ACT_COMMIT || act->kind == ISO_ACT_ROLLBACK;
}

typedef struct iso_script {
  iso_act acts[ISO_STEPPER_ACTS];
  uint32_t count, sessions;
} iso_script;

typedef enum iso_step_event_kind {
  ISO_EVENT_DONE,    /* the step ended, well or with an error */
  ISO_EVENT_WAITS,   /* it waits for a lock */
  ISO_EVENT_SKIPPED, /* its transaction had ended before */
  ISO_EVENT_UNDONE   /* the session rolled back after an error */
} iso_step_event_kind;

/* What happened, in the order in which it did. */
typedef struct iso_step_event {
  iso_step_event_kind kind;
  uint32_t act, session;
  iso_outcome outcome;
  iso_error_class error_class;
  char code[ISO_CODE_BYTES], message[ISO_MESSAGE_BYTES];
  char result[ISO_EVENT_RESULT_BYTES]; /* rows as "1|10, 2|20"; cut with "..." */
  bool has_rows, waited;
  uint32_t rows; /* how many; those of a request are in `found`, as many as fit */
  int64_t affected;
  bool present;  /* of a request: the row is there */
  int64_t value; /* of a request: its value, or a count */
  iso_row found[ISO_EVENT_ROWS];
  uint32_t issued;          /* how many events there were when the step was begun */
  double started, finished; /* seconds since the script began */
} iso_step_event;

typedef struct iso_stepper_options {
  uint32_t settle_ms;  /* without lock views: how long a statement may take before it counts as waiting */
  uint32_t timeout_ms; /* how long all sessions may wait for each other */
  int64_t mark_key; /* with several nodes: a row in a table of its own, by which they are seen to follow each other */
  bool race;        /* with several nodes: do not wait after a commit until all of them show it */
} iso_stepper_options;

typedef struct iso_stepper_session {
  iso_connection *connection;
  iso_reply reply;
  bool begun, over;
  bool in_flight;                   /* a statement was started and its answer not yet taken */
  bool beginning;                   /* and that statement is the one that begins the transaction, before the act */
  bool answered;                    /* the answer is in `reply`, but not yet made an event */
  bool waiting;                     /* it is seen to wait */
  bool waited;                      /* the act under way, or the beginning before it, has waited */
  uint32_t running;                 /* the act under way */
  double started;                   /* of it */
  uint32_t issued;                  /* events there were then */
  uint32_t later[ISO_STEPPER_ACTS]; /* acts put off */
  uint32_t later_count, later_next;
} iso_stepper_session;

typedef struct iso_stepper {
  iso_database *database;
  const iso_isolation *isolation;
  iso_stepper_options options;
  iso_stepper_session sessions[ISO_STEPPER_SESSIONS];
  uint32_t session_count;
  iso_connection *controls[ISO_MOST_NODES];
  iso_reply control_reply;
  bool sees_locks;
  const iso_script *script;
  iso_step_event events[ISO_STEPPER_EVENTS];
  uint32_t event_count;
  int64_t mark; /* the last value of the row at mark_key */
  double began;
  bool
      slow; /* the act just done had to be looked at for a while: somebody may have been set free or chosen as victim */
} iso_stepper;

/* Connects that many sessions, session i to node i modulo nodes, and a control connection for each node in use. */
isoproof_status iso_stepper_open(iso_database *database, uint32_t sessions, const iso_stepper_options *options,
                                 iso_stepper **stepper, isoproof_error *error);
void iso_stepper_close(iso_stepper *stepper);

/* Runs a script at an isolation level; errors of statements are events.  Fails when a connection is lost or the task is
 * cancelled. */
isoproof_status iso_stepper_run(iso_stepper *stepper, const iso_script *script, const iso_isolation *isolation,
                                isoproof_task *task, isoproof_error *error);

/* Waits until every node shows what any of them has committed; nothing to do with one node. */
isoproof_status iso_stepper_sync(iso_stepper *stepper, isoproof_error *error);
/* Whether no two sessions share a node, so that they cannot wait for each other's locks. */
bool iso_stepper_apart(const iso_stepper *stepper);

/* ---- within the stepper ---- */

iso_step_event *iso_stepper_event(iso_stepper *stepper, iso_step_event_kind kind, uint32_t session, uint32_t act);
/* Follows what is under way in a session until it ends or is seen to wait. */
isoproof_status iso_stepper_follow(iso_stepper *stepper, uint32_t session, isoproof_error *error);
/* Lets waiting sessions go on or be seen to wait again; `freed` says that locks may have been released. */
isoproof_status iso_stepper_settle(iso_stepper *stepper, bool freed, isoproof_error *error);
/* Waits until some waiting session ends its statement; after the time limit, cancels one. */
isoproof_status iso_stepper_wait_any(iso_stepper *stepper, isoproof_task *task, isoproof_error *error);
/* Takes in the answer to the statement under way; when that began the transaction, starts the act itself. */
isoproof_status iso_stepper_finish(iso_stepper *stepper, uint32_t session, isoproof_error *error);

#endif
