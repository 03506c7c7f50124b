/* execute.c - schedules as scripts, and events as schedules. */
#include "coo/execute.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- before ---- */

static isoproof_status write_row(iso_stepper *stepper, size_t node, int64_t key, int64_t value, isoproof_error *error) {
  iso_reply *reply = &stepper->control_reply;
  if (iso_write(stepper->controls[node], key, value, reply) == ISO_OUTCOME_OK) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "a row cannot be prepared: %s %s", reply->code, reply->message);
}

static isoproof_status read_row(iso_stepper *stepper, size_t node, int64_t key, int64_t *value, isoproof_error *error) {
  iso_reply *reply = &stepper->control_reply;
  if (iso_read(stepper->controls[node], key, reply) != ISO_OUTCOME_OK) {
    return iso_fail(error, ISOPROOF_ERR_IO, "a row cannot be read: %s %s", reply->code, reply->message);
  }
  *value = reply->present ? reply->value : INT64_MIN;
  return ISOPROOF_OK;
}

isoproof_status iso_execute_reset(iso_stepper *stepper, uint32_t objects, uint32_t stride, isoproof_error *error) {
  for (uint32_t i = 0; i < objects; i++) ISO_TRY(write_row(stepper, 0, (int64_t)i * stride, 0, error));
  return iso_stepper_sync(stepper, error);
}

static void make_statement(const isoproof_schedule *plan, uint32_t step, const char *table, int64_t key, iso_act *act) {
  if (plan->steps[step].kind == ISOPROOF_STEP_READ)
    snprintf(act->sql, sizeof act->sql, "SELECT v FROM %s WHERE k = %" PRId64, table, key);
  else
    snprintf(act->sql, sizeof act->sql, "UPDATE %s SET v = %u WHERE k = %" PRId64, table,
             iso_schedule_value(plan, step), key);
}

isoproof_status iso_execute_script(const isoproof_schedule *plan, const iso_database *database, uint32_t stride,
                                   iso_script *script, isoproof_error *error) {
  memset(script, 0, sizeof *script);
  if (plan->step_count > ISO_STEPPER_ACTS || plan->txn_count > ISO_STEPPER_SESSIONS) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "expected at most %d steps of %d transactions to run, found %u of %u",
                    ISO_STEPPER_ACTS, ISO_STEPPER_SESSIONS, plan->step_count, plan->txn_count);
  }
  script->count = plan->step_count;
  script->sessions = plan->txn_count;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const isoproof_schedule_step *step = &plan->steps[i];
    iso_act *act = &script->acts[i];
    char table[ISO_TABLE_BYTES];
    act->session = step->txn;
    if (step->kind == ISOPROOF_STEP_COMMIT || step->kind == ISOPROOF_STEP_ABORT) {
      bool commits = step->kind == ISOPROOF_STEP_COMMIT;
      act->kind = commits ? ISO_ACT_COMMIT : ISO_ACT_ROLLBACK;
      snprintf(act->sql, sizeof act->sql, "%s", commits ? "COMMIT" : "ROLLBACK");
      continue;
    }
    int64_t key = (int64_t)step->object * stride;
    iso_database_table(database, key, table);
    make_statement(plan, i, table, key, act);
  }
  return ISOPROOF_OK;
}

/* ---- after ---- */

/* Which version of an object each value became, in the order of execution. */
typedef struct telling {
  isoproof_schedule *story;
  const isoproof_schedule *plan;
  uint32_t version[ISOPROOF_SCHEDULE_STEPS + 1]; /* by value; ISO_VERSION_LATEST while the write has not happened */
} telling;

static uint32_t version_of(const telling *t, const char *text, isoproof_error *error, isoproof_status *status) {
  int64_t value;
  *status = ISOPROOF_OK;
  bool known = iso_parse_i64(text, strlen(text), &value) && value >= 0 && value <= ISOPROOF_SCHEDULE_STEPS;
  if (known && value == 0) return 0;
  if (known && t->version[value] != ISO_VERSION_LATEST) return t->version[value];
  *status = iso_fail(error, ISOPROOF_ERR_INTERFERENCE,
                     "interference: a read returned '%s', which no statement of the case had written by then; somebody "
                     "else changes the table",
                     text);
  return 0;
}

static isoproof_status tell_access(telling *t, const iso_step_event *event, isoproof_error *error) {
  const isoproof_schedule_step *step = &t->plan->steps[event->act];
  const char *name = t->plan->names[step->object];
  uint32_t label = t->plan->labels[step->txn], version = ISO_VERSION_LATEST;
  isoproof_status status;
  if (step->kind == ISOPROOF_STEP_READ) {
    version = version_of(t, event->result, error, &status);
    ISO_TRY(status);
  }
  ISO_TRY(iso_schedule_add(t->story, step->kind, label, name, version, ISO_NOWHERE, error));
  if (step->kind == ISOPROOF_STEP_WRITE) {
    t->version[iso_schedule_value(t->plan, event->act)] = t->story->steps[t->story->step_count - 1].version;
  }
  return ISOPROOF_OK;
}

static isoproof_status tell_event(telling *t, const iso_step_event *event, isoproof_error *error) {
  const isoproof_schedule_step *step = &t->plan->steps[event->act];
  uint32_t label = t->plan->labels[step->txn];
  if (event->kind == ISO_EVENT_UNDONE) {
    return iso_schedule_add(t->story, ISOPROOF_STEP_ABORT, label, "", 0, ISO_NOWHERE, error);
  }
  if (event->kind != ISO_EVENT_DONE || event->outcome != ISO_OUTCOME_OK) return ISOPROOF_OK;
  if (step->kind == ISOPROOF_STEP_READ || step->kind == ISOPROOF_STEP_WRITE) return tell_access(t, event, error);
  return iso_schedule_add(t->story, step->kind, label, "", 0, ISO_NOWHERE, error);
}

/* What the rows hold in the end, as versions. */
static isoproof_status tell_final(iso_stepper *stepper, telling *t, uint32_t stride, isoproof_error *error) {
  for (uint32_t i = 0; i < t->story->object_count; i++) {
    uint32_t key = 0;
    int64_t value = 0;
    char text[ISO_NUMBER_BYTES + 1];
    isoproof_status status;
    while (strcmp(t->plan->names[key], t->story->names[i]) != 0) key++;
    ISO_TRY(read_row(stepper, 0, (int64_t)key * stride, &value, error));
    text[iso_format_i64(value, text)] = 0;
    t->story->final[i] = version_of(t, text, error, &status);
    ISO_TRY(status);
  }
  t->story->has_final = true;
  return ISOPROOF_OK;
}

isoproof_status iso_execute_story(iso_stepper *stepper, const isoproof_schedule *plan, uint32_t stride,
                                  isoproof_schedule **executed, isoproof_error *error) {
  telling t = {.plan = plan};
  *executed = NULL;
  memset(t.version, 0xff, sizeof t.version);
  ISO_TRY(iso_schedule_new(&t.story, error));
  isoproof_status status = ISOPROOF_OK;
  for (uint32_t i = 0; i < stepper->event_count && status == ISOPROOF_OK; i++) {
    status = tell_event(&t, &stepper->events[i], error);
  }
  if (status == ISOPROOF_OK) status = tell_final(stepper, &t, stride, error);
  if (status == ISOPROOF_OK) status = iso_schedule_seal(t.story, error);
  if (status != ISOPROOF_OK) {
    isoproof_schedule_free(t.story);
    return status;
  }
  *executed = t.story;
  return ISOPROOF_OK;
}
