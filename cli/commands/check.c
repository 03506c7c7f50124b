/* check.c - `isoproof check`: verdicts and witnesses for histories in any format. */
#include <isoproof/isoproof.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands/batch.h"
#include "cli/commands/command.h"
#include "cli/commands/files.h"
#include "cli/options/elle.h"
#include "cli/options/names.h"
#include "cli/options/outputs.h"
#include "cli/options/transaction_order.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

enum {
  CHECK_LEVEL,
  CHECK_ANOMALY,
  CHECK_FORMAT,
  CHECK_JSON,
  CHECK_ALL,
  CHECK_CERTIFICATE,
  CHECK_STATS,
  CHECK_DUPLICATE_VALUES,
  CHECK_WORKLOAD,
  CHECK_MODEL,
  CHECK_WFR_KEYS,
  CHECK_SEQUENTIAL_KEYS,
  CHECK_LINEARIZABLE_KEYS,
  CHECK_TRANSACTION_ORDER,
  CHECK_ELLE,
  CHECK_CONSISTENCY_MODELS,
  CHECK_TOTAL_AMOUNT,
  CHECK_NEGATIVE_BALANCES,
  CHECK_GROUP_SIZE,
  CHECK_TIMEOUT,
  CHECK_BUDGET,
  CHECK_MEMORY_LIMIT,
  CHECK_JOBS,
  CHECK_OUTPUT, /* the first of the reports */
  CHECK_OPTIONS = CHECK_OUTPUT + OUTPUTS
};

