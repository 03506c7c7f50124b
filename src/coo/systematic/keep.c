/* keep.c - outcomes counted, and those that the expected level forbids: the smallest, with how many contain them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coo/matrix.h"
#include "coo/systematic/runs.h"

enum { RETURNED_BYTES = 160, SQL_BYTES = 192, MOST_MINIMAL = 20000 };

/* ---- counts ---- */

static void count(const iso_sys_outcome *outcome, isoproof_systematic_level *level) {
  level->schedules++;
  level->blocked += outcome->waited;
  level->aborted += outcome->failed;
  level->committed += !outcome->failed;
  level->seconds += outcome->seconds;
  level->not_serializable += outcome->verdict.serializable == ISOPROOF_VIOLATED;
  if (!outcome->failed) return;
  level->deadlocks += outcome->failure == ISO_CLASS_DEADLOCK;
  level->refused += outcome->failure == ISO_CLASS_CONSTRAINT;
  level->timeouts += outcome->failure == ISO_CLASS_LOCK_TIMEOUT || outcome->failure == ISO_CLASS_TIMEOUT ||
                     outcome->failure == ISO_CLASS_CANCELLED;
}

/* ---- what contains what ---- */

static uint32_t operations_of(const iso_sys_schedule *schedule) {
  uint32_t operations = 0;
  for (uint32_t t = 0; t < schedule->family.txns; t++) operations += schedule->family.programs[t].count;
  return operations;
}

/* The first finding of which a minimal schedule is a part of a schedule; SIZE_MAX when there is none.  Of those that
 * were drawn few have every order of a shape among them, so that there (`any_order`) the same steps are enough. */
static size_t find_part(const iso_sys_level *level, const iso_sys_schedule *schedule, bool any_order) {
  uint32_t operations = operations_of(schedule);
  size_t first = SIZE_MAX;
  for (uint32_t mask = 1; level->minimal.count > 0 && mask < 1U << operations; mask++) {
    iso_sys_schedule part;
    if (!iso_sys_part(schedule, mask, &part)) continue;
    for (size_t i = 0; i < level->minimal.count; i++) {
      const iso_sys_minimal *known = &level->minimal.items[i];
      if (known->finding >= first) continue;
      int difference = any_order ? iso_sys_family_compare(&known->schedule.family, &part.family)
                                 : iso_sys_compare(&known->schedule, &part);
      if (difference == 0) first = known->finding;
    }
  }
  return first;
}

/* The finding with the same steps; SIZE_MAX when there is none. */
static size_t find_shape(const iso_sys_level *level, const iso_sys_schedule *schedule) {
  for (size_t i = 0; i < level->findings.count; i++)
    if (iso_sys_family_compare(&level->findings.items[i].schedule.family, &schedule->family) == 0) return i;
  return SIZE_MAX;
}

/* Counts a schedule with the finding that shows its shape, or one that is a part of it; `known` is false when there is
 * neither.  Larger ones have to come after smaller ones. */
static isoproof_status count_shape(iso_sys_level *level, const iso_sys_schedule *schedule, bool any_order, bool *known,
                                   isoproof_error *error) {
  size_t shape = find_shape(level, schedule), part = find_part(level, schedule, any_order);
  if (shape != SIZE_MAX && part == shape) part = SIZE_MAX; /* of itself, in another order */
  if (part != SIZE_MAX) shape = SIZE_MAX;
  iso_sys_minimal minimal = {*schedule, shape != SIZE_MAX ? shape : level->findings.count};
  *known = part != SIZE_MAX || shape != SIZE_MAX;
  if (part != SIZE_MAX) {
    level->findings.items[part].shown.larger++;
    return ISOPROOF_OK;
  }
  if (shape != SIZE_MAX) level->findings.items[shape].shown.orders++;
  if (level->minimal.count == MOST_MINIMAL) return ISOPROOF_OK;
  return iso_vec_push(&level->minimal, minimal) ? ISOPROOF_OK : iso_fail_memory(error);
}

static int compare_findings(const void *a, const void *b) {
  const iso_sys_finding *x = a, *y = b;
  uint32_t left = operations_of(&x->schedule), right = operations_of(&y->schedule);
  if (left != right) return left < right ? -1 : 1;
  return x->shown.number < y->shown.number ? -1 : x->shown.number > y->shown.number;
}

