/* note.c - what is recorded of a transaction: its steps with their answers, as operations of a history. */
#include <stdlib.h>

#include "run/run.h"

static isoproof_scalar integer(int64_t value) { return (isoproof_scalar){.type = ISOPROOF_INTEGER, .integer = value}; }
static const isoproof_scalar none = {.type = ISOPROOF_NONE};

/* What a step does to registers and lists, and to rows. */
static const struct {
  isoproof_op_kind op;
  iso_row_form form, missed;
} kinds[ISO_STEP_KINDS] = {
    [ISO_STEP_READ] = {ISOPROOF_OP_READ, ISO_ROW_NONE, ISO_ROW_NONE},
    [ISO_STEP_WRITE] = {ISOPROOF_OP_WRITE, ISO_ROW_NONE, ISO_ROW_NONE},
    [ISO_STEP_READ_LIST] = {ISOPROOF_OP_READ_LIST, ISO_ROW_NONE, ISO_ROW_NONE},
    [ISO_STEP_APPEND] = {ISOPROOF_OP_APPEND, ISO_ROW_NONE, ISO_ROW_NONE},
    [ISO_STEP_INSERT] = {ISOPROOF_OP_WRITE, ISO_ROW_INSERT, ISO_ROW_NONE},
    [ISO_STEP_UPDATE] = {ISOPROOF_OP_WRITE, ISO_ROW_UPDATE, ISO_ROW_MISSED_UPDATE},
    [ISO_STEP_UPSERT] = {ISOPROOF_OP_WRITE, ISO_ROW_UPSERT, ISO_ROW_NONE},
    [ISO_STEP_DELETE] = {ISOPROOF_OP_WRITE, ISO_ROW_DELETE, ISO_ROW_MISSED_DELETE},
    [ISO_STEP_READ_RANGE] = {ISOPROOF_OP_READ, ISO_ROW_PREDICATE, ISO_ROW_NONE},
    [ISO_STEP_COUNT] = {ISOPROOF_OP_READ, ISO_ROW_COUNT, ISO_ROW_NONE},
};

/* Adds an operation to the transaction. */
static iso_jsonl_op *note(iso_session *s, isoproof_op_kind kind, iso_data_key key, isoproof_scalar value) {
  if (!iso_vec_push(&s->ops, ((iso_jsonl_op){.kind = kind, .value = value})) || !iso_vec_push(&s->keys, key) ||
      !iso_vec_push(&s->first_part, 0))
    return NULL;
  return &s->ops.items[s->ops.count - 1];
}

/* A list read: the elements are found by number first, since growing moves them. */
static bool note_list(iso_session *s, iso_data_key key, const iso_reply *reply) {
  iso_jsonl_op *op = note(s, ISOPROOF_OP_READ_LIST, key, isoproof_nil());
  if (op == NULL) return false;
  op->count = reply->list.count;
  s->first_part.items[s->first_part.count - 1] = s->elements.count;
  /* One more, so that an empty list has an address. */
  if (!iso_vec_reserve(&s->elements, reply->list.count + 1)) return false;
  for (size_t i = 0; i < reply->list.count; i++) s->elements.items[s->elements.count++] = integer(reply->list.items[i]);
  s->elements.count++;
  return true;
}

/* ---- rows ---- */

/* Rows of the table of a round have a stretch of keys of their own, one for each session. */
static int64_t first_of_round(const iso_session *s, const iso_program *program) {
  return (int64_t)(program->round * s->run->workload->sessions);
}

static int64_t key_in_round(const iso_session *s, const iso_program *program, int64_t value) {
  return first_of_round(s, program) + (int64_t)iso_generator_writer(s->run->generator, value);
}

static iso_predicate predicate_of(const iso_session *s, const iso_program *program, const iso_program_step *step) {
  if (program->in_round) {
    int64_t first = first_of_round(s, program);
    return (iso_predicate){.of_keys = true, .key_low = first, .key_high = first + s->run->workload->sessions - 1};
  }
  int64_t low = (int64_t)step->number, high = (int64_t)step->end - 1;
  switch (step->range) {
  case ISO_RANGE_KEYS:
    return (iso_predicate){.of_keys = true, .key_low = low, .key_high = high};
  case ISO_RANGE_VALUES:
    return (iso_predicate){.of_values = true, .value_low = low, .value_high = high};
  case ISO_RANGE_ALL:
    break;
  }
  return (iso_predicate){.of_keys = false};
}

