/* script_transaction.c - the transactions of a script on a connection, and what is recorded of them. */
#include <stdio.h>
#include <string.h>

#include "run/run.h"

isoproof_status iso_script_session_open(iso_session *session, isoproof_error *error) {
  isoproof_run_handle *run = session->run;
  iso_script_session *s = &session->script;
  ISO_TRY(iso_machine_open(&s->machine, run->script->script, run->script->quoting, session->number, run->workload->seed,
                           &run->script->defined, error));
  s->open = true;
  ISO_TRY(iso_machine_inherit(&s->machine, &run->script->inherited, error));
  return iso_track_session_make(run->script->tracker, session->number, &s->track, error);
}

void iso_script_session_close(iso_session *session) {
  iso_script_session *s = &session->script;
  if (s->open) iso_machine_close(&s->machine);
  iso_track_session_free(s->track);
  iso_reply_free(&s->after);
  iso_vec_free(&s->values);
}

/* ---- one attempt at a section ---- */

/* A transaction that is open, and what became of the last one. */
typedef struct attempt {
  iso_session *session;
  const iso_section *section;
  const iso_script_plan *plan;
  bool open; /* a transaction is */
  iso_script_level level;
  int64_t start;
  iso_txn_end end;
  bool ended; /* by a failure: the rest of the section is left out */
  isoproof_error *error;
} attempt;

static isoproof_status misplaced(const attempt *a, const iso_command *command, const char *what) {
  iso_place place = {a->section->file, command != NULL ? command->line : a->section->line, 1, -1};
  return iso_fail_at(a->error, ISOPROOF_ERR_USAGE, place, "%s", what);
}

static isoproof_status record(attempt *a) {
  iso_session *s = a->session;
  isoproof_run_handle *run = s->run;
  int64_t finish = isoproof_run_now(run);
  iso_session_count_end(s, a->end.status, finish - a->start);
  isoproof_scalar node = {.type = ISOPROOF_NIL};
  if (iso_database_nodes(run->database) > 1)
    node = (isoproof_scalar){.type = ISOPROOF_INTEGER, .integer = (int64_t)s->node};
  iso_jsonl_txn txn = {.session = {.type = ISOPROOF_INTEGER, .integer = s->name},
                       .status = a->end.status,
                       .start = a->start,
                       .end = a->end.status == ISOPROOF_TXN_UNKNOWN ? ISOPROOF_NO_TIME : finish,
                       .start_index = -1,
                       .end_index = -1,
                       .node = node,
                       .error = s->code[0] != 0 ? isoproof_string(s->code) : isoproof_nil(),
                       .name = isoproof_string(a->section->name),
                       .isolation = run->script->mixed ? a->level.told : ISO_ISOLATION_NONE};
  txn.ops = iso_track_end(s->script.track, &txn.count);
  iso_session_log_txn(&s->log, &txn);
  a->open = false;
  if (a->end.status == ISOPROOF_TXN_UNKNOWN) s->name = iso_share_next_name(run);
  return a->ended ? ISOPROOF_OK : iso_machine_mark(&s->script.machine, a->error);
}

static isoproof_status begin(attempt *a, iso_script_level level, bool read_only) {
  iso_session *s = a->session;
  iso_driver_request request = {.kind = ISO_BEGIN, .isolation = level.isolation, .read_only = read_only || s->reading};
  a->end = (iso_txn_end){.status = ISOPROOF_TXN_ABORTED};
  a->level = level;
  s->code[0] = 0;
  a->start = s->began = isoproof_run_now(s->run);
  iso_track_begin(s->script.track);
  a->end.outcome = iso_do(s->connection, &request, &s->reply);
  if (a->end.outcome == ISO_OUTCOME_OK) {
    a->open = a->end.begun = true;
    return ISOPROOF_OK;
  }
  iso_session_keep_error(s);
  if (s->reply.txn != ISO_TXN_IDLE) iso_rollback(s->connection, &s->reply);
  a->ended = true;
  return ISOPROOF_OK;
}

/* The transaction cannot go on: the reply says why. */
static isoproof_status give_up(attempt *a) {
  iso_session *s = a->session;
  iso_session_keep_error(s);
  a->end.status = iso_session_end_failed(s);
  a->ended = true;
  return record(a);
}

static isoproof_status commit(attempt *a) {
  iso_session *s = a->session;
  a->end.outcome = iso_commit(s->connection, &s->reply);
  if (a->end.outcome != ISO_OUTCOME_OK || s->reply.txn != ISO_TXN_COMMITTED) return give_up(a);
  a->end.status = ISOPROOF_TXN_COMMITTED;
  return record(a);
}