typedef struct check_job {
  const options *parsed;
  file_list files;
  unsigned workers;
  unsigned threads; /* per file */
  bool many;        /* one line per file and a summary */
  bool json;
  bool elle; /* in the words of elle-cli */
  elle_request request;
  bool color;
  bool reporting; /* reports are asked for */
  bool silent;    /* one of them goes to standard output */
  outputs reports;
  atomic_size_t satisfied, violated, unknown, analysed, failed, skipped;
} check_job;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t peak_bytes(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

/* ---- one file ---- */

static const char *paint(const check_job *job, isoproof_verdict verdict) {
  if (!job->color) return "";
  return verdict == ISOPROOF_VIOLATED ? "\033[31m" : verdict == ISOPROOF_SATISFIED ? "\033[32m" : "\033[33m";
}

/* "; violates a, b": the names that `next` gives. */
static void print_names(FILE *out, const isoproof_result *result, const char *before,
                        const char *(*next)(const isoproof_result *, size_t)) {
  for (size_t i = 0; next(result, i) != NULL; i++) fprintf(out, "%s%s", i == 0 ? before : ", ", next(result, i));
}

static const char *asked_violated(const isoproof_result *result, size_t number) {
  isoproof_level_verdict v = {.struct_size = sizeof v};
  for (size_t i = 0; isoproof_result_level_at(result, i, &v); i++) {
    if (v.asked && v.verdict == ISOPROOF_VIOLATED && number-- == 0) return v.called;
  }
  return NULL;
}

/* With `all` a code comes once per instance; a line names it once. */
static const char *anomaly_code(const isoproof_result *result, size_t number) {
  isoproof_anomaly a = {.struct_size = sizeof a}, before = {.struct_size = sizeof before};
  for (size_t i = 0; isoproof_result_anomaly_at(result, i, &a); i++) {
    bool again = i > 0 && isoproof_result_anomaly_at(result, i - 1, &before) && strcmp(before.code, a.code) == 0;
    if (!again && number-- == 0) return a.code;
  }
  return NULL;
}

static void put_line(const check_job *job, const char *path, const isoproof_history *history,
                     const isoproof_result *result, FILE *out) {
  isoproof_verdict verdict = isoproof_result_verdict(result);
  const char *reason = isoproof_result_unknown_reason(result);
  put_escaped(out, path);
  if (verdict != ISOPROOF_VERDICT_NONE) {
    fprintf(out, ": %s%s%s", paint(job, verdict), isoproof_verdict_name(verdict), job->color ? "\033[0m" : "");
    print_names(out, result, ": ", asked_violated);
  } else if (isoproof_result_strongest_at(result, 0) != NULL) {
    print_names(out, result, ": satisfies ", isoproof_result_strongest_at);
    print_names(out, result, "; violates ", isoproof_result_weakest_violated_at);
  } else if (isoproof_result_weakest_violated_at(result, 0) != NULL) {
    print_names(out, result, ": violates ", isoproof_result_weakest_violated_at);
  } else {
    fputs(": nothing decided", out);
  }
  print_names(out, result, "; anomalies ", anomaly_code);
  if (reason != NULL && verdict != ISOPROOF_VIOLATED) {
    fputs("; unknown: ", out);
    put_escaped(out, reason);
  }
  isoproof_notice notice = {.struct_size = sizeof notice};
  for (size_t i = 0; isoproof_history_notice_at(history, i, &notice); i++) {
    fprintf(out, "; %s: ", notice.code);
    put_escaped(out, notice.message);
  }
  fputc('\n', out);
}

/* One line for one of many files; on a terminal as many as it takes. */
static void print_line(const check_job *job, const char *path, const isoproof_history *history,
                       const isoproof_result *result, FILE *out) {
  char *text = NULL;
  size_t bytes;
  FILE *line = open_memstream(&text, &bytes);
  if (line == NULL) return;
  put_line(job, path, history, result, line);
  if (fclose(line) == 0) print_lines_in(out, text, report_width(stdout));
  free(text);
}

static isoproof_status print_result(const check_job *job, const char *path, const isoproof_history *history,
                                    const isoproof_result *result, double load, double check, FILE *out,
                                    isoproof_error *error) {
  isoproof_render_options render = {.struct_size = sizeof render,
                                    .file = path,
                                    .load_seconds = load,
                                    .check_seconds = check,
                                    .peak_bytes = peak_bytes(),
                                    .color = job->color,
                                    .unicode = terminal_utf8(),
                                    .width = report_width(stdout),
                                    .has_page = job->parsed->values[CHECK_OUTPUT + OUTPUT_HTML].given};
  if (job->silent) return ISOPROOF_OK;
  if (job->workers == 1) progress_clear();
  isoproof_effort effort = {.struct_size = sizeof effort};
  bool told = job->json && job->parsed->values[CHECK_STATS].on;
  if (told && isoproof_history_effort(history, NULL, &effort, NULL) == ISOPROOF_OK) render.effort = &effort;
  if (job->json) return isoproof_result_write_json(result, &render, write_stream, out, error);
  if (job->elle) {
    elle_print_line(out, path, isoproof_result_elle_verdict(result));
    message_notices(history, path);
    return ISOPROOF_OK;
  }
  if (!job->many) return isoproof_result_write_text(result, &render, write_stream, out, error);
  print_line(job, path, history, result, out);
  return ISOPROOF_OK;
}

/* The exit code of a verdict, which is counted. */
static int count_verdict(check_job *job, isoproof_verdict verdict, bool complete) {
  switch (verdict) {
  case ISOPROOF_SATISFIED:
    atomic_fetch_add(&job->satisfied, 1);
    return EXIT_SATISFIED;
  case ISOPROOF_VIOLATED:
    atomic_fetch_add(&job->violated, 1);
    return EXIT_VIOLATED;
  case ISOPROOF_UNDECIDED:
    atomic_fetch_add(&job->unknown, 1);
    return EXIT_UNKNOWN;
  case ISOPROOF_VERDICT_NONE:
    break;
  }
  atomic_fetch_add(complete ? &job->analysed : &job->unknown, 1);
  return complete ? EXIT_SATISFIED : EXIT_UNKNOWN;
}

static int code_of(check_job *job, const isoproof_result *result) {
  isoproof_verdict verdict = job->elle ? isoproof_result_elle_verdict(result) : isoproof_result_verdict(result);
  return count_verdict(job, verdict, isoproof_result_unknown_reason(result) == NULL);
}

/* A history of single operations, as elle-cli's simple models judge it. */
static isoproof_status check_object(check_job *job, const char *path, isoproof_task *task, reply *to,
                                    isoproof_error *error) {
  const option_value *values = job->parsed->values;
  isoproof_object_options how = {.struct_size = sizeof how,
                                 .model = job->request.object,
                                 .format = values[CHECK_FORMAT].text,
                                 .negative_balances = values[CHECK_NEGATIVE_BALANCES].on,
                                 .has_total = values[CHECK_TOTAL_AMOUNT].given,
                                 .total = (int64_t)values[CHECK_TOTAL_AMOUNT].integer,
                                 .group_size = (uint32_t)values[CHECK_GROUP_SIZE].integer,
                                 .linearizable = values[CHECK_LINEARIZABLE_KEYS].on};
  isoproof_object_verdict verdict = {.struct_size = sizeof verdict};
  isoproof_status status = isoproof_object_check(path, &how, task, &verdict, error);
  if (status != ISOPROOF_OK) return status;
  to->code = count_verdict(job, verdict.verdict, true);
  if (job->silent) return ISOPROOF_OK;
  if (job->workers == 1) progress_clear();
  if (job->json) return isoproof_object_write_json(&verdict, how.model, path, write_stream, to->out, error);
  elle_print_line(to->out, path, verdict.verdict);
  return ISOPROOF_OK;
}

/* Keeps what the reports need.  That of a single file is written at once, with the history at hand. */
static isoproof_status keep_document(check_job *job, size_t number, const isoproof_history *history,
                                     const isoproof_result *result, double load, double check, reply *to,
                                     isoproof_error *error) {
  isoproof_document_options what = {.struct_size = sizeof what,
                                    .file = job->files.items[number].path,
                                    .load_seconds = load,
                                    .check_seconds = check,
                                    .peak_bytes = peak_bytes(),
                                    .detached = outputs_many(&job->reports)};
  isoproof_document *document;
  if (!job->reporting) return ISOPROOF_OK;
  isoproof_status status = isoproof_document_make(history, result, &what, &document, error);
  if (status != ISOPROOF_OK) return status;
  outputs_put(&job->reports, number, document);
  if (outputs_many(&job->reports)) return ISOPROOF_OK;
  to->code = exit_worse(to->code, outputs_write(&job->reports));
  outputs_put(&job->reports, number, NULL);
  isoproof_document_free(document);
  return ISOPROOF_OK;
}

static isoproof_status check_history(check_job *job, size_t number, isoproof_task *task, reply *to,
                                     isoproof_error *error) {
  const char *path = job->files.items[number].path;
  const option_value *values = job->parsed->values;
  if (job->request.has_object) {
    isoproof_status judged = check_object(job, path, task, to, error);
    /* Sets and counters come in transactions, too. */
    if (judged != ISOPROOF_ERR_UNSUPPORTED || job->request.workload == NULL || strcmp(path, "-") == 0) return judged;
  }
  isoproof_open_options open = {.struct_size = sizeof open, .format = values[CHECK_FORMAT].text};
  isoproof_check_options how = {.struct_size = sizeof how,
                                .levels = values[CHECK_LEVEL].items,
                                .level_count = values[CHECK_LEVEL].item_count,
                                .all = values[CHECK_ALL].on,
                                .anomalies = values[CHECK_ANOMALY].items,
                                .anomaly_count = values[CHECK_ANOMALY].item_count,
                                .elle_workload = job->request.workload,
                                .models = job->request.models,
                                .model_count = job->request.model_count,
                                .wfr_keys = values[CHECK_WFR_KEYS].on,
                                .sequential_keys = values[CHECK_SEQUENTIAL_KEYS].on,
                                .linearizable_keys = values[CHECK_LINEARIZABLE_KEYS].on,
                                .certificate = values[CHECK_CERTIFICATE].on,
                                .stats = values[CHECK_STATS].on,
                                .duplicate_values = values[CHECK_DUPLICATE_VALUES].on,
                                .others = values[CHECK_BUDGET].given,
                                .budget = values[CHECK_BUDGET].number};
  isoproof_history *history = NULL;
  isoproof_result *result = NULL;
  transaction_order order = {NULL, 0};
  double began = now(), loaded = began;
  isoproof_status status = isoproof_history_open(path, &open, task, &history, error);
  if (status == ISOPROOF_OK) {
    status = transaction_order_read(values[CHECK_TRANSACTION_ORDER].text, history, &order, error);
  }
  if (status == ISOPROOF_OK) {
    loaded = now();
    how.transaction_order = order.txns;
    how.transaction_order_count = order.count;
    status = isoproof_check(history, &how, task, &result, error);
  }
  transaction_order_free(&order);
  double checked = now();
  if (status == ISOPROOF_OK) {
    to->code = code_of(job, result);
    status = print_result(job, path, history, result, loaded - began, checked - loaded, to->out, error);
    /* Nobody reads any more, but the verdict counts, and so do the files that were asked for. */
    if (status == ISOPROOF_ERR_IO && output_gone()) status = ISOPROOF_OK;
  }
  if (status == ISOPROOF_OK)
    status = keep_document(job, number, history, result, loaded - began, checked - loaded, to, error);
  isoproof_result_free(result);
  isoproof_history_free(history);
  return status;
}

/* A file that cannot be judged: an object on standard output with --json, else a message. */
static void complain(check_job *job, size_t number, const isoproof_error *problem, reply *to) {
  const char *path = job->files.items[number].path;
  isoproof_document *document;
  to->code = exit_of_status(problem->code);
  /* A signal may also surface as a failed read; it is said once, for all files. */
  if (problem->code == ISOPROOF_ERR_CANCELLED || interrupted()) return;
  /* When standard output refuses more, no file is to blame; the end of the program says it. */
  if (to->out == stdout && ferror(stdout)) return;
  atomic_fetch_add(to->code == EXIT_UNKNOWN ? &job->unknown : &job->failed, 1);
  if (job->reporting && isoproof_document_make_problem(path, problem, &document, NULL) == ISOPROOF_OK)
    outputs_put(&job->reports, number, document);
  if (job->json) {
    if (job->workers == 1) progress_clear();
    if (isoproof_error_write_json(problem, path, write_stream, to->out, NULL) == ISOPROOF_OK) return;
  }
  char text[ISOPROOF_ERROR_FILE_BYTES + ISOPROOF_ERROR_MESSAGE_BYTES + 64];
  isoproof_error_format(problem, text, sizeof text);
  const char *file = problem->file[0] == 0 ? path : "";
  if (asprintf(&to->complaint, "%s%s%s", file, *file != 0 ? ": " : "", text) < 0) to->complaint = NULL;
}

/* Whether a file found in a directory is no history at all. */
static bool is_stranger(const check_job *job, const file_entry *entry) {
  if (!entry->walked || job->parsed->values[CHECK_FORMAT].given) return false;
  return isoproof_format_detect(entry->path, NULL, NULL) == ISOPROOF_ERR_FORMAT;
}

static void check_file(void *context, size_t number, reply *to) {
  check_job *job = context;
  const file_entry *entry = &job->files.items[number];
  isoproof_error error = {.code = ISOPROOF_ERR_IO, .offset = -1};
  if (entry->trouble != 0) {
    snprintf(error.message, sizeof error.message, "cannot read the directory: %s", strerror(entry->trouble));
    complain(job, number, &error, to);
    return;
  }
  if (is_stranger(job, entry)) {
    note("%s: skipped: in no format that isoproof knows", entry->path);
    atomic_fetch_add(&job->skipped, 1);
    return;
  }
  isoproof_task *task = interrupt_task_new();
  if (task == NULL) {
    error.code = ISOPROOF_ERR_MEMORY;
    snprintf(error.message, sizeof error.message, "out of memory");
    complain(job, number, &error, to);
    return;
  }
  isoproof_task_set_threads(task, job->threads);
  isoproof_task_set_timeout(task, job->parsed->values[CHECK_TIMEOUT].number);
  if (job->workers == 1) {
    if (job->many) progress_subject(entry->path);
    isoproof_task_set_progress(task, progress_update, NULL);
  }
  if (check_history(job, number, task, to, &error) != ISOPROOF_OK) complain(job, number, &error, to);
  interrupt_task_free(task);
}

/* ---- all files ---- */

static bool limit_memory(uint64_t bytes) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return false;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || bytes < limit.rlim_max ? (rlim_t)bytes : limit.rlim_max;
  return setrlimit(RLIMIT_DATA, &limit) == 0;
}

