/* check.c - `isoproof-mpi check`: one history on several machines. */
#include "mpi/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands/check.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "mpi/folder.h"
#include "mpi/spread.h"
#include "parts/judge.h"

/* ---- the command line ---- */

/* The options of `isoproof check` that are of use here; they keep their numbers, as what prints results goes by them.
 */
static bool is_offered(size_t number) {
  static const size_t offered[] = {CHECK_LEVEL,   CHECK_FORMAT,       CHECK_JSON, CHECK_ALL,  CHECK_RESULTS,
                                   CHECK_TIMEOUT, CHECK_MEMORY_LIMIT, CHECK_JOBS, CHECK_STATS};
  for (size_t i = 0; i < COUNT_OF(offered); i++) {
    if (number == offered[i]) return true;
  }
  return number >= CHECK_OUTPUT;
}

static bool is_usable(const options *parsed) {
  for (size_t i = 0; i < CHECK_OPTIONS; i++) {
    if (!parsed->values[i].given || is_offered(i)) continue;
    message("check: --%s is for 'isoproof check', on one machine", check_table[i].name);
    return false;
  }
  if (parsed->argument_count == 1) return true;
  message("check: expected one file");
  return false;
}

/* ---- the check ---- */

typedef struct {
  talk talk;
  spread spread;
  const options *parsed;
  check_job job;
  bool stats; /* of the ranks */
  isoproof_task *task;
} mpi_check;

static const char *path_of(const mpi_check *m) { return m->job.files.items[0].path; }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static isoproof_status open_whole(void *context, isoproof_history **history, isoproof_error *error) {
  mpi_check *m = context;
  return spread_open_whole(path_of(m), m->parsed->values[CHECK_FORMAT].text, m->task, history, error);
}

static void release(void *context) {
  mpi_check *m = context;
  talk_dismiss(&m->talk);
  spread_free_part(&m->spread);
  talk_phase(&m->talk, "whole");
}

/* Whether rank 0 can hold the whole history, as far as its size tells. */
static bool fits(const mpi_check *m) {
  enum { PER_OP = 44, PER_TXN = 220 }; /* docs/scale.md */
  const isoproof_history *h = m->spread.history;
  const option_value *limit = &m->parsed->values[CHECK_MEMORY_LIMIT];
  uint64_t needed = (uint64_t)h->ops * PER_OP + (uint64_t)h->txns * PER_TXN;
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  uint64_t all = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 * 3 : UINT64_MAX;
  return needed <= (limit->given ? limit->integer : all);
}

static isoproof_status judge(mpi_check *m, double load, reply *to, isoproof_error *error) {
  iso_team team;
  iso_whole whole = {.open = open_whole, .context = m, .fits = fits(m), .release = release};
  iso_parts_result judged;
  isoproof_check_options how = check_options_of(&m->job);
  if (m->job.reporting) whole.needed = "a report shows the whole history";
  double began = now();
  talk_team(&m->talk, &team);
  isoproof_status status = iso_judge_parts(&team, m->spread.history, &how, &whole, m->task, &judged, error);
  if (status != ISOPROOF_OK) return status;
  if (judged.by_whole && judged.why != NULL) note("%s: judged on one machine: %s", path_of(m), judged.why);
  const isoproof_history *history = judged.history != NULL ? judged.history : m->spread.history;
  if (judged.history != NULL && !judged.by_whole)
    message("%s: operations are counted of the transactions that show a violation only", path_of(m));
  status = check_tell(&m->job, 0, history, judged.result, load, now() - began, to, error);
  iso_parts_result_free(&judged);
  return status;
}

/* What --stats says of the ranks, on standard error. */
static void tell_stats(mpi_check *m) {
  struct rusage usage;
  talk *t = &m->talk;
  (void)getrusage(RUSAGE_SELF, &usage);
  uint64_t most = talk_most(t, (uint64_t)usage.ru_maxrss * 1024), all = talk_sum(t, (uint64_t)usage.ru_maxrss * 1024);
  uint64_t exchanged = talk_sum(t, t->exchanged);
  if (t->rank != 0 || !m->stats) return;
  fprintf(stderr,
          "ranks %d, of which read %d; bytes exchanged %llu, asked %llu, answered %llu; peak memory of the largest "
          "rank %llu, of all %llu\n",
          t->ranks, m->spread.readers, (unsigned long long)exchanged, (unsigned long long)t->asked,
          (unsigned long long)t->answered, (unsigned long long)most, (unsigned long long)all);
}

static isoproof_status check_one(mpi_check *m, reply *to, isoproof_error *error) {
  const option_value *values = m->parsed->values;
  double began = now();
  ISO_TRY(spread_read(&m->talk, path_of(m), values[CHECK_FORMAT].text, &m->spread, error));
  isoproof_status status;
  if (m->talk.rank == 0) {
    status = judge(m, now() - began, to, error);
    talk_dismiss(&m->talk);
  } else {
    status = talk_serve(&m->talk, error);
    spread_free_part(&m->spread);
  }
  tell_stats(m);
  return talk_agree(&m->talk, status, error);
}

