/* test_round.c - one round of `isoproof test`. */
#include "cli/commands/test_round.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cli/commands/command.h"
#include "cli/commands/run_report.h"
#include "cli/commands/test_live.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- judging ---- */

/* How long the levels that nobody asked for may take: as long as the run, but long enough for most; whoever pressed
 * Ctrl-C does not want to wait. */
static double budget_of(const tester *t, const judgement *j) {
  enum { LEAST = 10, INTERRUPTED = 3 };
  const option_value *given = &t->parsed->values[TEST_BUDGET];
  double run = isoproof_run_summary_counts(j->report)->seconds;
  double budget = given->given ? given->number : run > LEAST ? run : LEAST;
  return interrupted() && budget > INTERRUPTED ? INTERRUPTED : budget;
}

static const char *expected_of(const tester *t, const judgement *j) {
  const option_value *expect = &t->parsed->values[TEST_EXPECT];
  return expect->given ? isoproof_level_find(expect->text)->id : isoproof_run_summary_claim(j->report);
}

isoproof_status test_judge(tester *t, judgement *j, double budget, double timeout, isoproof_task *task,
                           isoproof_error *error) {
  j->expected = expected_of(t, j);
  isoproof_check_options how = {.struct_size = sizeof how,
                                .levels = &j->expected,
                                .level_count = j->expected != NULL ? 1 : 0,
                                .others = budget > 0,
                                .budget = budget};
  double began = now();
  isoproof_status status = isoproof_history_open(t->folder.history, NULL, task, &j->history, error);
  j->load_seconds = now() - began;
  if (status != ISOPROOF_OK) return status;
  began = now();
  isoproof_task_set_timeout(task, timeout);
  status = isoproof_check(j->history, &how, task, &j->result, error);
  j->check_seconds = now() - began;
  j->effort = (isoproof_effort){.struct_size = sizeof j->effort};
  j->has_effort = isoproof_history_effort(j->history, NULL, &j->effort, NULL) == ISOPROOF_OK;
  return status;
}

/* ---- reporting ---- */

static isoproof_render_options render_options(const tester *t, const judgement *j, bool color) {
  struct rusage usage;
  uint64_t peak = getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
  return (isoproof_render_options){.struct_size = sizeof(isoproof_render_options),
                                   .file = t->folder.history,
                                   .load_seconds = j->load_seconds,
                                   .check_seconds = j->check_seconds,
                                   .peak_bytes = peak,
                                   .color = color,
                                   .unicode = terminal_utf8(),
                                   .has_page = true};
}

/* What the object of a round has beyond that of check. */
typedef struct round_fields {
  const tester *t;
  const judgement *j;
} round_fields;

static void add_run(void *user, isoproof_json *json) {
  const round_fields *of = user;
  run_json(json, of->j->report, of->t->plan.workload.seed, &of->t->plan.cluster);
}

/* Of a history that is too long to be read again. */
static isoproof_status write_known(const tester *t, const judgement *j,
                                   isoproof_status (*write)(const isoproof_document *, const isoproof_draw_options *,
                                                            isoproof_write_fn, void *, isoproof_error *),
                                   const isoproof_draw_options *draw, FILE *out, isoproof_error *error) {
  isoproof_document *document;
  isoproof_status status = test_live_document(j->live, t->folder.history, &document, error);
  if (status == ISOPROOF_OK) status = write(document, draw, write_stream, out, error);
  isoproof_document_free(document);
  return status;
}

static bool print_json(const tester *t, const judgement *j, FILE *out) {
  round_fields fields = {t, j};
  isoproof_render_options how = render_options(t, j, false);
  isoproof_error error = {.offset = -1};
  how.effort = j->has_effort ? &j->effort : NULL;
  how.more = add_run;
  how.more_user = &fields;
  isoproof_draw_options draw = {.struct_size = sizeof draw, .more = add_run, .more_user = &fields};
  isoproof_status status = j->live != NULL ? write_known(t, j, isoproof_document_write_json, &draw, out, &error)
                                           : isoproof_result_write_json(j->result, &how, write_stream, out, &error);
  if (status == ISOPROOF_OK) return true;
  if (out != stdout || !output_gone()) message_error(&error, NULL);
  return false;
}

