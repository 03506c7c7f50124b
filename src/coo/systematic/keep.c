/* keep.c - what came of a run: counts, and those that the expected level forbids. */
#include <stdio.h>
#include <string.h>

#include "coo/matrix.h"
#include "coo/systematic/runs.h"

enum { RETURNED_BYTES = 160, SQL_BYTES = 192 };

/* ---- counts ---- */

static bool is_error(const iso_step_event *event) {
  return event->kind == ISO_EVENT_DONE && event->outcome != ISO_OUTCOME_OK;
}

/* An error that is no conflict is no outcome. */
static isoproof_status judge_error(const iso_step_event *event, isoproof_systematic_level *level,
                                   isoproof_error *error) {
  switch (event->error_class) {
  case ISO_CLASS_DEADLOCK:
    level->deadlocks++;
    return ISOPROOF_OK;
  case ISO_CLASS_LOCK_TIMEOUT:
  case ISO_CLASS_TIMEOUT:
  case ISO_CLASS_CANCELLED:
    level->timeouts++;
    return ISOPROOF_OK;
  case ISO_CLASS_CONSTRAINT:
    level->refused++;
    return ISOPROOF_OK;
  case ISO_CLASS_SERIALIZATION:
  case ISO_CLASS_BUSY:
    return ISOPROOF_OK;
  default:
    return iso_fail(error, event->outcome == ISO_OUTCOME_FOREIGN ? ISOPROOF_ERR_INTERFERENCE : ISOPROOF_ERR_IO,
                    "session %u: %s %s", event->session + 1, event->code, event->message);
  }
}

/* The first error decides: what follows it is its consequence. */
static isoproof_status count_events(const iso_stepper *stepper, isoproof_systematic_level *level,
                                    isoproof_error *error) {
  bool waited = false, failed = false;
  for (uint32_t i = 0; i < stepper->event_count; i++) {
    const iso_step_event *event = &stepper->events[i];
    waited = waited || event->kind == ISO_EVENT_WAITS;
    if (failed || !is_error(event)) continue;
    failed = true;
    ISO_TRY(judge_error(event, level, error));
  }
  level->schedules++;
  level->blocked += waited;
  level->aborted += failed;
  level->committed += !failed;
  return ISOPROOF_OK;
}

/* ---- what is kept ---- */

