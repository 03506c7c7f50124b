/* test.c - `isoproof test`: generate, run on a database, check, report, save. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/commands/plan.h"
#include "cli/commands/sweep.h"
#include "cli/commands/test_round.h"
#include "cli/options/names.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

static int one_round(tester *t, uint64_t round) {
  judgement j = {.report = NULL};
  t->plan.workload.seed = t->first_seed + round - 1;
  isoproof_task *task = interrupt_task_new();
  if (task == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  int code = EXIT_USAGE;
  if (test_folder_round(&t->folder, round, t->many)) code = test_round(t, &j, task);
  progress_clear();
  judgement_free(&j);
  interrupt_task_free(task);
  return code;
}

static uint64_t most_rounds(const tester *t) {
  const option_value *v = t->parsed->values;
  return v[TEST_ROUNDS].given ? v[TEST_ROUNDS].integer : v[TEST_UNTIL_VIOLATION].on ? UINT64_MAX : 1;
}

static int all_rounds(tester *t) {
  bool until = t->parsed->values[TEST_UNTIL_VIOLATION].on;
  uint64_t rounds = most_rounds(t);
  int worst = EXIT_SATISFIED;
  for (uint64_t round = 1; round <= rounds; round++) {
    int code = one_round(t, round);
    worst = exit_worse(worst, code);
    if (interrupted()) return t->violated > 0 ? EXIT_VIOLATED : EXIT_INTERRUPTED;
    /* A database that is gone will not come back from being asked again. */
    if (code != EXIT_SATISFIED && code != EXIT_VIOLATED && code != EXIT_UNKNOWN) return worst;
    if (until && code == EXIT_VIOLATED) break;
    if (until && code == EXIT_SATISFIED && round < rounds) test_folder_forget(&t->folder);
  }
  return worst;
}

static void print_rounds(const tester *t) {
  if (!t->many || t->silent || t->parsed->values[TEST_SWEEP].on || t->parsed->values[TEST_JSON].on) return;
  uint64_t rounds = t->satisfied + t->violated + t->unknown;
  printf("%" PRIu64 " round%s: %" PRIu64 " satisfied, %" PRIu64 " violated, %" PRIu64 " unknown\n", rounds,
         rounds == 1 ? "" : "s", t->satisfied, t->violated, t->unknown);
}

/* Whether the reports asked for can be made. */
static bool prepare_reports(tester *t) {
  const option_value *values = t->parsed->values, *reports = &values[TEST_OUTPUT];
  size_t out = outputs_to_stdout(reports);
  t->silent = out > 0;
  if (out + (out > 0 && values[TEST_JSON].on ? 1 : 0) > 1) {
    message("test: only one output can go to standard output");
    return false;
  }
  if (!outputs_begin(&t->reports, reports, t->many)) return false;
  if (values[TEST_JSON].on) t->reports.stdout_taken = true;
  return true;
}

static int run_test(options *parsed) {
  tester t = {.parsed = parsed};
  const option_value *directory = &parsed->values[TEST_DIRECTORY];
  int code = EXIT_USAGE;
  t.color = terminal_color(stdout, common_color(parsed));
  t.many = most_rounds(&t) > 1;
  if (prepare_reports(&t) && run_plan_fill(&t.plan, parsed, "test")) {
    t.first_seed = t.plan.workload.seed;
    if (run_plan_explains(parsed)) {
      code = run_plan_explain(&t.plan, parsed);
    } else if (parsed->values[TEST_SWEEP].on && t.plan.run.script_count > 0) {
      message("test: --sweep varies workloads, and has no meaning with --script");
    } else if (test_folder_make(&t.folder, directory->given ? directory->text : "isoproof-out")) {
      code = run_plan_start(&t.plan, parsed);
      if (code == EXIT_SATISFIED) code = parsed->values[TEST_SWEEP].on ? sweep_run(&t) : all_rounds(&t);
      if (t.many && t.reports.count > 0) code = exit_worse(code, outputs_write(&t.reports));
      if (!run_cluster_save_logs(&t.plan.cluster, t.folder.path)) code = exit_worse(code, EXIT_USAGE);
      print_rounds(&t);
      if (interrupted()) message("interrupted; what was recorded is in %s", t.folder.path);
    }
  } else if (interrupted()) {
    code = EXIT_INTERRUPTED;
  }
  outputs_free(&t.reports);
  test_folder_free(&t.folder);
  run_plan_free(&t.plan);
  return code;
}