static void print_count(size_t count, const char *what, const char **comma) {
  if (count == 0) return;
  printf("%s%zu %s", *comma, count, what);
  *comma = ", ";
}

/* What was found of Jepsen stores, and what was left alone there. */
static void print_store(const file_list *files) {
  enum { MOST_NAMES = 12 };
  if (files->run_count == 0) return;
  printf("%zu %s of a Jepsen store", files->run_count, files->run_count == 1 ? "run" : "runs");
  if (files->runs_without > 0) printf(", %zu without a history", files->runs_without);
  for (size_t i = 0; i < files->left_count && i < MOST_NAMES; i++) {
    fputs(i == 0 ? "; left alone: " : ", ", stdout);
    put_escaped(stdout, files->left[i].name);
    if (files->left[i].count > 1) printf(" (%zu)", files->left[i].count);
  }
  if (files->left_count > MOST_NAMES) printf(" and %zu other names", files->left_count - MOST_NAMES);
  putchar('\n');
}

static void print_summary(check_job *job) {
  const char *comma = ": ";
  size_t files = job->files.count - atomic_load(&job->skipped);
  printf("%zu %s", files, files == 1 ? "history" : "histories");
  print_count(atomic_load(&job->analysed), "analysed", &comma);
  print_count(atomic_load(&job->satisfied), "satisfied", &comma);
  print_count(atomic_load(&job->violated), "violated", &comma);
  print_count(atomic_load(&job->unknown), "unknown", &comma);
  print_count(atomic_load(&job->failed), "failed", &comma);
  size_t skipped = atomic_load(&job->skipped), judged = atomic_load(&job->analysed) + atomic_load(&job->satisfied) +
                                                        atomic_load(&job->violated) + atomic_load(&job->unknown) +
                                                        atomic_load(&job->failed);
  print_count(files - judged, "not checked", &comma);
  comma = "; ";
  print_count(skipped, skipped == 1 ? "other file skipped" : "other files skipped", &comma);
  putchar('\n');
  print_store(&job->files);
}

