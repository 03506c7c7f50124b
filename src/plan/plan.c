/* plan.c - from a file to cells: every database at each of its levels with every workload that goes with both. */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/input.h"

enum { MOST_CELLS = 10000 };

/* ---- cells ---- */

static isoproof_status set_option(iso_plan_options *to, iso_plan_option option, isoproof_error *error) {
  for (size_t i = 0; i < to->count; i++) {
    if (strcmp(to->items[i].name, option.name) != 0) continue;
    to->items[i] = option;
    return ISOPROOF_OK;
  }
  return iso_vec_push(to, option) ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status merge(iso_plan_cell *cell, const iso_plan_options *said, isoproof_error *error) {
  for (size_t i = 0; i < said->count; i++) ISO_TRY(set_option(&cell->options, said->items[i], error));
  return ISOPROOF_OK;
}

static isoproof_status fill_cell(const isoproof_plan *plan, const iso_plan_section *database,
                                 const iso_plan_section *workload, const iso_toml_node *level, iso_plan_cell *cell,
                                 isoproof_error *error) {
  isoproof_plan_cell *shown = &cell->shown;
  shown->database = database->name;
  shown->workload = workload->name;
  shown->isolation = level != NULL ? level->text : "";
  ISO_TRY(merge(cell, &plan->options, error));
  ISO_TRY(merge(cell, &database->options, error));
  ISO_TRY(merge(cell, &workload->options, error));
  if (level != NULL)
    ISO_TRY(
        set_option(&cell->options, (iso_plan_option){.name = "isolation", .value = level->text, .node = level}, error));
  ISO_TRY(iso_plan_expect(plan, database, workload, shown, error));
  if (shown->expected == NULL) return ISOPROOF_OK;
  const iso_toml_node *from = workload->expect != NULL ? workload->expect : database->node;
  return set_option(&cell->options, (iso_plan_option){.name = "expect", .value = shown->expected, .node = from}, error);
}

static isoproof_status add_cell(isoproof_plan *plan, const iso_plan_section *database, const iso_plan_section *workload,
                                const iso_toml_node *level, isoproof_error *error) {
  iso_plan_cell cell = {.shown.struct_size = sizeof cell.shown};
  isoproof_status status = fill_cell(plan, database, workload, level, &cell, error);
  if (status == ISOPROOF_OK && plan->cells.count == MOST_CELLS)
    status = iso_fail(error, ISOPROOF_ERR_LIMIT, "%s: expected at most %d cells, found more", plan->name, MOST_CELLS);
  if (status == ISOPROOF_OK && !iso_vec_push(&plan->cells, cell)) status = iso_fail_memory(error);
  if (status != ISOPROOF_OK) iso_vec_free(&cell.options);
  return status;
}

/* The cells of a database; every workload at a level before the next level. */
static isoproof_status add_database(isoproof_plan *plan, const iso_plan_section *database, isoproof_error *error) {
  const iso_toml_node *levels = database->levels != NULL ? database->levels : plan->levels;
  const iso_toml_node *level = levels != NULL ? levels->first : NULL;
  do {
    for (size_t i = 0; i < plan->workloads.count; i++) {
      const iso_plan_section *workload = &plan->workloads.items[i];
      if (!iso_plan_list_has(database->others, workload->name) || !iso_plan_list_has(workload->others, database->name))
        continue;
      if (workload->levels != NULL && (level == NULL || !iso_plan_list_has(workload->levels, level->text))) continue;
      ISO_TRY(add_cell(plan, database, workload, level, error));
    }
    level = level != NULL ? level->next : NULL;
  } while (level != NULL);
  return ISOPROOF_OK;
}

/* ---- what refers to each other ---- */

static bool has_section(const iso_plan_sections *sections, const char *name) {
  for (size_t i = 0; i < sections->count; i++)
    if (strcmp(sections->items[i].name, name) == 0) return true;
  return false;
}

static isoproof_status check_references(const isoproof_plan *plan, const iso_plan_sections *from,
                                        const iso_plan_sections *to, const char *what, isoproof_error *error) {
  for (size_t i = 0; i < from->count; i++) {
    const iso_toml_node *list = from->items[i].others;
    for (const iso_toml_node *one = list != NULL ? list->first : NULL; one != NULL; one = one->next)
      if (!has_section(to, one->text))
        return iso_plan_fail(plan, one, error, "the plan has no %s '%s'", what, one->text);
    for (size_t j = 0; j < i; j++)
      if (strcmp(from->items[i].name, from->items[j].name) == 0)
        return iso_fail(error, ISOPROOF_ERR_FORMAT, "%s: two workloads are called '%s'", plan->name,
                        from->items[i].name);
  }
  return ISOPROOF_OK;
}

static isoproof_status make_cells(isoproof_plan *plan, isoproof_error *error) {
  ISO_TRY(iso_plan_read_sections(plan, error));
  if (plan->databases.count == 0)
    return iso_fail(error, ISOPROOF_ERR_FORMAT, "%s: expected a database, as [databases.NAME] with url = \"sqlite:\"",
                    plan->name);
  if (plan->workloads.count == 0)
    return iso_fail(error, ISOPROOF_ERR_FORMAT, "%s: expected a workload, as workloads = [\"mixed\"]", plan->name);
  ISO_TRY(check_references(plan, &plan->databases, &plan->workloads, "workload", error));
  ISO_TRY(check_references(plan, &plan->workloads, &plan->databases, "database", error));
  for (size_t i = 0; i < plan->databases.count; i++) ISO_TRY(add_database(plan, &plan->databases.items[i], error));
  if (plan->cells.count > 0) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_FORMAT, "%s: no workload goes with any database and level", plan->name);
}

