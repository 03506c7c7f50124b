/* matrix.c - runs every case at every level of a database. */
#include "coo/matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"

enum { SESSIONS = 3, OBJECTS = 3, SETTLE_MS = 60, TIMEOUT_MS = 4000 };
/* Keys 0 to 4 are all that cases use: objects with a stride of at most 2, and the rows of scenarios. */
enum { PARTITIONS = 5 };

static isoproof_status read_options(const isoproof_coo_run_options *given, isoproof_coo_run_options *known,
                                    isoproof_error *error) {
  *known = (isoproof_coo_run_options){0};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_coo_run_options, known, given, error));
  if (known->repeat == 0) known->repeat = 1;
  if (known->settle_ms == 0) known->settle_ms = SETTLE_MS;
  if (known->timeout_ms == 0) known->timeout_ms = TIMEOUT_MS;
  return ISOPROOF_OK;
}

/* ---- rows ---- */

static bool is_wanted(const isoproof_coo_run_options *options, unsigned number) {
  for (size_t i = 0; i < options->case_count; i++) {
    if (options->cases[i] == number) return true;
  }
  return options->case_count == 0;
}

static isoproof_status add_case(isoproof_coo_matrix *matrix, const isoproof_coo_case *c, isoproof_error *error) {
  char kind[8];
  iso_coo_row row = {.number = c->number, .name = c->name};
  snprintf(kind, sizeof kind, "%s-%c", isoproof_coo_class_name(c->kind), isoproof_coo_size_name(c->size)[0]);
  row.kind = iso_arena_text(&matrix->arena, kind, strlen(kind));
  ISO_TRY(isoproof_schedule_parse(c->schedule, &row.plan, error));
  if (row.kind != NULL && iso_vec_push(&matrix->rows, row)) return ISOPROOF_OK;
  isoproof_schedule_free(row.plan);
  return iso_fail_memory(error);
}

static isoproof_status add_cases(isoproof_coo_matrix *matrix, const isoproof_coo_run_options *options,
                                 isoproof_error *error) {
  isoproof_coo_generator *generator = NULL;
  isoproof_coo_case c = {.struct_size = sizeof c};
  isoproof_status status = isoproof_coo_generator_new(SESSIONS, OBJECTS, &generator, error);
  while (status == ISOPROOF_OK && isoproof_coo_generator_next(generator, &c) && c.number > 0) {
    /* A cycle of one object has nothing to distribute. */
    if (options->distributed != ISOPROOF_SPREAD_NONE && c.object_count == 1) continue;
    if (is_wanted(options, c.number)) status = add_case(matrix, &c, error);
  }
  isoproof_coo_generator_free(generator);
  return status;
}

isoproof_status iso_coo_rows(isoproof_coo_matrix *matrix, const isoproof_coo_run_options *options,
                             isoproof_error *error) {
  const iso_coo_scenario *scenario;
  if (options->suite == ISOPROOF_SUITE_COO) ISO_TRY(add_cases(matrix, options, error));
  bool scenarios = options->suite != ISOPROOF_SUITE_COO || options->predicate || options->case_count > 0;
  for (size_t i = 0; scenarios && (scenario = iso_coo_scenario_at(i)) != NULL; i++) {
    if (scenario->suite != options->suite || !is_wanted(options, scenario->number)) continue;
    if (options->distributed == ISOPROOF_SPREAD_TABLES) {
      return iso_fail(error, ISOPROOF_ERR_USAGE,
                      "%s is about the rows of one table: it can be distributed over partitions, not over tables",
                      scenario->name);
    }
    iso_coo_row row = {scenario->number, scenario->name, scenario->kind, NULL, scenario};
    if (!iso_vec_push(&matrix->rows, row)) return iso_fail_memory(error);
  }
  if (matrix->rows.count == 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "no case has one of the numbers asked for");
  return ISOPROOF_OK;
}

/* ---- levels ---- */

static isoproof_status find_levels(isoproof_coo_matrix *matrix, const iso_database *database,
                                   const isoproof_coo_run_options *options, const iso_isolation **isolations,
                                   isoproof_error *error) {
  size_t count = 0;
  for (size_t i = 0; i < options->level_count; i++) {
    if (count == ISO_MOST_ISOLATIONS)
      return iso_fail(error, ISOPROOF_ERR_LIMIT, "expected at most %d levels", ISO_MOST_ISOLATIONS);
    ISO_TRY(iso_database_find_isolation(database, options->levels[i], &isolations[count++], error));
  }
  for (size_t i = 0; options->level_count == 0 && count < ISO_MOST_ISOLATIONS; i++) {
    if ((isolations[count] = iso_database_isolation(database, i)) == NULL) break;
    count++;
  }
  for (size_t i = 0; i < count; i++) {
    const char *name = isolations[i]->name;
    matrix->levels[i] = iso_arena_text(&matrix->arena, name, strlen(name));
    if (matrix->levels[i] == NULL) return iso_fail_memory(error);
  }
  matrix->level_count = count;
  return ISOPROOF_OK;
}

/* ---- running ---- */

