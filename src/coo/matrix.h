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

typedef struct iso_coo_cell {
  isoproof_coo_cell shown;
  const isoproof_coo_verdict *verdicts;
  const isoproof_coo_event *events;
} iso_coo_cell;

struct isoproof_coo_matrix {
  iso_arena arena;
  const char *database;
  const char *levels[ISO_MOST_ISOLATIONS];
  size_t level_count;
  ISO_VEC(iso_coo_row) rows;
  iso_coo_cell *cells; /* row by row */
  uint32_t stride;     /* of the keys of objects */
  double seconds;
};

/* Judges the run that the stepper has just finished, and keeps it in the cell when its result is the most frequent. */
isoproof_status iso_coo_keep_result(isoproof_coo_matrix *matrix, iso_stepper *stepper, const iso_coo_row *row,
                                    iso_coo_cell *cell, isoproof_error *error);
/* The rows that the options ask for. */
isoproof_status iso_coo_rows(isoproof_coo_matrix *matrix, const isoproof_coo_run_options *options,
                             isoproof_error *error);

#endif
