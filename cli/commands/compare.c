/* compare.c - `isoproof compare`: what changed between two results of tests or plans. */
#include <isoproof/isoproof.h>

#include "cli/commands/command.h"
#include "cli/terminal/output.h"

enum { COMPARE_TOLERANCE, COMPARE_JSON, COMPARE_ALL };

static int show(const options *parsed, const isoproof_plan_results *before, const isoproof_plan_results *after) {
  isoproof_error error = {.offset = -1};
  isoproof_plan_comparison *comparison = NULL;
  isoproof_plan_compare_options how = {.struct_size = sizeof how,
                                       .tolerance = parsed->values[COMPARE_TOLERANCE].number / 100};
  isoproof_status status = isoproof_plan_compare(before, after, &how, &comparison, &error);
  if (status == ISOPROOF_OK)
    status = (parsed->values[COMPARE_JSON].on
                  ? isoproof_plan_comparison_write_json
                  : isoproof_plan_comparison_write_text)(comparison, write_stream, stdout, &error);
  int code = status != ISOPROOF_OK                            ? exit_of_status(status)
             : isoproof_plan_comparison_worse(comparison) > 0 ? EXIT_VIOLATED
                                                              : EXIT_SATISFIED;
  if (status != ISOPROOF_OK && !output_gone()) message_error(&error, NULL);
  isoproof_plan_comparison_free(comparison);
  return code;
}

static int run(options *parsed) {
  isoproof_error error = {.offset = -1};
  isoproof_plan_results *results[2] = {NULL, NULL};
  int code = EXIT_SATISFIED;
  if (parsed->argument_count != 2) {
    message("compare: expected two folders or files, found %zu", parsed->argument_count);
    return EXIT_USAGE;
  }
  for (size_t i = 0; i < 2 && code == EXIT_SATISFIED; i++) {
    if (isoproof_plan_results_read(parsed->arguments[i], &results[i], &error) == ISOPROOF_OK) continue;
    message_error(&error, parsed->arguments[i]);
    code = EXIT_USAGE;
  }
  if (code == EXIT_SATISFIED) code = show(parsed, results[0], results[1]);
  isoproof_plan_results_free(results[0]);
  isoproof_plan_results_free(results[1]);
  return code;
}

static const option table[COMPARE_ALL] = {
    [COMPARE_TOLERANCE] = {.name = "tolerance",
                           .argument = "PERCENT",
                           .type = OPTION_NUMBER,
                           .max = 1e6,
                           .help =
                               "A throughput that is lower, or a p99 latency that is higher, by more than that is for "
                               "the worse. 0: figures are told, and do not count.",
                           .initial = "0"},
    [COMPARE_JSON] = {.name = "json", .type = OPTION_FLAG, .help = "Print one JSON object."},
};

static const example examples[] = {
    {"isoproof compare examples/results/before.json examples/results/after.json", 1, "A level that no longer holds."},
    {"isoproof compare examples/results/before.json examples/results/before.json --json", 0, "The same as JSON."},
};

static const char *const description[] = {
    "Compares two results of 'isoproof test', of single tests (result.json) or of plans (plan.json), each named by its "
    "folder or its file: verdicts, levels that hold, anomalies, throughput and latencies, cell by cell, from the first "
    "to "
    "the second. Two single tests are compared whatever they tested: two versions, two settings.",
    "The exit code is 0 when nothing is worse, and 1 when a cell that was as expected is not any more, an anomaly was "
    "not "
    "there before, a cell is gone, or a figure is worse by more than --tolerance.",
    NULL};

const command command_compare = {"compare",
                                 "Tell what changed between two results of tests or plans",
                                 "[OPTION...] BEFORE AFTER",
                                 description,
                                 "Two folders or JSON files that 'isoproof test' has written.",
                                 "files",
                                 table,
                                 COMPARE_ALL,
                                 examples,
                                 COUNT_OF(examples),
                                 run};
