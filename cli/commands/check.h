/* check.h - what the files of `isoproof check` share: the numbers of its options, and a check under way.
 *
 * A job lives as long as the command.
 */
#ifndef ISOPROOF_CLI_COMMANDS_CHECK_H
#define ISOPROOF_CLI_COMMANDS_CHECK_H

#include <isoproof/isoproof.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cli/commands/batch.h"
#include "cli/commands/command.h"
#include "cli/commands/files.h"
#include "cli/commands/results.h"
#include "cli/options/elle.h"
#include "cli/options/outputs.h"

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
  CHECK_FOLLOW,
  CHECK_KEEP_GOING,
  CHECK_RESUME,
  CHECK_SHARD,
  CHECK_RESULTS,
  CHECK_TIMEOUT,
  CHECK_BUDGET,
  CHECK_MEMORY_LIMIT,
  CHECK_OUT_OF_CORE,
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
  results *kept; /* --results; NULL: none */
  bool part;     /* some files are left to other machines, or were judged before */
  size_t before; /* so many of them */
  atomic_size_t satisfied, violated, unknown, analysed, failed, skipped;
} check_job;

/* ---- check_options.c ---- */

enum { CHECK_EXAMPLES = 9 };

extern const option check_table[CHECK_OPTIONS];
extern const example check_examples[CHECK_EXAMPLES];
extern const char *const check_description[];

/* ---- check_calls.c: files of single operations ---- */

/* Whether a file has single operations (--format, or what it looks like), judged for linearizability, and which model
 * is theirs; false where something else is asked for. */
bool check_has_calls(const check_job *job, const char *path, isoproof_object_model *model);
/* Whether the history of such a file does not say all that the file says: compare-and-sets, or values that repeat. */
bool check_needs_calls(const check_job *job, isoproof_history *history, isoproof_task *task);
isoproof_status check_object(check_job *job, const char *path, isoproof_object_model model, isoproof_task *task,
                             reply *to, isoproof_error *error);

/* ---- check.c ---- */

/* The exit code of a verdict, which is counted. */
int check_count(check_job *job, isoproof_verdict verdict, bool complete);
/* Judges a history, prints what came of it and keeps it for the reports; the exit code is in the reply. */
isoproof_status check_judge(check_job *job, size_t number, isoproof_history *history, double load, isoproof_task *task,
                            reply *to, isoproof_error *error);
/* Prints a result and keeps it for the reports; the exit code is in the reply. */
isoproof_status check_tell(check_job *job, size_t number, const isoproof_history *history,
                           const isoproof_result *result, double load, double check, reply *to, isoproof_error *error);
/* What the options of the command ask of a check. */
isoproof_check_options check_options_of(const check_job *job);
/* A file that cannot be judged: an object on standard output with --json, else a message. */
void check_complain(check_job *job, size_t number, const isoproof_error *problem, reply *to);

/* ---- check_follow.c ---- */

/* Judges the one file of the job while it grows: an exit code. */
int check_follow(check_job *job);
/* Whether --follow goes with the other options; false after a message. */
bool check_follow_allowed(const options *parsed);

/* ---- check_many.c ---- */

/* Says so where a directory has the parts of one history, which are not to be judged one by one. */
void check_tell_of_parts(const check_job *job);
/* Whether --shard, --results and --resume go with the other options; false after a message. */
bool check_many_allowed(const options *parsed);
/* Leaves out what another machine checks, and what was checked before: an exit code, in *worst what came of that. */
int check_narrow(check_job *job, int *worst);
/* Appends a result to the file of --results, where there is one. */
isoproof_status check_keep_result(check_job *job, const char *path, const isoproof_result *result, double load,
                                  double check, isoproof_error *error);
/* The same for a file that cannot be judged.  A time or memory limit, or a signal, may go better the next time. */
void check_keep_problem(check_job *job, const char *path, const isoproof_error *problem, reply *to);

/* ---- check_out_of_core.c ---- */

/* Whether a file is to be judged out of core: because that was asked for, or because it does not fit into what
 * --memory-limit says. */
bool check_is_large(const check_job *job, const char *path);
/* Judges it, part after part. */
isoproof_status check_out_of_core(check_job *job, size_t number, isoproof_task *task, reply *to, isoproof_error *error);

/* ---- check_print.c ---- */

/* The most memory that this process has had, 0 where that is not known. */
uint64_t check_peak_bytes(void);

/* Prints the result of one file, in the way that the job asks for: a report, a line, JSON, or the words of elle-cli. */
isoproof_status check_print(const check_job *job, const char *path, const isoproof_history *history,
                            const isoproof_result *result, double load, double check, FILE *out, isoproof_error *error);

#endif
