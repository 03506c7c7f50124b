/* convert.c - `isoproof convert`: a history from one format to another. */
#include <inttypes.h>
#include <isoproof/isoproof.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/options/loss.h"
#include "cli/options/names.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress.h"

enum { CONVERT_TO, CONVERT_OUTPUT, CONVERT_FORMAT, CONVERT_LOSSY, CONVERT_COMPRESS, CONVERT_JOBS, CONVERT_OPTIONS };

/* Where from and where to; false after a message. */
static bool find_ends(const options *parsed, const char **input, const char **output) {
  const option_value *values = parsed->values;
  size_t count = parsed->argument_count;
  if (count == 0 || count > 2) {
    message(count == 0 ? "convert: expected INPUT and OUTPUT, or --to=FORMAT and INPUT"
                       : "convert: expected INPUT and OUTPUT, found a third argument");
    return false;
  }
  if (count == 2 && values[CONVERT_OUTPUT].given) {
    message("convert: the output is named twice, '%s' and '%s'", values[CONVERT_OUTPUT].text, parsed->arguments[1]);
    return false;
  }
  *input = parsed->arguments[0];
  *output = count == 2 ? parsed->arguments[1] : values[CONVERT_OUTPUT].given ? values[CONVERT_OUTPUT].text : "-";
  if (strcmp(*output, "-") == 0 && !values[CONVERT_TO].given) {
    message("convert: --to=FORMAT must say in which format to write to standard output");
    return false;
  }
  return true;
}

static isoproof_status convert(const options *parsed, const char *input, const char *output,
                               const isoproof_format_info *format, isoproof_task *task, isoproof_error *error) {
  const option_value *values = parsed->values;
  isoproof_open_options open = {.struct_size = sizeof open, .format = values[CONVERT_FORMAT].text};
  isoproof_write_options how = {.struct_size = sizeof how,
                                .compression = compression_choice(&values[CONVERT_COMPRESS]),
                                .lossy = values[CONVERT_LOSSY].on};
  isoproof_write_loss loss = {.struct_size = sizeof loss};
  isoproof_history *history = NULL;
  isoproof_status status = isoproof_history_open(input, &open, task, &history, error);
  if (status == ISOPROOF_OK) {
    status = isoproof_history_write(history, format->format, output, &how, task, &loss, error);
    progress_clear();
  }
  if (status == ISOPROOF_OK && !common_quiet(parsed)) {
    message_notices(history, input);
    report_loss(&loss, format->id);
  }
  isoproof_history_free(history);
  return status;
}

static int run(options *parsed) {
  const char *input, *output;
  if (!find_ends(parsed, &input, &output)) return EXIT_USAGE;
  const isoproof_format_info *format = format_for_output(parsed->values[CONVERT_TO].text, output, NULL);
  if (format == NULL) return EXIT_USAGE;
  isoproof_error error = {.code = ISOPROOF_ERR_MEMORY, .offset = -1, .message = "out of memory"};
  isoproof_task *task = interrupt_task_new();
  isoproof_status status = ISOPROOF_ERR_MEMORY;
  if (task != NULL) {
    isoproof_task_set_threads(task, (unsigned)parsed->values[CONVERT_JOBS].integer);
    isoproof_task_set_progress(task, progress_update, NULL);
    status = convert(parsed, input, output, format, task, &error);
  }
  interrupt_task_free(task);
  if (status != ISOPROOF_OK) message_error(&error, input);
  if (status == ISOPROOF_ERR_UNSUPPORTED && !parsed->values[CONVERT_LOSSY].on && !common_quiet(parsed)) {
    message("--lossy leaves out what %s cannot say", format->id);
  }
  return exit_of_status(status);
}

static const option table[CONVERT_OPTIONS] = {
    [CONVERT_TO] = {.name = "to",
                    .letter = 't',
                    .argument = "FORMAT",
                    .type = OPTION_CHOICE,
                    .choices = writable_format_at,
                    .help = "Write this format, one of:" WRITABLE_FORMATS ".",
                    .initial = "by the ending of the output:" WRITABLE_ENDINGS},
    [CONVERT_OUTPUT] = {.name = "output",
                        .letter = 'o',
                        .type = OPTION_FILE,
                        .help = "Write to this file; it appears under its name when it is complete.",
                        .initial = "standard output"},
    [CONVERT_FORMAT] = {.name = "format",
                        .letter = 'f',
                        .type = OPTION_CHOICE,
                        .choices = format_name_at,
                        .help = "Read the input in this format.",
                        .initial = "detected from the content"},
    [CONVERT_LOSSY] = {.name = "lossy",
                       .type = OPTION_FLAG,
                       .help = "Leave out what the format cannot say instead of failing; what was left out is counted "
                               "on standard error."},
    [CONVERT_COMPRESS] = {.name = "compress",
                          .letter = 'z',
                          .argument = "HOW",
                          .type = OPTION_CHOICE,
                          .choices = compression_name_at,
                          .help = "Compress the output: auto, none, gzip or zstd; auto goes by .gz and .zst at the end "
                                  "of its name.",
                          .initial = "auto"},
    [CONVERT_JOBS] = {.name = "jobs",
                      .letter = 'j',
                      .type = OPTION_INTEGER,
                      .min = 1,
                      .max = 1024,
                      .help = "Use that many threads.",
                      .initial = "one per processor"},
};

static const example examples[] = {
    {"isoproof convert --to=jsonl examples/histories/write-skew.edn", 0, "Jepsen's EDN to isoproof's own text."},
    {"isoproof convert examples/histories/lost-update.txt lost-update.isoproof", 0,
     "Plume text to isoproof's binary form, by the ending."},
    {"isoproof convert -t edn examples/histories/long-fork.txt | isoproof check -", 0, "Convert and check in a pipe."},
};

static const char *const description[] = {
    "Reads a history in any format that isoproof knows and writes it in another one. Plain and compressed files, and "
    "standard input and output ('-'), will do.",
    "A format that cannot say all that the history holds (unknown outcomes, unrecorded reads, empty transactions) is "
    "an error unless --lossy is given. Times, nodes, ids and names that a format has no place for are left out "
    "and reported.",
    NULL};

const command command_convert = {"convert",
                                 "Write a history in another format",
                                 "[--to=FORMAT] [OPTION...] INPUT [OUTPUT]",
                                 description,
                                 "INPUT: a history, or '-' for standard input. OUTPUT: a file, or '-' for standard "
                                 "output.",
                                 "files",
                                 table,
                                 CONVERT_OPTIONS,
                                 examples,
                                 COUNT_OF(examples),
                                 run};
