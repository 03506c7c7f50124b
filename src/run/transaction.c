/* transaction.c - one transaction: the steps of a program on a connection, and what is recorded of them.
 *
 * What the database answers is believed only as far as the driver vouches for it: committed when the server confirmed
 * it, aborted when it cannot have taken effect, unknown otherwise.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run/run.h"

/* ---- recording ---- */

static isoproof_scalar integer(int64_t value) { return (isoproof_scalar){.type = ISOPROOF_INTEGER, .integer = value}; }

/* Adds an operation to the transaction. */
static bool note(iso_session *s, isoproof_op_kind kind, iso_data_key key, isoproof_scalar value) {
  return iso_vec_push(&s->ops, ((iso_jsonl_op){.kind = kind, .value = value})) && iso_vec_push(&s->keys, key) &&
         iso_vec_push(&s->first_element, s->elements.count);
}

/* A list read: the elements are found by number first, since growing moves them. */
static bool note_list(iso_session *s, iso_data_key key) {
  const iso_reply *reply = &s->reply;
  if (!note(s, ISOPROOF_OP_READ_LIST, key, isoproof_nil())) return false;
  s->ops.items[s->ops.count - 1].count = reply->list.count;
  /* One more, so that an empty list has an address. */
  if (!iso_vec_reserve(&s->elements, reply->list.count + 1)) return false;
  for (size_t i = 0; i < reply->list.count; i++) s->elements.items[s->elements.count++] = integer(reply->list.items[i]);
  s->elements.count++;
  return true;
}

/* A read of a range is the reads of its keys.  That a row is absent says something only where rows are not deleted. */
static bool note_range(iso_session *s, const iso_program_step *step) {
  const iso_reply *reply = &s->reply;
  size_t row = 0;
  for (uint64_t number = step->number; number < step->end; number++) {
    iso_data_key key = {ISO_FIELD_NONE, (int64_t)number};
    while (row < reply->rows.count && reply->rows.items[row].key < key.number) row++;
    bool present = row < reply->rows.count && reply->rows.items[row].key == key.number;
    if (!present && !iso_row_is_lasting(number)) continue;
    if (!note(s, ISOPROOF_OP_READ, key, present ? integer(reply->rows.items[row].value) : isoproof_nil())) return false;
  }
  return true;
}

/* Gives keys their texts and lists their elements, now that nothing moves any more. */
static bool settle(iso_session *s) {
  bool texts = s->keys.count > 0 && s->keys.items[0].field != ISO_FIELD_NONE;
  if (texts && s->ops.count > s->key_text_room) {
    void *grown = iso_realloc(s->key_texts, s->ops.capacity, sizeof *s->key_texts);
    if (grown == NULL) return false;
    s->key_texts = grown;
    s->key_text_room = s->ops.capacity;
  }
  for (size_t i = 0; i < s->ops.count; i++) {
    iso_jsonl_op *op = &s->ops.items[i];
    iso_data_key key = s->keys.items[i];
    op->key = integer(key.number);
    if (key.field != ISO_FIELD_NONE) {
      uint32_t length = (uint32_t)iso_data_key_format(key, s->key_texts[i]);
      op->key = (isoproof_scalar){.type = ISOPROOF_STRING, .text = s->key_texts[i], .length = length};
    }
    if (op->kind == ISOPROOF_OP_READ_LIST && op->value.type == ISOPROOF_NIL)
      op->elements = s->elements.items + s->first_element.items[i];
  }
  return true;
}

static isoproof_status record(iso_session *s, isoproof_txn_status status, int64_t start, int64_t end,
                              isoproof_error *error) {
  if (!settle(s)) return iso_fail_memory(error);
  iso_jsonl_txn txn = {.session = integer(s->name),
                       .status = status,
                       .start = start,
                       .end = status == ISOPROOF_TXN_UNKNOWN ? ISOPROOF_NO_TIME : end,
                       .start_index = -1,
                       .end_index = -1,
                       .node = iso_database_nodes(s->run->database) > 1 ? integer((int64_t)s->node) : isoproof_nil(),
                       .error = s->code[0] != 0 ? isoproof_string(s->code) : isoproof_nil(),
                       .ops = s->ops.items,
                       .count = s->ops.count};
  iso_session_log_txn(&s->log, &txn);
  return ISOPROOF_OK;
}

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

