/* plan.c - `isoproof test` with a plan: which cell runs next and for how long, until the time is over. */
#include "cli/commands/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands/command.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/message.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

static const char usual_name[] = "isoproof.toml";

/* Seconds: of a plan that does not say, and of a round. */
static const double usual_budget = 60, least_round = 0.2, longest_first = 2, longest_round = 10;
/* By how many seconds the budget may be exceeded so that every cell is tried. */
static const double most_overdraft = 30;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- which plan ---- */

/* Options that go with a plan; all others say themselves what to test. */
static bool goes_with_plan(size_t number) {
  static const int with[] = {TEST_BUDGET,
                             TEST_DIRECTORY,
                             TEST_PLAN,
                             TEST_RESUME,
                             TEST_JSON,
                             TEST_OUTPUT + OUTPUT_HTML,
                             TEST_OUTPUT + OUTPUT_JUNIT,
                             TEST_OUTPUT + OUTPUT_MARKDOWN,
                             TEST_OUTPUT + OUTPUT_GITHUB};
  for (size_t i = 0; i < COUNT_OF(with); i++)
    if ((size_t)with[i] == number) return true;
  return false;
}

/* The first option that does not; NULL for none. */
static const option *other_option(const options *given) {
  for (size_t i = 0; i < given->count; i++)
    if (given->values[i].given && !goes_with_plan(i)) return &given->table[i];
  return NULL;
}

const char *plan_chosen(const options *given) {
  if (given->values[TEST_PLAN].given) return given->values[TEST_PLAN].text;
  if (given->values[TEST_RESUME].on) return usual_name;
  const char *database = getenv("ISOPROOF_DB");
  if (other_option(given) != NULL || (database != NULL && database[0] != 0)) return NULL;
  return access(usual_name, F_OK) == 0 ? usual_name : NULL;
}

int plan_init(void) {
  const char *text = isoproof_plan_example();
  /* What is there is never replaced. */
  int file = open(usual_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0 && errno == EEXIST) {
    message("%s is there already: nothing was changed", usual_name);
    return EXIT_USAGE;
  }
  FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
  bool good = out != NULL && fputs(text, out) >= 0;
  if (out != NULL && fclose(out) != 0) good = false;
  if (!good) return message_errno(usual_name, "write it"), EXIT_USAGE;
  printf("%s is made; 'isoproof test' runs it\n", usual_name);
  return EXIT_SATISFIED;
}

/* ---- time ---- */

static bool same_database(const planned_test *test, size_t a, size_t b) {
  isoproof_plan_cell x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
  isoproof_plan_cell_at(test->plan, a, &x);
  isoproof_plan_cell_at(test->plan, b, &y);
  return strcmp(x.database, y.database) == 0;
}

static size_t count_open(const planned_test *test, size_t from, size_t to) {
  size_t count = 0;
  for (size_t i = from; i < to; i++) count += !test->cells[i].finished;
  return count;
}

static bool wants_violation(const planned_test *test, size_t cell) {
  isoproof_plan_cell about = {.struct_size = sizeof about};
  return isoproof_plan_cell_at(test->plan, cell, &about) && about.wanted == ISOPROOF_VIOLATED;
}

/* How much a cell promises: transactions that got in each other's way, or were refused, for the time it has had. */
static double promise(const planned_cell *cell) {
  double share = cell->transactions > 0 ? (double)(cell->conflicts + cell->aborts) / (double)cell->transactions : 0;
  return (0.25 + share) / (cell->spent > 0 ? cell->spent : 1e-3);
}

/* Cells that were not tried come first, those that are to be violated before the others, as they end early; then the
 * most promising one.  `to` when none is open. */
static size_t next_cell(const planned_test *test, size_t from, size_t to) {
  size_t best = to;
  for (size_t i = from; i < to; i++) {
    const planned_cell *cell = &test->cells[i];
    if (cell->finished) continue;
    bool fresh = cell->spent == 0, best_fresh = best < to && test->cells[best].spent == 0;
    bool better = best == to || (fresh && !best_fresh) ||
                  (fresh && best_fresh && wants_violation(test, i) && !wants_violation(test, best)) ||
                  (!fresh && !best_fresh && promise(cell) > promise(&test->cells[best]));
    if (better) best = i;
  }
  return best;
}

/* How long rounds take with judging and all, for each second of their runs: what the plan has learned so far. */
static double overhead(const planned_test *test) {
  double spent = 0, ran = 0;
  for (size_t i = 0; i < test->count; i++) {
    isoproof_plan_outcome o = {.struct_size = sizeof o};
    if (test->cells[i].spent == 0 || !isoproof_plan_results_at(test->results, i, &o)) continue;
    spent += test->cells[i].spent;
    ran += o.seconds;
  }
  return ran > 0 && spent > ran ? spent / ran : 1;
}

