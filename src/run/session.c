/* session.c - a client: connects, runs the transactions of its workload one after the other, and reconnects. */
#include <stdlib.h>
#include <string.h>

#include "run/run.h"

enum { HOLD_MS = 2, FIRST_PAUSE_MS = 5, LONGEST_PAUSE_MS = 1000, FINAL_TRIES = 20 };

isoproof_status iso_session_open(iso_session *session, isoproof_run_handle *run, uint32_t number,
                                 isoproof_error *error) {
  session->run = run;
  session->number = number;
  session->name = number;
  session->node = number % iso_database_nodes(run->database);
  session->due = ISO_UNSCHEDULED;
  iso_random_seed(&session->thinking, run->workload->seed, number);
  session->messages = iso_alloc_zero(ISO_ERROR_CLASSES, sizeof *session->messages);
  if (session->messages == NULL) return iso_fail_memory(error);
  if (run->script != NULL) ISO_TRY(iso_script_session_open(session, error));
  return iso_session_log_open(&session->log, &run->recorder, error);
}

void iso_session_free(iso_session *session) {
  iso_disconnect(session->connection);
  iso_script_session_close(session);
  iso_session_log_close(&session->log);
  iso_reply_free(&session->reply);
  iso_vec_free(&session->seen);
  iso_vec_free(&session->ops);
  iso_vec_free(&session->keys);
  iso_vec_free(&session->first_part);
  iso_vec_free(&session->elements);
  iso_vec_free(&session->rows);
  for (size_t i = 0; session->replies != NULL && i < ISO_MOST_BATCH; i++) iso_reply_free(&session->replies[i]);
  free(session->replies);
  free(session->key_texts);
  free(session->messages);
}

/* ---- connecting ---- */

bool iso_session_pause(iso_session *session, uint32_t *pause_ms) {
  bool go_on = isoproof_run_wait(session->run, *pause_ms / 1000.0);
  *pause_ms = *pause_ms * 2 < LONGEST_PAUSE_MS ? *pause_ms * 2 : LONGEST_PAUSE_MS;
  return go_on;
}

bool iso_session_connect(iso_session *session) {
  isoproof_error error = {.offset = -1};
  isoproof_status status = ISOPROOF_OK;
  if (session->connection == NULL || !iso_connected(session->connection)) session->set = false;
  if (session->connection == NULL)
    status = iso_connect(session->run->database, session->node, &session->connection, &error);
  else if (!iso_connected(session->connection))
    status = iso_reconnect(session->connection, &error);
  if (status == ISOPROOF_OK && !session->set) status = iso_timeouts_apply(session, &error);
  if (status == ISOPROOF_OK && !session->set) status = iso_session_settings_apply(session, &error);
  if (status == ISOPROOF_OK) {
    session->reading = iso_connection_read_only(session->connection);
    return true;
  }
  iso_count(&session->counts.errors[ISO_CLASS_CONNECTION]);
  size_t length = strnlen(error.message, sizeof *session->messages - 1);
  memcpy(session->messages[ISO_CLASS_CONNECTION], error.message, length);
  session->messages[ISO_CLASS_CONNECTION][length] = 0;
  return false;
}

/* ---- running ---- */

/* A statement of a script may meet a constraint as the application does: the database is well. */
void iso_session_rest(iso_session *session, const iso_txn_end *end, uint32_t *pause_ms) {
  bool refused = end->outcome == ISO_OUTCOME_REJECTED && session->run->script != NULL;
  if (end->outcome == ISO_OUTCOME_OK || (end->begun && (end->outcome == ISO_OUTCOME_ABORT || refused)))
    *pause_ms = FIRST_PAUSE_MS;
  else
    iso_session_pause(session, pause_ms);
}

