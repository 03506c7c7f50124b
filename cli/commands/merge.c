/* merge.c - `isoproof merge`: joins the results of many machines. */
#include <isoproof/isoproof.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/commands/files.h"
#include "cli/commands/saved.h"
#include "cli/options/outputs.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

enum { MERGE_JSON, MERGE_OF, MERGE_OUTPUT, MERGE_OPTIONS = MERGE_OUTPUT + OUTPUTS };

static int by_file(const void *a, const void *b) {
  const isoproof_document *const *x = a, *const *y = b;
  return strcmp(isoproof_document_file(*x), isoproof_document_file(*y));
}

/* The level that one result calls satisfied and another one violated; NULL: there is none. */
static const char *contradiction(const isoproof_document *a, const isoproof_document *b) {
  isoproof_level_verdict v = {.struct_size = sizeof v}, w = {.struct_size = sizeof w};
  for (size_t i = 0; isoproof_document_level(a, i, &v); i++) {
    for (size_t k = 0; isoproof_document_level(b, k, &w); k++) {
      if (strcmp(v.level, w.level) == 0 && ((v.verdict == ISOPROOF_SATISFIED && w.verdict == ISOPROOF_VIOLATED) ||
                                            (v.verdict == ISOPROOF_VIOLATED && w.verdict == ISOPROOF_SATISFIED)))
        return v.level;
    }
  }
  return NULL;
}

/* Of two results of one file the one that says more. */
static bool says_more(const isoproof_document *a, const isoproof_document *b) {
  bool failed = isoproof_document_problem(a) != NULL, other = isoproof_document_problem(b) != NULL;
  if (failed != other) return other;
  return isoproof_document_unknown_reason(a) == NULL && isoproof_document_unknown_reason(b) != NULL;
}

/* Leaves one result per file, in the order of names: an exit code. */
static int unite(saved *list) {
  size_t kept = 0, twice = 0;
  if (list->count > 1) qsort(list->items, list->count, sizeof *list->items, by_file);
  for (size_t i = 0; i < list->count; i++) {
    isoproof_document *next = list->items[i], *last = kept > 0 ? list->items[kept - 1] : NULL;
    list->items[i] = NULL;
    if (last == NULL || by_file(&last, &next) != 0) {
      list->items[kept++] = next;
      continue;
    }
    const char *level = contradiction(last, next);
    if (level != NULL) {
      message("%s: two results contradict each other about %s", isoproof_document_file(next), level);
      isoproof_document_free(next);
      return EXIT_INTERNAL;
    }
    bool more = says_more(next, last);
    isoproof_document_free(more ? last : next);
    if (more) list->items[kept - 1] = next;
    twice++;
  }
  list->count = kept;
  if (twice > 0) message("%zu %s of files that were there already", twice, twice == 1 ? "result" : "results");
  return EXIT_SATISFIED;
}

static bool has(const saved *list, const char *path) {
  size_t low = 0, high = list->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(isoproof_document_file(list->items[middle]), path);
    if (order == 0) return true;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

/* Names the files of --of without a result, and counts them; SIZE_MAX when memory is out. */
static size_t missing(const saved *list, const option_value *of) {
  file_list files = {0};
  size_t count = 0;
  if (!of->given) return 0;
  if (!files_collect(&files, of->items, of->item_count, NULL)) {
    message("out of memory");
    files_free(&files);
    return SIZE_MAX;
  }
  for (size_t i = 0; i < files.count; i++) {
    const file_entry *entry = &files.items[i];
    if (has(list, entry->path)) continue;
    if (entry->walked && isoproof_format_detect(entry->path, NULL, NULL) == ISOPROOF_ERR_FORMAT) continue;
    message("%s: there is no result of it", entry->path);
    count++;
  }
  files_free(&files);
  return count;
}

static void print_levels(const isoproof_document *document, const char *before,
                         const char *(*next)(const isoproof_document *, size_t)) {
  for (size_t i = 0; next(document, i) != NULL; i++) printf("%s%s", i == 0 ? before : ", ", next(document, i));
}

static void print_line(const isoproof_document *document) {
  const isoproof_error *problem = isoproof_document_problem(document);
  isoproof_verdict verdict = isoproof_document_verdict(document);
  put_escaped(stdout, isoproof_document_file(document));
  if (problem != NULL) {
    fputs(": ", stdout);
    put_escaped(stdout, problem->message);
  } else if (verdict != ISOPROOF_VERDICT_NONE) {
    printf(": %s", isoproof_verdict_name(verdict));
    isoproof_level_verdict v = {.struct_size = sizeof v};
    const char *comma = ": ";
    for (size_t i = 0; isoproof_document_level(document, i, &v); i++) {
      if (!v.asked || v.verdict != ISOPROOF_VIOLATED) continue;
      printf("%s%s", comma, v.called);
      comma = ", ";
    }
  } else {
    print_levels(document, ": satisfies ", isoproof_document_strongest);
    print_levels(document, "; violates ", isoproof_document_weakest_violated);
  }
  if (isoproof_document_unknown_reason(document) != NULL) {
    fputs("; unknown: ", stdout);
    put_escaped(stdout, isoproof_document_unknown_reason(document));
  }
  putchar('\n');
}

/* The last line: how many of each. */
static void print_summary(const saved *list, size_t without) {
  static const struct {
    int code;
    const char *what;
  } kinds[] = {{EXIT_VIOLATED, "violated"}, {EXIT_UNKNOWN, "unknown"}, {EXIT_USAGE, "failed"}};
  size_t rest = list->count, asked = 0;
  for (size_t i = 0; i < list->count; i++) asked += isoproof_document_verdict(list->items[i]) != ISOPROOF_VERDICT_NONE;
  printf("%zu %s", list->count, list->count == 1 ? "history" : "histories");
  const char *comma = ": ";
  for (size_t k = 0; k < COUNT_OF(kinds); k++) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) count += saved_exit(list->items[i]) == kinds[k].code;
    rest -= count;
    if (count == 0) continue;
    printf("%s%zu %s", comma, count, kinds[k].what);
    comma = ", ";
  }
  if (rest > 0) printf("%s%zu %s", comma, rest, asked > 0 ? "satisfied" : "analysed");
  if (without > 0) printf("; %zu without a result", without);
  putchar('\n');
}

