/* test_round.h - one round of `isoproof test`: run, judge, report, save.  A tester borrows the command line and owns
 * the rest until the command ends.
 */
#ifndef CLI_COMMANDS_TEST_ROUND_H
#define CLI_COMMANDS_TEST_ROUND_H

#include <isoproof/isoproof.h>

#include "cli/commands/test_files.h"
#include "cli/options/outputs.h"
#include "cli/options/run_options.h"

enum {
  TEST_EXPECT = RUN_OPTIONS,
  TEST_ROUNDS,
  TEST_UNTIL_VIOLATION,
  TEST_TIMEOUT,
  TEST_BUDGET,
  TEST_SWEEP,
  TEST_GO_ON,
  TEST_DIRECTORY,
  TEST_JSON,
  TEST_LIVE,
  TEST_KEEP_GOING,
  TEST_PACE,
  TEST_PLAN,
  TEST_NO_PLAN,
  TEST_RESUME,
  TEST_INIT,
  TEST_OUTPUT, /* the first of the reports */
  TEST_ALL = TEST_OUTPUT + OUTPUTS
};

typedef struct tester {
  const options *parsed;
  run_plan plan;
  test_folder folder;
  uint64_t first_seed;
  bool many; /* rounds */
  bool color;
  bool silent; /* a report goes to standard output */
  outputs reports;
  uint64_t violated, satisfied, unknown;
  char problem[512]; /* why a round failed; "" where it did not */
} tester;

/* A history and what was found in it. */
typedef struct judgement {
  isoproof_run_summary *report;
  isoproof_history *history;
  isoproof_result *result;
  const char *expected; /* the level asked for; NULL none */
  double load_seconds, check_seconds;
  isoproof_effort effort; /* how hard the run tried, which every output tells */
  bool has_effort;
  const struct test_live *live; /* instead of a history that is too long: what was found while it ran; NULL none */
} judgement;

/* Runs a workload as the plan says, into the round that the folder has prepared, judges and reports: an exit code.
 * Counts the verdict in `t`. */
int test_round(tester *t, judgement *found, isoproof_task *task);
/* Its parts: loads and judges what was recorded, with so many seconds for the levels that nobody asked for, and for all
 * (0: no limit); saves and prints what was found, and counts it. */
isoproof_status test_judge(tester *t, judgement *found, double budget, double timeout, isoproof_task *task,
                           isoproof_error *error);
int test_report(tester *t, const judgement *found);
void judgement_free(judgement *found);

#endif
