/* check.c - `isoproof check`: verdicts and witnesses for histories in any format. */
#include <isoproof/isoproof.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands/batch.h"
#include "cli/commands/check.h"
#include "cli/commands/command.h"
#include "cli/commands/files.h"
#include "cli/commands/results.h"
#include "cli/options/elle.h"
#include "cli/options/outputs.h"
#include "cli/options/transaction_order.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- one file ---- */

/* The exit code of a verdict, which is counted. */
int check_count(check_job *job, isoproof_verdict verdict, bool complete) {
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
  return check_count(job, verdict, isoproof_result_unknown_reason(result) == NULL);
}

/* Keeps what the reports need.  That of a single file is written at once, with the history at hand. */
static isoproof_status keep_document(check_job *job, size_t number, const isoproof_history *history,
                                     const isoproof_result *result, double load, double check, reply *to,
                                     isoproof_error *error) {
  isoproof_document_options what = {.struct_size = sizeof what,
                                    .file = job->files.items[number].path,
                                    .load_seconds = load,
                                    .check_seconds = check,
                                    .peak_bytes = check_peak_bytes(),
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

isoproof_check_options check_options_of(const check_job *job) {
  const option_value *values = job->parsed->values;
  return (isoproof_check_options){.struct_size = sizeof(isoproof_check_options),
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
}

isoproof_status check_tell(check_job *job, size_t number, const isoproof_history *history,
                           const isoproof_result *result, double load, double check, reply *to, isoproof_error *error) {
  const char *path = job->files.items[number].path;
  to->code = code_of(job, result);
  isoproof_status status = check_print(job, path, history, result, load, check, to->out, error);
  /* Nobody reads any more, but the verdict counts, and so do the files that were asked for. */
  if (status == ISOPROOF_ERR_IO && output_gone()) status = ISOPROOF_OK;
  if (status == ISOPROOF_OK && check_keep_result(job, path, result, load, check, error) != ISOPROOF_OK)
    to->code = exit_worse(to->code, EXIT_USAGE);
  return status == ISOPROOF_OK ? keep_document(job, number, history, result, load, check, to, error) : status;
}

isoproof_status check_judge(check_job *job, size_t number, isoproof_history *history, double load, isoproof_task *task,
                            reply *to, isoproof_error *error) {
  isoproof_check_options how = check_options_of(job);
  isoproof_result *result = NULL;
  transaction_order order = {NULL, 0};
  double began = now();
  isoproof_status status =
      transaction_order_read(job->parsed->values[CHECK_TRANSACTION_ORDER].text, history, &order, error);
  if (status == ISOPROOF_OK) {
    load += now() - began;
    began = now();
    how.transaction_order = order.txns;
    how.transaction_order_count = order.count;
    status = isoproof_check(history, &how, task, &result, error);
  }
  transaction_order_free(&order);
  if (status == ISOPROOF_OK) status = check_tell(job, number, history, result, load, now() - began, to, error);
  isoproof_result_free(result);
  return status;
}

static isoproof_status check_history(check_job *job, size_t number, isoproof_task *task, reply *to,
                                     isoproof_error *error) {
  const char *path = job->files.items[number].path;
  if (job->request.has_object) {
    isoproof_status judged = check_object(job, path, job->request.object, task, to, error);
    /* Sets and counters come in transactions, too. */
    if (judged != ISOPROOF_ERR_UNSUPPORTED || job->request.workload == NULL || strcmp(path, "-") == 0) return judged;
  }
  isoproof_open_options open = {.struct_size = sizeof open, .format = job->parsed->values[CHECK_FORMAT].text};
  isoproof_history *history = NULL;
  isoproof_object_model model;
  if (check_is_large(job, path)) return check_out_of_core(job, number, task, to, error);
  double began = now();
  /* Standard input can be read only once. */
  if (strcmp(path, "-") == 0 && check_has_calls(job, path, &model)) {
    return check_object(job, path, model, task, to, error);
  }
  isoproof_status status = isoproof_history_open(path, &open, task, &history, error);
  if (status == ISOPROOF_OK && !check_needs_calls(job, history, task)) {
    status = check_judge(job, number, history, now() - began, task, to, error);
  } else if ((status == ISOPROOF_OK || status == ISOPROOF_ERR_UNSUPPORTED) && check_has_calls(job, path, &model)) {
    status = check_object(job, path, model, task, to, error);
  }
  isoproof_history_free(history);
  return status;
}

/* A file that cannot be judged: an object on standard output with --json, else a message. */
void check_complain(check_job *job, size_t number, const isoproof_error *problem, reply *to) {
  const char *path = job->files.items[number].path;
  isoproof_document *document;
  to->code = exit_of_status(problem->code);
  /* A signal may also surface as a failed read; it is said once, for all files. */
  if (problem->code == ISOPROOF_ERR_CANCELLED || interrupted()) return;
  /* When standard output refuses more, no file is to blame; the end of the program says it. */
  if (to->out == stdout && ferror(stdout)) return;
  atomic_fetch_add(to->code == EXIT_UNKNOWN ? &job->unknown : &job->failed, 1);
  check_keep_problem(job, path, problem, to);
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
    check_complain(job, number, &error, to);
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
    check_complain(job, number, &error, to);
    return;
  }
  isoproof_task_set_threads(task, job->threads);
  isoproof_task_set_timeout(task, job->parsed->values[CHECK_TIMEOUT].number);
  if (job->workers == 1) {
    if (job->many) progress_subject(entry->path);
    isoproof_task_set_progress(task, progress_update, NULL);
  }
  if (check_history(job, number, task, to, &error) != ISOPROOF_OK) check_complain(job, number, &error, to);
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
  print_count(job->before, "judged before", &comma);
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
  bool follows = job->parsed->values[CHECK_FOLLOW].given;
  int code = follows ? check_follow(job) : batch_run(job->files.count, job->workers, "checking", check_file, job);
  if (job->reporting && code != EXIT_INTERRUPTED && outputs_pending(&job->reports))
    code = exit_worse(code, outputs_write(&job->reports));
  if (job->many && !job->json && !job->elle && !job->silent) {
    progress_clear();
    print_summary(job);
  }
  if (code == EXIT_INTERRUPTED) message("interrupted");
  /* Success without having looked at anything would hide a mistyped path. */
  if (code == EXIT_SATISFIED && !job->part && job->files.count == atomic_load(&job->skipped)) {
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
  if (!check_follow_allowed(parsed) || !check_many_allowed(parsed)) return EXIT_USAGE;
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
    int before = EXIT_SATISFIED;
    check_tell_of_parts(&job);
    code = check_narrow(&job, &before);
    if (code == EXIT_SATISFIED) code = exit_worse(check_files(&job), before);
  } else {
    message("out of memory");
  }
  results_close(job.kept);
  outputs_free(&job.reports);
  files_free(&job.files);
  elle_request_free(&job.request);
  return code;
}

const command command_check = {"check",
                               "Decide which isolation levels histories satisfy, with witnesses",
                               "[--level=NAME,..] [--json] [OPTION...] FILE...",
                               check_description,
                               "FILE: a history, plain or compressed with gzip or zstd; a directory; '-' for standard "
                               "input.",
                               "files",
                               check_table,
                               CHECK_OPTIONS,
                               check_examples,
                               CHECK_EXAMPLES,
                               run};
