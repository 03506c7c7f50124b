/* rows.c - which tests a matrix has: the published cases, all cycles within limits, schedules of one's own, scenarios.
 */
#include <stdio.h>
#include <string.h>

#include "coo/matrix.h"

enum { PUBLISHED_TXNS = 3, PUBLISHED_OBJECTS = 3 };

static bool is_wanted(const isoproof_coo_run_options *options, unsigned number) {
  for (size_t i = 0; i < options->case_count; i++) {
    if (options->cases[i] == number) return true;
  }
  return options->case_count == 0;
}

/* Takes the plan over. */
static isoproof_status add_plan(isoproof_coo_matrix *matrix, unsigned number, const char *name, isoproof_coo_class kind,
                                isoproof_coo_size size, isoproof_schedule *plan, isoproof_error *error) {
  char text[8];
  iso_coo_row row = {.number = number, .plan = plan};
  snprintf(text, sizeof text, "%s-%c", isoproof_coo_class_name(kind), isoproof_coo_size_name(size)[0]);
  row.kind = iso_arena_text(&matrix->arena, text, strlen(text));
  row.name = iso_arena_text(&matrix->arena, name, strlen(name));
  if (row.kind != NULL && row.name != NULL && iso_vec_push(&matrix->rows, row)) return ISOPROOF_OK;
  isoproof_schedule_free(plan);
  return iso_fail_memory(error);
}

/* ---- cycles ---- */

/* A cycle that is not in the table is called by its POPs: the names that the table has for many are no names. */
static isoproof_status add_case(isoproof_coo_matrix *matrix, const isoproof_coo_case *c, isoproof_error *error) {
  isoproof_schedule *plan = NULL;
  ISO_TRY(isoproof_schedule_parse(c->schedule, &plan, error));
  return add_plan(matrix, c->number, c->number > 0 ? c->name : c->structure, c->kind, c->size, plan, error);
}

static isoproof_status add_cases(isoproof_coo_matrix *matrix, const isoproof_coo_run_options *options,
                                 isoproof_task *task, isoproof_error *error) {
  isoproof_coo_generator *generator = NULL;
  isoproof_coo_case c = {.struct_size = sizeof c};
  bool all = options->transactions > 0;
  size_t txns = all ? options->transactions : PUBLISHED_TXNS, objects = all ? options->objects : PUBLISHED_OBJECTS;
  isoproof_status status = isoproof_coo_generator_new(txns, objects, &generator, error);
  if (status == ISOPROOF_OK && all)
    matrix->left_out = isoproof_coo_generator_sample(generator, options->limit, options->seed);
  while (status == ISOPROOF_OK && isoproof_coo_generator_next(generator, &c) && (all || c.number > 0)) {
    /* A cycle of one object has nothing to distribute. */
    if (options->distributed != ISOPROOF_SPREAD_NONE && c.object_count == 1) continue;
    if (all || is_wanted(options, c.number)) status = add_case(matrix, &c, error);
    if (status == ISOPROOF_OK) status = iso_task_check(task, error);
  }
  isoproof_coo_generator_free(generator);
  return status;
}

/* ---- schedules of one's own ---- */

static isoproof_status check_plan(const isoproof_schedule *plan, const isoproof_coo_run_options *options,
                                  isoproof_error *error) {
  const char *text = isoproof_schedule_text(plan);
  for (uint32_t i = 0; i < plan->txn_count; i++) {
    if (plan->end[i] != ISO_NO_STEP) continue;
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "%s: expected C%u or A%u, an end of transaction %u, to run it on a database", text, plan->labels[i],
                    plan->labels[i], plan->labels[i]);
  }
  if (plan->step_count > ISO_STEPPER_ACTS || plan->txn_count > ISO_STEPPER_SESSIONS ||
      plan->object_count > ISOPROOF_COO_OBJECTS) {
    return iso_fail(
        error, ISOPROOF_ERR_USAGE,
        "expected at most %d steps of %d transactions on %d objects to run on a database, found %u of %u on %u",
        ISO_STEPPER_ACTS, ISO_STEPPER_SESSIONS, ISOPROOF_COO_OBJECTS, plan->step_count, plan->txn_count,
        plan->object_count);
  }
  if (options->distributed != ISOPROOF_SPREAD_NONE && plan->object_count == 1)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: has one object only, and nothing to distribute", text);
  return ISOPROOF_OK;
}