static const struct {
  iso_request_kind request;
  isoproof_op_kind op;
} kinds[ISO_STEP_KINDS] = {
    [ISO_STEP_READ] = {ISO_READ, ISOPROOF_OP_READ},
    [ISO_STEP_WRITE] = {ISO_WRITE, ISOPROOF_OP_WRITE},
    [ISO_STEP_READ_LIST] = {ISO_READ_LIST, ISOPROOF_OP_READ_LIST},
    [ISO_STEP_APPEND] = {ISO_APPEND, ISOPROOF_OP_APPEND},
    [ISO_STEP_INSERT] = {ISO_INSERT, ISOPROOF_OP_WRITE},
    [ISO_STEP_DELETE] = {ISO_DELETE, ISOPROOF_OP_WRITE},
    [ISO_STEP_READ_RANGE] = {ISO_READ_RANGE, ISOPROOF_OP_READ},
};

static bool note_answer(iso_session *s, const iso_program_step *step, iso_data_key key, int64_t value,
                        iso_outcome outcome) {
  isoproof_op_kind op = kinds[step->kind].op;
  if (!isoproof_op_kind_observes(op)) return note(s, op, key, integer(value));
  if (outcome != ISO_OUTCOME_OK) {
    if (step->kind == ISO_STEP_READ_RANGE) return true; /* no key in particular was read */
    return note(s, op, key, (isoproof_scalar){.type = ISOPROOF_NONE});
  }
  if (step->kind == ISO_STEP_READ_LIST) return note_list(s, key);
  if (step->kind == ISO_STEP_READ_RANGE) return note_range(s, step);
  return note(s, op, key, s->reply.present ? integer(s->reply.value) : isoproof_nil());
}

/* Where the node takes no writes, what a step does there: a write reads its key, unless that was read already.  False
 * when nothing is left of it. */
static bool as_read(const iso_session *s, iso_program_step *step) {
  if (isoproof_op_kind_observes(kinds[step->kind].op)) return true;
  if (step->kind != ISO_STEP_WRITE && step->kind != ISO_STEP_APPEND) return false;
  if (step->origin == ISO_KEY_OF_LABEL) return false;
  step->kind = step->kind == ISO_STEP_WRITE ? ISO_STEP_READ : ISO_STEP_READ_LIST;
  iso_data_key key = key_of(s, step);
  for (size_t i = 0; i < s->keys.count; i++)
    if (s->keys.items[i].field == key.field && s->keys.items[i].number == key.number) return false;
  return true;
}