static int show(const options *parsed, const saved *list, size_t without) {
  const option_value *values = parsed->values;
  if (outputs_to_stdout(&values[MERGE_OUTPUT]) > 0) return EXIT_SATISFIED;
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < list->count && status == ISOPROOF_OK; i++) {
    isoproof_error error = {.offset = -1};
    if (!values[MERGE_JSON].on) {
      print_line(list->items[i]);
      continue;
    }
    status = isoproof_document_write_json(list->items[i], NULL, write_stream, stdout, &error);
  }
  if (status == ISOPROOF_OK && !values[MERGE_JSON].on) print_summary(list, without);
  return exit_of_status(status);
}

static int merge(const options *parsed, isoproof_task *task) {
  isoproof_document_read_options how = {.struct_size = sizeof how, .no_history = true};
  const option_value *reports = &parsed->values[MERGE_OUTPUT];
  saved list = {NULL, 0, 0};
  int code = EXIT_SATISFIED;
  for (size_t i = 0; i < parsed->argument_count && code == EXIT_SATISFIED; i++)
    code = saved_collect(&list, parsed->arguments[i], &how, task);
  if (code == EXIT_SATISFIED) code = unite(&list);
  if (code == EXIT_SATISFIED) {
    for (size_t i = 0; i < list.count; i++) code = exit_worse(code, saved_exit(list.items[i]));
    size_t without = missing(&list, &parsed->values[MERGE_OF]);
    if (without > 0) code = exit_worse(code, EXIT_UNKNOWN);
    if (without != SIZE_MAX) code = exit_worse(code, show(parsed, &list, without));
    if (outputs_wanted(reports)) code = exit_worse(code, saved_write(&list, reports, parsed->values[MERGE_JSON].on));
  }
  saved_free(&list);
  return code;
}

static int run(options *parsed) {
  const option_value *values = parsed->values;
  size_t to_stdout = outputs_to_stdout(&values[MERGE_OUTPUT]) + (values[MERGE_JSON].on ? 1 : 0);
  if (parsed->argument_count == 0) {
    message("merge: expected results, such as those of 'isoproof check --results=part-1.jsonl'");
    return EXIT_USAGE;
  }
  if (to_stdout > 1) {
    message("merge: only one output can go to standard output");
    return EXIT_USAGE;
  }
  isoproof_task *task = interrupt_task_new();
  if (task == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  isoproof_task_set_progress(task, progress_update, NULL);
  int code = merge(parsed, task);
  if (code == EXIT_INTERRUPTED) message("interrupted");
  interrupt_task_free(task);
  return code;
}

#define OUTPUT_ROW_FIRST MERGE_OUTPUT

static const option table[MERGE_OPTIONS] = {
    [MERGE_JSON] = {.name = "json", .type = OPTION_FLAG, .help = "Print one JSON object per file, each on a line."},
    [MERGE_OF] = {.name = "of",
                  .argument = "FILE,..",
                  .type = OPTION_LIST,
                  .help = "The files and directories that were to be checked: those without a result are named, and "
                          "the exit code is at least 3."},
    OUTPUT_ROWS};

static const example examples[] = {
    {"isoproof check --level=ser --shard=1/2 --results=one.jsonl examples/histories", 1, "What one machine does."},
    {"isoproof check --level=ser --shard=2/2 --results=two.jsonl examples/histories", 1, "What the other one does."},
    {"isoproof merge one.jsonl two.jsonl --of=examples/histories --junit=all.xml", 1,
     "All results, and JUnit XML of them."},
};

static const char *const description[] = {
    "Joins results that 'isoproof check --json' printed or 'isoproof check --results' kept, of any number of machines, "
    "and writes reports of all of them. The files come in the order of their names, each once; results that "
    "contradict each other are an error.",
    "The exit code is the worst of all results, as if one command had checked every file.", NULL};

const command command_merge = {"merge",
                               "Join the results of many machines",
                               "RESULT... [--of=DIRECTORY] [--json] [OPTION...]",
                               description,
                               "RESULT: what 'isoproof check --results' or '--json' wrote; '-' for standard input.",
                               "files",
                               table,
                               MERGE_OPTIONS,
                               examples,
                               COUNT_OF(examples),
                               run};