static int run(options *parsed) {
  if (parsed->values[TEST_INIT].on) return plan_init();
  if (parsed->values[TEST_NO_PLAN].on && parsed->values[TEST_PLAN].given) {
    message("--plan and --no-plan exclude each other");
    return EXIT_USAGE;
  }
  const char *plan = parsed->values[TEST_NO_PLAN].on ? NULL : plan_chosen(parsed);
  return plan != NULL ? plan_run(parsed, plan) : run_test(parsed);
}

/* ---- the table ---- */

#define OUTPUT_ROW_FIRST TEST_OUTPUT

static const option table[TEST_ALL] = {
    RUN_ROWS,
    [TEST_EXPECT] = {.name = "expect",
                     .letter = 'e',
                     .argument = "LEVEL",
                     .type = OPTION_CHOICE,
                     .choices = level_name_at,
                     .accepts = level_known,
                     .help = "The level that must hold ('isoproof levels' lists them); the exit code is 1 when it does "
                             "not.",
                     .initial = "what the database documents for the isolation level",
                     .group = "Verdict"},
    [TEST_ROUNDS] = {.name = "rounds",
                     OPTION_UP_TO(1e9),
                     .help = "Run and check that many times, each with the next seed.",
                     .initial = "1",
                     .group = "Verdict"},
    [TEST_UNTIL_VIOLATION] = {.name = "until-violation",
                              .type = OPTION_FLAG,
                              .help = "Run rounds (up to --rounds, if given) until one is violated; those that are "
                                      "satisfied are not kept.",
                              .group = "Verdict"},
    [TEST_TIMEOUT] = {.name = "timeout",
                      .argument = "TIME",
                      .type = OPTION_SECONDS,
                      .max = 1e9,
                      .help = "Check for no longer than that; what is not decided then is unknown. 0 means no limit.",
                      .initial = "0",
                      .group = "Verdict"},
    [TEST_BUDGET] = {.name = "budget",
                     .argument = "TIME",
                     .type = OPTION_SECONDS,
                     .max = 1e9,
                     .help = "When the expected level is decided, decide all other levels too, the cheapest first, for "
                             "no longer than that; the report says which are left. The exit code is about the expected "
                             "level only. 0 leaves the others out. With --sweep or a plan, how long that takes in all.",
                     .initial = "as long as the run took, and at least 10; with --sweep 300, a plan 60",
                     .group = "Verdict"},
    [TEST_SWEEP] = {.name = "sweep",
                    .type = OPTION_FLAG,
                    .help = "Run short slices (--time, 1 second) of many combinations of workload, sessions, jitter, "
                            "layout, access path, statements and round trips, more of those whose transactions get in "
                            "each other's way, until one is violated. What the command line says is not varied.",
                    .group = "Verdict"},
    [TEST_GO_ON] = {.name = "all",
                    .type = OPTION_FLAG,
                    .help = "With --sweep, go on after a violation, until the time is over.",
                    .group = "Verdict"},
    [TEST_LIVE] = {.name = "live",
                   .type = OPTION_FLAG,
                   .help = "Judge the expected level while the database runs, and end the run at the first violation; "
                           "the terminal's line says how far the checker is behind, and 'isoproof serve' shows the run "
                           "as it goes. --no-live judges afterwards only.",
                   .initial = "for runs longer than 30 s",
                   .group = "While it runs"},
    [TEST_KEEP_GOING] = {.name = "keep-going",
                         .type = OPTION_FLAG,
                         .help = "With --live, do not end the run at a violation.",
                         .group = "While it runs"},
    [TEST_PACE] = {.name = "pace",
                   .type = OPTION_FLAG,
                   .help =
                       "With --live, let sessions wait while the checker is far behind (20,000 transactions). Without "
                       "it the run is never slowed down.",
                   .group = "While it runs"},
    [TEST_DIRECTORY] = {.name = "directory",
                        .argument = "FOLDER",
                        .type = OPTION_FILE,
                        .help = "Save everything below this folder, by time, with a link 'latest'.",
                        .initial = "isoproof-out",
                        .group = "Verdict"},
    [TEST_PLAN] = {.name = "plan",
                   .type = OPTION_FILE,
                   .help = "Run this plan: databases by isolation levels by workloads, and what is expected of each.",
                   .initial = "isoproof.toml, where there is one and no option says what to test",
                   .group = "Plans"},
    [TEST_NO_PLAN] = {.name = "no-plan",
                      .type = OPTION_FLAG,
                      .help = "Leave isoproof.toml alone, and test as the other options say.",
                      .group = "Plans"},
    [TEST_RESUME] = {.name = "resume",
                     .type = OPTION_FLAG,
                     .help = "Go on with the latest run of the plan: cells that have a verdict keep it.",
                     .group = "Plans"},
    [TEST_INIT] = {.name = "init",
                   .type = OPTION_FLAG,
                   .help = "Write an isoproof.toml to begin with, unless there is one, and run nothing.",
                   .group = "Plans"},
    [TEST_JSON] = {.name = "json",
                   .type = OPTION_FLAG,
                   .help = "Print one JSON object per round, each on a line; of a plan, one for all of it.",
                   .group = "Verdict"},
    OUTPUT_ROWS};