static int by_key(const void *a, const void *b) {
  const iso_row_value *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

/* A read by predicate with its rows; without a reply nobody knows which. */
static bool note_rows(iso_session *s, const iso_program *program, const iso_program_step *step,
                      const iso_reply *reply) {
  iso_jsonl_op *op =
      note(s, ISOPROOF_OP_READ, (iso_data_key){ISO_FIELD_NONE, 0}, reply != NULL ? isoproof_nil() : none);
  if (op == NULL) return false;
  op->form = ISO_ROW_PREDICATE;
  op->predicate = predicate_of(s, program, step);
  if (reply == NULL) return true;
  op->count = reply->rows.count;
  size_t first = s->rows.count;
  s->first_part.items[s->first_part.count - 1] = first;
  if (!iso_vec_reserve(&s->rows, reply->rows.count + 1)) return false;
  for (size_t i = 0; i < reply->rows.count; i++) {
    iso_row row = reply->rows.items[i];
    int64_t key = program->in_round ? key_in_round(s, program, row.value) : row.key;
    s->rows.items[s->rows.count++] = (iso_row_value){key, row.value};
  }
  if (program->in_round) qsort(s->rows.items + first, reply->rows.count, sizeof *s->rows.items, by_key);
  s->rows.count++;
  return true;
}

static bool note_count(iso_session *s, const iso_program *program, const iso_program_step *step,
                       const iso_reply *reply) {
  iso_jsonl_op *op =
      note(s, ISOPROOF_OP_READ, (iso_data_key){ISO_FIELD_NONE, 0}, reply != NULL ? integer(reply->value) : none);
  if (op == NULL) return false;
  op->form = ISO_ROW_COUNT;
  op->predicate = predicate_of(s, program, step);
  return true;
}

/* A read of a key that several rows of the round may have: one that it shows was there, or else there was none. */
static bool note_round_read(iso_session *s, const iso_program *program, const iso_program_step *step,
                            const iso_reply *reply) {
  if (reply == NULL) return note_rows(s, program, step, NULL);
  if (!reply->present) {
    static const iso_reply empty;
    return note_rows(s, program, step, &empty);
  }
  iso_data_key key = {ISO_FIELD_NONE, key_in_round(s, program, reply->value)};
  return note(s, ISOPROOF_OP_READ, key, integer(reply->value)) != NULL;
}

/* A write of a row.  What was not answered counts as tried; an insert that met a row of the key did nothing. */
static bool note_row_write(iso_session *s, const iso_program *program, const iso_program_step *step, iso_data_key key,
                           int64_t value, const iso_reply *reply, bool refused) {
  if (refused) return true;
  if (program->in_round) key.number = key_in_round(s, program, value);
  bool missed = reply != NULL && reply->affected == 0 && kinds[step->kind].missed != ISO_ROW_NONE;
  bool valueless = missed || step->kind == ISO_STEP_DELETE;
  iso_jsonl_op *op = note(s, ISOPROOF_OP_WRITE, key, valueless ? isoproof_nil() : integer(value));
  if (op == NULL) return false;
  op->form = missed ? kinds[step->kind].missed : kinds[step->kind].form;
  return true;
}

bool iso_note_answer(iso_session *s, const iso_program *program, const iso_program_step *step, iso_data_key key,
                     int64_t value, const iso_reply *reply) {
  bool refused = iso_reply_refuses_row(reply) && step->kind == ISO_STEP_INSERT;
  const iso_reply *answer = reply->outcome == ISO_OUTCOME_OK ? reply : NULL;
  switch (step->kind) {
  case ISO_STEP_READ:
    if (program->in_round) return note_round_read(s, program, step, answer);
    if (answer == NULL) return note(s, ISOPROOF_OP_READ, key, none) != NULL;
    return note(s, ISOPROOF_OP_READ, key, answer->present ? integer(answer->value) : isoproof_nil()) != NULL;
  case ISO_STEP_READ_LIST:
    return answer != NULL ? note_list(s, key, answer) : note(s, ISOPROOF_OP_READ_LIST, key, none) != NULL;
  case ISO_STEP_READ_RANGE:
    return note_rows(s, program, step, answer);
  case ISO_STEP_COUNT:
    return note_count(s, program, step, answer);
  case ISO_STEP_WRITE:
  case ISO_STEP_APPEND:
    return note(s, kinds[step->kind].op, key, integer(value)) != NULL;
  default:
    return note_row_write(s, program, step, key, value, answer, refused);
  }
}

/* ---- the whole ---- */

/* Gives keys their texts, lists their elements and predicates their rows, now that nothing moves any more. */
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
    if (op->value.type != ISOPROOF_NIL) continue;
    if (op->kind == ISOPROOF_OP_READ_LIST) op->elements = s->elements.items + s->first_part.items[i];
    if (op->form == ISO_ROW_PREDICATE) op->rows = s->rows.items + s->first_part.items[i];
  }
  return true;
}

isoproof_status iso_note_txn(iso_session *s, isoproof_txn_status status, int64_t start, int64_t end,
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
