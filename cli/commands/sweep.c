/* sweep.c - `isoproof test --sweep`: slices of many combinations, until one is violated or the time is over. */
#include "cli/commands/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands/command.h"
#include "cli/commands/run_report.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/message.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

/* Seconds: of the sweep, of the first slice of a combination and of further ones, how long judging a slice may take,
 * and making a violation small. */
static const double usual_budget = 300, first_slice = 1, further_slice = 3, usual_timeout = 20, smallest_timeout = 20;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The plan of a slice: that of the command line, with what the combination says. */
static void plan_slice(tester *t, const sweep_combination *c, uint64_t slice, double seconds) {
  const option_value *v = t->parsed->values;
  isoproof_workload_options *w = &t->plan.workload;
  uint32_t keys = w->keys;
  isoproof_workload_defaults(c->workload, w);
  if (v[RUN_WORKLOAD + WORKLOAD_KEYS].given) w->keys = keys;
  w->seed = t->first_seed + slice;
  w->sessions = c->sessions;
  w->jitter = c->jitter;
  t->plan.run.layout = c->layout;
  t->plan.run.access = c->access;
  t->plan.run.statements = c->statements;
  t->plan.run.round_trips = c->round_trips;
  t->plan.run.seconds = seconds;
}

/* What repeats a slice alone. */
static bool write_command(const tester *t, const sweep_combination *c) {
  FILE *out = test_file_open(&t->folder, "command.txt");
  if (out == NULL) return false;
  fprintf(out,
          "%s\n# this slice alone, instead of --sweep: --workload=%s --sessions=%u --layout=%s --access=%s "
          "--statements=%s --round-trips=%s --time=%g --seed=%" PRIu64,
          t->plan.command, isoproof_workload_at(c->workload), c->sessions, c->layout, c->access, c->statements,
          c->round_trips, t->plan.run.seconds, t->plan.workload.seed);
  if (c->jitter >= 0) fprintf(out, " --jitter=%g", c->jitter);
  fputc('\n', out);
  return test_file_close(out, &t->folder, "command.txt");
}

/* The smallest part of the history that violates the level, beside it; a report that cannot be had is no failure. */
static void save_smallest(const tester *t, const judgement *j) {
  isoproof_minimize_options what = {.struct_size = sizeof what, .level = j->expected};
  isoproof_minimized made = {.struct_size = sizeof made};
  isoproof_history *part = NULL;
  isoproof_task *task = interrupt_task_after();
  isoproof_error error = {.offset = -1};
  char *path = NULL;
  if (task == NULL || asprintf(&path, "%s/smallest.jsonl", t->folder.round) < 0) path = NULL;
  progress_stage("making it small");
  if (path != NULL) {
    isoproof_task_set_timeout(task, smallest_timeout);
    isoproof_status status = isoproof_minimize(j->history, &what, task, &part, &made, &error);
    isoproof_task_set_timeout(task, 0);
    if (status == ISOPROOF_OK && part != NULL)
      status = isoproof_history_write(part, ISOPROOF_FORMAT_JSONL, path, NULL, task, NULL, &error);
    if (status != ISOPROOF_OK) message_error(&error, path);
  }
  progress_clear();
  isoproof_history_free(part);
  isoproof_task_free(task);
  free(path);
}

static int report_violation(tester *t, sweep *s, judgement *j, const sweep_combination *c) {
  if (s->violation == SIZE_MAX) s->violation = (size_t)(c - s->items);
  if (!write_command(t, c) || !test_write_server(&t->folder, j->report)) return EXIT_USAGE;
  int code = test_report(t, j);
  save_smallest(t, j);
  return code;
}

/* Judges a slice: satisfied ones leave no trace but in the table. */
static int judge_slice(tester *t, sweep *s, judgement *j, sweep_combination *c, isoproof_task *task) {
  isoproof_error error = {.offset = -1};
  const option_value *timeout = &t->parsed->values[TEST_TIMEOUT];
  isoproof_status status = test_judge(t, j, 0, timeout->given ? timeout->number : usual_timeout, task, &error);
  if (status != ISOPROOF_OK) {
    message_error(&error, t->folder.history);
    return exit_of_status(status);
  }
  s->level = j->expected != NULL ? isoproof_level_find(j->expected)->id : NULL; /* that of the run goes with it */
  sweep_learn(c, j);
  isoproof_verdict verdict = isoproof_result_verdict(j->result);
  if (verdict == ISOPROOF_VIOLATED) return report_violation(t, s, j, c);
  return verdict == ISOPROOF_UNDECIDED ? EXIT_UNKNOWN : EXIT_SATISFIED;
}

