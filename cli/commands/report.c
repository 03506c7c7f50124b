/* report.c - `isoproof report`: pages, drawings and files for other tools from saved results. */
#include <isoproof/isoproof.h>

#include "cli/commands/command.h"
#include "cli/commands/saved.h"
#include "cli/options/outputs.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress.h"

enum { REPORT_HISTORY, REPORT_OUTPUT, REPORT_OPTIONS = REPORT_OUTPUT + OUTPUTS };

static int run(options *parsed) {
  const option_value *values = parsed->values;
  if (parsed->argument_count == 0) {
    message("report: expected a saved result, such as isoproof-out/latest/result.json");
    return EXIT_USAGE;
  }
  if (!outputs_wanted(&values[REPORT_OUTPUT])) {
    message("report: say what to write, such as --html=report.html");
    return EXIT_USAGE;
  }
  if (outputs_to_stdout(&values[REPORT_OUTPUT]) > 1) {
    message("report: only one output can go to standard output");
    return EXIT_USAGE;
  }
  isoproof_task *task = interrupt_task_new();
  if (task == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  isoproof_task_set_progress(task, progress_update, NULL);
  isoproof_document_read_options how = {.struct_size = sizeof how, .history = values[REPORT_HISTORY].text};
  saved list = {NULL, 0, 0};
  int code = EXIT_SATISFIED;
  for (size_t i = 0; i < parsed->argument_count && code == EXIT_SATISFIED; i++)
    code = saved_collect(&list, parsed->arguments[i], &how, task);
  if (code == EXIT_SATISFIED) code = saved_write(&list, &values[REPORT_OUTPUT], false);
  if (code == EXIT_INTERRUPTED) message("interrupted");
  saved_free(&list);
  interrupt_task_free(task);
  return code;
}

#define OUTPUT_ROW_FIRST REPORT_OUTPUT

static const option table[REPORT_OPTIONS] = {
    [REPORT_HISTORY] = {.name = "history",
                        .type = OPTION_FILE,
                        .help = "The history that was judged, for timelines and latencies.",
                        .initial = "beside the result, else where the result says"},
    OUTPUT_ROWS};

static const example examples[] = {
    {"isoproof check --json examples/histories/write-skew.txt > skew.json", 0, "Save a result."},
    {"isoproof report skew.json --html=skew.html", 0, "Make a page of it."},
    {"isoproof report skew.json --svg=- | tail -c 7", 0, "A drawing of the counterexample, to a pipe."},
};

static const char *const description[] = {
    "Renders results that 'isoproof check --json' printed or 'isoproof test' saved (result.json). The page is one file "
    "that "
    "needs no network. Timelines and latencies come from the history: where it is not found any more the page says so.",
    "Drawings and pages show one result. Outputs that hold many take as many as there are.", NULL};

const command command_report = {"report",
                                "Make pages, drawings and files for other tools of saved results",
                                "RESULT.json... [--html=FILE] [--svg=FILE] [OPTION...]",
                                description,
                                "RESULT.json: what 'isoproof check --json' or 'isoproof test' wrote; '-' for standard "
                                "input.",
                                "files",
                                table,
                                REPORT_OPTIONS,
                                examples,
                                COUNT_OF(examples),
                                run};