static unsigned processors(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > 1024 ? 1024 : (unsigned)count;
}

static int check_files(check_job *job) {
  const option_value *jobs = &job->parsed->values[CHECK_JOBS];
  unsigned threads = jobs->given ? (unsigned)jobs->integer : processors();
  job->many = job->files.count > 1 || job->files.walked;
  job->workers = job->files.count < threads ? (unsigned)job->files.count : threads;
  if (job->workers == 0) job->workers = 1;
  job->threads = threads / job->workers;
  if (job->reporting && !outputs_init(&job->reports, &job->parsed->values[CHECK_OUTPUT], job->files.count))
    return EXIT_USAGE;
  if (job->json) job->reports.stdout_taken = true;
  int code = batch_run(job->files.count, job->workers, "checking", check_file, job);
  if (job->reporting && code != EXIT_INTERRUPTED && outputs_pending(&job->reports))
    code = exit_worse(code, outputs_write(&job->reports));
  if (job->many && !job->json && !job->elle && !job->silent) {
    progress_clear();
    print_summary(job);
  }
  if (code == EXIT_INTERRUPTED) message("interrupted");
  /* Success without having looked at anything would hide a mistyped path. */
  if (code == EXIT_SATISFIED && job->files.count == atomic_load(&job->skipped)) {
    message("no history found");
    return EXIT_USAGE;
  }
  return code;
}

