/* conclude.c - what came of a run: judged, and what is needed of it later. */
#include <stdlib.h>
#include <string.h>

#include "coo/systematic/runs.h"

/* An error that is no conflict is no outcome. */
static isoproof_status check_error(const iso_step_event *event, isoproof_error *error) {
  switch (event->error_class) {
  case ISO_CLASS_DEADLOCK:
  case ISO_CLASS_LOCK_TIMEOUT:
  case ISO_CLASS_TIMEOUT:
  case ISO_CLASS_CANCELLED:
  case ISO_CLASS_CONSTRAINT:
  case ISO_CLASS_SERIALIZATION:
  case ISO_CLASS_BUSY:
    return ISOPROOF_OK;
  default:
    return iso_fail(error, event->outcome == ISO_OUTCOME_FOREIGN ? ISOPROOF_ERR_INTERFERENCE : ISOPROOF_ERR_IO,
                    "session %u: %s %s", event->session + 1, event->code, event->message);
  }
}

static isoproof_status read_events(const iso_stepper *stepper, iso_sys_outcome *outcome, isoproof_error *error) {
  for (uint32_t i = 0; i < stepper->event_count; i++) {
    const iso_step_event *event = &stepper->events[i];
    outcome->waited = outcome->waited || event->kind == ISO_EVENT_WAITS;
    if (outcome->failed || event->kind != ISO_EVENT_DONE || event->outcome == ISO_OUTCOME_OK) continue;
    outcome->failed = true;
    outcome->failure = event->error_class;
    ISO_TRY(check_error(event, error));
  }
  return ISOPROOF_OK;
}

/* The run and its events, which the stepper overwrites with the next one. */
static isoproof_status keep_run(const iso_stepper *stepper, const iso_sys_run *run, iso_sys_outcome *outcome,
                                isoproof_error *error) {
  outcome->run = iso_alloc(1, sizeof *run);
  outcome->events = iso_alloc(stepper->event_count, sizeof *outcome->events);
  if (outcome->run == NULL || outcome->events == NULL) return iso_fail_memory(error);
  *outcome->run = *run;
  outcome->event_count = stepper->event_count;
  memcpy(outcome->events, stepper->events, stepper->event_count * sizeof *outcome->events);
  return ISOPROOF_OK;
}

isoproof_status iso_sys_conclude(isoproof_systematic *runs, size_t level, const iso_stepper *stepper,
                                 const iso_sys_run *run, bool recorded, iso_sys_text_buffer *text,
                                 iso_sys_outcome *outcome, isoproof_error *error) {
  const isoproof_systematic_level *known = &runs->levels[level].groups[0];
  bool missed = false;
  ISO_TRY(read_events(stepper, outcome, error));
  ISO_TRY(iso_sys_history(stepper, run, text, error));
  for (uint32_t i = 0; i < stepper->event_count; i++) missed = missed || iso_sys_missed(&stepper->events[i], run);
  outcome->expected = missed ? known->expected_of_misses : known->expected;
  ISO_TRY(iso_sys_judge_text(&runs->judge, text->items, text->count, outcome->expected, &outcome->verdict, error));
  bool forbidden = outcome->verdict.expected == ISOPROOF_VIOLATED;
  if (forbidden || recorded) {
    outcome->history = strdup(text->items);
    if (outcome->history == NULL) return iso_fail_memory(error);
  }
  return forbidden ? keep_run(stepper, run, outcome, error) : ISOPROOF_OK;
}

void iso_sys_outcome_free(iso_sys_outcome *outcome) {
  free(outcome->history);
  free(outcome->run);
  free(outcome->events);
  *outcome = (iso_sys_outcome){0};
}