static isoproof_status keep_text(iso_arena *arena, const char *text, const char **kept, isoproof_error *error) {
  *kept = iso_arena_text(arena, text, strlen(text));
  return *kept != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status keep_event(iso_arena *arena, const iso_step_event *event, const iso_sys_run *run,
                                  isoproof_coo_event *out, isoproof_error *error) {
  static const char *const kinds[] = {[ISO_EVENT_DONE] = "done",
                                      [ISO_EVENT_WAITS] = "waits",
                                      [ISO_EVENT_SKIPPED] = "skipped",
                                      [ISO_EVENT_UNDONE] = "undone"};
  char sql[SQL_BYTES] = "ROLLBACK", returned[RETURNED_BYTES];
  iso_sys_act at = run->acts[event->act];
  *out = (isoproof_coo_event){.struct_size = sizeof *out,
                              .kind = kinds[event->kind],
                              .session = event->session + 1,
                              .waited = event->waited,
                              .started = event->started,
                              .finished = event->finished};
  if (event->kind != ISO_EVENT_UNDONE)
    iso_sys_sql(&run->schedule.family, at.txn, at.step, ISO_COO_FAMILY, sql, sizeof sql);
  ISO_TRY(keep_text(arena, sql, &out->sql, error));
  out->step = out->sql;
  iso_sys_returned(event, run, returned, sizeof returned);
  if (returned[0] != '\0') ISO_TRY(keep_text(arena, returned, &out->value, error));
  if (!is_error(event)) return ISOPROOF_OK;
  out->error = iso_error_class_name(event->error_class);
  ISO_TRY(keep_text(arena, event->code, &out->code, error));
  return keep_text(arena, event->message, &out->message, error);
}

static isoproof_status keep_finding(isoproof_systematic *runs, size_t level, const iso_stepper *stepper,
                                    const iso_sys_run *run, uint64_t number, const char *history,
                                    const iso_sys_verdict *verdict, isoproof_error *error) {
  iso_sys_finding finding = {.shown = {.struct_size = sizeof finding.shown,
                                       .number = number,
                                       .level = level,
                                       .anomaly = verdict->code,
                                       .name = verdict->name,
                                       .explanation = verdict->explanation,
                                       .event_count = stepper->event_count}};
  isoproof_coo_event *events = iso_arena_alloc(&runs->arena, stepper->event_count + 1, sizeof *events);
  char text[ISO_SYS_TEXT_BYTES];
  if (events == NULL) return iso_fail_memory(error);
  iso_sys_text(&run->schedule, text);
  ISO_TRY(keep_text(&runs->arena, text, &finding.shown.schedule, error));
  ISO_TRY(keep_text(&runs->arena, history, &finding.shown.history, error));
  for (uint32_t i = 0; i < stepper->event_count; i++)
    ISO_TRY(keep_event(&runs->arena, &stepper->events[i], run, &events[i], error));
  finding.events = events;
  finding.steps = run->script.count;
  return iso_vec_push(&runs->levels[level].findings, finding) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- all of it ---- */

/* A line of JSON for whoever records the outcomes. */
static isoproof_status record(const isoproof_systematic_options *options, const char *level, uint64_t number,
                              const char *schedule, const char *history, const iso_sys_verdict *verdict,
                              isoproof_error *error) {
  isoproof_json *j = NULL;
  ISO_TRY(isoproof_json_open(options->record, options->record_user, &j, error));
  isoproof_json_object(j);
  isoproof_json_name(j, "number");
  isoproof_json_u64(j, number);
  isoproof_json_name(j, "schedule");
  isoproof_json_string(j, schedule);
  isoproof_json_name(j, "level");
  isoproof_json_string(j, level);
  isoproof_json_name(j, "expected");
  isoproof_json_string(j, isoproof_verdict_name(verdict->expected));
  isoproof_json_name(j, "serializable");
  isoproof_json_string(j, isoproof_verdict_name(verdict->serializable));
  isoproof_json_name(j, "history");
  isoproof_json_string(j, history);
  isoproof_json_end(j);
  isoproof_json_line(j);
  return isoproof_json_close(j, error);
}

isoproof_status iso_sys_keep(isoproof_systematic *runs, size_t level, const iso_stepper *stepper,
                             const iso_sys_run *run, uint64_t number, const isoproof_systematic_options *options,
                             isoproof_error *error) {
  isoproof_systematic_level *shown = &runs->levels[level].shown;
  iso_sys_verdict verdict = {0};
  ISO_TRY(count_events(stepper, shown, error));
  ISO_TRY(iso_sys_history(stepper, run, &runs->text, error));
  bool missed = false;
  for (uint32_t i = 0; i < stepper->event_count; i++) missed = missed || iso_sys_missed(&stepper->events[i], run);
  const char *expected = missed ? shown->expected_of_misses : shown->expected;
  ISO_TRY(iso_sys_judge_text(&runs->judge, runs->text.items, runs->text.count, expected, &verdict, error));
  if (options->record != NULL) {
    char schedule[ISO_SYS_TEXT_BYTES];
    iso_sys_text(&run->schedule, schedule);
    ISO_TRY(record(options, shown->name, number, schedule, runs->text.items, &verdict, error));
  }
  bool forbidden = verdict.expected == ISOPROOF_VIOLATED;
  bool undecided = verdict.expected == ISOPROOF_UNDECIDED || verdict.serializable == ISOPROOF_UNDECIDED;
  shown->not_serializable += verdict.serializable == ISOPROOF_VIOLATED;
  shown->undecided += undecided;
  runs->summary.undecided += undecided;
  if (!forbidden) return ISOPROOF_OK;
  shown->forbidden++;
  runs->summary.forbidden++;
  if (runs->levels[level].findings.count == ISOPROOF_SYSTEMATIC_FINDINGS) return ISOPROOF_OK;
  ISO_TRY(keep_finding(runs, level, stepper, run, number, runs->text.items, &verdict, error));
  runs->levels[level].findings.items[runs->levels[level].findings.count - 1].shown.expected = expected;
  return ISOPROOF_OK;
}