/* Runs a program until it commits, or may not be tried again. */
static isoproof_status run_program(iso_session *session, const iso_program *program, uint32_t *pause_ms,
                                   isoproof_error *error) {
  isoproof_run_handle *run = session->run;
  for (uint32_t attempt = 0;; attempt++) {
    if (!iso_session_connect(session)) {
      /* The program has not run; it is as good as the next one when the node is back. */
      iso_session_pause(session, pause_ms);
      return ISOPROOF_OK;
    }
    iso_txn_end end;
    if (attempt > 0) iso_count(&session->counts.retried);
    ISO_TRY(iso_run_txn(session, program, &end, error));
    if (end.status == ISOPROOF_TXN_UNKNOWN) session->name = iso_share_next_name(run);
    iso_session_rest(session, &end, pause_ms);
    if (end.outcome != ISO_OUTCOME_ABORT || end.status != ISOPROOF_TXN_ABORTED || attempt >= run->options->retries ||
        iso_run_stopping(run))
      return ISOPROOF_OK;
  }
}

/* Waits as long as whoever started the run wants sessions to. */
static void hold(const iso_session *session) {
  const isoproof_run_options *options = session->run->options;
  struct timespec moment = {.tv_nsec = HOLD_MS * 1000000L};
  bool held = false;
  while (options->hold != NULL && !iso_run_stopping(session->run) && options->hold(options->over_user)) {
    nanosleep(&moment, NULL);
    held = true;
  }
  /* The database cannot be blamed for what did not begin meanwhile. */
  if (held) iso_load_skip(&session->run->load, isoproof_run_now(session->run));
}

static bool takes_part(const iso_session *session) {
  int64_t now = isoproof_run_now(session->run);
  return iso_load_active(&session->run->load, session->number, now) == now;
}

/* Whether the session takes part now; where not, waits until it does.  False: it never will again. */
static bool await_part(iso_session *session) {
  isoproof_run_handle *run = session->run;
  int64_t now = isoproof_run_now(run), moment = iso_load_active(&run->load, session->number, now);
  return moment != ISO_NEVER && (moment == now || iso_run_sleep_until(run, moment));
}

/* Waits for the next transaction of the schedule, where there is one; false when the run is to end. */
static bool await_due(iso_session *session) {
  isoproof_run_handle *run = session->run;
  session->due = iso_load_take(&run->load);
  if (session->due == ISO_UNSCHEDULED) return true;
  if (!iso_run_sleep_until(run, session->due)) return false;
  iso_histogram_add(&session->counts.lag, isoproof_run_now(run) - session->due);
  return true;
}

static void think(iso_session *session) {
  int64_t thought = iso_load_think(&session->run->load, &session->thinking);
  if (thought > 0) (void)iso_run_sleep_until(session->run, isoproof_run_now(session->run) + thought);
}

/* The next transaction of the workload, or of the scripts; *more is false when there are to be no more. */
static isoproof_status run_next(iso_session *session, bool *more, uint32_t *pause_ms, isoproof_error *error) {
  const iso_program *program;
  if (session->run->script != NULL) return iso_script_next(session, more, pause_ms, error);
  ISO_TRY(iso_generator_next(session->run->generator, session->number, &program, error));
  *more = program != NULL;
  return program != NULL ? run_program(session, program, pause_ms, error) : ISOPROOF_OK;
}

static isoproof_status run_all(iso_session *session, isoproof_error *error) {
  uint32_t pause_ms = FIRST_PAUSE_MS;
  while (!iso_run_stopping(session->run)) {
    bool more;
    hold(session);
    if (!await_part(session) || !await_due(session)) return ISOPROOF_OK;
    ISO_TRY(run_next(session, &more, &pause_ms, error));
    if (!more) return ISOPROOF_OK;
    think(session);
    if (iso_recorder_failed(&session->run->recorder)) {
      iso_run_stop(session->run);
      return ISOPROOF_OK;
    }
  }
  return ISOPROOF_OK;
}

/* ---- rounds ---- */

static void leave(iso_session *session, bool *joined) {
  if (*joined) iso_meeting_leave(&session->run->meeting);
  *joined = false;
}

