/* execute.c - schedules as scripts of requests, with the rows before and after. */
#include "coo/systematic/execute.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- keys, values, statements ---- */

int64_t iso_sys_key(uint32_t row) { return (int64_t)row + 1; }

int64_t iso_sys_value(uint32_t txn, uint32_t step, bool other) {
  return (other ? 0 : ISO_SYS_FIRST_MATCHING) + 10 * ((int64_t)txn + 1) + step;
}

int64_t iso_sys_start_value(uint32_t row, iso_sys_start start) {
  return (start == ISO_SYS_OTHER ? 0 : ISO_SYS_FIRST_MATCHING) + (int64_t)row + 1;
}

iso_driver_request iso_sys_request(const iso_sys_family *family, uint32_t txn, uint32_t step) {
  static const iso_request_kind kinds[ISO_SYS_KINDS] = {
      [ISO_SYS_BEGIN] = ISO_BEGIN,      [ISO_SYS_READ] = ISO_READ,         [ISO_SYS_INSERT] = ISO_INSERT,
      [ISO_SYS_UPDATE] = ISO_UPDATE,    [ISO_SYS_DELETE] = ISO_DELETE,     [ISO_SYS_KEYS] = ISO_READ_RANGE,
      [ISO_SYS_TABLE] = ISO_READ_RANGE, [ISO_SYS_VALUES] = ISO_READ_RANGE, [ISO_SYS_COUNT] = ISO_COUNT,
      [ISO_SYS_COMMIT] = ISO_COMMIT,    [ISO_SYS_ABORT] = ISO_ROLLBACK};
  iso_sys_step what = iso_sys_step_at(family, txn, step);
  iso_driver_request request = {.kind = kinds[what.kind], .key = iso_sys_key(what.row)};
  if (what.kind == ISO_SYS_INSERT || what.kind == ISO_SYS_UPDATE) request.value = iso_sys_value(txn, step, what.other);
  if (what.kind == ISO_SYS_KEYS || what.kind == ISO_SYS_COUNT) {
    request.key = iso_sys_key(0);
    request.high = iso_sys_key(family->rows - 1U);
  } else if (what.kind == ISO_SYS_TABLE) {
    request.key = INT64_MIN;
    request.high = INT64_MAX;
  } else if (what.kind == ISO_SYS_VALUES) {
    request.by_value = true;
    request.key = ISO_SYS_FIRST_MATCHING;
    request.high = ISO_SYS_VALUES_OF_RUN - 1;
  }
  return request;
}

size_t iso_sys_sql(const iso_sys_family *family, uint32_t txn, uint32_t step, const char *table, char *buffer,
                   size_t size) {
  iso_driver_request r = iso_sys_request(family, txn, step);
  int length = 0;
  switch ((iso_sys_kind)iso_sys_step_at(family, txn, step).kind) {
  case ISO_SYS_READ:
    length = snprintf(buffer, size, "SELECT v FROM %s WHERE k = %" PRId64, table, r.key);
    break;
  case ISO_SYS_INSERT:
    length = snprintf(buffer, size, "INSERT INTO %s (k, v) VALUES (%" PRId64 ", %" PRId64 ")", table, r.key, r.value);
    break;
  case ISO_SYS_UPDATE:
    length = snprintf(buffer, size, "UPDATE %s SET v = %" PRId64 " WHERE k = %" PRId64, table, r.value, r.key);
    break;
  case ISO_SYS_DELETE:
    length = snprintf(buffer, size, "DELETE FROM %s WHERE k = %" PRId64, table, r.key);
    break;
  case ISO_SYS_KEYS:
  case ISO_SYS_VALUES:
    length = snprintf(buffer, size, "SELECT k, v FROM %s WHERE %s BETWEEN %" PRId64 " AND %" PRId64, table,
                      r.by_value ? "v" : "k", r.key, r.high);
    break;
  case ISO_SYS_TABLE:
    length = snprintf(buffer, size, "SELECT k, v FROM %s", table);
    break;
  case ISO_SYS_COUNT:
    length = snprintf(buffer, size, "SELECT COUNT(*) FROM %s WHERE k BETWEEN %" PRId64 " AND %" PRId64, table, r.key,
                      r.high);
    break;
  case ISO_SYS_BEGIN:
  case ISO_SYS_COMMIT:
  case ISO_SYS_ABORT:
  case ISO_SYS_KINDS:
    length = snprintf(buffer, size, "%s", r.kind == ISO_BEGIN ? "BEGIN" : r.kind == ISO_COMMIT ? "COMMIT" : "ROLLBACK");
    break;
  }
  return length > 0 ? (size_t)length : 0;
}

size_t iso_sys_start_sql(const iso_sys_family *family, uint32_t row, const char *table, char *buffer, size_t size) {
  int length = snprintf(buffer, size, "INSERT INTO %s (k, v) VALUES (%" PRId64 ", %" PRId64 ")", table,
                        iso_sys_key(row), iso_sys_start_value(row, (iso_sys_start)family->starts[row]));
  return length > 0 ? (size_t)length : 0;
}

/* ---- the script ---- */

/* From what is shown to what is in the table. */
static void move_request(const iso_sys_run *run, iso_driver_request *request) {
  int64_t keys = (int64_t)run->number * ISO_SYS_KEYS_OF_RUN, values = (int64_t)run->number * ISO_SYS_VALUES_OF_RUN;
  if (request->key == INT64_MIN) return;
  request->key += request->by_value ? values : keys;
  request->high += request->by_value ? values : keys;
  request->value += values;
}