static int run(options *parsed) {
  check_job job = {.parsed = parsed, .json = parsed->values[CHECK_JSON].on, .elle = parsed->values[CHECK_ELLE].on};
  const option_value *limit = &parsed->values[CHECK_MEMORY_LIMIT];
  job.color = !job.json && terminal_color(stdout, common_color(parsed));
  if (parsed->argument_count == 0) {
    message("check: expected a file, a directory or '-'; 'isoproof help check' shows examples");
    return EXIT_USAGE;
  }
  const option_value *reports = &parsed->values[CHECK_OUTPUT];
  job.reporting = outputs_wanted(reports);
  job.silent = outputs_to_stdout(reports) > 0;
  if (outputs_to_stdout(reports) + (job.json && job.silent ? 1 : 0) > 1) {
    message("check: only one output can go to standard output");
    return EXIT_USAGE;
  }
  if (limit->given && !limit_memory(limit->integer)) {
    message_errno("--memory-limit", "set the limit");
    return EXIT_INTERNAL;
  }
  int code = EXIT_UNKNOWN;
  const option_value *values = parsed->values;
  bool ready = elle_request_make(&values[CHECK_WORKLOAD], &values[CHECK_MODEL], &values[CHECK_CONSISTENCY_MODELS],
                                 job.elle, &job.request);
  if (ready &&
      files_collect(&job.files, parsed->arguments, parsed->argument_count, parsed->values[CHECK_FORMAT].text)) {
    code = check_files(&job);
  } else {
    message("out of memory");
  }
  outputs_free(&job.reports);
  files_free(&job.files);
  elle_request_free(&job.request);
  return code;
}

