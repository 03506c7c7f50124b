/* plan_save.c - the folder of a plan, its table in files and on the terminal. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/command.h"
#include "cli/commands/plan.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/message.h"
#include "cli/terminal/output.h"

/* ---- folders ---- */

void plan_cell_folder(const planned_test *test, size_t number, char *name, size_t size) {
  isoproof_plan_cell cell = {.struct_size = sizeof cell};
  isoproof_plan_cell_at(test->plan, number, &cell);
  /* The number keeps names apart that differ in what a file name cannot have. */
  snprintf(name, size, "%zu-%s-%s-%s", number + 1, cell.database, cell.isolation[0] != 0 ? cell.isolation : "default",
           cell.workload);
  for (char *c = name; *c != 0; c++) {
    bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '.';
    if (!plain) *c = '-';
  }
}

static const char *directory_of(const planned_test *test) {
  const option_value *directory = &test->given->values[TEST_DIRECTORY];
  return directory->given ? directory->text : "isoproof-out";
}

static bool same_cell(const isoproof_plan_outcome *a, const isoproof_plan_outcome *b) {
  return strcmp(a->database, b->database) == 0 && strcmp(a->isolation, b->isolation) == 0 &&
         strcmp(a->workload, b->workload) == 0;
}

/* Takes over the cells of an earlier run that have a verdict. */
static bool take_over(planned_test *test, const isoproof_plan_results *earlier) {
  isoproof_plan_outcome mine = {.struct_size = sizeof mine}, other = {.struct_size = sizeof other};
  isoproof_error error = {.offset = -1};
  size_t taken = 0;
  for (size_t i = 0; isoproof_plan_results_at(test->results, i, &mine); i++) {
    for (size_t k = 0; isoproof_plan_results_at(earlier, k, &other); k++) {
      bool decided = other.verdict == ISOPROOF_SATISFIED || other.verdict == ISOPROOF_VIOLATED;
      if (!same_cell(&mine, &other) || !decided) continue;
      other.wanted = mine.wanted;
      if (isoproof_plan_results_set(test->results, i, &other, &error) != ISOPROOF_OK)
        return message_error(&error, NULL), false;
      test->cells[i].finished = true;
      taken++;
      break;
    }
  }
  if (!common_quiet(test->given)) message("%zu of %zu cells are done already", taken, test->count);
  return true;
}

/* The latest folder, if it is one of a plan. */
static bool resume(planned_test *test, bool *found) {
  char *latest = NULL, *file = NULL;
  isoproof_plan_results *earlier = NULL;
  isoproof_error error = {.offset = -1};
  bool good = true;
  if (asprintf(&latest, "%s/latest", directory_of(test)) < 0) latest = NULL;
  if (latest == NULL || asprintf(&file, "%s/plan.json", latest) < 0) file = NULL;
  *found = file != NULL && access(file, F_OK) == 0;
  if (*found) {
    test->folder.path = realpath(latest, NULL);
    good = test->folder.path != NULL;
    if (!good) message_errno(latest, "find the folder");
    if (good && isoproof_plan_results_read(file, &earlier, &error) != ISOPROOF_OK) {
      message_error(&error, file);
      good = false;
    }
    good = good && take_over(test, earlier);
  }
  isoproof_plan_results_free(earlier);
  free(latest);
  free(file);
  return good;
}

bool plan_open_folder(planned_test *test) {
  bool found = false;
  if (test->given->values[TEST_RESUME].on && (!resume(test, &found) || found)) return found;
  if (test->given->values[TEST_RESUME].on && !common_quiet(test->given))
    message("%s/latest has no plan.json: beginning anew", directory_of(test));
  return test_folder_make(&test->folder, directory_of(test));
}

/* ---- files ---- */

static int write_table(isoproof_plan_results_write_fn *write, const isoproof_plan_results *results, FILE *out,
                       const char *path) {
  isoproof_error error = {.offset = -1};
  isoproof_status status = write(results, write_stream, out, &error);
  if (status == ISOPROOF_OK || (out == stdout && output_gone())) return EXIT_SATISFIED;
  message_error(&error, path);
  return exit_of_status(status);
}