static const example examples[] = {
    {"isoproof test --time=0.5 --directory=isoproof-out", 0, "SQLite, half a second: is it what it claims?"},
    {"isoproof test --db='sim:?level=rc' -e ra -k4 --time=0.5 --directory=isoproof-out", 1,
     "A simulated database that gives less than expected."},
    {"isoproof check --level=read-committed isoproof-out/latest/history.jsonl", 0, "Judge the saved history again."},
    {"isoproof test --plan=examples/quickstart/isoproof.toml --budget=2 --directory=isoproof-out", 0,
     "A plan: databases by levels by workloads."},
    {"isoproof test --sweep --budget=2 --time=0.3 --directory=isoproof-out", 0, "Many ways to provoke SQLite."},
};

static const char *const description[] = {
    "Runs a workload on a database, checks the history against the level that the database documents (or the one of "
    "--expect), reports, and saves everything below isoproof-out: history.jsonl, result.json, report.txt, report.html "
    "(to look at in a browser), server.txt "
    "(version and settings) and command.txt. Without options it tests a private SQLite database for three seconds.",
    "The exit code is 0 when the level holds, 1 when it is violated, 3 when that could not be decided, 4 when the "
    "database failed. 'isoproof check' judges a saved history again, for any level.",
    "Ctrl-C ends the run, not the test: what was recorded until then is judged, reported and saved. The exit code is 1 "
    "then when that violates the level, else 130. A second Ctrl-C ends everything at once.",
    "--sweep looks for the combination that shows a bug: the folder has the report of the slice that was violated, its "
    "smallest part (smallest.jsonl), and a table of what was tried (sweep.md, sweep.json).",
    "A plan (isoproof.toml, which --init begins) names databases, isolation levels, workloads and what is expected; "
    "without other options, 'isoproof test' runs the one of the present folder and prints one table. The exit code is "
    "0 "
    "when everything is as expected, 1 when a cell is violated, or is not although it should be, 3 when one is not "
    "decided or was not tried, 4 when a database failed.",
    "Workloads:" WORKLOAD_LINES,
    NULL};

const command command_test = {
    "test",
    "Run a workload on a database and check that it gives the isolation it documents",
    "[--db=URL,..|--cluster=NAME] [--isolation=NAME] [--expect=LEVEL] [--time=SECONDS] [OPTION...]",
    description,
    NULL,
    NULL,
    table,
    TEST_ALL,
    examples,
    COUNT_OF(examples),
    run};
