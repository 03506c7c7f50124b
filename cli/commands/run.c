/* run.c - `isoproof run`: a workload on a database, recorded. */
#include <inttypes.h>
#include <isoproof/isoproof.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/commands/run_report.h"
#include "cli/options/run_options.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress.h"

enum { RUN_OUTPUT = RUN_OPTIONS, RUN_ALL };

static int execute(const options *parsed, run_plan *plan, isoproof_task *task) {
  isoproof_error error = {.offset = -1};
  isoproof_run_summary *report = NULL;
  isoproof_status status = run_plan_execute(plan, task, &report, &error);
  progress_clear();
  if (status != ISOPROOF_OK) {
    message_error(&error, NULL);
    return run_exit(&error, plan->run.path);
  }
  if (!common_quiet(parsed)) {
    run_summary(stderr, report);
    run_cluster_summary(stderr, &plan->cluster);
    if (!parsed->values[RUN_WORKLOAD + WORKLOAD_SEED].given)
      message("seed %" PRIu64 " (--seed repeats this workload)", plan->workload.seed);
  }
  int code = run_was_useful(report);
  if (isoproof_run_summary_cancelled(report)) {
    message("interrupted; the history up to here is complete");
    code = EXIT_INTERRUPTED;
  }
  isoproof_run_summary_free(report);
  return code;
}

static int run_planned(const options *parsed, run_plan *plan) {
  plan->run.path = parsed->values[RUN_OUTPUT].given ? parsed->values[RUN_OUTPUT].text : "-";
  plan->run.progress = run_progress;
  int code = run_plan_start(plan, parsed);
  if (code == EXIT_SATISFIED) code = run_cluster_faults(&plan->cluster, plan->workload.seed, &plan->run);
  if (code != EXIT_SATISFIED) return code;
  isoproof_task *task = interrupt_task_new();
  if (task == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  code = execute(parsed, plan, task);
  interrupt_task_free(task);
  return code;
}

static int run(options *parsed) {
  run_plan plan;
  int code = EXIT_USAGE;
  if (run_plan_fill(&plan, parsed, "run"))
    code = run_plan_explains(parsed) ? run_plan_explain(&plan, parsed) : run_planned(parsed, &plan);
  else if (interrupted())
    code = EXIT_INTERRUPTED;
  run_plan_free(&plan);
  return code;
}

static const option table[RUN_ALL] = {
    RUN_ROWS,
    [RUN_OUTPUT] = {.name = "output",
                    .letter = 'o',
                    .type = OPTION_FILE,
                    .help = "Write the history to this file.",
                    .initial = "standard output",
                    .group = "Output"},
};

static const example examples[] = {
    {"isoproof run --transactions=100 --seed=1 | isoproof stats -", 0, "A hundred transactions on SQLite, counted."},
    {"isoproof run --db=sim: --workload=list-append -n 500 -o lists.jsonl", 0, "Lists in a simulated database."},
    {"isoproof run --db='sim:?level=read-committed' --time=0.5 -o rc.jsonl", 0, "Half a second, by the clock."},
};

static const char *const description[] = {
    "Runs a workload on a database, each session a client with a connection of its own, and writes the history as JSON "
    "lines while it goes: one line per transaction when it has ended, so that a crash loses at most the last one.",
    "A transaction is recorded as committed only if the server confirmed it, as aborted only if it cannot have taken "
    "effect, and as unknown otherwise. Ctrl-C ends the run; the history is valid then, too.",
    "Workloads:" WORKLOAD_LINES, NULL};

const command command_run = {
    "run",
    "Run a workload on a database and record the history",
    "[--db=URL,..|--cluster=NAME] [--isolation=NAME] [--workload=NAME] [--time=SECONDS] [OPTION...]",
    description,
    NULL,
    NULL,
    table,
    RUN_ALL,
    examples,
    COUNT_OF(examples),
    run};
