/* outcome.c - what the stepper saw, as a history of rows. */
#include <inttypes.h>
#include <stdio.h>

#include "coo/systematic/execute.h"
#include "format/jsonl.h"

/* A transaction as it is put together. */
typedef struct telling {
  const iso_sys_run *run;
  iso_jsonl_op ops[ISO_SYS_OPS];
  iso_row_value rows[ISO_SYS_OPS][ISO_EVENT_ROWS];
  iso_jsonl_txn txn;
} telling;

/* ---- from the table to what is shown ---- */

static isoproof_status fail_foreign(isoproof_error *error, int64_t key, int64_t value) {
  return iso_fail(error, ISOPROOF_ERR_INTERFERENCE,
                  "interference: a row (%" PRId64 ", %" PRId64 ") was found, which the schedule did not write", key,
                  value);
}

static bool show_value(const iso_sys_run *run, int64_t stored, int64_t *shown) {
  *shown = stored - (int64_t)run->number * ISO_SYS_VALUES_OF_RUN;
  return *shown >= 0 && *shown < ISO_SYS_VALUES_OF_RUN;
}

/* Whether a row is one of this run; the whole table may show what an earlier one has left. */
static bool is_ours(const iso_sys_run *run, iso_row stored) {
  int64_t key = stored.key - (int64_t)run->number * ISO_SYS_KEYS_OF_RUN;
  return key >= iso_sys_key(0) && key < iso_sys_key(run->schedule.family.rows);
}

static isoproof_status show_row(const iso_sys_run *run, iso_row stored, iso_row_value *shown, isoproof_error *error) {
  shown->key = stored.key - (int64_t)run->number * ISO_SYS_KEYS_OF_RUN;
  if (is_ours(run, stored) && show_value(run, stored.value, &shown->value)) return ISOPROOF_OK;
  return fail_foreign(error, stored.key, stored.value);
}

/* ---- operations ---- */

/* A write that took effect, or that found no row. */
static void tell_write(iso_jsonl_op *op, iso_sys_kind kind, const iso_step_event *event, int64_t value) {
  bool missed = kind != ISO_SYS_INSERT && event->affected == 0;
  op->kind = ISOPROOF_OP_WRITE;
  op->value = missed || kind == ISO_SYS_DELETE ? isoproof_nil() : isoproof_integer(value);
  op->form = kind == ISO_SYS_INSERT   ? ISO_ROW_INSERT
             : kind == ISO_SYS_UPDATE ? (missed ? ISO_ROW_MISSED_UPDATE : ISO_ROW_UPDATE)
                                      : (missed ? ISO_ROW_MISSED_DELETE : ISO_ROW_DELETE);
}

static isoproof_status tell_predicate(telling *t, iso_jsonl_op *op, iso_row_value *rows, iso_sys_kind kind,
                                      const iso_step_event *event, isoproof_error *error) {
  iso_predicate *p = &op->predicate;
  /* The history has no other rows than those of the run. */
  *p = (iso_predicate){
      .of_keys = true, .key_low = iso_sys_key(0), .key_high = iso_sys_key(t->run->schedule.family.rows - 1U)};
  op->kind = ISOPROOF_OP_READ;
  if (kind == ISO_SYS_COUNT) {
    op->form = ISO_ROW_COUNT;
    op->value = isoproof_integer(event->value);
    return ISOPROOF_OK;
  }
  op->form = ISO_ROW_PREDICATE;
  op->value = isoproof_nil();
  if (kind == ISO_SYS_VALUES) {
    p->of_values = true;
    p->value_low = ISO_SYS_FIRST_MATCHING;
    p->value_high = ISO_SYS_VALUES_OF_RUN - 1;
  }
  if (event->rows > ISO_EVENT_ROWS)
    return iso_fail(error, ISOPROOF_ERR_INTERFERENCE, "interference: more rows than the schedule can have made");
  op->rows = rows;
  for (uint32_t i = 0; i < event->rows; i++) {
    if (kind == ISO_SYS_TABLE && !is_ours(t->run, event->found[i])) continue;
    ISO_TRY(show_row(t->run, event->found[i], &rows[op->count++], error));
  }
  return ISOPROOF_OK;
}

