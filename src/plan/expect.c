/* expect.c - what a plan expects of a cell: a level, and whether it is to hold or to be violated.
 *
 * `expect` is a level ("serializable"), { level = ..., verdict = ... }, or a table by isolation levels of either. */
#include <isoproof/level.h>
#include <string.h>

#include "plan/plan.h"

/* Whether a table says a level or a verdict, rather than what is expected by isolation level. */
static bool is_single(const iso_toml_node *expect) {
  return expect->kind != ISO_TOML_TABLE || iso_toml_find(expect, "level") != NULL ||
         iso_toml_find(expect, "verdict") != NULL;
}

static isoproof_status read_level(const isoproof_plan *plan, const iso_toml_node *node, const char **level,
                                  isoproof_error *error) {
  if (node->kind != ISO_TOML_STRING)
    return iso_plan_fail(plan, node, error, "expected the name of a level, found %s", iso_toml_kind_name(node->kind));
  const isoproof_level_info *info = isoproof_level_find(node->text);
  if (info == NULL)
    return iso_plan_fail(plan, node, error, "unknown level '%s'; 'isoproof levels' lists them", node->text);
  *level = info->id;
  return ISOPROOF_OK;
}

static isoproof_status read_verdict(const isoproof_plan *plan, const iso_toml_node *node, isoproof_verdict *wanted,
                                    isoproof_error *error) {
  static const struct {
    const char *name;
    isoproof_verdict verdict;
  } names[] = {{"satisfied", ISOPROOF_SATISFIED}, {"violated", ISOPROOF_VIOLATED}, {"any", ISOPROOF_VERDICT_NONE}};
  for (size_t i = 0; node->kind == ISO_TOML_STRING && i < sizeof names / sizeof *names; i++) {
    if (strcmp(node->text, names[i].name) != 0) continue;
    *wanted = names[i].verdict;
    return ISOPROOF_OK;
  }
  return iso_plan_fail(plan, node, error, "expected \"satisfied\", \"violated\" or \"any\"");
}

/* A level, or a table of level and verdict. */
static isoproof_status read_single(const isoproof_plan *plan, const iso_toml_node *node, isoproof_plan_cell *cell,
                                   isoproof_error *error) {
  if (node->kind != ISO_TOML_TABLE) return read_level(plan, node, &cell->expected, error);
  for (const iso_toml_node *one = node->first; one != NULL; one = one->next) {
    if (strcmp(one->key, "level") == 0)
      ISO_TRY(read_level(plan, one, &cell->expected, error));
    else if (strcmp(one->key, "verdict") == 0)
      ISO_TRY(read_verdict(plan, one, &cell->wanted, error));
    else
      return iso_plan_fail(plan, one, error, "unknown key '%s'; an expectation has level and verdict", one->key);
  }
  return ISOPROOF_OK;
}

/* What one `expect` says about the cell, if it does. */
static isoproof_status apply(const isoproof_plan *plan, const iso_toml_node *expect, isoproof_plan_cell *cell,
                             isoproof_error *error) {
  if (expect == NULL) return ISOPROOF_OK;
  if (is_single(expect)) return read_single(plan, expect, cell, error);
  for (const iso_toml_node *one = expect->first; one != NULL; one = one->next) {
    const iso_toml_node list = {.kind = ISO_TOML_ARRAY,
                                .first = &(iso_toml_node){.kind = ISO_TOML_STRING, .text = one->key}};
    if (cell->isolation[0] != '\0' && iso_plan_list_has(&list, cell->isolation))
      ISO_TRY(read_single(plan, one, cell, error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_plan_expect(const isoproof_plan *plan, const iso_plan_section *database,
                                const iso_plan_section *workload, isoproof_plan_cell *cell, isoproof_error *error) {
  cell->wanted = ISOPROOF_SATISFIED;
  ISO_TRY(apply(plan, plan->expect, cell, error));
  ISO_TRY(apply(plan, database->expect, cell, error));
  return apply(plan, workload->expect, cell, error);
}

isoproof_status iso_plan_check_expect(const isoproof_plan *plan, const iso_toml_node *expect, isoproof_error *error) {
  isoproof_plan_cell ignored = {.struct_size = sizeof ignored};
  if (expect == NULL) return ISOPROOF_OK;
  if (is_single(expect)) return read_single(plan, expect, &ignored, error);
  for (const iso_toml_node *one = expect->first; one != NULL; one = one->next)
    ISO_TRY(read_single(plan, one, &ignored, error));
  return ISOPROOF_OK;
}
