/* check_out_of_core.c - `isoproof check` of a file that is larger than memory, or than --memory-limit. */
#include <isoproof/isoproof.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands/check.h"
#include "cli/terminal/output.h"

bool check_is_large(const check_job *job, const char *path) {
  const option_value *limit = &job->parsed->values[CHECK_MEMORY_LIMIT];
  uint64_t bytes = 0;
  if (job->parsed->values[CHECK_OUT_OF_CORE].on) return true;
  if (!limit->given || strcmp(path, "-") == 0) return false;
  return isoproof_check_memory(path, &bytes, NULL) == ISOPROOF_OK && bytes > limit->integer;
}

/* Half of what the machine has, where nothing is said. */
static uint64_t memory_of(const check_job *job) {
  const option_value *limit = &job->parsed->values[CHECK_MEMORY_LIMIT];
  if (limit->given) return limit->integer;
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (uint64_t)pages / 2 * (uint64_t)size : UINT64_C(1) << 30;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

isoproof_status check_out_of_core(check_job *job, size_t number, isoproof_task *task, reply *to,
                                  isoproof_error *error) {
  const char *path = job->files.items[number].path;
  isoproof_check_options how = check_options_of(job);
  isoproof_history *history = NULL;
  isoproof_result *result = NULL;
  double began = now();
  isoproof_status status = isoproof_check_out_of_core(path, &how, memory_of(job), task, &history, &result, error);
  if (status == ISOPROOF_OK) {
    if (isoproof_result_verdict(result) == ISOPROOF_VIOLATED)
      message("%s: judged out of core: only what shows a violation is counted", path);
    status = check_tell(job, number, history, result, 0, now() - began, to, error);
  }
  isoproof_result_free(result);
  isoproof_history_free(history);
  return status;
}
