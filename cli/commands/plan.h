/* plan.h - `isoproof test` with a plan (isoproof.toml): its cells one after the other, and one table of them.
 *
 * A planned_test owns everything in it until planned_test_free; the command line is borrowed.
 */
#ifndef CLI_COMMANDS_PLAN_H
#define CLI_COMMANDS_PLAN_H

#include <isoproof/isoproof.h>

#include "cli/commands/test_round.h"

/* A cell while the plan runs. */
typedef struct planned_cell {
  options parsed; /* as if the plan had been a command line */
  char **arguments;
  int argument_count;
  bool filled;   /* parsed */
  bool single;   /* a round has an end of its own, and there is only one */
  bool finished; /* nothing more to do */
  double spent;  /* seconds, all that goes with a round */
  uint64_t transactions, conflicts, aborts;
  uint64_t seed;
} planned_cell;

typedef struct planned_test {
  const options *given; /* the command line */
  const char *path;     /* of the plan */
  isoproof_plan *plan;
  isoproof_plan_results *results;
  planned_cell *cells;
  size_t count;
  test_folder folder;
  double began, budget;
  isoproof_cluster *servers; /* of the present database */
  char *servers_of;          /* which options started them */
  size_t shown;              /* the cell that runs, for messages */
} planned_test;

/* The plan that the command line means: that of --plan, or isoproof.toml where nothing says otherwise; NULL for none.
 */
const char *plan_chosen(const options *given);
/* Runs it: an exit code. */
int plan_run(const options *given, const char *path);
/* Writes isoproof.toml to begin with. */
int plan_init(void);

/* ---- plan_cell.c ---- */

/* Makes the options of every cell; false after a message with the place in the plan. */
bool plan_fill_cells(planned_test *test, const option *table, size_t count);
void plan_free_cells(planned_test *test);

/* ---- plan_round.c ---- */

/* Runs a cell for so many seconds, and puts what came of it into the results; false when the plan cannot go on. */
bool plan_run_round(planned_test *test, size_t cell, double seconds);
void plan_stop_servers(planned_test *test);

/* ---- plan_save.c ---- */

/* Where everything goes: a new folder, or the latest one with --resume, whose finished cells are taken over; false
 * after a message. */
bool plan_open_folder(planned_test *test);
/* plan.json and plan.html, as they are now. */
bool plan_save(const planned_test *test);
/* The table, and the reports that the command line asks for: an exit code. */
int plan_report(const planned_test *test);
/* The folder of a cell below that of the plan: "postgres-serializable-mixed". */
void plan_cell_folder(const planned_test *test, size_t cell, char *name, size_t size);

#endif
