/* plan_cell.c - from a plan to the options of its cells: the same options, by the same table, as the command line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/commands/plan.h"
#include "cli/options/suggest.h"
#include "cli/terminal/message.h"
#include "cli/terminal/secrets.h"

/* Options that are about the whole plan, or that a plan decides. */
static const int excluded[] = {RUN_DATABASE + DATABASE_PASSWORD,
                               RUN_SCRIPT + SCRIPT_EXPLAIN,
                               TEST_ROUNDS,
                               TEST_UNTIL_VIOLATION,
                               TEST_BUDGET,
                               TEST_SWEEP,
                               TEST_GO_ON,
                               TEST_DIRECTORY,
                               TEST_PLAN,
                               TEST_NO_PLAN,
                               TEST_RESUME,
                               TEST_INIT,
                               TEST_JSON};

static bool is_excluded(size_t number) {
  if (number >= TEST_OUTPUT && number < TEST_OUTPUT + OUTPUTS) return true;
  for (size_t i = 0; i < COUNT_OF(excluded); i++)
    if ((size_t)excluded[i] == number) return true;
  return false;
}

static void say_place(const planned_test *test, const isoproof_plan_option *said, const char *what) {
  message("%s:%" PRIu64 ":%" PRIu64 ": %s", test->path, said->line, said->column, what);
}

/* The row of an option; NULL after a message. */
static const option *find_row(const planned_test *test, const option *table, size_t count,
                              const isoproof_plan_option *said) {
  char text[256];
  suggestion s = suggest_begin(said->name);
  for (size_t i = 0; i < count; i++) {
    if (is_excluded(i)) continue;
    if (strcmp(table[i].name, said->name) == 0) return &table[i];
    suggest_offer(&s, table[i].name);
  }
  for (size_t i = 0; isoproof_plan_key_at(i) != NULL; i++) suggest_offer(&s, isoproof_plan_key_at(i));
  for (size_t i = 0; i < count; i++) {
    if (strcmp(table[i].name, said->name) != 0) continue;
    snprintf(text, sizeof text, "'%.60s' cannot be said in a plan; it is for the command line", said->name);
    return say_place(test, said, text), NULL;
  }
  if (suggest_best(&s) != NULL)
    snprintf(text, sizeof text, "unknown key '%.60s'; did you mean '%s'?", said->name, suggest_best(&s));
  else
    snprintf(text, sizeof text, "unknown key '%.60s'; 'isoproof test --help' lists the options", said->name);
  return say_place(test, said, text), NULL;
}

/* Files are named as seen from the plan: each of a list of scripts, too. */
static void put_files(const planned_test *test, const char *files, FILE *out) {
  const char *slash = strrchr(test->path, '/');
  for (const char *at = files; *at != 0;) {
    size_t length = strcspn(at, ",");
    if (slash != NULL && at[0] != '/' && strcmp(at, "-") != 0)
      fwrite(test->path, 1, (size_t)(slash + 1 - test->path), out);
    fwrite(at, 1, length, out);
    at += length;
    if (*at == ',') fputc(*at++, out);
  }
}

static char *argument_of(const planned_test *test, const option *row, const isoproof_plan_option *said) {
  char *made = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&made, &bytes);
  if (out == NULL) return message("out of memory"), NULL;
  bool files = row->type == OPTION_FILE || strcmp(said->name, "script") == 0;
  fprintf(out, "--%s%s%s", said->value == NULL && !said->on ? "no-" : "", said->name, said->value != NULL ? "=" : "");
  if (said->value != NULL && files)
    put_files(test, said->value, out);
  else if (said->value != NULL)
    fputs(said->value, out);
  if (fclose(out) == 0) return made;
  free(made);
  return message("out of memory"), NULL;
}

/* Parses one option alone, so that a message about it has a place. */
static bool try_option(const planned_test *test, const option *table, size_t count, char *argument,
                       const isoproof_plan_option *said) {
  options alone;
  char *arguments[] = {argument, NULL};
  bool good = options_parse(&alone, "test", table, count, 1, arguments);
  options_free(&alone);
  if (!good) say_place(test, said, "this is where the plan says it");
  return good;
}

static bool add_argument(planned_cell *cell, char *argument) {
  char **grown = realloc(cell->arguments, ((size_t)cell->argument_count + 2) * sizeof *grown);
  if (grown == NULL) {
    free(argument);
    message("out of memory");
    return false;
  }
  cell->arguments = grown;
  grown[cell->argument_count++] = argument;
  grown[cell->argument_count] = NULL;
  return true;
}

static bool fill_cell(planned_test *test, size_t number, const option *table, size_t count) {
  planned_cell *cell = &test->cells[number];
  isoproof_plan_option said = {.struct_size = sizeof said};
  for (size_t i = 0; isoproof_plan_option_at(test->plan, number, i, &said); i++) {
    const option *row = find_row(test, table, count, &said);
    if (row == NULL) return false;
    if (strcmp(said.name, "db") == 0) secrets_learn_urls(said.value);
    char *argument = argument_of(test, row, &said);
    if (argument == NULL || !add_argument(cell, argument)) return false;
    if (!try_option(test, table, count, argument, &said)) return false;
  }
  static char *none[] = {NULL};
  cell->filled = true;
  bool good = options_parse(&cell->parsed, "test", table, count, cell->argument_count,
                            cell->arguments != NULL ? cell->arguments : none);
  const option_value *v = cell->parsed.values;
  const option_value *sessions = &v[RUN_WORKLOAD + WORKLOAD_SESSIONS];
  cell->single =
      v[RUN_WORKLOAD + WORKLOAD_TRANSACTIONS].given || (sessions->given && strchr(sessions->text, ':') != NULL);
  return good;
}

bool plan_fill_cells(planned_test *test, const option *table, size_t count) {
  isoproof_plan_cell cell = {.struct_size = sizeof cell};
  while (isoproof_plan_cell_at(test->plan, test->count, &cell)) test->count++;
  test->cells = calloc(test->count, sizeof *test->cells);
  if (test->cells == NULL) {
    message("out of memory");
    return false;
  }
  for (size_t i = 0; i < test->count; i++)
    if (!fill_cell(test, i, table, count)) return false;
  return true;
}

void plan_free_cells(planned_test *test) {
  for (size_t i = 0; test->cells != NULL && i < test->count; i++) {
    planned_cell *cell = &test->cells[i];
    if (cell->filled) options_free(&cell->parsed);
    for (int j = 0; j < cell->argument_count; j++) free(cell->arguments[j]);
    free(cell->arguments);
  }
  free(test->cells);
}
