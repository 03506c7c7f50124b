/* coo.h - what the files of `isoproof coo` share.  The parsed options and the matrix belong to the caller. */
#ifndef CLI_COMMANDS_COO_H
#define CLI_COMMANDS_COO_H

#include <isoproof/coo.h>

#include "cli/commands/command.h"
#include "cli/options/database.h"
#include "cli/terminal/output.h"

enum {
  COO_SCHEDULE,
  COO_GENERATE,
  COO_TRANSACTIONS,
  COO_OBJECTS,
  COO_SQL,
  COO_COUNT,
  COO_DB,
  COO_DATABASE, /* the first of the password's */
  COO_DATABASE_LAST = COO_DATABASE + DATABASE_OPTIONS - 1,
  COO_CLUSTER,
  COO_LEVEL,
  COO_CASE,
  COO_SUITE,
  COO_PREDICATE,
  COO_DISTRIBUTED,
  COO_RACE,
  COO_REPEAT,
  COO_COMPARE,
  COO_SETTLE,
  COO_TIMEOUT,
  COO_AS,
  COO_JSON,
  COO_OPTIONS
};

int coo_schedule(const options *parsed);
int coo_generate(const options *parsed);
int coo_run(const options *parsed);

/* "RAT-S". */
void coo_class(isoproof_coo_class kind, isoproof_coo_size size, char out[8]);

/* How a matrix is shown. */
typedef struct coo_view {
  const isoproof_coo_matrix *matrix;
  bool compare; /* with the published results */
  bool color;
  bool hermitage;
} coo_view;

void coo_text(const coo_view *view);
void coo_markdown(const coo_view *view);
void coo_csv(const coo_view *view);
void coo_html(const coo_view *view);
void coo_json(const coo_view *view);
/* The steps of every cell, session beside session. */
void coo_steps(const coo_view *view);

/* The letters of a cell as text: "A", "R!" (rolled back, and still broken), "D/R" (differs from run to run). */
void coo_letters(const isoproof_coo_cell *cell, char out[32]);
/* The published letter where it differs, else 0. */
char coo_differs(const coo_view *view, const isoproof_coo_row *row, const char *level, const isoproof_coo_cell *cell);
/* Hermitage's table: one letter for each of its ten tests, y prevented, n not, r prevented for readers only; `test`
 * from 0, NULL after the last. */
const char *coo_hermitage_test(size_t test);
char coo_hermitage_letter(const isoproof_coo_matrix *matrix, size_t level, size_t test);

#endif