/* A first round is short, and leaves time for the promising ones. */
static double round_time(const planned_test *test, size_t cell, double share, size_t open) {
  double seconds = share / (double)open / overhead(test), most = longest_round;
  if (test->cells[cell].spent == 0) {
    seconds /= 2;
    most = longest_first;
  }
  if (seconds > most) seconds = most;
  return seconds < least_round ? least_round : seconds;
}

/* ---- running ---- */

/* The cells of a database, until they are finished or its share of the time is used up. */
static bool run_database(planned_test *test, size_t from, size_t to, double share) {
  double end = now() + share;
  while (!interrupted()) {
    size_t cell = next_cell(test, from, to), open = count_open(test, from, to);
    double left = end - now();
    /* Where judging took longer than was to be foreseen, cells that were not tried have a short round all the same. */
    bool owed = cell < to && test->cells[cell].spent == 0 && now() - test->began < test->budget + most_overdraft;
    if (cell == to || (left <= 0 && !owed)) return true;
    if (!plan_run_round(test, cell, round_time(test, cell, left, open))) return false;
  }
  return true;
}

/* Database by database: the servers of one are gone before those of the next begin. */
static bool run_cells(planned_test *test) {
  bool good = true;
  for (size_t from = 0, to; good && from < test->count && !interrupted(); from = to) {
    to = from + 1;
    while (to < test->count && same_database(test, from, to)) to++;
    size_t open = count_open(test, from, to), all = count_open(test, from, test->count);
    double left = test->budget - (now() - test->began);
    if (open > 0) good = run_database(test, from, to, left * (double)open / (double)all);
    plan_stop_servers(test);
  }
  isoproof_plan_results_set_seconds(test->results, now() - test->began);
  return good && plan_save(test);
}

/* The exit code that the expectations come to. */
static int code_of(const planned_test *test) {
  static const struct {
    const char *means;
    int code;
  } codes[] = {{"violated", EXIT_VIOLATED},
               {"not violated", EXIT_VIOLATED},
               {"unknown", EXIT_UNKNOWN},
               {"failed", EXIT_RUN},
               {"not tried", EXIT_UNKNOWN}};
  isoproof_plan_outcome o = {.struct_size = sizeof o};
  int worst = EXIT_SATISFIED;
  for (size_t i = 0; isoproof_plan_results_at(test->results, i, &o); i++)
    for (size_t k = 0; k < COUNT_OF(codes); k++)
      if (strcmp(isoproof_plan_outcome_means(&o), codes[k].means) == 0) worst = exit_worse(worst, codes[k].code);
  return interrupted() && worst != EXIT_VIOLATED ? EXIT_INTERRUPTED : worst;
}

/* Only one output can go to standard output, and some show one history only. */
static bool check_outputs(const options *given) {
  const option *other = other_option(given);
  if (other != NULL) {
    message("--%s and a plan exclude each other: the plan says it, or --no-plan leaves the plan alone", other->name);
    return false;
  }
  size_t out = outputs_to_stdout(&given->values[TEST_OUTPUT]);
  if (out + (out > 0 && given->values[TEST_JSON].on ? 1 : 0) <= 1) return true;
  message("test: only one output can go to standard output");
  return false;
}

static int run_whole(planned_test *test) {
  isoproof_error error = {.offset = -1};
  if (!check_outputs(test->given)) return EXIT_USAGE;
  isoproof_status status = isoproof_plan_read(test->path, &test->plan, &error);
  if (status != ISOPROOF_OK) return message_error(&error, test->path), EXIT_USAGE;
  if (!plan_fill_cells(test, test->given->table, test->given->count)) return EXIT_USAGE;
  status = isoproof_plan_results_new(test->plan, test->path, &test->results, &error);
  if (status != ISOPROOF_OK) return message_error(&error, NULL), exit_of_status(status);
  if (!plan_open_folder(test) || !plan_save(test)) return EXIT_USAGE;
  const option_value *budget = &test->given->values[TEST_BUDGET];
  double of_plan = isoproof_plan_budget(test->plan);
  test->budget = budget->given ? budget->number : of_plan > 0 ? of_plan : usual_budget;
  test->began = now();
  bool good = run_cells(test);
  int code = exit_worse(plan_report(test), code_of(test));
  return good ? code : exit_worse(code, EXIT_USAGE);
}

int plan_run(const options *given, const char *path) {
  planned_test test = {.given = given, .path = path};
  int code = run_whole(&test);
  progress_clear();
  plan_stop_servers(&test);
  plan_free_cells(&test);
  isoproof_plan_results_free(test.results);
  isoproof_plan_free(test.plan);
  test_folder_free(&test.folder);
  return code;
}