static isoproof_status roll_back(attempt *a) {
  iso_session *s = a->session;
  a->end.outcome = iso_rollback(s->connection, &s->reply);
  if (a->end.outcome != ISO_OUTCOME_OK) iso_session_keep_error(s);
  a->end.status = s->reply.txn == ISO_TXN_UNKNOWN ? ISOPROOF_TXN_UNKNOWN : ISOPROOF_TXN_ABORTED;
  return record(a);
}

/* ---- statements ---- */

/* What its variables are now. */
static isoproof_status gather(attempt *a, const iso_command *command, uint32_t statement) {
  iso_script_session *s = &a->session->script;
  const iso_tracker *tracker = a->session->run->script->tracker;
  s->values.count = 0;
  for (size_t i = 0; i < iso_tracker_variables(tracker, statement); i++) {
    const char *name = iso_tracker_variable(tracker, statement, i), *value = iso_machine_value(&s->machine, name);
    if (value == NULL) {
      char text[160];
      snprintf(text, sizeof text, "there is no variable %.60s", name);
      return misplaced(a, command, text);
    }
    if (!iso_vec_push(&s->values, value)) return iso_fail_memory(a->error);
  }
  return ISOPROOF_OK;
}

/* \gset: the columns of the only row become variables.  Where there is no such row, the transaction cannot go on as it
 * was meant. */
static isoproof_status store(attempt *a, const iso_command *command, uint32_t added) {
  iso_session *s = a->session;
  const iso_reply *reply = &s->reply;
  size_t rows = reply->columns > 0 ? reply->cells.count / reply->columns : 0;
  if (rows == 0 && command->last_row) return ISOPROOF_OK;
  if (rows != 1 && !command->last_row) {
    s->reply.error_class = ISO_CLASS_CLIENT;
    snprintf(s->code, sizeof s->code, rows == 0 ? "no row" : "several rows");
    snprintf(s->reply.message, sizeof s->reply.message, "%.60s, line %llu: \\gset expected one row, found %zu",
             a->section->name, (unsigned long long)command->line, rows);
    a->end.outcome = ISO_OUTCOME_REJECTED;
    return give_up(a);
  }
  for (uint32_t i = 0; i + added < reply->columns; i++) {
    const char *name = iso_reply_column(reply, i);
    if (name == NULL) continue;
    ISO_TRY(iso_machine_store(&s->script.machine, command, name, iso_reply_cell(reply, rows - 1, i), a->error));
  }
  return ISOPROOF_OK;
}

/* A statement that the server does not understand is a mistake of the script, and would be again and again. */
static isoproof_status failed(attempt *a, const iso_command *command) {
  iso_session *s = a->session;
  iso_track_failed(s->script.track);
  bool mistake = s->reply.outcome == ISO_OUTCOME_REJECTED && s->reply.error_class == ISO_CLASS_STATEMENT;
  char text[ISO_MESSAGE_BYTES + 200];
  snprintf(text, sizeof text, "%s%s%s: %.100s", s->reply.code, s->reply.code[0] != 0 ? " " : "", s->reply.message,
           command->source);
  ISO_TRY(give_up(a));
  return mistake ? misplaced(a, command, text) : ISOPROOF_OK;
}

static isoproof_status answered(attempt *a, bool after) {
  iso_session *s = a->session;
  isoproof_error found = {.offset = -1};
  isoproof_status status = iso_track_answer(s->script.track, &s->reply, after ? &s->script.after : NULL, &found);
  if (status == ISOPROOF_ERR_INTERFERENCE) {
    iso_run_interfered(s->run, "%.300s; seen by session %lld after %.3f s", found.message, (long long)s->name,
                       (double)isoproof_run_now(s->run) * 1e-9);
    a->end.outcome = ISO_OUTCOME_FOREIGN;
    return give_up(a);
  }
  if (status != ISOPROOF_OK && a->error != NULL) *a->error = found;
  return status;
}

