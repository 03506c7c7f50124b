/* coo.h - what the files of `isoproof coo` share.  The parsed options and the matrix belong to the caller. */
#ifndef CLI_COMMANDS_COO_H
#define CLI_COMMANDS_COO_H

#include <isoproof/coo.h>

#include "cli/commands/command.h"
#include "cli/options/database.h"
#include "cli/terminal/output.h"

enum {
  COO_SCHEDULE,
  COO_SCHEDULES,
  COO_GENERATE,
  COO_SYSTEMATIC,
  COO_TRANSACTIONS,
  COO_OBJECTS,
  COO_OPERATIONS,
  COO_ROWS,
  COO_PREDICATES,
  COO_FIRST,
  COO_LIMIT,
  COO_SEED,
  COO_SQL,
  COO_COUNT,
  COO_DB,
  COO_DATABASE, /* the first of the password's */
  COO_DATABASE_LAST = COO_DATABASE + DATABASE_OPTIONS - 1,
  COO_CLUSTER,
  COO_SERVER,
  COO_LEVEL,
  COO_EXPECT,
  COO_CASE,
  COO_SUITE,
  COO_PREDICATE,
  COO_DISTRIBUTED,
  COO_RACE,
  COO_REPEAT,
  COO_SETTLE,
  COO_TIMEOUT,
  COO_LAYOUT,
  COO_JOBS,
  COO_STRICT,
  COO_RECORD,
  COO_FROM,
  COO_AGAINST,
  COO_AGAINST_SERVER,
  COO_COMPARE,
  COO_AS,
  COO_JSON,
  COO_OPTIONS
};

/* What the command does, by the options that are given. */
typedef enum coo_mode {
  COO_EXPLAIN = 1,
  COO_LIST = 2,
  COO_RUN = 4,
  COO_SAVED = 8,
  COO_WALK = 16,    /* systematic schedules, listed */
  COO_WALK_RUN = 32 /* and run */
} coo_mode;

/* False after a message: some options mean nothing together. */
bool coo_options_agree(const options *parsed, coo_mode mode);
/* Whether an option stands on the command line. */
bool coo_is_given(const options *parsed, size_t number);
/* Whether all cycles within limits are asked for, and the limits. */
bool coo_is_generated(const options *parsed);
void coo_limits(const options *parsed, size_t *txns, size_t *objects);

int coo_schedule(const options *parsed);
int coo_generate(const options *parsed);
int coo_run(const options *parsed);
int coo_saved(const options *parsed);
int coo_systematic_list(const options *parsed);
int coo_systematic_run(const options *parsed);

/* Schedules of --schedule and --schedules; names may be NULL.  Owned until coo_schedules_free. */
typedef struct coo_schedules {
  char **names, **texts;
  size_t count, room;
} coo_schedules;

/* An exit code, after a message where that is not EXIT_SATISFIED. */
int coo_schedules_read(const options *parsed, coo_schedules *all);
void coo_schedules_free(coo_schedules *all);

/* "RAT-S". */
void coo_class(isoproof_coo_class kind, isoproof_coo_size size, char out[8]);

/* How a matrix is shown. */
typedef struct coo_view {
  const isoproof_coo_matrix *matrix;
  bool compare; /* with the published results */
  bool color;
  bool hermitage;
  unsigned width; /* columns of the terminal */
} coo_view;

void coo_text(const coo_view *view);
void coo_markdown(const coo_view *view);
void coo_csv(const coo_view *view);
void coo_html(const coo_view *view);
void coo_json(const coo_view *view);
/* The steps of every cell, session beside session. */
void coo_steps(const coo_view *view);
void coo_steps_cell(const coo_view *view, size_t row, size_t level);

/* A comparison of two matrices; `other` shows the second one. */
typedef struct coo_pair {
  coo_view view, other;
  const isoproof_coo_comparison *comparison;
} coo_pair;

void coo_pair_text(const coo_pair *pair);
void coo_pair_markdown(const coo_pair *pair);
void coo_pair_csv(const coo_pair *pair);
void coo_pair_html(const coo_pair *pair);
void coo_pair_json(const coo_pair *pair);
void coo_pair_steps(const coo_pair *pair);

/* Room for the letters of a cell. */
enum { COO_LETTERS = 32, COO_SENTENCE = 512 };

/* The letters of a cell as text: "A", "R!" (rolled back, and still broken), "D/R" (differs from run to run), "A*" (the
 * expected level forbids it), "-" (not run). */
void coo_letters(const isoproof_coo_cell *cell, char out[COO_LETTERS]);
/* "31 Write Skew", or the name alone. */
void coo_row_title(const isoproof_coo_row *row, char *out, size_t size);
/* The published letter where it differs, else 0. */
char coo_differs(const coo_view *view, const isoproof_coo_row *row, const char *level, const isoproof_coo_cell *cell);
/* The one line that says it all: the database, how much was run, and whether something was unexpected. */
void coo_headline(const coo_view *view, char *out, size_t size);
/* Prints a line of text of unknown origin, wrapped at the width of the terminal; later lines begin after `indent`
 * spaces.  What stands before a tab in the format is printed as it is. */
void coo_put(const coo_view *view, unsigned indent, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A text of unknown origin in so many columns, cut where it is longer; at least one space follows it. */
void coo_put_cell(const char *text, unsigned width);
const char *coo_color_of(const coo_view *view, const isoproof_coo_cell *cell);
/* A field of a CSV file. */
void coo_csv_field(const char *text);
/* A text in a cell of a Markdown table. */
void coo_markdown_text(const char *text);
/* Fields of JSON. */
void coo_json_cell(isoproof_json *j, const coo_view *view, const isoproof_coo_row *row, size_t r, size_t l);

#endif