static void print_expectation(const judgement *j, FILE *out) {
  const char *claim = isoproof_run_summary_claim(j->report);
  if (j->expected == NULL) {
    print_lines(out, "  the database documents no level that isoproof knows; --expect names one\n");
  } else if (claim != NULL && strcmp(claim, j->expected) == 0) {
    char text[512];
    snprintf(text, sizeof text, "  expected: %s, as the database documents for %s\n", claim,
             isoproof_run_summary_isolation(j->report));
    print_lines(out, text);
  } else {
    fprintf(out, "  expected: %s\n", j->expected);
  }
}

static bool print_text(const tester *t, const judgement *j, FILE *out, bool color) {
  isoproof_error error = {.offset = -1};
  isoproof_render_options how = render_options(t, j, color);
  how.width = out == stdout ? report_width(stdout) : 0;
  run_summary(out, j->report);
  run_cluster_summary(out, &t->plan.cluster);
  if (j->has_effort) run_effort(out, &j->effort);
  print_expectation(j, out);
  isoproof_draw_options draw = {
      .struct_size = sizeof draw, .color = color, .unicode = how.unicode, .width = how.width, .has_page = true};
  isoproof_status status = j->live != NULL ? write_known(t, j, isoproof_document_write_text, &draw, out, &error)
                                           : isoproof_result_write_text(j->result, &how, write_stream, out, &error);
  if (status == ISOPROOF_OK) return true;
  if (out != stdout || !output_gone()) message_error(&error, NULL);
  return false;
}

static isoproof_document *make_document(const tester *t, const judgement *j, bool detached) {
  isoproof_render_options how = render_options(t, j, false);
  isoproof_document_options what = {.struct_size = sizeof what,
                                    .file = how.file,
                                    .load_seconds = how.load_seconds,
                                    .check_seconds = how.check_seconds,
                                    .peak_bytes = how.peak_bytes,
                                    .detached = detached,
                                    .effort = j->has_effort ? &j->effort : NULL};
  isoproof_error error = {.offset = -1};
  isoproof_document *document = NULL;
  isoproof_status status = j->live != NULL ? test_live_document(j->live, how.file, &document, &error)
                                           : isoproof_document_make(j->history, j->result, &what, &document, &error);
  if (status == ISOPROOF_OK) return document;
  message_error(&error, NULL);
  return NULL;
}

/* The page to look at. */
static bool save_page(const tester *t, const judgement *j) {
  isoproof_document *document = make_document(t, j, false);
  char *path = NULL;
  if (document == NULL) return false;
  if (asprintf(&path, "%s/report.html", t->folder.round) < 0) path = NULL;
  if (path == NULL) message("out of memory");
  const isoproof_document *one = document;
  bool good = path != NULL && output_write_file(OUTPUT_HTML, path, &one, 1) == EXIT_SATISFIED;
  free(path);
  isoproof_document_free(document);
  return good;
}

/* What the reports asked for need.  That of a single round is written at once, with the history at hand. */
static int keep_document(tester *t, const judgement *j) {
  if (!outputs_wanted(t->reports.values)) return EXIT_SATISFIED;
  isoproof_document *document = make_document(t, j, t->many);
  if (document == NULL) return EXIT_USAGE;
  if (!outputs_add(&t->reports, document)) {
    isoproof_document_free(document);
    return EXIT_UNKNOWN;
  }
  return t->many ? EXIT_SATISFIED : outputs_write(&t->reports);
}

static bool save(const tester *t, const judgement *j) {
  FILE *out = test_file_open(&t->folder, "result.json");
  if (out == NULL) return false;
  bool good = print_json(t, j, out);
  good = test_file_close(out, &t->folder, "result.json") && good;
  out = test_file_open(&t->folder, "report.txt");
  if (out == NULL) return false;
  good = print_text(t, j, out, false) && good;
  good = test_file_close(out, &t->folder, "report.txt") && good;
  return save_page(t, j) && good;
}

static void print(const tester *t, const judgement *j) {
  progress_clear();
  if (t->silent) return;
  if (t->parsed->values[TEST_JSON].on) {
    print_json(t, j, stdout);
    return;
  }
  print_text(t, j, stdout, t->color);
  char *text = NULL;
  if (asprintf(&text, "  saved in %s; --seed=%" PRIu64 " repeats the workload\n", t->folder.round,
               t->plan.workload.seed) < 0)
    return;
  print_lines(stdout, text);
  free(text);
}

/* ---- rounds ---- */

static isoproof_verdict verdict_of(const judgement *j) {
  return j->live != NULL ? j->live->status.verdict : isoproof_result_verdict(j->result);
}