/* ---- the table ---- */

#define OUTPUT_ROW_FIRST CHECK_OUTPUT

static const option table[CHECK_OPTIONS] = {
    [CHECK_LEVEL] = {.name = "level",
                     .letter = 'l',
                     .argument = "NAME,..",
                     .type = OPTION_LIST,
                     .choices = level_name_at,
                     .accepts = level_known,
                     .help =
                         "Judge these levels, by id or alias ('isoproof levels' lists them); the exit code is about "
                         "them. Names that only models have (repeatable-read, PL-3) mean those. Without it every "
                         "level that can be decided is."},
    [CHECK_ANOMALY] = {.name = "anomaly",
                       .argument = "CODE,..",
                       .type = OPTION_LIST,
                       .choices = pattern_name_at,
                       .accepts = pattern_known,
                       .help = "Look for these patterns only, TAP-a to TAP-n, or of lists G0, G1c, G0-process, "
                               "G1c-process, incompatible-order and duplicate-elements ('isoproof explain' says what "
                               "they are), instead of judging levels; the exit code is about them."},
    [CHECK_FORMAT] = {.name = "format",
                      .letter = 'f',
                      .type = OPTION_CHOICE,
                      .choices = format_name_at,
                      .help = "Read the files in this format.",
                      .initial = "detected from the content"},
    [CHECK_JSON] = {.name = "json", .type = OPTION_FLAG, .help = "Print one JSON object per file, each on a line."},
    [CHECK_ALL] =
        {.name = "all",
         .letter = 'a',
         .type = OPTION_FLAG,
         .help = "List every instance of what can be counted instead of the smallest of each code; of an anomaly of a "
                 "level that has to be searched for, at most 10,000."},
    [CHECK_CERTIFICATE] = {.name = "certificate",
                           .type = OPTION_FLAG,
                           .help = "Show the order of transactions, or of their begins and commits, that proves what "
                                   "is satisfied; it is checked first by code that shares nothing with the search."},
    [CHECK_STATS] = {.name = "stats",
                     .type = OPTION_FLAG,
                     .help = "Show how large the search for each strong level was and how long each stage of it took. "
                             "So that the figures are complete, no short cut is taken."},
    [CHECK_DUPLICATE_VALUES] = {.name = "duplicate-values",
                                .type = OPTION_FLAG,
                                .help = "Writes of one value to one key are expected: a level is satisfied when it is "
                                        "so for some choice of the writes that reads observed. Without this it is "
                                        "decided in the same way, and the verdict comes with a notice."},
    [CHECK_WORKLOAD] = {.name = "workload",
                        .argument = "NAME",
                        .type = OPTION_CHOICE,
                        .choices = workload_name_at,
                        .help = "Look for anomalies of dependencies (Adya's and Elle's: G0, G-single, ...) instead of "
                                "judging levels; auto finds the workload out.",
                        .group = "Dependencies, as Elle infers them"},
    [CHECK_MODEL] = {.name = "model",
                     .argument = "NAME,..",
                     .type = OPTION_LIST,
                     .choices = model_name_at,
                     .accepts = model_or_workload_known,
                     .help = "Report what these consistency models forbid, by any name of Elle's; the exit code is "
                             "about them.",
                     .initial = "strict-serializable",
                     .group = "Dependencies, as Elle infers them"},
    [CHECK_WFR_KEYS] = {.name = "wfr-keys",
                        .type = OPTION_FLAG,
                        .help = "Registers: assume that who reads a version of a key and writes the key writes a later "
                                "version.",
                        .group = "Dependencies, as Elle infers them"},
    [CHECK_SEQUENTIAL_KEYS] = {.name = "sequential-keys",
                               .type = OPTION_FLAG,
                               .help = "Registers: assume that every session sees every key move forward.",
                               .group = "Dependencies, as Elle infers them"},
    [CHECK_LINEARIZABLE_KEYS] = {.name = "linearizable-keys",
                                 .type = OPTION_FLAG,
                                 .help = "Registers: assume that every key moves forward in real time. set-full: reads "
                                         "may not be stale.",
                                 .group = "Dependencies, as Elle infers them"},
    [CHECK_TRANSACTION_ORDER] = {.name = "transaction-order",
                                 .argument = "FILE",
                                 .type = OPTION_FILE,
                                 .help = "Registers: take the writes of a key in the order in which this file names "
                                         "transactions, one a line as in s0t1, the first to take effect first.",
                                 .group = "Dependencies, as Elle infers them"},
    [CHECK_ELLE] = {.name = "elle",
                    .type = OPTION_FLAG,
                    .help = "Print what elle-cli prints: the file, a tab, and true, false or unknown; --model then "
                            "takes its names of workloads (list-append, ...) and of objects (bank, set-full, "
                            "cas-register, ...), too.",
                    .group = "Instead of elle-cli"},
    [CHECK_CONSISTENCY_MODELS] = {.name = "consistency-models",
                                  .argument = "NAME,..",
                                  .type = OPTION_LIST,
                                  .choices = model_name_at,
                                  .accepts = model_known,
                                  .help = "As --model.",
                                  .group = "Instead of elle-cli"},
    [CHECK_TOTAL_AMOUNT] = {.name = "total-amount",
                            .type = OPTION_INTEGER,
                            .max = 9e15,
                            .help = "Bank: what all accounts add up to.",
                            .initial = "what the first read adds up to",
                            .group = "Instead of elle-cli"},
    [CHECK_NEGATIVE_BALANCES] = {.name = "allow-negative-balances",
                                 .type = OPTION_FLAG,
                                 .help = "Bank: accounts may fall below zero.",
                                 .group = "Instead of elle-cli"},
    [CHECK_GROUP_SIZE] = {.name = "group-size",
                          .type = OPTION_INTEGER,
                          .max = 1e9,
                          .help = "Long fork: how many keys each read has; 0 means any number.",
                          .initial = "0",
                          .group = "Instead of elle-cli"},
    [CHECK_TIMEOUT] = {.name = "timeout",
                       .argument = "SECONDS",
                       .type = OPTION_NUMBER,
                       .min = 0,
                       .max = 1e9,
                       .help = "Give up on a file after that long; what is not decided then is unknown. 0 means never.",
                       .initial = "0",
                       .group = "Limits"},
    [CHECK_BUDGET] = {.name = "budget",
                      .argument = "SECONDS",
                      .type = OPTION_NUMBER,
                      .min = 0,
                      .max = 1e9,
                      .help = "After the levels of --level (or without it), decide all others too, the cheapest first, "
                              "for no longer than that; the report says which are left, and the exit code is not "
                              "about them. 0 means no limit.",
                      .group = "Limits"},
    [CHECK_MEMORY_LIMIT] = {.name = "memory-limit",
                            .type = OPTION_SIZE,
                            .min = 1,
                            .help = "Use at most that much memory (K, M, G and T are powers of 1024); what does not "
                                    "fit is unknown.",
                            .group = "Limits"},
    [CHECK_JOBS] = {.name = "jobs",
                    .letter = 'j',
                    .type = OPTION_INTEGER,
                    .min = 1,
                    .max = 1024,
                    .help = "Use that many threads, over many files or inside one.",
                    .initial = "one per processor",
                    .group = "Limits"},
    OUTPUT_ROWS};