static isoproof_status run_once(isoproof_coo_matrix *matrix, iso_stepper *stepper, const iso_coo_row *row,
                                const iso_isolation *isolation, iso_coo_cell *cell, isoproof_task *task,
                                isoproof_error *error) {
  iso_script script;
  double began = iso_now();
  if (row->plan != NULL) {
    ISO_TRY(iso_execute_reset(stepper, row->plan->object_count, matrix->stride, error));
    ISO_TRY(iso_execute_script(row->plan, stepper->database, matrix->stride, &script, error));
  } else {
    ISO_TRY(iso_coo_scenario_reset(stepper, error));
    ISO_TRY(iso_coo_scenario_script(row->scenario, stepper->database, &script, error));
  }
  ISO_TRY(iso_stepper_run(stepper, &script, isolation, task, error));
  ISO_TRY(iso_coo_keep_result(matrix, stepper, row, cell, error));
  cell->shown.seconds += iso_now() - began;
  return ISOPROOF_OK;
}

static isoproof_status run_all(isoproof_coo_matrix *matrix, iso_stepper *stepper,
                               const iso_isolation *const *isolations, uint32_t repeat, isoproof_task *task,
                               isoproof_error *error) {
  uint64_t done = 0, total = (uint64_t)matrix->rows.count * matrix->level_count;
  for (size_t level = 0; level < matrix->level_count; level++) {
    for (size_t row = 0; row < matrix->rows.count; row++) {
      iso_coo_cell *cell = &matrix->cells[row * matrix->level_count + level];
      for (uint32_t i = 0; i < repeat; i++) {
        ISO_TRY(run_once(matrix, stepper, &matrix->rows.items[row], isolations[level], cell, task, error));
      }
      iso_task_progress(task, "running", "cases", ++done, total);
    }
  }
  return ISOPROOF_OK;
}

static uint32_t count_tables(const isoproof_coo_run_options *options) {
  uint32_t tables = options->distributed == ISOPROOF_SPREAD_TABLES ? OBJECTS : 1;
  return options->url_count > 1 ? tables + 1 : tables;
}

static isoproof_status run_on(isoproof_coo_matrix *matrix, iso_database *database,
                              const isoproof_coo_run_options *options, isoproof_task *task, isoproof_error *error) {
  const iso_isolation *isolations[ISO_MOST_ISOLATIONS] = {NULL};
  /* The last table is for the mark of clusters; objects are in the first one, or in one each. */
  iso_stepper_options stepping = {options->settle_ms, options->timeout_ms, (int64_t)count_tables(options) - 1,
                                  options->race};
  iso_stepper *stepper = NULL;
  const char *version = iso_database_version(database);
  if (!iso_database_capabilities(database).sql) {
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "%s takes no SQL, which the cases are made of", version);
  }
  matrix->database = iso_arena_text(&matrix->arena, version, strlen(version));
  if (matrix->database == NULL) return iso_fail_memory(error);
  ISO_TRY(find_levels(matrix, database, options, isolations, error));
  matrix->cells = iso_arena_alloc(&matrix->arena, matrix->rows.count * matrix->level_count + 1, sizeof *matrix->cells);
  if (matrix->cells == NULL) return iso_fail_memory(error);
  ISO_TRY(iso_database_setup(database, error));
  isoproof_status status = iso_stepper_open(database, SESSIONS, &stepping, &stepper, error);
  if (status == ISOPROOF_OK) status = run_all(matrix, stepper, isolations, options->repeat, task, error);
  iso_stepper_close(stepper);
  /* The error that counts is the first one. */
  isoproof_status removed = iso_database_teardown(database, status == ISOPROOF_OK ? error : NULL);
  return status != ISOPROOF_OK ? status : removed;
}

static isoproof_status fill(isoproof_coo_matrix *matrix, const isoproof_coo_run_options *options, isoproof_task *task,
                            isoproof_error *error) {
  iso_database_options how = {.table = "isoproof_coo",
                              .tables = count_tables(options),
                              .partitions = options->distributed == ISOPROOF_SPREAD_PARTITIONS ? PARTITIONS : 1,
                              .lock_timeout_ms = options->timeout_ms,
                              .password = options->password};
  iso_database *database = NULL;
  double began = iso_now();
  matrix->stride = options->distributed == ISOPROOF_SPREAD_TABLES ? 1 : count_tables(options);
  ISO_TRY(iso_coo_rows(matrix, options, error));
  ISO_TRY(iso_database_open(options->urls, options->url_count, &how, &database, error));
  isoproof_status status = run_on(matrix, database, options, task, error);
  iso_database_close(database);
  matrix->seconds = iso_now() - began;
  return status;
}

isoproof_status isoproof_coo_run(const isoproof_coo_run_options *options, isoproof_task *task,
                                 isoproof_coo_matrix **matrix, isoproof_error *error) {
  isoproof_coo_run_options known;
  *matrix = NULL;
  ISO_TRY(read_options(options, &known, error));
  isoproof_coo_matrix *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  isoproof_status status = fill(made, &known, task, error);
  if (status != ISOPROOF_OK) {
    isoproof_coo_matrix_free(made);
    return status;
  }
  *matrix = made;
  return ISOPROOF_OK;
}

void isoproof_coo_matrix_free(isoproof_coo_matrix *matrix) {
  if (matrix == NULL) return;
  for (size_t i = 0; i < matrix->rows.count; i++) isoproof_schedule_free(matrix->rows.items[i].plan);
  iso_vec_free(&matrix->rows);
  iso_arena_free(&matrix->arena);
  free(matrix);
}