static void make_script(iso_sys_run *run) {
  static const iso_act_kind kinds[ISO_SYS_KINDS] = {
      [ISO_SYS_BEGIN] = ISO_ACT_BEGIN,    [ISO_SYS_READ] = ISO_ACT_REQUEST,   [ISO_SYS_INSERT] = ISO_ACT_REQUEST,
      [ISO_SYS_UPDATE] = ISO_ACT_REQUEST, [ISO_SYS_DELETE] = ISO_ACT_REQUEST, [ISO_SYS_KEYS] = ISO_ACT_REQUEST,
      [ISO_SYS_TABLE] = ISO_ACT_REQUEST,  [ISO_SYS_VALUES] = ISO_ACT_REQUEST, [ISO_SYS_COUNT] = ISO_ACT_REQUEST,
      [ISO_SYS_COMMIT] = ISO_ACT_COMMIT,  [ISO_SYS_ABORT] = ISO_ACT_ROLLBACK};
  const iso_sys_family *family = &run->schedule.family;
  run->script.count = iso_sys_acts(&run->schedule, run->acts);
  run->script.sessions = family->txns;
  for (uint32_t i = 0; i < run->script.count; i++) {
    iso_sys_act at = run->acts[i];
    iso_act *act = &run->script.acts[i];
    iso_sys_kind kind = (iso_sys_kind)iso_sys_step_at(family, at.txn, at.step).kind;
    act->session = at.txn;
    act->kind = kinds[kind];
    act->request = iso_sys_request(family, at.txn, at.step);
    move_request(run, &act->request);
  }
}

/* ---- before and after ---- */

static isoproof_status ask(iso_stepper *stepper, iso_driver_request request, const char *what, isoproof_error *error) {
  iso_reply *reply = &stepper->control_reply;
  iso_outcome outcome = iso_do(stepper->controls[0], &request, reply);
  if (outcome == ISO_OUTCOME_OK) return ISOPROOF_OK;
  return iso_fail(error, outcome == ISO_OUTCOME_FOREIGN ? ISOPROOF_ERR_INTERFERENCE : ISOPROOF_ERR_IO,
                  "rows cannot be %s: %s %s", what, reply->code, reply->message);
}

static isoproof_status put_rows(iso_stepper *stepper, const iso_sys_run *run, isoproof_error *error) {
  const iso_sys_family *family = &run->schedule.family;
  for (uint32_t row = 0; row < family->rows; row++) {
    iso_sys_start start = (iso_sys_start)family->starts[row];
    iso_driver_request request = {
        .kind = ISO_INSERT, .key = iso_sys_key(row), .value = iso_sys_start_value(row, start)};
    if (start == ISO_SYS_ABSENT) continue;
    move_request(run, &request);
    ISO_TRY(ask(stepper, request, "prepared", error));
  }
  return iso_stepper_sync(stepper, error);
}

/* The session of a transaction looks at the rows, outside of a transaction. */
static isoproof_status look(iso_stepper *stepper, iso_sys_run *run, uint32_t txn, isoproof_error *error) {
  iso_stepper_session *s = &stepper->sessions[txn];
  iso_driver_request request = {.kind = ISO_READ_RANGE, .key = 0, .high = ISO_SYS_KEYS_OF_RUN - 1};
  move_request(run, &request);
  iso_outcome outcome = iso_do(s->connection, &request, &s->reply);
  if (outcome != ISO_OUTCOME_OK)
    return iso_fail(error, outcome == ISO_OUTCOME_FOREIGN ? ISOPROOF_ERR_INTERFERENCE : ISOPROOF_ERR_IO,
                    "rows cannot be read: %s %s", s->reply.code, s->reply.message);
  if (s->reply.rows.count > ISO_EVENT_ROWS)
    return iso_fail(error, ISOPROOF_ERR_INTERFERENCE, "interference: more rows than the schedule can have made");
  run->final_count[txn] = (uint32_t)s->reply.rows.count;
  for (uint32_t i = 0; i < run->final_count[txn]; i++) run->final[txn][i] = s->reply.rows.items[i];
  return ISOPROOF_OK;
}

/* Nothing of this run may be there in the next one. */
static isoproof_status take_rows(iso_stepper *stepper, iso_sys_run *run, isoproof_error *error) {
  bool found[ISO_SYS_KEYS_OF_RUN] = {false};
  for (uint32_t txn = 0; txn < run->schedule.family.txns; txn++) {
    ISO_TRY(look(stepper, run, txn, error));
    for (uint32_t i = 0; i < run->final_count[txn]; i++)
      found[(uint64_t)run->final[txn][i].key % ISO_SYS_KEYS_OF_RUN] = true;
  }
  for (int64_t key = 0; key < ISO_SYS_KEYS_OF_RUN; key++) {
    iso_driver_request away = {.kind = ISO_DELETE, .key = key};
    if (!found[key]) continue;
    move_request(run, &away);
    ISO_TRY(ask(stepper, away, "removed", error));
  }
  return iso_stepper_sync(stepper, error);
}

isoproof_status iso_sys_execute(iso_stepper *stepper, const iso_sys_schedule *schedule, uint64_t number,
                                const iso_isolation *isolation, iso_sys_run *run, isoproof_task *task,
                                isoproof_error *error) {
  run->schedule = *schedule;
  run->number = number;
  make_script(run);
  ISO_TRY(put_rows(stepper, run, error));
  ISO_TRY(iso_stepper_run(stepper, &run->script, isolation, task, error));
  return take_rows(stepper, run, error);
}
