/* stepper.c - scripts step by step: what runs next, and what came of it. */
#include "coo/stepper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- connections ---- */

static isoproof_status connect_all(iso_stepper *stepper, isoproof_error *error) {
  size_t nodes = iso_database_nodes(stepper->database);
  for (uint32_t i = 0; i < stepper->session_count; i++) {
    size_t node = i % nodes;
    ISO_TRY(iso_connect(stepper->database, node, &stepper->sessions[i].connection, error));
    if (stepper->controls[node] == NULL) {
      ISO_TRY(iso_connect(stepper->database, node, &stepper->controls[node], error));
    }
  }
  return ISOPROOF_OK;
}

isoproof_status iso_stepper_open(iso_database *database, uint32_t sessions, const iso_stepper_options *options,
                                 iso_stepper **stepper, isoproof_error *error) {
  *stepper = NULL;
  if (sessions == 0 || sessions > ISO_STEPPER_SESSIONS) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "expected 1 to %d sessions, found %u", ISO_STEPPER_SESSIONS, sessions);
  }
  iso_stepper *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->database = database;
  made->options = *options;
  made->session_count = sessions;
  made->sees_locks = iso_database_capabilities(database).blocked;
  isoproof_status status = connect_all(made, error);
  if (status != ISOPROOF_OK) {
    iso_stepper_close(made);
    return status;
  }
  *stepper = made;
  return ISOPROOF_OK;
}

void iso_stepper_close(iso_stepper *stepper) {
  if (stepper == NULL) return;
  for (uint32_t i = 0; i < ISO_STEPPER_SESSIONS; i++) {
    iso_disconnect(stepper->sessions[i].connection);
    iso_reply_free(&stepper->sessions[i].reply);
  }
  for (size_t i = 0; i < ISO_MOST_NODES; i++) iso_disconnect(stepper->controls[i]);
  iso_reply_free(&stepper->control_reply);
  free(stepper);
}

/* ---- events ---- */

iso_step_event *iso_stepper_event(iso_stepper *stepper, iso_step_event_kind kind, uint32_t session, uint32_t act) {
  /* The array holds the most that a script can give, so that the last event is only ever overwritten by a bug. */
  if (stepper->event_count == ISO_STEPPER_EVENTS) stepper->event_count--;
  iso_step_event *event = &stepper->events[stepper->event_count++];
  double now = iso_now() - stepper->began;
  *event =
      (iso_step_event){.kind = kind, .act = act, .session = session, .started = now, .finished = now, .affected = -1};
  return event;
}

/* The rows of a reply as text. */
static void tell_rows(const iso_reply *reply, iso_step_event *event) {
  size_t used = 0, size = sizeof event->result;
  if (reply->columns == 0) return;
  event->has_rows = true;
  event->rows = (uint32_t)(reply->cells.count / reply->columns);
  for (uint32_t row = 0; row < event->rows; row++) {
    for (uint32_t column = 0; column < reply->columns; column++) {
      const char *cell = iso_reply_cell(reply, row, column);
      const char *before = column > 0 ? "|" : row > 0 ? ", " : "";
      int length = snprintf(event->result + used, size - used, "%s%s", before, cell != NULL ? cell : "NULL");
      if (length < 0 || (size_t)length >= size - used) {
        memcpy(event->result + size - sizeof "...", "...", sizeof "...");
        return;
      }
      used += (size_t)length;
    }
  }
}

/* Copies what fits of a terminated text. */
static void copy_text(char *to, size_t size, const char *from) {
  size_t length = strnlen(from, size - 1);
  memcpy(to, from, length);
  to[length] = '\0';
}

/* The values of a reply to a request. */
static void tell_values(const iso_reply *reply, iso_step_event *event) {
  event->present = reply->present;
  event->value = reply->value;
  if (reply->columns > 0) return;
  event->rows = (uint32_t)reply->rows.count;
  for (uint32_t i = 0; i < event->rows && i < ISO_EVENT_ROWS; i++) event->found[i] = reply->rows.items[i];
}

static void tell_reply(const iso_reply *reply, iso_step_event *event) {
  event->outcome = reply->outcome;
  event->error_class = reply->error_class;
  event->affected = reply->affected;
  copy_text(event->code, sizeof event->code, reply->code);
  copy_text(event->message, sizeof event->message, reply->message);
  if (reply->outcome != ISO_OUTCOME_OK) return;
  tell_rows(reply, event);
  tell_values(reply, event);
}

/* ---- one act ---- */

static bool is_lost(const iso_reply *reply) {
  return reply->outcome == ISO_OUTCOME_LOST || reply->outcome == ISO_OUTCOME_UNKNOWN;
}

static isoproof_status fail_lost(const iso_stepper *stepper, uint32_t session, isoproof_error *error) {
  const iso_reply *reply = &stepper->sessions[session].reply;
  return iso_fail(error, ISOPROOF_ERR_IO, "session %u lost its connection: %s %s", session + 1, reply->code,
                  reply->message);
}

/* After an error a session gives up: nothing of its transaction is to stay. */
static isoproof_status give_up(iso_stepper *stepper, uint32_t session, uint32_t act, isoproof_error *error) {
  iso_stepper_session *s = &stepper->sessions[session];
  s->over = true;
  iso_rollback(s->connection, &s->reply);
  if (is_lost(&s->reply)) return fail_lost(stepper, session, error);
  iso_stepper_event(stepper, ISO_EVENT_UNDONE, session, act);
  return ISOPROOF_OK;
}