/* ---- reading ---- */

isoproof_status isoproof_plan_read_memory(const char *text, size_t size, const char *name, isoproof_plan **plan,
                                          isoproof_error *error) {
  *plan = NULL;
  isoproof_plan *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->name = strdup(name);
  isoproof_status status =
      made->name != NULL ? iso_toml_parse(text, size, made->name, &made->document, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = make_cells(made, error);
  if (status != ISOPROOF_OK) {
    isoproof_plan_free(made);
    return status;
  }
  *plan = made;
  return ISOPROOF_OK;
}

isoproof_status isoproof_plan_read(const char *path, isoproof_plan **plan, isoproof_error *error) {
  iso_input *input = NULL;
  size_t got = 0;
  *plan = NULL;
  ISO_TRY(iso_input_open(path, &input, error));
  /* One byte more than may be, so that too much is noticed. */
  char *text = iso_alloc(ISO_TOML_MOST_BYTES + 1, 1);
  isoproof_status status =
      text != NULL ? iso_input_read(input, text, ISO_TOML_MOST_BYTES + 1, &got, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = isoproof_plan_read_memory(text, got, iso_input_name(input), plan, error);
  free(text);
  iso_input_close(input);
  return status;
}

static void free_sections(iso_plan_sections *sections) {
  for (size_t i = 0; i < sections->count; i++) iso_vec_free(&sections->items[i].options);
  iso_vec_free(sections);
}

void isoproof_plan_free(isoproof_plan *plan) {
  if (plan == NULL) return;
  for (size_t i = 0; i < plan->cells.count; i++) iso_vec_free(&plan->cells.items[i].options);
  iso_vec_free(&plan->cells);
  free_sections(&plan->databases);
  free_sections(&plan->workloads);
  iso_vec_free(&plan->options);
  iso_toml_free(&plan->document);
  free(plan->name);
  free(plan);
}

/* ---- looking ---- */

double isoproof_plan_budget(const isoproof_plan *plan) { return plan->budget; }

bool isoproof_plan_cell_at(const isoproof_plan *plan, size_t number, isoproof_plan_cell *out) {
  return number < plan->cells.count && ISO_STRUCT_GIVE(out, plan->cells.items[number].shown);
}

bool isoproof_plan_option_at(const isoproof_plan *plan, size_t cell, size_t number, isoproof_plan_option *out) {
  if (cell >= plan->cells.count || number >= plan->cells.items[cell].options.count) return false;
  const iso_plan_option *option = &plan->cells.items[cell].options.items[number];
  isoproof_plan_option given = {.struct_size = sizeof given,
                                .name = option->name,
                                .value = option->value,
                                .on = option->on,
                                .line = option->node != NULL ? option->node->line : 0,
                                .column = option->node != NULL ? option->node->column : 0};
  return ISO_STRUCT_GIVE(out, given);
}
