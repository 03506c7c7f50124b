/* minimize.c - `isoproof minimize`: the smallest part of a history that still violates a level. */
#include <inttypes.h>
#include <isoproof/isoproof.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/options/loss.h"
#include "cli/options/names.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress.h"

enum {
  MINIMIZE_LEVEL,
  MINIMIZE_OUTPUT,
  MINIMIZE_TO,
  MINIMIZE_FORMAT,
  MINIMIZE_DUPLICATE_VALUES,
  MINIMIZE_TIMEOUT,
  MINIMIZE_JOBS,
  MINIMIZE_OPTIONS
};

/* The format of the result: the one named, the one of the output's ending, else that of the input where it can be
 * written, else isoproof's own text.  *chosen says that the user named it. */
static const isoproof_format_info *find_format(const options *parsed, const isoproof_history *history,
                                               const char *output, bool *chosen) {
  const isoproof_format_info *format = NULL;
  if (parsed->values[MINIMIZE_TO].given) format = isoproof_format_find(parsed->values[MINIMIZE_TO].text);
  if (format == NULL && strcmp(output, "-") != 0) format = format_by_ending(output);
  *chosen = format != NULL;
  if (format == NULL) format = isoproof_format_find(isoproof_history_format(history));
  if (format == NULL || !format->writable) format = isoproof_format_find("jsonl");
  return format;
}

static isoproof_status write_part(const options *parsed, const isoproof_history *history, const isoproof_history *part,
                                  isoproof_task *task, isoproof_error *error) {
  const char *output = parsed->values[MINIMIZE_OUTPUT].given ? parsed->values[MINIMIZE_OUTPUT].text : "-";
  bool chosen;
  const isoproof_format_info *format = find_format(parsed, history, output, &chosen);
  isoproof_write_options how = {.struct_size = sizeof how};
  isoproof_write_loss loss = {.struct_size = sizeof loss};
  isoproof_status status = isoproof_history_write(part, format->format, output, &how, task, &loss, error);
  if (status == ISOPROOF_ERR_UNSUPPORTED && !chosen) {
    format = isoproof_format_find("jsonl");
    loss = (isoproof_write_loss){.struct_size = sizeof loss};
    status = isoproof_history_write(part, format->format, output, &how, task, &loss, error);
  }
  if (status == ISOPROOF_OK && chosen && !common_quiet(parsed)) report_loss(&loss, format->id);
  return status;
}

static void say_sizes(const isoproof_history *history, const isoproof_history *part, const isoproof_minimized *report) {
  isoproof_counts before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
  isoproof_history_counts(history, &before);
  isoproof_history_counts(part, &after);
  progress_clear();
  message("%" PRIu64 " of %" PRIu64 " transactions and %" PRIu64 " of %" PRIu64 " operations still violate it (%" PRIu64
          " parts judged)%s",
          after.transactions, before.transactions, after.operations, before.operations, report->checks,
          report->finished ? "" : "; the time limit was reached, and there may be a smaller part");
}

static int minimize(const options *parsed, const char *input, isoproof_task *task) {
  isoproof_open_options open = {.struct_size = sizeof open, .format = parsed->values[MINIMIZE_FORMAT].text};
  isoproof_minimize_options what = {.struct_size = sizeof what,
                                    .level = parsed->values[MINIMIZE_LEVEL].text,
                                    .duplicate_values = parsed->values[MINIMIZE_DUPLICATE_VALUES].on};
  isoproof_minimized report = {.struct_size = sizeof report, .verdict = ISOPROOF_UNDECIDED};
  isoproof_history *history = NULL, *part = NULL;
  isoproof_error error = {.code = ISOPROOF_ERR_MEMORY, .offset = -1, .message = "out of memory"};
  isoproof_status status = isoproof_history_open(input, &open, task, &history, &error);
  if (status == ISOPROOF_OK) status = isoproof_minimize(history, &what, task, &part, &report, &error);
  int code = exit_of_status(status);
  if (status != ISOPROOF_OK) {
    message_error(&error, input);
  } else if (report.verdict == ISOPROOF_SATISFIED) {
    message("%s: satisfies %s, so that there is no violation to make smaller", input, what.level);
    code = EXIT_USAGE;
  } else if (report.verdict != ISOPROOF_VIOLATED) {
    message("%s: whether %s is violated could not be decided", input, what.level);
    code = EXIT_UNKNOWN;
  } else {
    if (!common_quiet(parsed)) message_notices(history, input);
    if (!common_quiet(parsed)) say_sizes(history, part, &report);
    isoproof_task_set_timeout(task, 0);
    status = write_part(parsed, history, part, task, &error);
    if (status != ISOPROOF_OK) message_error(&error, input);
    code = exit_of_status(status);
  }
  isoproof_history_free(part);
  isoproof_history_free(history);
  return code;
}

