/* matrix.c - runs every case at every level of a database. */
#include "coo/matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"

enum { SETTLE_MS = 60, TIMEOUT_MS = 4000 };
/* Keys 0 to 4 are those of the published cases, with a stride of at most 2, and of the rows of scenarios. */
enum { LEAST_PARTITIONS = 5 };

static isoproof_status read_options(const isoproof_coo_run_options *given, isoproof_coo_run_options *known,
                                    isoproof_error *error) {
  *known = (isoproof_coo_run_options){0};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_coo_run_options, known, given, error));
  if (known->repeat == 0) known->repeat = 1;
  if (known->settle_ms == 0) known->settle_ms = SETTLE_MS;
  if (known->timeout_ms == 0) known->timeout_ms = TIMEOUT_MS;
  if (known->limit == 0) known->limit = ISOPROOF_COO_LIMIT;
  if ((known->transactions > 0) != (known->objects > 0))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "expected a limit for transactions and for objects, found one of them");
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
    ISO_TRY(iso_coo_expect(&matrix->arena, isolations[i], options->expect, &matrix->claims[i], error));
  }
  matrix->level_count = count;
  return ISOPROOF_OK;
}

/* ---- running ---- */

static isoproof_status run_once(isoproof_coo_matrix *matrix, iso_stepper *stepper, const iso_coo_row *row,
                                const iso_isolation *isolation, const iso_coo_claim *claim, iso_coo_cell *cell,
                                isoproof_task *task, isoproof_error *error) {
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
  ISO_TRY(iso_coo_keep_result(matrix, stepper, row, claim, cell, error));
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
        ISO_TRY(run_once(matrix, stepper, &matrix->rows.items[row], isolations[level], &matrix->claims[level], cell,
                         task, error));
      }
      iso_task_progress(task, "running", "cases", ++done, total);
    }
  }
  matrix->complete = true;
  return ISOPROOF_OK;
}

static uint32_t count_tables(const isoproof_coo_matrix *matrix, const isoproof_coo_run_options *options) {
  uint32_t tables = options->distributed == ISOPROOF_SPREAD_TABLES ? iso_coo_most_objects(matrix) : 1;
  return options->url_count > 1 ? tables + 1 : tables;
}

/* So many that every object has one of its own. */
static isoproof_status count_partitions(const isoproof_coo_matrix *matrix, const isoproof_coo_run_options *options,
                                        uint32_t *partitions, isoproof_error *error) {
  *partitions = 1;
  if (options->distributed != ISOPROOF_SPREAD_PARTITIONS) return ISOPROOF_OK;
  uint32_t objects = iso_coo_most_objects(matrix), needed = (objects - 1) * matrix->stride + 1;
  if (needed > ISO_MOST_PARTITIONS)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "expected at most %u objects in partitions, found %u",
                    (ISO_MOST_PARTITIONS - 1) / matrix->stride + 1, objects);
  *partitions = needed > LEAST_PARTITIONS ? needed : LEAST_PARTITIONS;
  return ISOPROOF_OK;
}

static isoproof_status run_on(isoproof_coo_matrix *matrix, iso_database *database,
                              const isoproof_coo_run_options *options, isoproof_task *task, isoproof_error *error) {
  const iso_isolation *isolations[ISO_MOST_ISOLATIONS] = {NULL};
  /* The last table is for the mark of clusters; objects are in the first one, or in one each. */
  iso_stepper_options stepping = {options->settle_ms, options->timeout_ms, (int64_t)count_tables(matrix, options) - 1,
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
  isoproof_status status = iso_stepper_open(database, iso_coo_most_txns(matrix), &stepping, &stepper, error);
  if (status == ISOPROOF_OK) status = run_all(matrix, stepper, isolations, options->repeat, task, error);
  iso_stepper_close(stepper);
  isoproof_error changed = {.offset = -1};
  if (iso_database_verify(database, &changed) == ISOPROOF_ERR_INTERFERENCE)
    status = iso_fail(error, ISOPROOF_ERR_INTERFERENCE, "interference: %.300s", changed.message);
  /* The error that counts is the first one. */
  isoproof_status removed = iso_database_teardown(database, status == ISOPROOF_OK ? error : NULL);
  return status != ISOPROOF_OK ? status : removed;
}

static isoproof_status fill(isoproof_coo_matrix *matrix, const isoproof_coo_run_options *options, isoproof_task *task,
                            isoproof_error *error) {
  iso_database_options how = {.family = ISO_COO_FAMILY,
                              .lock_timeout_ms = options->timeout_ms,
                              .notice = options->notice,
                              .notice_user = options->notice_user,
                              .password = options->password};
  iso_database *database = NULL;
  double began = iso_now();
  matrix->suite = options->suite;
  ISO_TRY(iso_coo_rows(matrix, options, task, error));
  how.tables = count_tables(matrix, options);
  matrix->stride = options->distributed == ISOPROOF_SPREAD_TABLES ? 1 : how.tables;
  ISO_TRY(count_partitions(matrix, options, &how.partitions, error));
  ISO_TRY(iso_database_open(options->urls, options->url_count, &how, &database, error));
  isoproof_status status = run_on(matrix, database, options, task, error);
  iso_database_close(database);
  matrix->seconds = iso_now() - began;
  return status;
}

/* Whether there is something to show of a run that failed. */
static bool has_begun(const isoproof_coo_matrix *matrix) {
  return matrix->cells != NULL && matrix->rows.count > 0 && matrix->level_count > 0 && matrix->cells[0].shown.runs > 0;
}

isoproof_status isoproof_coo_run(const isoproof_coo_run_options *options, isoproof_task *task,
                                 isoproof_coo_matrix **matrix, isoproof_error *error) {
  isoproof_coo_run_options known;
  *matrix = NULL;
  ISO_TRY(read_options(options, &known, error));
  isoproof_coo_matrix *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  isoproof_status status = fill(made, &known, task, error);
  if (status != ISOPROOF_OK && !has_begun(made)) {
    isoproof_coo_matrix_free(made);
    return status;
  }
  *matrix = made;
  return status;
}

void isoproof_coo_matrix_free(isoproof_coo_matrix *matrix) {
  if (matrix == NULL) return;
  for (size_t i = 0; i < matrix->rows.count; i++) isoproof_schedule_free(matrix->rows.items[i].plan);
  iso_vec_free(&matrix->rows);
  iso_arena_free(&matrix->arena);
  free(matrix);
}
