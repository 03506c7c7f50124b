/* case_result.c - what a database did with a case: a letter, the executed schedule, its cycle, and the verdicts of the
 * checkers on what committed. */
#include <stdio.h>
#include <string.h>

#include "coo/matrix.h"

/* What came of one run. */
typedef struct finding {
  isoproof_coo_result result;
  bool broken;
  const char *executed, *cycle, *phenomenon;
  const char *expected; /* the verdict of the expected level */
  isoproof_coo_verdict *verdicts;
  size_t verdict_count;
} finding;

/* ---- letters ---- */

#define ISOPROOF_X(name, letter, id, text) [ISOPROOF_COO_##name] = letter,
static const char letters[ISOPROOF_COO_RESULTS] = {ISOPROOF_COO_RESULT_LIST(ISOPROOF_X)};
#undef ISOPROOF_X
#define ISOPROOF_X(name, letter, id, text) [ISOPROOF_COO_##name] = id,
static const char *const names[ISOPROOF_COO_RESULTS] = {ISOPROOF_COO_RESULT_LIST(ISOPROOF_X)};
#undef ISOPROOF_X
#define ISOPROOF_X(name, letter, id, text) [ISOPROOF_COO_##name] = text,
static const char *const meanings[ISOPROOF_COO_RESULTS] = {ISOPROOF_COO_RESULT_LIST(ISOPROOF_X)};
#undef ISOPROOF_X

char isoproof_coo_result_letter(isoproof_coo_result result) {
  return (unsigned)result < ISOPROOF_COO_RESULTS ? letters[result] : '?';
}
const char *isoproof_coo_result_name(isoproof_coo_result result) {
  return (unsigned)result < ISOPROOF_COO_RESULTS ? names[result] : "?";
}
const char *isoproof_coo_result_meaning(isoproof_coo_result result) {
  return (unsigned)result < ISOPROOF_COO_RESULTS ? meanings[result] : "?";
}

static bool is_error(const iso_step_event *event) {
  return event->kind == ISO_EVENT_DONE && event->outcome != ISO_OUTCOME_OK;
}

/* A cluster reports a conflict between nodes as a deadlock, although nobody waited for anybody. */
static bool is_certification(const iso_stepper *stepper, const iso_step_event *event) {
  bool commits = stepper->script->acts[event->act].kind == ISO_ACT_COMMIT;
  return iso_stepper_apart(stepper) || (commits && iso_database_nodes(stepper->database) > 1);
}

/* The first error decides: what follows it is its consequence.  An error that is no conflict is no result. */
static isoproof_status judge_errors(const iso_stepper *stepper, bool *failed, isoproof_coo_result *result,
                                    isoproof_error *error) {
  *failed = false;
  for (uint32_t i = 0; i < stepper->event_count && !*failed; i++) {
    const iso_step_event *event = &stepper->events[i];
    if (!is_error(event)) continue;
    *failed = true;
    switch (event->error_class) {
    case ISO_CLASS_DEADLOCK:
      *result = is_certification(stepper, event) ? ISOPROOF_COO_RULE : ISOPROOF_COO_DEADLOCK;
      break;
    case ISO_CLASS_LOCK_TIMEOUT:
    case ISO_CLASS_TIMEOUT:
    case ISO_CLASS_CANCELLED:
      *result = ISOPROOF_COO_TIMEOUT;
      break;
    case ISO_CLASS_SERIALIZATION:
    case ISO_CLASS_BUSY:
    case ISO_CLASS_CONSTRAINT:
      *result = ISOPROOF_COO_RULE;
      break;
    default:
      return iso_fail(error, ISOPROOF_ERR_IO, "%s: %s %s", stepper->script->acts[event->act].sql, event->code,
                      event->message);
    }
  }
  return ISOPROOF_OK;
}

/* ---- the checkers on what committed ---- */

static isoproof_status keep_verdicts(isoproof_coo_matrix *matrix, const isoproof_result *result, finding *f,
                                     isoproof_error *error) {
  isoproof_level_verdict verdict = {.struct_size = sizeof verdict};
  size_t count = isoproof_result_level_count(result);
  f->verdicts = iso_arena_alloc(&matrix->arena, count + 1, sizeof *f->verdicts);
  if (f->verdicts == NULL) return iso_fail_memory(error);
  for (size_t i = 0; isoproof_result_level_at(result, i, &verdict); i++) {
    f->verdicts[f->verdict_count++] =
        (isoproof_coo_verdict){.level = verdict.level, .verdict = isoproof_verdict_name(verdict.verdict)};
  }
  return ISOPROOF_OK;
}