/* The class is that of the cycle that the plan has, if it is executed as it stands. */
static isoproof_status add_schedule(isoproof_coo_matrix *matrix, const char *text, const char *name,
                                    const isoproof_coo_run_options *options, isoproof_error *error) {
  isoproof_schedule *plan = NULL;
  isoproof_pop_graph *graph = NULL;
  isoproof_pop_cycle cycle = {.struct_size = sizeof cycle};
  ISO_TRY(isoproof_schedule_parse(text, &plan, error));
  isoproof_status status = check_plan(plan, options, error);
  if (status == ISOPROOF_OK) status = isoproof_pop_graph_new(plan, &graph, error);
  if (status != ISOPROOF_OK) {
    isoproof_schedule_free(plan);
    return status;
  }
  bool found = isoproof_pop_graph_cycle_at(graph, 0, &cycle);
  isoproof_pop_graph_free(graph);
  if (name == NULL || name[0] == '\0') name = isoproof_schedule_text(plan);
  ISO_TRY(add_plan(matrix, 0, name, cycle.kind, cycle.size, plan, error));
  if (!found) matrix->rows.items[matrix->rows.count - 1].kind = "none";
  return ISOPROOF_OK;
}

/* ---- scenarios ---- */

static isoproof_status add_scenarios(isoproof_coo_matrix *matrix, const isoproof_coo_run_options *options,
                                     isoproof_error *error) {
  const iso_coo_scenario *scenario;
  bool wanted = options->suite != ISOPROOF_SUITE_COO || options->predicate || options->case_count > 0;
  for (size_t i = 0; wanted && (scenario = iso_coo_scenario_at(i)) != NULL; i++) {
    if (scenario->suite != options->suite || !is_wanted(options, scenario->number)) continue;
    if (options->distributed == ISOPROOF_SPREAD_TABLES) {
      return iso_fail(error, ISOPROOF_ERR_USAGE,
                      "%s is about the rows of one table: it can be distributed over partitions, not over tables",
                      scenario->name);
    }
    iso_coo_row row = {scenario->number, scenario->name, scenario->kind, NULL, scenario};
    if (!iso_vec_push(&matrix->rows, row)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_coo_rows(isoproof_coo_matrix *matrix, const isoproof_coo_run_options *options, isoproof_task *task,
                             isoproof_error *error) {
  for (size_t i = 0; i < options->schedule_count; i++) {
    const char *name = options->schedule_names != NULL ? options->schedule_names[i] : NULL;
    ISO_TRY(add_schedule(matrix, options->schedules[i], name, options, error));
  }
  if (options->schedule_count == 0 && options->suite == ISOPROOF_SUITE_COO)
    ISO_TRY(add_cases(matrix, options, task, error));
  if (options->schedule_count == 0) ISO_TRY(add_scenarios(matrix, options, error));
  if (matrix->rows.count == 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "no case has one of the numbers asked for");
  return ISOPROOF_OK;
}

uint32_t iso_coo_most_txns(const isoproof_coo_matrix *matrix) {
  uint32_t most = PUBLISHED_TXNS;
  for (size_t i = 0; i < matrix->rows.count; i++) {
    const isoproof_schedule *plan = matrix->rows.items[i].plan;
    if (plan != NULL && plan->txn_count > most) most = plan->txn_count;
  }
  return most;
}

uint32_t iso_coo_most_objects(const isoproof_coo_matrix *matrix) {
  uint32_t most = PUBLISHED_OBJECTS;
  for (size_t i = 0; i < matrix->rows.count; i++) {
    const isoproof_schedule *plan = matrix->rows.items[i].plan;
    if (plan != NULL && plan->object_count > most) most = plan->object_count;
  }
  return most;
}