/* Rank 0 says what came of it; all have its exit code. */
static int check_file(mpi_check *m) {
  isoproof_error error = {.code = ISOPROOF_OK, .offset = -1};
  reply to = {.out = stdout};
  int code = EXIT_INTERNAL;
  m->task = interrupt_task_new();
  talk_begin(&m->talk, m->task);
  if (m->task != NULL) {
    const option_value *values = m->parsed->values;
    unsigned threads = values[CHECK_JOBS].given ? (unsigned)values[CHECK_JOBS].integer : 1;
    isoproof_task_set_threads(m->task, threads);
    isoproof_task_set_timeout(m->task, values[CHECK_TIMEOUT].number);
  }
  isoproof_status status = check_one(m, &to, &error);
  if (status != ISOPROOF_OK && m->talk.rank == 0) check_complain(&m->job, 0, &error, &to);
  if (to.complaint != NULL) message("%s", to.complaint);
  free(to.complaint);
  code = to.code;
  talk_share(&m->talk, &code, sizeof code);
  spread_free(&m->spread);
  talk_end(&m->talk);
  interrupt_task_free(m->task);
  return code;
}

/* A folder of parts is one history, any other one as many as there are. */
static bool collect(file_list *files, const options *parsed) {
  if (!folder_is_parts(parsed->arguments[0]))
    return files_collect(files, parsed->arguments, 1, parsed->values[CHECK_FORMAT].text);
  *files = (file_list){.items = calloc(1, sizeof *files->items)};
  char *path = strdup(parsed->arguments[0]);
  files->count = files->items != NULL && path != NULL;
  if (files->count == 1) {
    files->items[0].path = path;
    return true;
  }
  free(path);
  message("out of memory");
  return false;
}

int iso_mpi_check(int argc, char **argv) {
  options parsed = {.count = 0};
  mpi_check m = {.parsed = &parsed};
  int code = EXIT_USAGE;
  if (options_parse(&parsed, "check", check_table, CHECK_OPTIONS, argc - 1, argv + 1) && is_usable(&parsed)) {
    m.stats = parsed.values[CHECK_STATS].on;
    parsed.values[CHECK_STATS].on = false; /* they are about the ranks here */
    m.job = (check_job){.parsed = &parsed, .json = parsed.values[CHECK_JSON].on, .workers = 1};
    bool ready = collect(&m.job.files, &parsed);
    m.job.reporting = outputs_wanted(&parsed.values[CHECK_OUTPUT]);
    m.job.silent = outputs_to_stdout(&parsed.values[CHECK_OUTPUT]) > 0;
    if (ready && m.job.reporting) ready = outputs_init(&m.job.reports, &parsed.values[CHECK_OUTPUT], m.job.files.count);
    if (ready && m.job.files.count == 1) code = check_file(&m);
    if (ready && m.job.files.count != 1)
      message(
          "check: expected one history: a file, or a folder of the parts of one (part-0.jsonl, ...), as isoproof-mpi "
          "run leaves it; 'isoproof check' judges the histories of a folder one by one");
    outputs_free(&m.job.reports);
    files_free(&m.job.files);
  }
  options_free(&parsed);
  return code;
}

static int run_alone(options *parsed) {
  (void)parsed;
  message("check: started without MPI");
  return EXIT_USAGE;
}

static const char *const description[] = {
    "Judges one history on several machines, as 'isoproof check' does on one: the same options, verdicts and JSON. The "
    "operations are divided by keys among the ranks, each of which has all operations on its keys; rank 0 holds the "
    "order of the transactions, and reports.",
    "The ranks read one file at once, each a range of it: plain files in the binary form, in isoproof's own lines "
    "(jsonl) and in Plume's. Compressed files and other formats are read by rank 0, and so is a text whose lines do "
    "not stand on their own. A folder with part-0.jsonl, as 'isoproof-mpi run' leaves it when a machine is lost, is "
    "one history, read in the same way and joined on the way; 'isoproof check' of a folder judges the histories in it "
    "one by one.",
    "Registers and lists, at the levels from read-committed to strict-serializable. Where something is violated, or "
    "something else was asked for, rank 0 judges the whole history, if it fits into its memory (--memory-limit): "
    "counts and witnesses are then those of 'isoproof check'. Where it does not fit, the transactions that show a "
    "violation are gathered on rank 0 and explained.",
    NULL};

static const example examples[] = {{"mpirun -n 2 isoproof-mpi check --level=ser examples/histories/write-skew.txt", 1,
                                    "Judge a history on two ranks."}};

const command command_mpi_check = {"check",
                                   "Check one history on several machines",
                                   "[--level=NAME,..] [--json] [OPTION...] FILE",
                                   description,
                                   "FILE: a history, plain or compressed with gzip or zstd; or a folder of parts.",
                                   "files",
                                   check_table,
                                   CHECK_OPTIONS,
                                   examples,
                                   COUNT_OF(examples),
                                   run_alone};