static isoproof_status check_levels(isoproof_coo_matrix *matrix, const isoproof_schedule *executed, finding *f,
                                    isoproof_error *error) {
  isoproof_history *history = NULL;
  isoproof_result *result = NULL;
  isoproof_status status = isoproof_schedule_history(executed, &history, error);
  if (status == ISOPROOF_OK) status = isoproof_check(history, NULL, NULL, &result, error);
  if (status == ISOPROOF_OK) status = keep_verdicts(matrix, result, f, error);
  if (status == ISOPROOF_OK && isoproof_result_verdict_of(result, "serializable") == ISOPROOF_VIOLATED)
    f->broken = true;
  isoproof_result_free(result);
  isoproof_history_free(history);
  return status;
}

static isoproof_status find_cycle(const isoproof_schedule *executed, finding *f, isoproof_error *error) {
  isoproof_pop_graph *graph = NULL;
  isoproof_pop_cycle cycle = {.struct_size = sizeof cycle};
  ISO_TRY(isoproof_pop_graph_new(executed, &graph, error));
  if (isoproof_pop_graph_cycle_at(graph, 0, &cycle)) f->cycle = cycle.name;
  isoproof_pop_graph_free(graph);
  return ISOPROOF_OK;
}

/* Everything else about a run that is shown. */
static isoproof_status tell_story(isoproof_coo_matrix *matrix, const isoproof_schedule *executed, bool failed,
                                  finding *f, isoproof_error *error) {
  const char *text = isoproof_schedule_text(executed);
  f->executed = iso_arena_text(&matrix->arena, text, strlen(text));
  if (f->executed == NULL) return iso_fail_memory(error);
  f->phenomenon = isoproof_schedule_phenomenon_at(executed, 0);
  f->broken = f->phenomenon != NULL;
  ISO_TRY(check_levels(matrix, executed, f, error));
  f->broken = f->broken && failed;
  return ISOPROOF_OK;
}

/* ---- what is kept ---- */

