/* doctor_database.c - `isoproof doctor URL`: whether a client of a database, or a program of the user's, tells the
 * truth. */
#include "cli/commands/doctor_database.h"

#include <isoproof/isoproof.h>
#include <stdio.h>

#include "cli/commands/command.h"
#include "cli/options/database.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"

typedef struct findings {
  isoproof_json *json; /* NULL: text */
  size_t passed, failed, skipped;
} findings;

static void field(isoproof_json *j, const char *name, const char *text) {
  isoproof_json_name(j, name);
  isoproof_json_string(j, text);
}

static void say(const char *mark, const isoproof_conformance_check *check) {
  int used = printf("%s %-18s ", mark, check->name);
  print_wrapped(stdout, check->text, (unsigned)used, (unsigned)used, terminal_width(stdout));
  putchar('\n');
  if (check->found[0] == 0) return;
  printf("%*s", used, "");
  print_wrapped(stdout, check->found, (unsigned)used, (unsigned)used, terminal_width(stdout));
  putchar('\n');
}

static void tell(void *user, const isoproof_conformance_check *check) {
  findings *f = user;
  const char *outcome = check->skipped ? "skipped" : check->passed ? "passed" : "failed";
  f->skipped += check->skipped;
  f->passed += check->passed;
  f->failed += !check->skipped && !check->passed;
  if (f->json == NULL) {
    say(check->skipped ? "skip" : check->passed ? "ok  " : "FAIL", check);
    fflush(stdout);
    return;
  }
  isoproof_json_object(f->json);
  field(f->json, "check", check->name);
  field(f->json, "text", check->text);
  field(f->json, "outcome", outcome);
  field(f->json, "found", check->found[0] != 0 ? check->found : NULL);
  isoproof_json_end(f->json);
}

static int end(const findings *f, isoproof_status status, const isoproof_error *error) {
  if (status != ISOPROOF_OK) {
    message_error(error, NULL);
    return exit_of_status(status);
  }
  if (f->json == NULL) printf("%zu passed, %zu failed, %zu skipped\n", f->passed, f->failed, f->skipped);
  return f->failed == 0 ? EXIT_SATISFIED : EXIT_VIOLATED;
}

int doctor_database(const options *parsed, const option_value *values, bool json) {
  option_value db = {.given = true, .items = parsed->arguments, .item_count = parsed->argument_count};
  database_choice choice;
  isoproof_error error = {.offset = -1};
  findings f = {.json = json ? json_to(stdout) : NULL};
  if (!database_choose(&choice, &db, values, false)) return EXIT_USAGE;
  isoproof_task *task = interrupt_task_new();
  if (f.json != NULL) {
    isoproof_json_object(f.json);
    isoproof_json_name(f.json, "schema");
    isoproof_json_u64(f.json, 1);
    isoproof_json_name(f.json, "checks");
    isoproof_json_list(f.json);
  }
  isoproof_status status = isoproof_conformance(choice.urls[0], choice.password, task, tell, &f, &error);
  if (f.json != NULL) {
    isoproof_json_end(f.json);
    isoproof_json_end(f.json);
    isoproof_json_line(f.json);
    json_done(f.json);
  }
  interrupt_task_free(task);
  database_free(&choice);
  return end(&f, status, &error);
}
