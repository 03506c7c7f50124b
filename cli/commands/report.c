/* report.c - `isoproof report`: pages, drawings and files for other tools from saved results. */
#include <isoproof/isoproof.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/options/outputs.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress.h"

enum { REPORT_HISTORY, REPORT_OUTPUT, REPORT_OPTIONS = REPORT_OUTPUT + OUTPUTS };

/* The documents of all files, in order. */
typedef struct collection {
  isoproof_document **items;
  size_t count, capacity;
} collection;

static bool push(collection *c, isoproof_document *document) {
  if (c->count == c->capacity) {
    size_t capacity = c->capacity == 0 ? 16 : c->capacity * 2;
    isoproof_document **items = realloc(c->items, capacity * sizeof(void *));
    if (items == NULL) return false;
    c->items = items;
    c->capacity = capacity;
  }
  c->items[c->count++] = document;
  return true;
}

/* Everything in one file; an exit code, after a message where it is no success. */
static int collect(collection *c, const char *path, const isoproof_document_read_options *how, isoproof_task *task) {
  isoproof_document_reader *reader = NULL;
  isoproof_document *document = NULL;
  isoproof_error error = {.code = ISOPROOF_ERR_MEMORY, .offset = -1, .message = "out of memory"};
  isoproof_status status = isoproof_document_reader_open(path, how, task, &reader, &error);
  size_t before = c->count;
  while (status == ISOPROOF_OK) {
    status = isoproof_document_reader_next(reader, &document, &error);
    if (status != ISOPROOF_OK || document == NULL) break;
    if (push(c, document)) continue;
    isoproof_document_free(document);
    status = ISOPROOF_ERR_MEMORY;
  }
  isoproof_document_reader_free(reader);
  progress_clear();
  if (status == ISOPROOF_ERR_CANCELLED) return EXIT_INTERRUPTED;
  if (status != ISOPROOF_OK) message_error(&error, path);
  if (status == ISOPROOF_OK && c->count == before) {
    message("%s: expected the JSON of a result, found nothing", path);
    return EXIT_USAGE;
  }
  return exit_of_status(status);
}

static int write_all(const options *parsed, collection *c) {
  outputs o;
  if (!outputs_init(&o, &parsed->values[REPORT_OUTPUT], c->count)) return EXIT_USAGE;
  for (size_t i = 0; i < c->count; i++) {
    outputs_put(&o, i, c->items[i]);
    c->items[i] = NULL;
  }
  int code = outputs_write(&o);
  outputs_free(&o);
  return code;
}

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
  collection c = {NULL, 0, 0};
  int code = EXIT_SATISFIED;
  for (size_t i = 0; i < parsed->argument_count && code == EXIT_SATISFIED; i++)
    code = collect(&c, parsed->arguments[i], &how, task);
  if (code == EXIT_SATISFIED) code = write_all(parsed, &c);
  if (code == EXIT_INTERRUPTED) message("interrupted");
  for (size_t i = 0; i < c.count; i++) isoproof_document_free(c.items[i]);
  free(c.items);
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