/* Under another name first, so that what is there is always whole. */
static int write_file(isoproof_plan_results_write_fn *write, const isoproof_plan_results *results, const char *path) {
  char *part = NULL;
  if (strcmp(path, "-") == 0) return write_table(write, results, stdout, "standard output");
  if (asprintf(&part, "%s.%ld.part", path, (long)getpid()) < 0) return message("out of memory"), EXIT_UNKNOWN;
  FILE *out = fopen(part, "we");
  int code = EXIT_USAGE;
  if (out == NULL) {
    message_errno(path, "open it for writing");
  } else {
    code = write_table(write, results, out, path);
    bool closed = fclose(out) == 0;
    if (code == EXIT_SATISFIED && (!closed || rename(part, path) != 0)) {
      message_errno(path, "write to it");
      code = EXIT_USAGE;
    }
    if (code != EXIT_SATISFIED) unlink(part);
  }
  free(part);
  return code;
}

bool plan_save(const planned_test *test) {
  static const struct {
    const char *name;
    isoproof_plan_results_write_fn *write;
  } files[] = {{"plan.json", isoproof_plan_results_write_json}, {"plan.html", isoproof_plan_results_write_html}};
  bool good = true;
  for (size_t i = 0; i < COUNT_OF(files); i++) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", test->folder.path, files[i].name) < 0) return message("out of memory"), false;
    good = write_file(files[i].write, test->results, path) == EXIT_SATISFIED && good;
    free(path);
  }
  return good;
}

/* ---- reports ---- */

/* A page elsewhere leads to the reports by their whole paths. */
static int write_page(const planned_test *test, const char *path) {
  isoproof_plan_results *copy = NULL;
  isoproof_error error = {.offset = -1};
  isoproof_plan_outcome o = {.struct_size = sizeof o};
  char *whole = realpath(test->folder.path, NULL), *folder = NULL;
  isoproof_status status = isoproof_plan_results_new(NULL, test->path, &copy, &error);
  for (size_t i = 0; status == ISOPROOF_OK && whole != NULL && isoproof_plan_results_at(test->results, i, &o); i++) {
    if (o.folder != NULL && asprintf(&folder, "%s/%s", whole, o.folder) >= 0) o.folder = folder;
    status = isoproof_plan_results_set(copy, i, &o, &error);
    free(folder);
    folder = NULL;
  }
  int code = EXIT_UNKNOWN;
  if (status == ISOPROOF_OK)
    code = write_file(isoproof_plan_results_write_html, copy, path);
  else
    message_error(&error, NULL);
  isoproof_plan_results_free(copy);
  free(whole);
  return code;
}

static int write_github(const planned_test *test, bool taken) {
  const char *summary = getenv("GITHUB_STEP_SUMMARY");
  int code = write_table(isoproof_plan_results_write_github, test->results, taken ? stderr : stdout, "standard output");
  if (summary == NULL || summary[0] == 0) return code;
  FILE *out = fopen(summary, "ae");
  if (out == NULL) return message_errno(summary, "open it for writing"), EXIT_USAGE;
  code = exit_worse(code, write_table(isoproof_plan_results_write_markdown, test->results, out, summary));
  if (fclose(out) != 0) return message_errno(summary, "write to it"), EXIT_USAGE;
  return code;
}

int plan_report(const planned_test *test) {
  const option_value *v = test->given->values, *reports = &v[TEST_OUTPUT];
  bool taken = outputs_to_stdout(reports) > 0;
  int code = EXIT_SATISFIED;
  if (!taken)
    code = write_table(v[TEST_JSON].on ? isoproof_plan_results_write_json : isoproof_plan_results_write_text,
                       test->results, stdout, "standard output");
  if (!taken && !v[TEST_JSON].on) {
    char text[PATH_MAX + 64];
    snprintf(text, sizeof text, "  saved in %s: plan.html, plan.json, and a folder for each cell\n", test->folder.path);
    print_lines(stdout, text);
  }
  if (reports[OUTPUT_HTML].given) code = exit_worse(code, write_page(test, reports[OUTPUT_HTML].text));
  if (reports[OUTPUT_JUNIT].given)
    code = exit_worse(code, write_file(isoproof_plan_results_write_junit, test->results, reports[OUTPUT_JUNIT].text));
  if (reports[OUTPUT_MARKDOWN].given)
    code = exit_worse(code,
                      write_file(isoproof_plan_results_write_markdown, test->results, reports[OUTPUT_MARKDOWN].text));
  if (reports[OUTPUT_GITHUB].on) code = exit_worse(code, write_github(test, taken || v[TEST_JSON].on));
  if (interrupted()) message("interrupted; --resume goes on with what is left");
  return code;
}