static int code_of(tester *t, const judgement *j) {
  /* An invariant of the user's own is broken, whatever the level allows. */
  if (isoproof_run_summary_broken_invariants(j->report) > 0) {
    t->violated++;
    return EXIT_VIOLATED;
  }
  switch (verdict_of(j)) {
  case ISOPROOF_VIOLATED:
    t->violated++;
    return EXIT_VIOLATED;
  case ISOPROOF_UNDECIDED:
    t->unknown++;
    return EXIT_UNKNOWN;
  case ISOPROOF_SATISFIED:
  case ISOPROOF_VERDICT_NONE:
    break;
  }
  t->satisfied++;
  return EXIT_SATISFIED;
}

static bool write_command(const tester *t) {
  FILE *out = test_file_open(&t->folder, "command.txt");
  if (out == NULL) return false;
  fprintf(out, "%s\n", t->plan.command);
  if (t->many) fprintf(out, "# this round alone: --rounds=1 --seed=%" PRIu64 "\n", t->plan.workload.seed);
  return test_file_close(out, &t->folder, "command.txt");
}

int test_report(tester *t, const judgement *j) {
  progress_stage("writing the report");
  if (!save(t, j)) return EXIT_USAGE;
  print(t, j);
  return exit_worse(keep_document(t, j), code_of(t, j));
}

/* Judges what was recorded, and reports. */
static int judge_round(tester *t, judgement *j, isoproof_task *task) {
  isoproof_error error = {.offset = -1};
  isoproof_task_set_progress(task, progress_update, NULL);
  isoproof_status status = test_judge(t, j, budget_of(t, j), t->parsed->values[TEST_TIMEOUT].number, task, &error);
  if (status != ISOPROOF_OK) {
    message_error(&error, t->folder.history);
    snprintf(t->problem, sizeof t->problem, "%s", error.message);
    return exit_of_status(status);
  }
  int code = test_report(t, j);
  /* What was recorded shows a violation, or it does not show that there would have been none. */
  return interrupted() && code == EXIT_SATISFIED ? EXIT_INTERRUPTED : code;
}

/* A run that was interrupted is judged as far as it went; the next signal ends everything. */
static int judge_interrupted(tester *t, judgement *j) {
  if (isoproof_run_summary_counts(j->report)->committed == 0) return EXIT_INTERRUPTED;
  progress_clear();
  message("interrupted; judging what was recorded (Ctrl-C again ends at once)");
  isoproof_task *task = interrupt_task_after();
  if (task == NULL) return EXIT_UNKNOWN;
  int code = judge_round(t, j, task);
  isoproof_task_free(task);
  return code;
}

/* Reports what is known of a history that is too long to be read again, or judges it as a whole. */
static int judge_live(tester *t, judgement *j, const test_live *live, isoproof_task *task) {
  if (!test_live_is_long(live)) {
    int code = judge_round(t, j, task);
    return j->result == NULL || test_live_agrees(live, isoproof_result_verdict(j->result)) ? code : EXIT_INTERNAL;
  }
  j->live = live;
  j->expected = expected_of(t, j);
  return test_report(t, j);
}

static int judge_run(tester *t, judgement *j, test_live *live, isoproof_task *task) {
  if (!test_write_server(&t->folder, j->report)) return EXIT_USAGE;
  if (isoproof_run_summary_cancelled(j->report)) return judge_interrupted(t, j);
  int useless = run_was_useful(j->report);
  if (useless != EXIT_SATISFIED) {
    snprintf(t->problem, sizeof t->problem, "no transaction committed");
    return useless;
  }
  test_live_end(live);
  return judge_live(t, j, live, task);
}

/* Runs and judges; the report and the result are in `j`, also when something failed on the way. */
int test_round(tester *t, judgement *j, isoproof_task *task) {
  isoproof_error error = {.offset = -1};
  test_live live;
  t->plan.run.path = t->folder.history;
  if (!write_command(t)) return EXIT_USAGE;
  int code = run_cluster_faults(&t->plan.cluster, t->plan.workload.seed, &t->plan.run);
  if (code != EXIT_SATISFIED) return code;
  test_live_prepare(&live, t);
  if (run_plan_execute(&t->plan, task, &j->report, &error) == ISOPROOF_OK) {
    code = judge_run(t, j, &live, task);
  } else {
    message_error(&error, NULL);
    snprintf(t->problem, sizeof t->problem, "%s", error.message);
    code = run_exit(&error, t->folder.history);
  }
  test_live_free(&live);
  return code;
}

void judgement_free(judgement *j) {
  isoproof_result_free(j->result);
  isoproof_history_free(j->history);
  isoproof_run_summary_free(j->report);
}
