/* gen_workload.c - `isoproof gen` without --simulate: a workload as JSON lines. */
#include <inttypes.h>
#include <isoproof/isoproof.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/options/gen_options.h"
#include "cli/options/workload_options.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

/* Which option of gen says what. */
static const int places[WORKLOAD_OPTIONS] = {
    [WORKLOAD_WORKLOAD] = GEN_WORKLOAD,
    [WORKLOAD_PRESET] = GEN_PRESET,
    [WORKLOAD_SEED] = GEN_SEED,
    [WORKLOAD_SESSIONS] = GEN_SESSIONS,
    [WORKLOAD_TRANSACTIONS] = GEN_TRANSACTIONS,
    [WORKLOAD_OPERATIONS] = GEN_OPERATIONS,
    [WORKLOAD_READ_SHARE] = GEN_READ_SHARE,
    [WORKLOAD_RMW_SHARE] = GEN_RMW_SHARE,
    [WORKLOAD_ABORT_SHARE] = GEN_ABORT_SHARE,
    [WORKLOAD_LONG_SHARE] = GEN_LONG_SHARE,
    [WORKLOAD_LONG_OPERATIONS] = GEN_LONG_OPERATIONS,
    [WORKLOAD_APPENDS_PER_KEY] = GEN_APPENDS_PER_KEY,
    [WORKLOAD_FINAL_READS] = -1,
    [WORKLOAD_JITTER] = -1,
    [WORKLOAD_KEYS] = GEN_KEYS,
    [WORKLOAD_DISTRIBUTION] = GEN_DISTRIBUTION,
    [WORKLOAD_SKEW] = GEN_SKEW,
    [WORKLOAD_HOT_SHARE] = GEN_HOT_SHARE,
    [WORKLOAD_HOT_KEYS] = GEN_HOT_KEYS,
};

/* Options that mean something to the simulator only. */
static const int simulator_only[] = {GEN_FORMAT,          GEN_COMPRESS,       GEN_LOSSY, GEN_BLAME,
                                     GEN_LEVEL,           GEN_REPLICAS,       GEN_BUG,   GEN_UNKNOWN_SHARE,
                                     GEN_PREDICATE_SHARE, GEN_DUPLICATE_SHARE};

static bool fill(isoproof_workload_options *workload, const options *parsed) {
  const option_value *values[WORKLOAD_OPTIONS];
  for (size_t i = 0; i < COUNT_OF(simulator_only); i++) {
    const option *o = &parsed->table[simulator_only[i]];
    if (!parsed->values[simulator_only[i]].given) continue;
    message("--%s needs --simulate: a workload has no use for it", o->name);
    return false;
  }
  for (size_t i = 0; i < WORKLOAD_OPTIONS; i++) values[i] = places[i] >= 0 ? &parsed->values[places[i]] : NULL;
  if (!workload_fill(workload, values)) return false;
  if (!parsed->values[GEN_SESSIONS].given && !parsed->values[GEN_PRESET].given &&
      !isoproof_workload_meets(workload->kind))
    workload->sessions = 10;
  if (workload->txns == 0) workload->txns = 1000;
  return true;
}

static int write_to(FILE *out, const char *path, const isoproof_workload_options *workload) {
  isoproof_error error = {.offset = -1};
  isoproof_task *task = interrupt_task_new();
  if (task == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  isoproof_task_set_progress(task, progress_update, NULL);
  isoproof_status status = isoproof_workload_write(workload, write_stream, out, task, &error);
  interrupt_task_free(task);
  progress_clear();
  if (status == ISOPROOF_ERR_IO && out == stdout && output_gone()) output_note_gone();
  /* When standard output refuses more, the end of the program says so. */
  if (status != ISOPROOF_OK && (status != ISOPROOF_ERR_IO || out != stdout)) message_error(&error, path);
  return exit_of_status(status);
}

int gen_workload(const options *parsed, const char *path) {
  isoproof_workload_options workload = {.struct_size = sizeof workload};
  if (!fill(&workload, parsed)) return EXIT_USAGE;
  bool standard = strcmp(path, "-") == 0;
  FILE *out = standard ? stdout : fopen(path, "we");
  if (out == NULL) {
    message_errno(path, "open it for writing");
    return EXIT_USAGE;
  }
  int code = write_to(out, standard ? NULL : path, &workload);
  if (!standard && fclose(out) != 0 && code == EXIT_SATISFIED) {
    message_errno(path, "write to it");
    code = EXIT_USAGE;
  }
  if (code == EXIT_SATISFIED && !parsed->values[GEN_SEED].given && !common_quiet(parsed))
    message("seed %" PRIu64 " (--seed repeats this workload)", workload.seed);
  return code;
}
