/* matrix.h - every case at every level: rows, cells, and what was kept of each.
 * A matrix owns everything in it, through its arena, until isoproof_coo_matrix_free. */
#ifndef ISO_COO_MATRIX_H
#define ISO_COO_MATRIX_H

#include <isoproof/check.h>

#include "base/arena.h"
#include "coo/execute.h"
#include "coo/scenario.h"

/* How tables are called here, but for the number of the run. */
#define ISO_COO_FAMILY "isoproof_coo"

/* A row: a plan, or a scenario. */
typedef struct iso_coo_row {
  unsigned number;
  const char *name, *kind;
  isoproof_schedule *plan;
  const iso_coo_scenario *scenario;
} iso_coo_row;

/* What is expected of an isolation level. */
typedef struct iso_coo_claim {
  const char *level; /* NULL: nothing */
  const char *source, *note;
} iso_coo_claim;

typedef struct iso_coo_cell {
  isoproof_coo_cell shown;
  const isoproof_coo_verdict *verdicts;
  const isoproof_coo_event *events;
} iso_coo_cell;

struct isoproof_coo_matrix {
  iso_arena arena;
  const char *database;
  const char *levels[ISO_MOST_ISOLATIONS];
  iso_coo_claim claims[ISO_MOST_ISOLATIONS]; /* by level */
  size_t level_count;
  isoproof_coo_suite suite;
  uint64_t left_out; /* cycles, by the limit */
  bool complete;     /* every cell was run */
  ISO_VEC(iso_coo_row) rows;
  iso_coo_cell *cells; /* row by row */
  uint32_t stride;     /* of the keys of objects */
  double seconds;
};

/* Judges the run that the stepper has just finished, and keeps it in the cell when it is the one to show. */
isoproof_status iso_coo_keep_result(isoproof_coo_matrix *matrix, iso_stepper *stepper, const iso_coo_row *row,
                                    const iso_coo_claim *claim, iso_coo_cell *cell, isoproof_error *error);
/* The rows that the options ask for. */
isoproof_status iso_coo_rows(isoproof_coo_matrix *matrix, const isoproof_coo_run_options *options, isoproof_task *task,
                             isoproof_error *error);
/* The most sessions and objects that a row needs. */
uint32_t iso_coo_most_txns(const isoproof_coo_matrix *matrix);
uint32_t iso_coo_most_objects(const isoproof_coo_matrix *matrix);

/* What is expected of an isolation level: what `expect` names, else what the database documents. */
isoproof_status iso_coo_expect(iso_arena *arena, const iso_isolation *isolation, const char *expect,
                               iso_coo_claim *claim, isoproof_error *error);
/* Whether the claim allows an executed schedule: the verdict of its level, NULL without a claim. */
isoproof_status iso_coo_allows(const iso_coo_claim *claim, const isoproof_schedule *executed, const char **verdict,
                               isoproof_error *error);
/* The same for a scenario. */
const char *iso_coo_allows_scenario(const iso_coo_claim *claim, const iso_coo_scenario *scenario, bool happened);

#endif