static isoproof_status tell_op(telling *t, const iso_step_event *event, isoproof_error *error) {
  iso_sys_act at = t->run->acts[event->act];
  iso_sys_step step = iso_sys_step_at(&t->run->schedule.family, at.txn, at.step);
  iso_jsonl_op *op = &t->ops[t->txn.count];
  *op = (iso_jsonl_op){.key = isoproof_integer(iso_sys_key(step.row))};
  if (event->affected > 1)
    return iso_fail(error, ISOPROOF_ERR_INTERFERENCE, "interference: a statement changed %" PRId64 " rows of one key",
                    event->affected);
  if (iso_sys_kind_is_predicate((iso_sys_kind)step.kind)) {
    ISO_TRY(tell_predicate(t, op, t->rows[t->txn.count], (iso_sys_kind)step.kind, event, error));
  } else if (iso_sys_kind_writes((iso_sys_kind)step.kind)) {
    tell_write(op, (iso_sys_kind)step.kind, event, iso_sys_value(at.txn, at.step, step.other));
  } else {
    int64_t value = 0;
    op->kind = ISOPROOF_OP_READ;
    if (event->present && !show_value(t->run, event->value, &value))
      return fail_foreign(error, t->run->script.acts[event->act].request.key, event->value);
    op->value = event->present ? isoproof_integer(value) : isoproof_nil();
  }
  t->txn.count++;
  return ISOPROOF_OK;
}

/* ---- transactions ---- */

/* Times are places among the events: a transaction that had ended when another one began comes before it. */
static isoproof_status tell_event(telling *t, const iso_step_event *event, uint32_t number, isoproof_error *error) {
  if (event->kind == ISO_EVENT_UNDONE) t->txn.end = 2 * ((int64_t)number + 1);
  if (event->kind != ISO_EVENT_DONE) return ISOPROOF_OK;
  if (t->txn.start == ISOPROOF_NO_TIME) t->txn.start = 2 * (int64_t)event->issued + 1;
  if (event->outcome != ISO_OUTCOME_OK) return ISOPROOF_OK;
  const iso_act *act = &t->run->script.acts[event->act];
  if (act->kind == ISO_ACT_REQUEST) return tell_op(t, event, error);
  if (!iso_act_ends(act)) return ISOPROOF_OK;
  t->txn.end = 2 * ((int64_t)number + 1);
  if (act->kind == ISO_ACT_COMMIT) t->txn.status = ISOPROOF_TXN_COMMITTED;
  return ISOPROOF_OK;
}

static isoproof_status tell_txn(telling *t, const iso_stepper *stepper, uint32_t txn, isoproof_error *error) {
  t->txn = (iso_jsonl_txn){.session = isoproof_integer((int64_t)txn + 1),
                           .status = ISOPROOF_TXN_ABORTED,
                           .start = ISOPROOF_NO_TIME,
                           .end = ISOPROOF_NO_TIME,
                           .start_index = -1,
                           .end_index = -1,
                           .ops = t->ops};
  for (uint32_t i = 0; i < stepper->event_count; i++) {
    if (stepper->events[i].session == txn) ISO_TRY(tell_event(t, &stepper->events[i], i, error));
  }
  return ISOPROOF_OK;
}

/* The session looks at every row, twice over, so that whatever the order of versions is, it can be told from the order
 * of the reads. */
static isoproof_status tell_final(const iso_stepper *stepper, const iso_sys_run *run, uint32_t txn, iso_output *out,
                                  isoproof_error *error) {
  uint32_t rows = run->schedule.family.rows;
  iso_jsonl_op ops[2 * ISO_SYS_ROWS];
  for (uint32_t i = 0; i < 2 * rows; i++) {
    ops[i] = (iso_jsonl_op){
        .kind = ISOPROOF_OP_READ, .key = isoproof_integer(iso_sys_key(i % rows)), .value = isoproof_nil()};
    for (uint32_t j = 0; j < run->final_count[txn]; j++) {
      iso_row_value row = {0};
      ISO_TRY(show_row(run, run->final[txn][j], &row, error));
      if (row.key == iso_sys_key(i % rows)) ops[i].value = isoproof_integer(row.value);
    }
  }
  int64_t end = 2 * (int64_t)stepper->event_count;
  iso_jsonl_txn final = {.session = isoproof_integer((int64_t)txn + 1),
                         .status = ISOPROOF_TXN_COMMITTED,
                         .start = end + 1,
                         .end = end + 2,
                         .start_index = -1,
                         .end_index = -1,
                         .ops = ops,
                         .count = 2 * (size_t)rows};
  iso_jsonl_write_txn(out, &final);
  return ISOPROOF_OK;
}

