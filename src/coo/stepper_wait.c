/* stepper_wait.c - who waits for a lock, and until when. */
#include "coo/stepper.h"

enum {
  QUICK_MS = 4,        /* nearly every statement that does not wait has ended by then */
  STEP_MS = 2,         /* between two looks at the locks */
  PATIENCE_MS = 10000, /* for a statement that neither ends nor waits for a lock */
  MARGIN_MS = 2000,    /* for the server's own time limit to come before ours */
  VICTIM_MS = 500      /* for the one whose rollback has set another free */
};

static iso_connection *control_of(const iso_stepper *stepper, uint32_t session) {
  return stepper->controls[session % iso_database_nodes(stepper->database)];
}

static isoproof_status ask(iso_stepper *stepper, uint32_t session, bool *blocked, isoproof_error *error) {
  iso_connection *connection = stepper->sessions[session].connection;
  *blocked = false;
  return iso_blocked(control_of(stepper, session), &connection, 1, blocked, error);
}

static bool has_answer(iso_stepper_session *s, uint32_t timeout_ms) {
  return s->answered || iso_poll(s->connection, timeout_ms);
}

static void take_answer(iso_stepper_session *s) {
  if (!s->answered) iso_finish(s->connection, &s->reply);
  s->answered = true;
}

/* Takes in the failures of other waiting sessions: a rollback that has set a session free comes before what that one
 * does next, although both answers arrive at once. */
static isoproof_status failures_first(iso_stepper *stepper, uint32_t except, bool *failed, isoproof_error *error) {
  *failed = false;
  for (uint32_t i = 0; i < stepper->session_count; i++) {
    iso_stepper_session *s = &stepper->sessions[i];
    if (i == except || !s->waiting || !has_answer(s, 1)) continue;
    take_answer(s);
    if (s->reply.outcome == ISO_OUTCOME_OK) continue;
    ISO_TRY(iso_stepper_finish(stepper, i, error));
    *failed = true;
  }
  return ISOPROOF_OK;
}

static isoproof_status note_waiting(iso_stepper *stepper, uint32_t session) {
  iso_stepper_session *s = &stepper->sessions[session];
  if (!s->waiting && !s->waited) {
    iso_stepper_event(stepper, ISO_EVENT_WAITS, session, s->running)->started = s->started;
  }
  s->waiting = s->waited = true;
  return ISOPROOF_OK;
}

/* Watches the statement of a session until its answer is there or it is seen to wait. */
static isoproof_status watch(iso_stepper *stepper, uint32_t session, bool *answered, isoproof_error *error) {
  iso_stepper_session *s = &stepper->sessions[session];
  double limit = iso_now() + PATIENCE_MS / 1000.0;
  *answered = has_answer(s, stepper->sees_locks ? QUICK_MS : stepper->options.settle_ms);
  if (*answered) return ISOPROOF_OK;
  stepper->slow = true;
  /* What is not a lock that the server shows ends at the limit; whatever it is, the others may go on then. */
  while (stepper->sees_locks && iso_now() < limit) {
    bool blocked;
    ISO_TRY(ask(stepper, session, &blocked, error));
    /* The answer may have come while the locks were looked at. */
    *answered = has_answer(s, blocked ? 0 : STEP_MS);
    if (*answered || blocked) return ISOPROOF_OK;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_stepper_follow(iso_stepper *stepper, uint32_t session, isoproof_error *error) {
  bool answered, failed;
  while (stepper->sessions[session].in_flight) {
    ISO_TRY(watch(stepper, session, &answered, error));
    if (!answered) return note_waiting(stepper, session);
    /* An end is never due to others' failures, but may well be the reason for them. */
    bool ends = iso_act_ends(&stepper->script->acts[stepper->sessions[session].running]);
    if (!ends) ISO_TRY(failures_first(stepper, session, &failed, error));
    ISO_TRY(iso_stepper_finish(stepper, session, error));
  }
  return ISOPROOF_OK;
}

/* Takes in the answers that are there; whether one of them ended a transaction. */
static isoproof_status take_answers(iso_stepper *stepper, bool *freed, isoproof_error *error) {
  for (uint32_t i = 0; i < stepper->session_count; i++) {
    iso_stepper_session *s = &stepper->sessions[i];
    if (!s->waiting || !has_answer(s, 0)) continue;
    ISO_TRY(iso_stepper_follow(stepper, i, error));
    *freed = *freed || s->over;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_stepper_settle(iso_stepper *stepper, bool freed, isoproof_error *error) {
  ISO_TRY(take_answers(stepper, &freed, error));
  while (freed) {
    freed = false;
    for (uint32_t i = 0; i < stepper->session_count; i++) {
      if (!stepper->sessions[i].waiting) continue;
      ISO_TRY(iso_stepper_follow(stepper, i, error));
      /* A victim that was rolled back sets others free in turn. */
      freed = freed || (!stepper->sessions[i].waiting && stepper->sessions[i].over);
    }
  }
  return ISOPROOF_OK;
}

/* When all sessions wait, only a failure sets one free: looks for it before what it has set free goes on. */
static isoproof_status find_victim(iso_stepper *stepper, uint32_t freed, isoproof_error *error) {
  double limit = iso_now() + VICTIM_MS / 1000.0;
  take_answer(&stepper->sessions[freed]);
  bool failed = stepper->sessions[freed].reply.outcome != ISO_OUTCOME_OK;
  while (!failed && iso_now() < limit) ISO_TRY(failures_first(stepper, freed, &failed, error));
  return ISOPROOF_OK;
}

isoproof_status iso_stepper_wait_any(iso_stepper *stepper, isoproof_task *task, isoproof_error *error) {
  double limit = iso_now() + (stepper->options.timeout_ms + MARGIN_MS) / 1000.0;
  uint32_t last = 0;
  while (iso_now() < limit) {
    ISO_TRY(iso_task_check(task, error));
    for (uint32_t i = 0; i < stepper->session_count; i++) {
      iso_stepper_session *s = &stepper->sessions[i];
      if (!s->waiting) continue;
      last = i;
      if (!has_answer(s, STEP_MS)) continue;
      ISO_TRY(find_victim(stepper, i, error));
      ISO_TRY(iso_stepper_follow(stepper, i, error));
      return iso_stepper_settle(stepper, true, error);
    }
  }
  iso_stepper_session *s = &stepper->sessions[last];
  if (!iso_cancel(s->connection)) {
    return iso_fail(error, ISOPROOF_ERR_TIMEOUT, "session %u waits for ever and cannot be cancelled", last + 1);
  }
  (void)iso_poll(s->connection, MARGIN_MS);
  ISO_TRY(iso_stepper_follow(stepper, last, error));
  return iso_stepper_settle(stepper, true, error);
}
