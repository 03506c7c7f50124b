/* weak.c - read committed, read atomic and causal on large histories: from a file of Plume text to the verdict.
 *
 *     weak [--scale S] [--directory DIR] [--seed N] [--repeat N] [--case NAME]
 *
 * Every row is a whole run in a process of its own: loading, resolving and checking one level, with two threads.  The
 * baseline is AWDIT on such a machine, where its figures are known; its version is not recorded (bench/README.md,
 * "Whose figures these are").  --scale divides the numbers of transactions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "measure.h"

#define BASELINE "AWDIT (Rust, 2025, one core; version not recorded)"

/* A shape of history.  Known seconds of the baseline for read-committed, read-atomic, causal; 0 where unknown. */
typedef struct shape {
  const char *name;
  uint32_t sessions, keys, ops;
  uint64_t txns;
  isoproof_sim_level level;
  isoproof_sim_bug bug;
  uint64_t bugs;
  double baseline[3];
} shape;

static const shape shapes[] = {
    {"small", 100, 10000, 10, 100000, ISOPROOF_SIM_SERIALIZABLE, 0, 0, {0.86, 1.35, 7.5}},
    {"large", 50, 100000, 10, 1000000, ISOPROOF_SIM_SERIALIZABLE, 0, 0, {8.5, 11.8, 118}},
    {"large-causal", 50, 100000, 10, 1000000, ISOPROOF_SIM_CAUSAL, 0, 0, {0, 0, 0}},
    {"broken-1", 50, 100000, 10, 1000000, ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_BUG_FRACTURED_READ, 1, {0, 0, 0}},
    {"broken-1000",
     50,
     100000,
     10,
     1000000,
     ISOPROOF_SIM_SERIALIZABLE,
     ISOPROOF_SIM_BUG_FRACTURED_READ,
     1000,
     {0, 0, 0}},
    {"broken-100000",
     50,
     100000,
     10,
     1000000,
     ISOPROOF_SIM_SERIALIZABLE,
     ISOPROOF_SIM_BUG_FRACTURED_READ,
     100000,
     {0, 0, 0}},
    {"sessions-5000", 5000, 100000, 10, 1000000, ISOPROOF_SIM_SERIALIZABLE, 0, 0, {0, 0, 0}},
    {"session-1", 1, 100000, 10, 1000000, ISOPROOF_SIM_SERIALIZABLE, 0, 0, {0, 0, 0}},
    {"operations-400", 50, 100000, 400, 25000, ISOPROOF_SIM_SERIALIZABLE, 0, 0, {0, 0, 0}},
    {"operations-50M", 50, 500000, 10, 5000000, ISOPROOF_SIM_SERIALIZABLE, 0, 0, {0, 0, 0}},
};

typedef struct job {
  const shape *shape;
  uint64_t txns, seed;
  const char *level;
  char path[512];
} job;

static bool generate(void *context, uint64_t *operations, uint64_t *bytes) {
  (void)bytes;
  const job *j = context;
  isoproof_history *history;
  isoproof_error error;
  isoproof_sim_options options = bench_simulation(j->seed, j->shape->sessions, j->txns, j->shape->ops, j->shape->keys);
  options.level = j->shape->level;
  options.distribution = ISOPROOF_KEYS_ZIPF;
  options.skew = 1;
  options.bugs[j->shape->bug] = j->shape->bugs;
  if (isoproof_simulate(&options, NULL, &history, NULL, &error) != ISOPROOF_OK) return bench_failed(&error);
  isoproof_status status = bench_write(history, ISOPROOF_FORMAT_PLUME, j->path, &error);
  *operations = bench_operations(history);
  isoproof_history_free(history);
  return status == ISOPROOF_OK || bench_failed(&error);
}

static bool check(void *context, uint64_t *operations, uint64_t *bytes) {
  const job *j = context;
  isoproof_history *history;
  isoproof_result *result;
  isoproof_task *task;
  isoproof_error error;
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &j->level, .level_count = 1};
  if (isoproof_task_new(&task) != ISOPROOF_OK) return false;
  if (isoproof_history_open(j->path, NULL, task, &history, &error) != ISOPROOF_OK) return bench_failed(&error);
  *operations = bench_operations(history);
  if (j->level != NULL) {
    if (isoproof_check(history, &options, task, &result, &error) != ISOPROOF_OK) return bench_failed(&error);
    *bytes = (uint64_t)isoproof_result_verdict(result);
    isoproof_result_free(result);
  } else if (isoproof_history_resolve(history, task, NULL, &error) != ISOPROOF_OK) {
    return bench_failed(&error);
  }
  isoproof_history_free(history);
  isoproof_task_free(task);
  return true;
}

static void run_shape(const shape *s, const bench_options *options) {
  static const char *const levels[] = {"read-committed", "read-atomic", "causal"};
  job j = {.shape = s, .txns = s->txns / options->scale, .seed = options->seed};
  snprintf(j.path, sizeof j.path, "%s/weak-%s.txt", options->directory, s->name);
  measurement made = measure(generate, &j, 1);
  measurement load = made.ok ? measure(check, &j, options->repeats) : made;
  printf("%-15s %-15s %8.3f s %7.0f MB\n", s->name, "load, resolve", load.seconds, (double)load.peak_bytes / 1e6);
  for (int i = 0; i < 3 && made.ok; i++) {
    j.level = levels[i];
    measurement m = measure(check, &j, options->repeats);
    printf("%-15s %-15s %8.3f s %7.0f MB %7.2f Mops/s %6.2f x load  %-9s", "", levels[i], m.seconds,
           (double)m.peak_bytes / 1e6, (double)m.operations / m.seconds / 1e6, m.seconds / load.seconds,
           m.ok ? isoproof_verdict_name((isoproof_verdict)m.bytes) : "FAILED");
    if (s->baseline[i] > 0 && options->scale == 1)
      printf(" %6.1f x faster than %.2f s", s->baseline[i] / m.seconds, s->baseline[i]);
    printf("\n");
    fflush(stdout);
  }
  unlink(j.path);
}

int main(int argc, char **argv) {
  bench_options options;
  int status = bench_begin(argc, argv, "weak", &options);
  if (status == 0) printf("\"faster than\" compares with: %s\n", BASELINE);
  for (size_t i = 0; status == 0 && i < sizeof shapes / sizeof shapes[0]; i++) {
    if (options.only == NULL || strcmp(options.only, shapes[i].name) == 0) run_shape(&shapes[i], &options);
  }
  if (status == 0) bench_end(&options);
  return status;
}