static isoproof_status execute(attempt *a, const iso_command *command, uint32_t statement) {
  iso_session *s = a->session;
  iso_track_request request;
  ISO_TRY(gather(a, command, statement));
  ISO_TRY(iso_track_prepare(s->script.track, statement, s->script.values.items, &request, a->error));
  a->end.outcome = ISO_OUTCOME_OK;
  if (request.before != NULL) a->end.outcome = iso_execute(s->connection, request.before, &s->reply);
  if (a->end.outcome == ISO_OUTCOME_OK) a->end.outcome = iso_execute(s->connection, request.sql, &s->reply);
  if (a->end.outcome != ISO_OUTCOME_OK) return failed(a, command);
  if (request.after != NULL) {
    a->end.outcome = iso_execute(s->connection, request.after, &s->script.after);
    if (a->end.outcome != ISO_OUTCOME_OK) {
      iso_reply shown = s->reply;
      s->reply = s->script.after;
      s->script.after = shown;
      return failed(a, command);
    }
  }
  ISO_TRY(answered(a, request.after != NULL));
  return command->sets && !a->ended ? store(a, command, request.added) : ISOPROOF_OK;
}

/* ---- commands ---- */

static isoproof_status do_sql(attempt *a, const iso_command *command) {
  bool alone = !a->open && a->section->begins;
  if (!a->open) ISO_TRY(begin(a, a->plan->level, false));
  if (a->ended) return ISOPROOF_OK;
  ISO_TRY(execute(a, command, a->plan->statements[command - a->section->commands.items]));
  return alone && !a->ended ? commit(a) : ISOPROOF_OK;
}

static isoproof_status do_sleep(attempt *a, const iso_command *command) {
  isoproof_run_handle *run = a->session->run;
  double seconds;
  ISO_TRY(iso_machine_sleep(&a->session->script.machine, command, &seconds, a->error));
  (void)isoproof_run_wait(run, seconds);
  return ISOPROOF_OK;
}

static isoproof_status do_command(attempt *a, const iso_command *command) {
  switch (command->kind) {
  case ISO_COMMAND_BEGIN:
    if (a->open) return misplaced(a, command, "BEGIN within a transaction");
    return begin(a, a->plan->begins[command - a->section->commands.items], command->read_only);
  case ISO_COMMAND_COMMIT:
    return a->open ? commit(a) : misplaced(a, command, "COMMIT without a transaction");
  case ISO_COMMAND_ROLLBACK:
    return a->open ? roll_back(a) : misplaced(a, command, "ROLLBACK without a transaction");
  case ISO_COMMAND_SLEEP:
    return do_sleep(a, command);
  default:
    return do_sql(a, command);
  }
}

/* From where the machine is to the end of the section, or to a failure. */
static isoproof_status run_section(attempt *a) {
  a->ended = a->open = false;
  a->end = (iso_txn_end){.status = ISOPROOF_TXN_COMMITTED, .outcome = ISO_OUTCOME_OK};
  for (;;) {
    const iso_command *command;
    ISO_TRY(iso_machine_next(&a->session->script.machine, &command, a->error));
    if (command == NULL) break;
    ISO_TRY(do_command(a, command));
    if (a->ended) return ISOPROOF_OK;
  }
  if (!a->open) return ISOPROOF_OK;
  if (a->section->begins) return misplaced(a, NULL, "the section ends within a transaction that its BEGIN began");
  return commit(a);
}

/* A mistake of the script ends the run, and leaves no transaction open. */
static isoproof_status attempt_section(attempt *a) {
  iso_session *s = a->session;
  isoproof_status status = run_section(a);
  if (status != ISOPROOF_OK && a->open && iso_connected(s->connection)) iso_rollback(s->connection, &s->reply);
  return status;
}

isoproof_status iso_script_next(iso_session *session, bool *more, uint32_t *pause_ms, isoproof_error *error) {
  isoproof_run_handle *run = session->run;
  iso_machine *machine = &session->script.machine;
  uint64_t limit = run->workload->txns;
  *more = limit == 0 || atomic_fetch_add(&run->script->started, 1) < limit;
  if (!*more) return ISOPROOF_OK;
  const iso_section *section = iso_machine_draw(machine);
  attempt a = {.session = session,
               .section = section,
               .plan = &run->script->plans[iso_script_number(run->script, section)],
               .error = error};
  ISO_TRY(iso_machine_start(machine, section, error));
  for (uint32_t tried = 0;; tried++) {
    if (!iso_session_connect(session)) {
      iso_session_pause(session, pause_ms);
      return ISOPROOF_OK;
    }
    if (tried > 0) {
      iso_count(&session->counts.retried);
      ISO_TRY(iso_machine_restart(machine, error));
    }
    ISO_TRY(attempt_section(&a));
    iso_session_rest(session, &a.end, pause_ms);
    if (a.end.outcome != ISO_OUTCOME_ABORT || a.end.status != ISOPROOF_TXN_ABORTED || tried >= run->options->retries ||
        iso_run_stopping(run))
      return ISOPROOF_OK;
  }
}