/* One round of a session that takes part; false when it has had its share. */
static isoproof_status run_round(iso_session *session, bool *more, uint32_t *pause_ms, bool *joined,
                                 isoproof_error *error) {
  isoproof_run_handle *run = session->run;
  const iso_program *program;
  iso_txn_end end;
  iso_generator_enter(run->generator, session->number, iso_meeting_round(&run->meeting));
  ISO_TRY(iso_generator_next(run->generator, session->number, &program, error));
  *more = program != NULL;
  if (program == NULL) return ISOPROOF_OK;
  ISO_TRY(iso_run_txn(session, program, &end, error));
  if (end.status == ISOPROOF_TXN_UNKNOWN && end.begun) session->name = iso_share_next_name(run);
  if (end.outcome == ISO_OUTCOME_OK || (end.begun && end.outcome == ISO_OUTCOME_ABORT)) {
    *pause_ms = FIRST_PAUSE_MS;
  } else {
    leave(session, joined);
    iso_session_pause(session, pause_ms);
  }
  return ISOPROOF_OK;
}

static isoproof_status run_all_rounds(iso_session *session, bool *joined, isoproof_error *error) {
  uint32_t pause_ms = FIRST_PAUSE_MS;
  bool more = true;
  while (more && !iso_run_stopping(session->run)) {
    hold(session);
    if (!takes_part(session)) leave(session, joined);
    if (!await_part(session) || !await_due(session)) break;
    if (!iso_session_connect(session)) {
      leave(session, joined);
      iso_session_pause(session, &pause_ms);
      continue;
    }
    if (!*joined) iso_meeting_join(&session->run->meeting);
    *joined = true;
    ISO_TRY(run_round(session, &more, &pause_ms, joined, error));
    think(session);
    if (iso_recorder_failed(&session->run->recorder)) iso_run_stop(session->run);
  }
  return ISOPROOF_OK;
}

/* Whatever happens, nobody waits for a session that has ended. */
static isoproof_status run_in_rounds(iso_session *session, isoproof_error *error) {
  bool joined = true; /* the run has counted it in: no round begins before all sessions are there */
  isoproof_status status = run_all_rounds(session, &joined, error);
  leave(session, &joined);
  return status;
}

void *iso_session_main(void *argument) {
  iso_session *session = argument;
  bool rounds = isoproof_workload_meets(session->run->workload->kind);
  session->status = rounds ? run_in_rounds(session, &session->problem) : run_all(session, &session->problem);
  if (session->status != ISOPROOF_OK) iso_run_stop(session->run);
  atomic_store(&session->ended, true);
  return NULL;
}

/* The final reads are to show everything: a standby may be behind. */
static void find_writable(iso_session *session) {
  size_t nodes = iso_database_nodes(session->run->database);
  for (size_t i = 0; i < nodes && !(iso_session_connect(session) && !session->reading); i++) {
    iso_disconnect(session->connection);
    session->connection = NULL;
    session->node = (session->node + 1) % nodes;
  }
}

/* A read that fails is tried again: without it the history says less, but is not wrong. */
isoproof_status iso_session_final(iso_session *session, isoproof_error *error) {
  uint64_t at = 0;
  session->name = iso_share_next_name(session->run);
  session->due = ISO_UNSCHEDULED;
  for (;;) {
    const iso_program *program;
    ISO_TRY(iso_generator_final(session->run->generator, &at, &program, error));
    if (program == NULL) return ISOPROOF_OK;
    find_writable(session);
    for (int i = 0; i < FINAL_TRIES; i++) {
      iso_txn_end end = {.status = ISOPROOF_TXN_ABORTED};
      if (iso_session_connect(session)) ISO_TRY(iso_run_txn(session, program, &end, error));
      if (end.outcome == ISO_OUTCOME_FOREIGN) return ISOPROOF_OK;
      if (end.status == ISOPROOF_TXN_COMMITTED) break;
      if (end.status == ISOPROOF_TXN_UNKNOWN) session->name = iso_share_next_name(session->run);
      struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};
      nanosleep(&moment, NULL);
    }
  }
}
