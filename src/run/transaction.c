/* transaction.c - one transaction: the steps of a program on a connection, and what is recorded of them.
 *
 * What the database answers is believed only as far as the driver vouches for it: committed when the server confirmed
 * it, aborted when it cannot have taken effect, unknown otherwise.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run/run.h"

/* ---- steps ---- */

/* Amounts are the low bits of a value; an account that nobody wrote has the first amount. */
static int64_t amount_of(iso_seen seen) {
  return seen.present ? seen.value & ((INT64_C(1) << ISO_AMOUNT_BITS) - 1) : ISO_FIRST_AMOUNT;
}

/* Whether a step is to be left out, since what it depends on was absent or too little. */
static bool is_skipped(const iso_session *s, const iso_program_step *step) {
  if (step->origin == ISO_KEY_OF_READ) {
    iso_seen seen = s->seen.items[step->number];
    if (!seen.present || seen.value < 0 || seen.value > ISO_KEY_MOST) return true;
  }
  if (step->guard == ISO_NO_STEP) return false;
  iso_seen seen = s->seen.items[step->guard];
  if (step->guard_absent) return seen.present;
  return s->run->generator->amounts ? amount_of(seen) < (int64_t)step->least : !seen.present;
}

static iso_data_key key_of(const iso_session *s, const iso_program_step *step) {
  iso_data_key key = {step->field, (int64_t)step->number};
  if (step->origin == ISO_KEY_OF_READ) key.number = s->seen.items[step->number].value;
  if (step->origin == ISO_KEY_OF_LABEL)
    key.number = iso_generator_value(s->run->generator, s->number, s->taken, (uint32_t)step->number);
  return key;
}

static int64_t value_of(const iso_session *s, const iso_program_step *step) {
  int64_t value = iso_generator_value(s->run->generator, s->number, s->taken, step->label);
  if (!s->run->generator->amounts) return value;
  int64_t amount = step->source != ISO_NO_STEP ? amount_of(s->seen.items[step->source]) + step->change : 0;
  uint64_t mask = (UINT64_C(1) << ISO_AMOUNT_BITS) - 1;
  return (int64_t)((uint64_t)value << ISO_AMOUNT_BITS | ((uint64_t)amount & mask));
}

static iso_driver_request request_of(const iso_session *s, const iso_program *program, const iso_program_step *step,
                                     iso_data_key key) {
  static const iso_request_kind kinds[ISO_STEP_KINDS] = {
      [ISO_STEP_READ] = ISO_READ,     [ISO_STEP_WRITE] = ISO_WRITE,   [ISO_STEP_READ_LIST] = ISO_READ_LIST,
      [ISO_STEP_APPEND] = ISO_APPEND, [ISO_STEP_INSERT] = ISO_INSERT, [ISO_STEP_UPDATE] = ISO_UPDATE,
      [ISO_STEP_UPSERT] = ISO_WRITE,  [ISO_STEP_DELETE] = ISO_DELETE, [ISO_STEP_READ_RANGE] = ISO_READ_RANGE,
      [ISO_STEP_COUNT] = ISO_COUNT};
  iso_driver_request request = {.kind = kinds[step->kind], .key = iso_data_key_code(key)};
  if (program->in_round) request.round = program->round;
  if (iso_step_writes(step->kind)) request.value = value_of(s, step);
  if (!iso_step_is_predicate(step->kind)) return request;
  request.high = (int64_t)step->end - 1;
  request.by_value = step->range == ISO_RANGE_VALUES;
  if (step->range == ISO_RANGE_ALL) {
    request.key = INT64_MIN;
    request.high = INT64_MAX;
  }
  return request;
}

/* Takes the answer to a step into the record.  False when memory is out; `outcome` is OK as long as the transaction can
 * go on. */
static bool take_answer(iso_session *s, const iso_program *program, const iso_program_step *step,
                        const iso_driver_request *request, const iso_reply *reply, iso_outcome *outcome) {
  iso_seen seen = {.present = false};
  *outcome = reply->outcome;
  if (!iso_note_answer(s, program, step, key_of(s, step), request->value, reply)) return false;
  if (*outcome == ISO_OUTCOME_OK) {
    if (step->kind == ISO_STEP_READ) seen = (iso_seen){reply->present, reply->value};
    /* Whether there was a row to change is part of what happened. */
    bool changes = step->kind == ISO_STEP_UPDATE || step->kind == ISO_STEP_DELETE;
    if (changes && reply->affected < 0) s->doubtful = true;
  } else if (iso_reply_refuses_row(reply) && step->kind == ISO_STEP_INSERT && reply->txn == ISO_TXN_ACTIVE) {
    iso_count(&s->counts.errors[reply->error_class]);
    *outcome = ISO_OUTCOME_OK;
  }
  return iso_vec_push(&s->seen, seen);
}