/* Does one step; `outcome` says how it went. */
static isoproof_status do_step(iso_session *s, const iso_program_step *given, iso_outcome *outcome,
                               isoproof_error *error) {
  iso_seen seen = {.present = false};
  iso_program_step changed = *given;
  const iso_program_step *step = &changed;
  *outcome = ISO_OUTCOME_OK;
  if (!is_skipped(s, step) && (!s->reading || as_read(s, &changed))) {
    iso_data_key key = key_of(s, step);
    iso_driver_request request = {.kind = kinds[step->kind].request, .key = iso_data_key_code(key)};
    if (step->kind == ISO_STEP_READ_RANGE)
      request.high = (int64_t)step->end - 1;
    else if (!isoproof_op_kind_observes(kinds[step->kind].op))
      request.value = value_of(s, step);
    *outcome = iso_do(s->connection, &request, &s->reply);
    if (!note_answer(s, step, key, request.value, *outcome)) return iso_fail_memory(error);
    if (*outcome == ISO_OUTCOME_OK && step->kind == ISO_STEP_READ) seen = (iso_seen){s->reply.present, s->reply.value};
  }
  return iso_vec_push(&s->seen, seen) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- the whole ---- */

/* Keeps what the server said. */
static void keep_error(iso_session *s) {
  const iso_reply *reply = &s->reply;
  if (s->code[0] == 0) {
    /* Where there is no code the class is better than nothing. */
    const char *code = reply->code[0] != 0 ? reply->code : iso_error_class_name(reply->error_class);
    snprintf(s->code, sizeof s->code, "%s", code);
  }
  iso_count(&s->counts.errors[reply->error_class]);
  if (reply->message[0] != 0) memcpy(s->messages[reply->error_class], reply->message, sizeof *s->messages);
}

/* The fate of a transaction whose last call was answered with the reply; an open one is rolled back. */
static isoproof_txn_status end_failed(iso_session *s) {
  iso_txn_state state = s->reply.txn;
  if (state == ISO_TXN_ACTIVE || state == ISO_TXN_ABORTED) {
    iso_rollback(s->connection, &s->reply);
    if (s->reply.txn == ISO_TXN_UNKNOWN) state = ISO_TXN_UNKNOWN;
  }
  return state == ISO_TXN_UNKNOWN ? ISOPROOF_TXN_UNKNOWN : ISOPROOF_TXN_ABORTED;
}

static isoproof_txn_status end_txn(iso_session *s, const iso_program *program, iso_txn_end *end) {
  if (program->rollback) {
    end->outcome = iso_rollback(s->connection, &s->reply);
    if (end->outcome != ISO_OUTCOME_OK) keep_error(s);
    return s->reply.txn == ISO_TXN_UNKNOWN ? ISOPROOF_TXN_UNKNOWN : ISOPROOF_TXN_ABORTED;
  }
  end->outcome = iso_commit(s->connection, &s->reply);
  if (end->outcome == ISO_OUTCOME_OK && s->reply.txn == ISO_TXN_COMMITTED) return ISOPROOF_TXN_COMMITTED;
  keep_error(s);
  return end_failed(s);
}

static void count_end(iso_session *s, const iso_program *program, isoproof_txn_status status, int64_t latency) {
  if (status == ISOPROOF_TXN_COMMITTED) {
    iso_count(&s->counts.committed);
    iso_histogram_add(&s->counts.latency, latency);
  } else {
    iso_count(status == ISOPROOF_TXN_ABORTED ? &s->counts.aborted : &s->counts.unknown);
  }
  if (status != ISOPROOF_TXN_COMMITTED || !program->check_total) return;
  int64_t total = 0;
  for (size_t i = 0; i < s->seen.count; i++) total += amount_of(s->seen.items[i]);
  if (total != (int64_t)s->run->generator->options.keys * ISO_FIRST_AMOUNT) iso_count(&s->counts.broken_totals);
}

isoproof_status iso_run_txn(iso_session *s, const iso_program *program, iso_txn_end *end, isoproof_error *error) {
  *end = (iso_txn_end){.status = ISOPROOF_TXN_ABORTED};
  s->seen.count = s->ops.count = s->keys.count = s->first_element.count = s->elements.count = 0;
  s->code[0] = 0;
  s->taken = iso_generator_take(s->run->generator, s->number, program);
  int64_t start = isoproof_run_now(s->run);
  iso_driver_request begin = {.kind = ISO_BEGIN, .isolation = s->run->isolation, .read_only = s->reading};
  end->outcome = iso_do(s->connection, &begin, &s->reply);
  if (end->outcome != ISO_OUTCOME_OK) {
    keep_error(s);
    if (s->reply.txn != ISO_TXN_IDLE) iso_rollback(s->connection, &s->reply);
    return ISOPROOF_OK;
  }
  end->begun = true;
  for (size_t i = 0; i < program->steps.count && end->outcome == ISO_OUTCOME_OK; i++)
    ISO_TRY(do_step(s, &program->steps.items[i], &end->outcome, error));
  if (end->outcome == ISO_OUTCOME_OK) {
    end->status = end_txn(s, program, end);
  } else {
    if (end->outcome == ISO_OUTCOME_FOREIGN)
      iso_run_interfered(s->run, "%s; seen by session %" PRId64 " after %.3f s", s->reply.message, s->name,
                         (double)isoproof_run_now(s->run) * 1e-9);
    keep_error(s);
    end->status = end_failed(s);
  }
  int64_t finish = isoproof_run_now(s->run);
  count_end(s, program, end->status, finish - start);
  return record(s, end->status, start, finish, error);
}
