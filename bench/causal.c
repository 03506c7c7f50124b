/* causal.c - the causal axiom with and without clocks, as sessions become many.
 *
 *     causal [--txns N] [--seed N]
 *
 * The same transactions are spread over more and more sessions.  Each row decides the causal axiom of one history, in a
 * process of its own with two threads: by searching for a commit order, and by vector clocks in blocks of columns
 * (which cost transactions x sessions, so the longest rows are left out).  The last rows have 50 sessions at a time,
 * each of which ends after two transactions.  Loading is not counted.
 */
#include <isoproof/isoproof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/axioms/weak.h"
#include "measure.h"
#include "tests/random/short_sessions.h"

typedef struct job {
  uint64_t txns, seed;
  uint32_t sessions; /* 0: many short ones */
  isoproof_sim_level level;
  bool clocks;
} job;

static bool decide(void *context, uint64_t *operations, uint64_t *bytes) {
  const job *j = context;
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_history *history;
  isoproof_task *task;
  isoproof_error error;
  isoproof_sim_defaults(&options);
  options.struct_size = sizeof options;
  options.seed = j->seed;
  options.level = j->level;
  options.sessions = j->sessions > 0 ? j->sessions : 50;
  options.txns = j->txns;
  options.ops_min = options.ops_max = 10;
  options.keys = (uint32_t)(j->txns / 10);
  options.distribution = ISOPROOF_KEYS_ZIPF;
  options.skew = 1;
  if (isoproof_task_new(&task) != ISOPROOF_OK) return false;
  if (isoproof_simulate(&options, task, &history, NULL, &error) != ISOPROOF_OK) return false;
  if (j->sessions == 0) {
    isoproof_history *cut;
    if (short_sessions(history, 2, &cut, &error) != ISOPROOF_OK) return false;
    isoproof_history_free(history);
    history = cut;
  }
  iso_weak weak;
  if (iso_weak_begin(history, task, &weak, &error) != ISOPROOF_OK) return false;
  if (j->clocks) weak.block_columns = j->sessions < 128 ? j->sessions : 128;
  double start = measure_now();
  bool good =
      iso_weak_decide(&weak, ISO_AXIOM_CAUSAL, task, &error) == ISOPROOF_OK && !weak.axioms[ISO_AXIOM_CAUSAL].violated;
  *operations = history->ops;
  *bytes = (uint64_t)((measure_now() - start) * 1e6); /* microseconds */
  iso_weak_free(&weak);
  isoproof_history_free(history);
  isoproof_task_free(task);
  return good;
}

static void print_row(job *j) {
  static const char *const levels[] = {"serializable", "causal"};
  measurement m = measure(decide, j, 1);
  char sessions[16] = "short";
  if (j->sessions > 0) snprintf(sessions, sizeof sessions, "%u", j->sessions);
  printf("%-13s %8s %-8s", levels[j->level == ISOPROOF_SIM_CAUSAL], sessions, j->clocks ? "clocks" : "search");
  if (m.ok) {
    printf(" %9.3f s %6.0f MB\n", (double)m.bytes / 1e6, (double)m.peak_bytes / 1e6);
  } else {
    puts("    failed");
  }
  fflush(stdout);
}

int main(int argc, char **argv) {
  static const uint32_t sessions[] = {10, 50, 200, 1000, 5000, 20000, 0};
  job j = {.txns = 200000, .seed = 1};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--txns") == 0) j.txns = strtoull(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--seed") == 0) j.seed = strtoull(argv[i + 1], NULL, 10);
  }
  printf("%llu transactions of 10 operations; simulated at, sessions, method, time, memory\n",
         (unsigned long long)j.txns);
  for (int level = 0; level < 2; level++) {
    j.level = level == 0 ? ISOPROOF_SIM_SERIALIZABLE : ISOPROOF_SIM_CAUSAL;
    for (size_t i = 0; i < sizeof sessions / sizeof sessions[0]; i++) {
      j.sessions = sessions[i];
      if (level == 1 && j.sessions > 5000) continue; /* the simulator takes minutes */
      j.clocks = false;
      print_row(&j);
      j.clocks = true;
      if (j.sessions > 0 && j.sessions <= 1000) print_row(&j);
    }
  }
  return 0;
}
