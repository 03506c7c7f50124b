/* plan.h - a plan, inside.  A plan owns its document and, in its arena, all that was made of it. */
#ifndef ISO_PLAN_PLAN_H
#define ISO_PLAN_PLAN_H

#include <isoproof/plan.h>

#include "base/vector.h"
#include "toml/toml.h"

/* What a section says about options. */
typedef struct iso_plan_option {
  const char *name, *value; /* NULL of a boolean */
  bool on;
  const iso_toml_node *node;
} iso_plan_option;

typedef ISO_VEC(iso_plan_option) iso_plan_options;

/* [databases.NAME] or [workloads.NAME]. */
typedef struct iso_plan_section {
  const char *name;
  const iso_toml_node *node;   /* NULL of what has no table of its own */
  const iso_toml_node *levels; /* an array of strings, or NULL */
  const iso_toml_node *others; /* the workloads of a database, the databases of a workload; NULL: all */
  const iso_toml_node *expect; /* NULL for none */
  isoproof_verdict wanted;     /* where `expect` does not say */
  iso_plan_options options;
} iso_plan_section;

typedef ISO_VEC(iso_plan_section) iso_plan_sections;

typedef struct iso_plan_cell {
  isoproof_plan_cell shown;
  iso_plan_options options; /* merged */
} iso_plan_cell;

struct isoproof_plan {
  char *name; /* of the file */
  iso_toml document;
  double budget;
  iso_plan_options options; /* of all cells */
  iso_plan_sections databases, workloads;
  const iso_toml_node *levels, *expect; /* of the whole plan */
  ISO_VEC(iso_plan_cell) cells;
};

/* ---- section.c ---- */

/* Reads the databases and workloads of a document. */
isoproof_status iso_plan_read_sections(isoproof_plan *plan, isoproof_error *error);
/* Fails at a node. */
isoproof_status iso_plan_fail(const isoproof_plan *plan, const iso_toml_node *node, isoproof_error *error,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Whether an array of strings has one of that name (NULL has all); isolation levels are compared without regard to
 * case, '-' and '_'. */
bool iso_plan_list_has(const iso_toml_node *list, const char *name);

/* ---- nearest.c ---- */

/* The name that is nearest to a mistyped word; NULL where none is near. */
const char *iso_plan_nearest(const char *word, const char *const *names, size_t count);

/* ---- expect.c ---- */

/* What is expected of a cell: by the workload, the database, the plan. */
isoproof_status iso_plan_expect(const isoproof_plan *plan, const iso_plan_section *database,
                                const iso_plan_section *workload, isoproof_plan_cell *cell, isoproof_error *error);
/* Whether all that the plan expects is understood, also what no cell needs. */
isoproof_status iso_plan_check_expect(const isoproof_plan *plan, const iso_toml_node *expect, isoproof_error *error);

/* ---- environment.c ---- */

/* A text with its references to the environment replaced, in the arena of the plan. */
isoproof_status iso_plan_expand(isoproof_plan *plan, const iso_toml_node *node, const char **out,
                                isoproof_error *error);
/* "90s", 90: a time in seconds. */
isoproof_status iso_plan_seconds(const isoproof_plan *plan, const iso_toml_node *node, double *seconds,
                                 isoproof_error *error);

#endif