/* Where the node takes no writes, what a step does there: a write reads its key, unless that was read already.  False
 * when nothing is left of it. */
static bool as_read(const iso_session *s, iso_program_step *step) {
  if (!iso_step_writes(step->kind)) return true;
  if (step->kind == ISO_STEP_INSERT || step->kind == ISO_STEP_DELETE) return false;
  if (step->origin == ISO_KEY_OF_LABEL) return false;
  step->kind = step->kind == ISO_STEP_APPEND ? ISO_STEP_READ_LIST : ISO_STEP_READ;
  iso_data_key key = key_of(s, step);
  for (size_t i = 0; i < s->keys.count; i++)
    if (s->keys.items[i].field == key.field && s->keys.items[i].number == key.number) return false;
  return true;
}

/* Does one step; `outcome` says how it went. */
static isoproof_status do_step(iso_session *s, const iso_program *program, const iso_program_step *given,
                               iso_outcome *outcome, isoproof_error *error) {
  iso_program_step changed = *given;
  const iso_program_step *step = &changed;
  *outcome = ISO_OUTCOME_OK;
  if (is_skipped(s, step) || (s->reading && !as_read(s, &changed)))
    return iso_vec_push(&s->seen, ((iso_seen){.present = false})) ? ISOPROOF_OK : iso_fail_memory(error);
  iso_driver_request request = request_of(s, program, step, key_of(s, step));
  iso_do(s->connection, &request, &s->reply);
  return take_answer(s, program, step, &request, &s->reply, outcome) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- batches ---- */

/* Whether the steps can be sent together: none of them depends on the answer to another. */
static bool is_batch(const iso_session *s, const iso_program *program) {
  iso_round_trips trips = s->run->round_trips;
  bool wanted = trips == ISO_TRIPS_BATCHED || (trips == ISO_TRIPS_BOTH && program->batched);
  if (!wanted || s->reading || program->steps.count >= ISO_MOST_BATCH) return false;
  for (size_t i = 0; i < program->steps.count; i++) {
    const iso_program_step *step = &program->steps.items[i];
    if (step->origin == ISO_KEY_OF_READ || step->guard != ISO_NO_STEP || step->source != ISO_NO_STEP) return false;
  }
  return true;
}

/* Whether the commit can be sent with them.  If its answer is lost, it must be known what the transaction wrote. */
static bool commits_in_batch(const iso_program *program) {
  if (program->rollback) return false;
  for (size_t i = 0; i < program->steps.count; i++) {
    iso_program_step_kind kind = program->steps.items[i].kind;
    if (kind == ISO_STEP_UPDATE || kind == ISO_STEP_DELETE) return false;
  }
  return true;
}

static bool room_for_replies(iso_session *s) {
  if (s->replies == NULL) s->replies = iso_alloc_zero(ISO_MOST_BATCH, sizeof *s->replies);
  return s->replies != NULL;
}

/* The reply that decides goes where that of a single request would be. */
static void show_reply(iso_session *s, size_t number) {
  iso_reply shown = s->replies[number];
  s->replies[number] = s->reply;
  s->reply = shown;
}

/* Takes the answers to a batch, up to the first failure; when it is not known whether the batch was done, all. */
static isoproof_status take_answers(iso_session *s, const iso_program *program, const iso_driver_request *requests,
                                    iso_txn_end *end, size_t *done, isoproof_error *error) {
  size_t count = program->steps.count;
  for (*done = 0; *done < count;) {
    const iso_reply *reply = &s->replies[*done];
    bool failed = reply->outcome != ISO_OUTCOME_OK, unknown = reply->outcome == ISO_OUTCOME_UNKNOWN;
    iso_outcome outcome;
    if (!take_answer(s, program, &program->steps.items[*done], &requests[*done], reply, &outcome))
      return iso_fail_memory(error);
    if (end->outcome == ISO_OUTCOME_OK && outcome != ISO_OUTCOME_OK) {
      end->outcome = outcome;
      show_reply(s, *done);
    }
    (*done)++;
    if (failed && !unknown) break;
  }
  return ISOPROOF_OK;
}

/* Sends the steps together, perhaps with the commit; `done` says how many were done, and `commit_sent` that the reply
 * is that of the commit. */
static isoproof_status do_batch(iso_session *s, const iso_program *program, iso_txn_end *end, size_t *done,
                                bool *commit_sent, isoproof_error *error) {
  iso_driver_request requests[ISO_MOST_BATCH];
  size_t count = program->steps.count;
  if (!room_for_replies(s)) return iso_fail_memory(error);
  for (size_t i = 0; i < count; i++)
    requests[i] = request_of(s, program, &program->steps.items[i], key_of(s, &program->steps.items[i]));
  bool commits = commits_in_batch(program);
  if (commits) requests[count] = (iso_driver_request){.kind = ISO_COMMIT};
  iso_outcome all = iso_do_batch(s->connection, requests, count + commits, s->replies);
  ISO_TRY(take_answers(s, program, requests, end, done, error));
  *commit_sent = commits && *done == count && end->outcome == ISO_OUTCOME_OK &&
                 (all == ISO_OUTCOME_OK || s->replies[count - 1].outcome == ISO_OUTCOME_OK);
  if (*commit_sent) {
    end->outcome = s->replies[count].outcome;
    show_reply(s, count);
  }
  return ISOPROOF_OK;
}

/* ---- the whole ---- */

void iso_session_keep_error(iso_session *s) {
  const iso_reply *reply = &s->reply;
  if (s->code[0] == 0) {
    /* Where there is no code the class is better than nothing. */
    const char *code = reply->code[0] != 0 ? reply->code : iso_error_class_name(reply->error_class);
    snprintf(s->code, sizeof s->code, "%s", code);
  }
  iso_count(&s->counts.errors[reply->error_class]);
  if (reply->message[0] != 0) memcpy(s->messages[reply->error_class], reply->message, sizeof *s->messages);
}

isoproof_txn_status iso_session_end_failed(iso_session *s) {
  iso_txn_state state = s->reply.txn;
  if (state == ISO_TXN_ACTIVE || state == ISO_TXN_ABORTED) {
    iso_rollback(s->connection, &s->reply);
    if (s->reply.txn == ISO_TXN_UNKNOWN) state = ISO_TXN_UNKNOWN;
  }
  return state == ISO_TXN_UNKNOWN ? ISOPROOF_TXN_UNKNOWN : ISOPROOF_TXN_ABORTED;
}

static isoproof_txn_status end_txn(iso_session *s, const iso_program *program, iso_txn_end *end, bool commit_sent) {
  if (program->rollback || (s->doubtful && !commit_sent)) {
    end->outcome = iso_rollback(s->connection, &s->reply);
    if (end->outcome != ISO_OUTCOME_OK) iso_session_keep_error(s);
    return s->reply.txn == ISO_TXN_UNKNOWN ? ISOPROOF_TXN_UNKNOWN : ISOPROOF_TXN_ABORTED;
  }
  if (!commit_sent) end->outcome = iso_commit(s->connection, &s->reply);
  if (end->outcome == ISO_OUTCOME_OK && s->reply.txn == ISO_TXN_COMMITTED) return ISOPROOF_TXN_COMMITTED;
  iso_session_keep_error(s);
  return iso_session_end_failed(s);
}

void iso_session_count_end(iso_session *s, isoproof_txn_status status, int64_t latency) {
  if (status == ISOPROOF_TXN_COMMITTED) {
    iso_count(&s->counts.committed);
    iso_histogram_add(&s->counts.latency, latency);
  } else {
    iso_count(status == ISOPROOF_TXN_ABORTED ? &s->counts.aborted : &s->counts.unknown);
  }
}

/* Of a bank, a read of all accounts tells whether money was made or lost. */
static void check_total(iso_session *s, const iso_program *program, isoproof_txn_status status) {
  if (status != ISOPROOF_TXN_COMMITTED || !program->check_total) return;
  int64_t total = 0;
  for (size_t i = 0; i < s->seen.count; i++) total += amount_of(s->seen.items[i]);
  if (total != (int64_t)s->run->generator->options.keys * ISO_FIRST_AMOUNT) iso_count(&s->counts.broken_totals);
}

/* Prepares statements on a table that nobody has used before, outside of the transaction. */
static iso_outcome make_ready(iso_session *s, const iso_program *program) {
  iso_outcome outcome = ISO_OUTCOME_OK;
  for (size_t i = 0; program->in_round && i < program->steps.count && outcome == ISO_OUTCOME_OK; i++) {
    const iso_program_step *step = &program->steps.items[i];
    iso_driver_request request = request_of(s, program, step, key_of(s, step));
    outcome = iso_prepare(s->connection, &request, &s->reply);
  }
  return outcome;
}

static iso_outcome begin(iso_session *s) {
  iso_driver_request request = {.kind = ISO_BEGIN, .isolation = s->run->isolation, .read_only = s->reading};
  return iso_do(s->connection, &request, &s->reply);
}

/* Begins, and meets the others: with the transaction open, unless to have one open keeps others from theirs.  False: it
 * did not begin, or the run is to end. */
static bool begin_together(iso_session *s, const iso_program *program, int64_t *start, iso_txn_end *end) {
  isoproof_run_handle *run = s->run;
  bool early = run->begins_early && program->steps.count > 0;
  end->outcome = make_ready(s, program);
  *start = isoproof_run_now(run);
  if (early && end->outcome == ISO_OUTCOME_OK) end->outcome = begin(s);
  bool begun = early && end->outcome == ISO_OUTCOME_OK;
  /* Whoever waits must not wait in vain. */
  bool met = !program->meets || iso_meeting_wait(&run->meeting, program->round, program->jitter_ns);
  if (!met || program->steps.count == 0) {
    if (begun) iso_rollback(s->connection, &s->reply);
    return false;
  }
  s->began = isoproof_run_now(run);
  if (early || end->outcome != ISO_OUTCOME_OK) return begun;
  *start = s->began;
  end->outcome = begin(s);
  return end->outcome == ISO_OUTCOME_OK;
}

static isoproof_status run_steps(iso_session *s, const iso_program *program, iso_txn_end *end, bool *commit_sent,
                                 isoproof_error *error) {
  size_t done = 0;
  *commit_sent = false;
  if (is_batch(s, program)) ISO_TRY(do_batch(s, program, end, &done, commit_sent, error));
  for (; done < program->steps.count && end->outcome == ISO_OUTCOME_OK; done++)
    ISO_TRY(do_step(s, program, &program->steps.items[done], &end->outcome, error));
  return ISOPROOF_OK;
}

isoproof_status iso_run_txn(iso_session *s, const iso_program *program, iso_txn_end *end, isoproof_error *error) {
  int64_t start;
  bool commit_sent;
  *end = (iso_txn_end){.status = ISOPROOF_TXN_ABORTED};
  s->seen.count = s->ops.count = s->keys.count = s->first_part.count = s->elements.count = s->rows.count = 0;
  s->code[0] = 0;
  s->doubtful = false;
  s->taken = iso_generator_take(s->run->generator, s->number, program);
  if (!begin_together(s, program, &start, end)) {
    if (end->outcome == ISO_OUTCOME_OK) return ISOPROOF_OK;
    iso_session_keep_error(s);
    if (s->reply.txn != ISO_TXN_IDLE) iso_rollback(s->connection, &s->reply);
    return ISOPROOF_OK;
  }
  end->begun = true;
  ISO_TRY(run_steps(s, program, end, &commit_sent, error));
  if (end->outcome == ISO_OUTCOME_OK || commit_sent) {
    end->status = end_txn(s, program, end, commit_sent);
  } else {
    if (end->outcome == ISO_OUTCOME_FOREIGN)
      iso_run_interfered(s->run, "%s; seen by session %" PRId64 " after %.3f s", s->reply.message, s->name,
                         (double)isoproof_run_now(s->run) * 1e-9);
    iso_session_keep_error(s);
    end->status = iso_session_end_failed(s);
  }
  int64_t finish = isoproof_run_now(s->run);
  bool scheduled = s->due != ISO_UNSCHEDULED && !program->meets;
  iso_session_count_end(s, end->status, finish - (scheduled ? s->due : s->began));
  check_total(s, program, end->status);
  return iso_note_txn(s, end->status, start, finish, error);
}