/* Findings that came in any order: the smallest first, and of each shape one. */
static isoproof_status reduce(iso_sys_level *level, isoproof_error *error) {
  size_t count_of = level->findings.count;
  if (count_of < 2) return ISOPROOF_OK;
  qsort(level->findings.items, count_of, sizeof(iso_sys_finding), compare_findings);
  level->findings.count = 0;
  for (size_t i = 0; i < count_of; i++) {
    bool known;
    iso_sys_finding finding = level->findings.items[i];
    ISO_TRY(count_shape(level, &finding.schedule, true, &known, error));
    if (!known) level->findings.items[level->findings.count++] = finding;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_sys_arrange(isoproof_systematic *runs, isoproof_error *error) {
  for (size_t i = 0; runs->summary.drawn && i < runs->level_count; i++) ISO_TRY(reduce(&runs->levels[i], error));
  for (int reused = 0; reused < 2; reused++) {
    for (size_t i = 0; i < runs->level_count; i++) {
      for (size_t j = 0; j < runs->levels[i].findings.count; j++) {
        iso_sys_listed listed = {i, j};
        bool here = runs->levels[i].findings.items[j].shown.reused == (reused == 1);
        if (here && !iso_vec_push(&runs->listed, listed)) return iso_fail_memory(error);
      }
    }
  }
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
  if (event->kind != ISO_EVENT_DONE || event->outcome == ISO_OUTCOME_OK) return ISOPROOF_OK;
  out->error = iso_error_class_name(event->error_class);
  ISO_TRY(keep_text(arena, event->code, &out->code, error));
  return keep_text(arena, event->message, &out->message, error);
}

static isoproof_status keep_finding(isoproof_systematic *runs, size_t level, const iso_sys_schedule *schedule,
                                    uint64_t number, const iso_sys_outcome *outcome, isoproof_error *error) {
  iso_sys_finding finding = {.shown = {.struct_size = sizeof finding.shown,
                                       .number = number,
                                       .level = level,
                                       .expected = outcome->expected,
                                       .anomaly = outcome->verdict.code,
                                       .name = outcome->verdict.name,
                                       .explanation = outcome->verdict.explanation,
                                       .event_count = outcome->event_count,
                                       .reused = iso_sys_reuses_key(&schedule->family),
                                       .orders = 1},
                             .schedule = *schedule};
  isoproof_coo_event *events = iso_arena_alloc(&runs->arena, outcome->event_count + 1, sizeof *events);
  char text[ISO_SYS_TEXT_BYTES];
  if (events == NULL) return iso_fail_memory(error);
  iso_sys_text(schedule, text);
  ISO_TRY(keep_text(&runs->arena, text, &finding.shown.schedule, error));
  ISO_TRY(keep_text(&runs->arena, outcome->history, &finding.shown.history, error));
  for (uint32_t i = 0; i < outcome->event_count; i++)
    ISO_TRY(keep_event(&runs->arena, &outcome->events[i], outcome->run, &events[i], error));
  finding.events = events;
  return iso_vec_push(&runs->levels[level].findings, finding) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- all of it ---- */

/* A line of JSON for whoever records the outcomes. */
static isoproof_status record(const isoproof_systematic_options *options, const char *level, uint64_t number,
                              const iso_sys_schedule *schedule, const iso_sys_outcome *outcome, isoproof_error *error) {
  isoproof_json *j = NULL;
  char text[ISO_SYS_TEXT_BYTES];
  iso_sys_text(schedule, text);
  ISO_TRY(isoproof_json_open(options->record, options->record_user, &j, error));
  isoproof_json_object(j);
  isoproof_json_name(j, "number");
  isoproof_json_u64(j, number);
  isoproof_json_name(j, "schedule");
  isoproof_json_string(j, text);
  isoproof_json_name(j, "reused");
  isoproof_json_bool(j, iso_sys_reuses_key(&schedule->family));
  isoproof_json_name(j, "level");
  isoproof_json_string(j, level);
  isoproof_json_name(j, "expected");
  isoproof_json_string(j, isoproof_verdict_name(outcome->verdict.expected));
  isoproof_json_name(j, "serializable");
  isoproof_json_string(j, isoproof_verdict_name(outcome->verdict.serializable));
  isoproof_json_name(j, "history");
  isoproof_json_string(j, outcome->history);
  isoproof_json_end(j);
  isoproof_json_line(j);
  return isoproof_json_close(j, error);
}

isoproof_status iso_sys_keep(isoproof_systematic *runs, size_t level, const iso_sys_schedule *schedule, uint64_t number,
                             const iso_sys_outcome *outcome, const isoproof_systematic_options *options,
                             isoproof_error *error) {
  bool reused = iso_sys_reuses_key(&schedule->family);
  iso_sys_level *known = &runs->levels[level];
  isoproof_systematic_level *group = &known->groups[reused];
  isoproof_systematic_summary *summary = &runs->summary;
  const iso_sys_verdict *verdict = &outcome->verdict;
  bool undecided = verdict->expected == ISOPROOF_UNDECIDED || verdict->serializable == ISOPROOF_UNDECIDED;
  count(outcome, group);
  group->undecided += undecided;
  *(reused ? &summary->reused_undecided : &summary->undecided) += undecided;
  if (options->record != NULL) ISO_TRY(record(options, group->name, number, schedule, outcome, error));
  if (verdict->expected != ISOPROOF_VIOLATED) return ISOPROOF_OK;
  group->forbidden++;
  *(reused ? &summary->reused_forbidden : &summary->forbidden) += 1;
  /* Drawn ones come in any order: shapes are told from each other in the end. */
  bool counted = false;
  if (!summary->drawn) ISO_TRY(count_shape(known, schedule, false, &counted, error));
  if (counted || known->findings.count == ISOPROOF_SYSTEMATIC_FINDINGS) return ISOPROOF_OK;
  return keep_finding(runs, level, schedule, number, outcome, error);
}