static int run_slice(tester *t, sweep *s, sweep_combination *c, isoproof_task *task) {
  isoproof_error error = {.offset = -1};
  judgement j = {.report = NULL};
  t->plan.run.path = t->folder.history;
  t->plan.run.progress = run_progress;
  int code = run_cluster_faults(&t->plan.cluster, t->plan.workload.seed, &t->plan.run);
  if (code != EXIT_SATISFIED) return code;
  isoproof_status status = isoproof_run(&t->plan.run, task, &j.report, &error);
  progress_clear();
  if (status == ISOPROOF_ERR_UNSUPPORTED) {
    sweep_unavailable(s, c);
  } else if (status != ISOPROOF_OK) {
    message_error(&error, NULL);
    code = run_exit(&error, t->folder.history);
  } else if (isoproof_run_summary_counts(j.report)->committed > 0) {
    isoproof_task *judging = interrupted() ? interrupt_task_after() : task;
    code = judging != NULL ? judge_slice(t, s, &j, c, judging) : EXIT_UNKNOWN;
    if (judging != task) isoproof_task_free(judging);
  } else if (!isoproof_run_summary_cancelled(j.report)) {
    sweep_learn(c, &j);
  }
  judgement_free(&j);
  return code;
}

static int one_slice(tester *t, sweep *s, size_t chosen, double seconds) {
  isoproof_task *task = interrupt_task_new();
  if (task == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  int code = EXIT_USAGE;
  double began = now();
  plan_slice(t, &s->items[chosen], s->slices, seconds);
  if (test_folder_round(&t->folder, s->slices + 1, t->many)) code = run_slice(t, s, &s->items[chosen], task);
  s->slices++;
  s->items[chosen].spent += now() - began;
  /* Of the others there is nothing to keep. */
  if (code != EXIT_VIOLATED) test_folder_forget(&t->folder);
  interrupt_task_free(task);
  return code;
}

/* Slices until there is nothing more to do.  A slice that cannot be decided is no reason to stop. */
static int all_slices(tester *t, sweep *s) {
  const option_value *v = t->parsed->values;
  double budget = v[TEST_BUDGET].given ? v[TEST_BUDGET].number : usual_budget;
  double began = now();
  int worst = EXIT_SATISFIED;
  for (size_t chosen; (chosen = sweep_next(s)) != SIZE_MAX;) {
    double left = budget - (now() - began);
    if (left <= 0) break;
    double slice = v[RUN_TIME].given ? v[RUN_TIME].number : s->items[chosen].slices == 0 ? first_slice : further_slice;
    int code = one_slice(t, s, chosen, left < slice ? left : slice);
    worst = exit_worse(worst, code);
    if (interrupted() || (code == EXIT_VIOLATED && !v[TEST_GO_ON].on)) break;
    if (code != EXIT_SATISFIED && code != EXIT_VIOLATED && code != EXIT_UNKNOWN) break;
  }
  s->seconds = now() - began;
  return worst;
}

static int check_options(const tester *t) {
  const option_value *v = t->parsed->values;
  static const int excluded[] = {TEST_ROUNDS, TEST_UNTIL_VIOLATION, RUN_WORKLOAD + WORKLOAD_PRESET,
                                 RUN_WORKLOAD + WORKLOAD_TRANSACTIONS};
  for (size_t i = 0; i < COUNT_OF(excluded); i++) {
    if (!v[excluded[i]].given) continue;
    message("--sweep and --%s exclude each other", t->parsed->table[excluded[i]].name);
    return EXIT_USAGE;
  }
  if (!v[RUN_TIME].given || v[RUN_TIME].number > 0) return EXIT_SATISFIED;
  message("--time: expected more than 0 seconds for a slice of a sweep");
  return EXIT_USAGE;
}

int sweep_run(tester *t) {
  sweep s;
  int code = check_options(t);
  if (code != EXIT_SATISFIED) return code;
  t->many = t->parsed->values[TEST_GO_ON].on;
  if (!sweep_make(&s, t)) {
    message("out of memory");
    code = EXIT_UNKNOWN;
  } else if (s.count == 0) {
    message("--sweep: there is no such combination of workload, layout and access path");
    code = EXIT_USAGE;
  } else {
    code = all_slices(t, &s);
    if (!sweep_save(&s, &t->folder)) code = exit_worse(code, EXIT_USAGE);
    if (!t->silent && t->parsed->values[TEST_JSON].on)
      sweep_print_json(&s, stdout);
    else if (!t->silent)
      sweep_print(&s, stdout);
    if (interrupted() && code == EXIT_SATISFIED) code = EXIT_INTERRUPTED;
  }
  sweep_free(&s);
  return code;
}