static const example examples[] = {
    {"isoproof check examples/histories/aborted-read.txt", 0, "Which levels hold, which do not, and why."},
    {"isoproof check --level=ci examples/histories/non-repeatable-read.txt", 1,
     "Judge one level, by its alias: the exit code says that it is violated."},
    {"isoproof check --level ci,rc --json examples/histories/aborted-read.txt", 1,
     "Judge two levels, for a program to read."},
    {"isoproof check --anomaly=TAP-k,TAP-l examples/histories/fractured-read.txt", 1, "Look for two patterns only."},
    {"isoproof check --level=ser --certificate examples/histories/serializable.txt", 0, "The order that proves it."},
    {"isoproof check --html=skew.html examples/histories/write-skew.txt", 0, "A report to look at in a browser."},
    {"isoproof check --level=cut-isolation examples/histories", 1, "Check every history below a directory."},
    {"gzip -c examples/histories/serializable.txt | isoproof check -", 0, "Compressed input, from a pipe."},
};

static const char *const description[] = {
    "Reads histories of transactions in any format that isoproof knows, and decides which isolation levels they "
    "satisfy. "
    "A level that is violated comes with a witness: the transactions, keys and dependencies that prove it.",
    "With one file the result is a report. With several, or with a directory, it is one line per file and a summary. "
    "Of a directory every file in a known format is checked, hidden ones excepted; a directory that is itself a "
    "history (Cobra, Viper) counts as one file. Of each run in a Jepsen store the history.edn (or history.edn.zst, "
    "history.edn.gz) is checked, once, and results.edn and the rest are left alone.",
    "With many files the exit code is the worst of them, in the order 70, 4, 2, 1, 3, 0.", NULL};

const command command_check = {"check",
                               "Decide which isolation levels histories satisfy, with witnesses",
                               "[--level=NAME,..] [--json] [OPTION...] FILE...",
                               description,
                               "FILE: a history, plain or compressed with gzip or zstd; a directory; '-' for standard "
                               "input.",
                               "files",
                               table,
                               CHECK_OPTIONS,
                               examples,
                               COUNT_OF(examples),
                               run};