static isoproof_status tell(const iso_stepper *stepper, const iso_sys_run *run, iso_output *out,
                            isoproof_error *error) {
  const iso_sys_family *family = &run->schedule.family;
  iso_row_value initial[ISO_SYS_ROWS];
  size_t count = 0;
  for (uint32_t row = 0; row < family->rows && row < ISO_SYS_ROWS; row++) {
    iso_sys_start start = (iso_sys_start)family->starts[row];
    if (start != ISO_SYS_ABSENT) initial[count++] = (iso_row_value){iso_sys_key(row), iso_sys_start_value(row, start)};
  }
  iso_jsonl_write_header(out, false, NULL, 0);
  if (count > 0) iso_jsonl_write_initial_rows(out, initial, count);
  for (uint32_t txn = 0; txn < family->txns; txn++) {
    telling t = {.run = run};
    ISO_TRY(tell_txn(&t, stepper, txn, error));
    iso_jsonl_write_txn(out, &t.txn);
    if (t.txn.status == ISOPROOF_TXN_COMMITTED) ISO_TRY(tell_final(stepper, run, txn, out, error));
  }
  return ISOPROOF_OK;
}

static bool append(void *user, const void *data, size_t size) {
  iso_sys_text_buffer *text = user;
  const char *bytes = data;
  if (!iso_vec_reserve(text, size + 1)) return false;
  for (size_t i = 0; i < size; i++) text->items[text->count++] = bytes[i];
  return true;
}

isoproof_status iso_sys_history(const iso_stepper *stepper, const iso_sys_run *run, iso_sys_text_buffer *text,
                                isoproof_error *error) {
  iso_output *out;
  text->count = 0;
  ISO_TRY(iso_output_open_callback(append, text, ISOPROOF_COMPRESS_NO, &out, error));
  isoproof_status status = tell(stepper, run, out, error);
  if (status != ISOPROOF_OK) {
    iso_output_abandon(out);
    return status;
  }
  ISO_TRY(iso_output_close(out, error));
  if (!iso_vec_push(text, '\0')) return iso_fail_memory(error);
  text->count--;
  return ISOPROOF_OK;
}

/* ---- in words ---- */

bool iso_sys_missed(const iso_step_event *event, const iso_sys_run *run) {
  iso_sys_act at = run->acts[event->act];
  uint8_t kind = iso_sys_step_at(&run->schedule.family, at.txn, at.step).kind;
  bool done = event->kind == ISO_EVENT_DONE && event->outcome == ISO_OUTCOME_OK;
  return done && (kind == ISO_SYS_UPDATE || kind == ISO_SYS_DELETE) && event->affected == 0;
}

void iso_sys_returned(const iso_step_event *event, const iso_sys_run *run, char *buffer, size_t size) {
  iso_sys_act at = run->acts[event->act];
  iso_sys_kind kind = (iso_sys_kind)iso_sys_step_at(&run->schedule.family, at.txn, at.step).kind;
  int64_t value = 0;
  size_t used = 0;
  buffer[0] = '\0';
  if (event->kind != ISO_EVENT_DONE || event->outcome != ISO_OUTCOME_OK) return;
  if (kind == ISO_SYS_READ) {
    if (event->present && show_value(run, event->value, &value))
      snprintf(buffer, size, "%" PRId64, value);
    else
      snprintf(buffer, size, "absent");
  } else if (kind == ISO_SYS_COUNT) {
    snprintf(buffer, size, "%" PRId64, event->value);
  } else if (iso_sys_kind_is_predicate(kind)) {
    snprintf(buffer, size, "no rows");
    for (uint32_t i = 0; i < event->rows && i < ISO_EVENT_ROWS && used < size; i++) {
      (void)show_value(run, event->found[i].value, &value);
      int length = snprintf(buffer + used, size - used, "%s%" PRId64 "|%" PRId64, i > 0 ? ", " : "",
                            event->found[i].key - (int64_t)run->number * ISO_SYS_KEYS_OF_RUN, value);
      used += length > 0 ? (size_t)length : 0;
    }
  } else if (iso_sys_missed(event, run)) {
    snprintf(buffer, size, "no row");
  }
}