static int run(options *parsed) {
  const option_value *values = parsed->values;
  if (parsed->argument_count != 1) {
    message(parsed->argument_count == 0 ? "minimize: expected FILE" : "minimize: expected one FILE, found more");
    return EXIT_USAGE;
  }
  if (!values[MINIMIZE_LEVEL].given) {
    message("minimize: --level=NAME must say which level the history violates");
    return EXIT_USAGE;
  }
  isoproof_task *task = interrupt_task_new();
  if (task == NULL) {
    message("out of memory");
    return exit_of_status(ISOPROOF_ERR_MEMORY);
  }
  isoproof_task_set_threads(task, (unsigned)values[MINIMIZE_JOBS].integer);
  isoproof_task_set_timeout(task, values[MINIMIZE_TIMEOUT].number);
  isoproof_task_set_progress(task, progress_update, NULL);
  int code = minimize(parsed, parsed->arguments[0], task);
  interrupt_task_free(task);
  return code;
}

static const option table[MINIMIZE_OPTIONS] = {
    [MINIMIZE_LEVEL] = {.name = "level",
                        .letter = 'l',
                        .type = OPTION_CHOICE,
                        .choices = level_name_at,
                        .accepts = level_known,
                        .help = "The level that is violated, by id or alias; required."},
    [MINIMIZE_OUTPUT] = {.name = "output",
                         .letter = 'o',
                         .type = OPTION_FILE,
                         .help = "Write to this file; it appears under its name when it is complete.",
                         .initial = "standard output"},
    [MINIMIZE_TO] = {.name = "to",
                     .letter = 't',
                     .argument = "FORMAT",
                     .type = OPTION_CHOICE,
                     .choices = writable_format_at,
                     .help = "Write this format, one of:" WRITABLE_FORMATS ".",
                     .initial = "by the ending of the output, else that of the input where it can be written, else "
                                "jsonl"},
    [MINIMIZE_FORMAT] = {.name = "format",
                         .letter = 'f',
                         .type = OPTION_CHOICE,
                         .choices = format_name_at,
                         .help = "Read the input in this format.",
                         .initial = "detected from the content"},
    [MINIMIZE_DUPLICATE_VALUES] = {.name = "duplicate-values",
                                   .type = OPTION_FLAG,
                                   .help = "Writes of one value to one key are expected, as in 'isoproof check'."},
    [MINIMIZE_TIMEOUT] = {.name = "timeout",
                          .argument = "SECONDS",
                          .type = OPTION_NUMBER,
                          .min = 0,
                          .max = 1e9,
                          .help = "Stop after that long, and write the smallest part found by then. 0 means never.",
                          .initial = "0",
                          .group = "Limits"},
    [MINIMIZE_JOBS] = {.name = "jobs",
                       .letter = 'j',
                       .type = OPTION_INTEGER,
                       .min = 1,
                       .max = 1024,
                       .help = "Use that many threads.",
                       .initial = "one per processor",
                       .group = "Limits"},
};

static const example examples[] = {
    {"isoproof minimize --level=read-atomic examples/histories/fractured-read.txt", 0,
     "What of a history is enough to violate read-atomic."},
    {"isoproof gen --simulate --seed=1 --bug=fractured-read --transactions=2000 -o broken.isoproof && isoproof "
     "minimize "
     "--level=read-atomic --to=plume broken.isoproof",
     0, "The few operations that matter among thousands."},
};

static const char *const description[] = {
    "Leaves transactions and then operations out of a history for as long as the rest still violates the level. No "
    "single "
    "transaction or operation more can be left out of the result.",
    "Leaving something out never invents a violation: a read whose write is left out goes with it, and an element of a "
    "list goes with its append. Sessions keep their names; transactions are counted anew.",
    NULL};

const command command_minimize = {"minimize",
                                  "Find the smallest part of a history that still violates a level",
                                  "--level=NAME [OPTION...] FILE",
                                  description,
                                  "FILE: a history, or '-' for standard input.",
                                  "files",
                                  table,
                                  MINIMIZE_OPTIONS,
                                  examples,
                                  COUNT_OF(examples),
                                  run};