static isoproof_status start(iso_stepper *stepper, uint32_t session, isoproof_error *error) {
  static const iso_request_kind kinds[] = {[ISO_ACT_STATEMENT] = ISO_EXECUTE,
                                           [ISO_ACT_BEGIN] = ISO_BEGIN,
                                           [ISO_ACT_COMMIT] = ISO_COMMIT,
                                           [ISO_ACT_ROLLBACK] = ISO_ROLLBACK};
  iso_stepper_session *s = &stepper->sessions[session];
  const iso_act *act = &stepper->script->acts[s->running];
  iso_driver_request request = act->request;
  s->beginning = !s->begun && act->kind != ISO_ACT_BEGIN;
  if (!s->begun)
    request = (iso_driver_request){.kind = ISO_BEGIN, .isolation = stepper->isolation};
  else if (act->kind != ISO_ACT_REQUEST)
    request = (iso_driver_request){.kind = kinds[act->kind], .sql = act->sql};
  s->begun = true;
  ISO_TRY(iso_start(s->connection, &request, error));
  s->in_flight = true;
  return ISOPROOF_OK;
}

isoproof_status iso_stepper_finish(iso_stepper *stepper, uint32_t session, isoproof_error *error) {
  iso_stepper_session *s = &stepper->sessions[session];
  const iso_act *act = &stepper->script->acts[s->running];
  if (!s->answered) iso_finish(s->connection, &s->reply);
  s->in_flight = s->waiting = s->answered = false;
  if (s->beginning && s->reply.outcome == ISO_OUTCOME_OK) return start(stepper, session, error);
  iso_step_event *event = iso_stepper_event(stepper, ISO_EVENT_DONE, session, s->running);
  event->started = s->started;
  event->issued = s->issued;
  event->waited = s->waited;
  tell_reply(&s->reply, event);
  if (is_lost(&s->reply)) return fail_lost(stepper, session, error);
  if (s->reply.outcome != ISO_OUTCOME_OK) return give_up(stepper, session, s->running, error);
  if (iso_act_ends(act)) s->over = true;
  return ISOPROOF_OK;
}

/* Runs an act, and lets the others settle after it. */
static isoproof_status perform(iso_stepper *stepper, uint32_t number, isoproof_error *error) {
  uint32_t session = stepper->script->acts[number].session;
  iso_stepper_session *s = &stepper->sessions[session];
  if (s->over) {
    iso_stepper_event(stepper, ISO_EVENT_SKIPPED, session, number);
    return ISOPROOF_OK;
  }
  stepper->slow = false;
  s->running = number;
  s->waited = false;
  s->issued = stepper->event_count;
  s->started = iso_now() - stepper->began;
  ISO_TRY(start(stepper, session, error));
  ISO_TRY(iso_stepper_follow(stepper, session, error));
  if (s->over && !stepper->options.race) ISO_TRY(iso_stepper_sync(stepper, error));
  return iso_stepper_settle(stepper, s->over || stepper->slow, error);
}

/* ---- the script ---- */

/* The next act that was put off and can go on now; false when there is none. */
static bool take_later(iso_stepper *stepper, uint32_t *act) {
  for (uint32_t i = 0; i < stepper->session_count; i++) {
    iso_stepper_session *s = &stepper->sessions[i];
    if (s->waiting || s->later_next == s->later_count) continue;
    *act = s->later[s->later_next++];
    return true;
  }
  return false;
}

static bool any_waiting(const iso_stepper *stepper) {
  for (uint32_t i = 0; i < stepper->session_count; i++) {
    if (stepper->sessions[i].waiting) return true;
  }
  return false;
}

static isoproof_status run_acts(iso_stepper *stepper, isoproof_task *task, isoproof_error *error) {
  uint32_t next = 0, act;
  for (;;) {
    ISO_TRY(iso_task_check(task, error));
    if (take_later(stepper, &act)) {
      ISO_TRY(perform(stepper, act, error));
    } else if (next < stepper->script->count) {
      iso_stepper_session *s = &stepper->sessions[stepper->script->acts[next].session];
      if (s->waiting)
        s->later[s->later_count++] = next;
      else
        ISO_TRY(perform(stepper, next, error));
      next++;
    } else if (any_waiting(stepper)) {
      ISO_TRY(iso_stepper_wait_any(stepper, task, error));
    } else {
      return ISOPROOF_OK;
    }
  }
}

/* Whatever happened, leaves no statement under way and no transaction open. */
static void clean_up(iso_stepper *stepper) {
  for (uint32_t i = 0; i < stepper->session_count; i++) {
    iso_stepper_session *s = &stepper->sessions[i];
    if (s->in_flight && !s->answered) {
      iso_cancel(s->connection);
      iso_finish(s->connection, &s->reply);
    }
    s->in_flight = s->waiting = s->answered = false;
    if (s->begun && !s->over && iso_connected(s->connection)) iso_rollback(s->connection, &s->reply);
  }
}

isoproof_status iso_stepper_run(iso_stepper *stepper, const iso_script *script, const iso_isolation *isolation,
                                isoproof_task *task, isoproof_error *error) {
  if (script->sessions > stepper->session_count || script->count > ISO_STEPPER_ACTS) {
    return iso_fail(error, ISOPROOF_ERR_INTERNAL, "a script of %u sessions and %u steps does not fit", script->sessions,
                    script->count);
  }
  stepper->script = script;
  stepper->isolation = isolation;
  stepper->event_count = 0;
  stepper->began = iso_now();
  for (uint32_t i = 0; i < stepper->session_count; i++) {
    iso_stepper_session *s = &stepper->sessions[i];
    s->begun = s->over = s->in_flight = s->waiting = s->answered = false;
    s->later_count = s->later_next = 0;
  }
  isoproof_status status = run_acts(stepper, task, error);
  clean_up(stepper);
  return status == ISOPROOF_OK ? iso_stepper_sync(stepper, error) : status;
}