static isoproof_status keep_text(iso_arena *arena, const char *text, const char **kept, isoproof_error *error) {
  *kept = iso_arena_text(arena, text, strlen(text));
  return *kept != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

/* The statement as it is shown: the name of the table without the number of the run, which says nothing to a reader and
 * is another one every time. */
static void name_family(const iso_database *database, const char *sql, char out[ISO_ACT_SQL_BYTES]) {
  const char *name = iso_database_table_name(database), *at = strstr(sql, name);
  if (at == NULL)
    snprintf(out, ISO_ACT_SQL_BYTES, "%s", sql);
  else
    snprintf(out, ISO_ACT_SQL_BYTES, "%.*s%s%s", (int)(at - sql), sql, ISO_COO_FAMILY, at + strlen(name));
}

static isoproof_status keep_event(isoproof_coo_matrix *matrix, const iso_stepper *stepper, const iso_coo_row *row,
                                  const iso_step_event *event, isoproof_coo_event *out, isoproof_error *error) {
  static const char *const kinds[] = {[ISO_EVENT_DONE] = "done",
                                      [ISO_EVENT_WAITS] = "waits",
                                      [ISO_EVENT_SKIPPED] = "skipped",
                                      [ISO_EVENT_UNDONE] = "undone"};
  iso_arena *arena = &matrix->arena;
  char step[ISOPROOF_STEP_TEXT_BYTES] = "";
  *out = (isoproof_coo_event){.kind = kinds[event->kind],
                              .session = event->session + 1,
                              .waited = event->waited,
                              .started = event->started,
                              .finished = event->finished};
  bool undone = event->kind == ISO_EVENT_UNDONE;
  char sql[ISO_ACT_SQL_BYTES];
  name_family(stepper->database, undone ? "ROLLBACK" : stepper->script->acts[event->act].sql, sql);
  ISO_TRY(keep_text(arena, sql, &out->sql, error));
  out->step = out->sql;
  if (row->plan != NULL && !undone) {
    isoproof_schedule_step_format(row->plan, event->act, step, sizeof step);
    ISO_TRY(keep_text(arena, step, &out->step, error));
  }
  if (event->has_rows) ISO_TRY(keep_text(arena, event->result, &out->value, error));
  if (!is_error(event)) return ISOPROOF_OK;
  out->error = iso_error_class_name(event->error_class);
  ISO_TRY(keep_text(arena, event->code, &out->code, error));
  return keep_text(arena, event->message, &out->message, error);
}

static isoproof_status keep_run(isoproof_coo_matrix *matrix, const iso_stepper *stepper, const iso_coo_row *row,
                                const finding *f, iso_coo_cell *cell, isoproof_error *error) {
  isoproof_coo_event *events = iso_arena_alloc(&matrix->arena, stepper->event_count + 1, sizeof *events);
  if (events == NULL) return iso_fail_memory(error);
  cell->shown.error_count = 0;
  for (uint32_t i = 0; i < stepper->event_count; i++) {
    ISO_TRY(keep_event(matrix, stepper, row, &stepper->events[i], &events[i], error));
    if (is_error(&stepper->events[i])) cell->shown.error_count++;
  }
  cell->events = events;
  cell->verdicts = f->verdicts;
  cell->shown.event_count = stepper->event_count;
  cell->shown.verdict_count = f->verdict_count;
  cell->shown.result = f->result;
  cell->shown.executed = f->executed;
  cell->shown.cycle = f->cycle;
  cell->shown.phenomenon = f->phenomenon;
  cell->shown.broken = f->broken;
  cell->shown.expected = f->expected;
  return ISOPROOF_OK;
}

/* Counts the run; whether it is to be shown: as the first one, the first that is not as expected, or, as long as there
 * is none, the first of a result that is now the most frequent. */
static bool count_run(iso_coo_cell *cell, const finding *f) {
  isoproof_coo_cell *shown = &cell->shown;
  uint32_t count = ++shown->counts[f->result];
  bool unexpected = f->expected != NULL && strcmp(f->expected, "violated") == 0;
  shown->runs++;
  if (unexpected) shown->unexpected++;
  if (cell->events == NULL || shown->unexpected > 0)
    return cell->events == NULL || (unexpected && shown->unexpected == 1);
  return f->result != shown->result && count > shown->counts[shown->result];
}

static isoproof_status judge_plan(isoproof_coo_matrix *matrix, const iso_stepper *stepper, const iso_coo_row *row,
                                  const isoproof_schedule *executed, bool failed, finding *f, iso_coo_cell *cell,
                                  isoproof_error *error) {
  ISO_TRY(find_cycle(executed, f, error));
  if (!failed && f->cycle != NULL) f->result = ISOPROOF_COO_ANOMALY;
  if (!count_run(cell, f)) return ISOPROOF_OK;
  ISO_TRY(tell_story(matrix, executed, failed, f, error));
  return keep_run(matrix, stepper, row, f, cell, error);
}

isoproof_status iso_coo_keep_result(isoproof_coo_matrix *matrix, iso_stepper *stepper, const iso_coo_row *row,
                                    const iso_coo_claim *claim, iso_coo_cell *cell, isoproof_error *error) {
  finding f = {.result = ISOPROOF_COO_PASS};
  bool failed, happened = false;
  ISO_TRY(judge_errors(stepper, &failed, &f.result, error));
  if (row->plan != NULL) {
    isoproof_schedule *executed = NULL;
    ISO_TRY(iso_execute_story(stepper, row->plan, matrix->stride, &executed, error));
    isoproof_status status = iso_coo_allows(claim, executed, &f.expected, error);
    if (status == ISOPROOF_OK) status = judge_plan(matrix, stepper, row, executed, failed, &f, cell, error);
    isoproof_schedule_free(executed);
    return status;
  }
  ISO_TRY(iso_coo_scenario_happened(stepper, row->scenario, &happened, error));
  if (!failed && happened) f.result = ISOPROOF_COO_ANOMALY;
  f.expected = iso_coo_allows_scenario(claim, row->scenario, f.result == ISOPROOF_COO_ANOMALY);
  return count_run(cell, &f) ? keep_run(matrix, stepper, row, &f, cell, error) : ISOPROOF_OK;
}
