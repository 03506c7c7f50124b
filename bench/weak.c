/* weak.c - read committed, read atomic and causal on large histories: from a file to the verdict.
 *
 *     weak [--scale S] [--directory DIR] [--seed N] [--repeat N] [--case NAME]
 *
 * Every row is a whole run in a process of its own: loading alone, with one thread and with two; loading and resolving;
 * loading and checking one level, and how much longer than loading alone that takes.  Beside the time there is that of
 * the processors, and the instructions where the machine counts them, as these hardly depend on who else is there.  The
 * baseline is AWDIT on such a machine, where its figures are known; its version is not recorded (bench/README.md,
 * "Whose figures these are").  --scale divides the numbers of transactions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
  bool formats; /* JSON lines and EDN as well */
} shape;

static const shape shapes[] = {
    {"small", 100, 10000, 10, 100000, ISOPROOF_SIM_SERIALIZABLE, 0, 0, {0.86, 1.35, 7.5}, true},
    {"large", 50, 100000, 10, 1000000, ISOPROOF_SIM_SERIALIZABLE, 0, 0, {8.5, 11.8, 118}, true},
    {"large-causal", 50, 100000, 10, 1000000, ISOPROOF_SIM_CAUSAL, 0, 0, {0, 0, 0}, false},
    {"broken-1",
     50,
     100000,
     10,
     1000000,
     ISOPROOF_SIM_SERIALIZABLE,
     ISOPROOF_SIM_BUG_FRACTURED_READ,
     1,
     {0, 0, 0},
     false},
    {"broken-1000",
     50,
     100000,
     10,
     1000000,
     ISOPROOF_SIM_SERIALIZABLE,
     ISOPROOF_SIM_BUG_FRACTURED_READ,
     1000,
     {0, 0, 0},
     false},
    {"broken-100000",
     50,
     100000,
     10,
     1000000,
     ISOPROOF_SIM_SERIALIZABLE,
     ISOPROOF_SIM_BUG_FRACTURED_READ,
     100000,
     {0, 0, 0},
     false},
    {"sessions-5000", 5000, 100000, 10, 1000000, ISOPROOF_SIM_SERIALIZABLE, 0, 0, {0, 0, 0}, false},
    {"session-1", 1, 100000, 10, 1000000, ISOPROOF_SIM_SERIALIZABLE, 0, 0, {0, 0, 0}, false},
    {"operations-400", 50, 100000, 400, 25000, ISOPROOF_SIM_SERIALIZABLE, 0, 0, {0, 0, 0}, false},
    {"operations-50M", 50, 500000, 10, 5000000, ISOPROOF_SIM_SERIALIZABLE, 0, 0, {0, 0, 0}, false},
};

typedef struct job {
  const shape *shape;
  uint64_t txns, seed;
  const char *level;
  isoproof_format format;
  unsigned threads;
  bool resolve;
  char path[512]; /* without the ending that says the format */
} job;

static const isoproof_format formats[] = {ISOPROOF_FORMAT_PLUME, ISOPROOF_FORMAT_JSONL, ISOPROOF_FORMAT_EDN};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static void path_of(const job *j, isoproof_format format, char path[600]) {
  snprintf(path, 600, "%s.%s", j->path, isoproof_format_at((size_t)format)->id);
}

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
  isoproof_status status = ISOPROOF_OK;
  for (int i = 0; i < (j->shape->formats ? FORMATS : 1) && status == ISOPROOF_OK; i++) {
    char path[600];
    path_of(j, formats[i], path);
    status = bench_write(history, formats[i], path, &error);
  }
  *operations = bench_operations(history);
  isoproof_history_free(history);
  return status == ISOPROOF_OK || bench_failed(&error);
}

static bool check(void *context, uint64_t *operations, uint64_t *bytes) {
  const job *j = context;
  char path[600];
  isoproof_history *history;
  isoproof_result *result;
  isoproof_task *task;
  isoproof_error error;
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &j->level, .level_count = 1};
  if (isoproof_task_new(&task) != ISOPROOF_OK) return false;
  isoproof_task_set_threads(task, j->threads);
  path_of(j, j->format, path);
  if (isoproof_history_open(path, NULL, task, &history, &error) != ISOPROOF_OK) return bench_failed(&error);
  *operations = bench_operations(history);
  if (j->level != NULL) {
    if (isoproof_check(history, &options, task, &result, &error) != ISOPROOF_OK) return bench_failed(&error);
    *bytes = (uint64_t)isoproof_result_verdict(result);
    isoproof_result_free(result);
  } else if (j->resolve && isoproof_history_resolve(history, task, NULL, &error) != ISOPROOF_OK) {
    return bench_failed(&error);
  }
  isoproof_history_free(history);
  isoproof_task_free(task);
  return true;
}

/* Seconds, seconds of the processors, instructions and memory of a run. */
static void print_costs(const job *j, const char *what, const measurement *m) {
  printf("%-15s %-5s %-17s %8.3f s %8.3f s cpu", j->shape->name, isoproof_format_at((size_t)j->format)->id, what,
         m->seconds, m->processor);
  if (m->instructions > 0) printf(" %7.2f G instr", m->instructions / 1e9);
  printf(" %6.0f MB", (double)m->peak_bytes / 1e6);
}

/* Loading alone: on one thread, and on two. */
static measurement run_loads(job *j, unsigned repeats) {
  struct stat file = {0};
  char path[600];
  path_of(j, j->format, path);
  bool known = stat(path, &file) == 0;
  j->threads = 1;
  measurement one = measure(check, j, repeats);
  print_costs(j, "load, one thread", &one);
  printf(" %6.0f MB/s\n", known ? (double)file.st_size / one.seconds / 1e6 : 0);
  j->threads = 2;
  measurement load = measure(check, j, repeats);
  print_costs(j, "load", &load);
  printf(" %6.2f x as fast as one thread\n", one.seconds / load.seconds);
  j->resolve = true;
  measurement resolved = measure(check, j, repeats);
  print_costs(j, "load, resolve", &resolved);
  printf(" %6.2f x load\n", resolved.seconds / load.seconds);
  j->resolve = false;
  return resolved.ok && one.ok ? load : (measurement){0};
}

static void run_format(job *j, const bench_options *options) {
  static const char *const levels[] = {"read-committed", "read-atomic", "causal"};
  measurement load = run_loads(j, options->repeats);
  for (int i = 0; i < 3 && load.ok; i++) {
    j->level = levels[i];
    measurement m = measure(check, j, options->repeats);
    print_costs(j, levels[i], &m);
    printf(" %6.2f x load, %5.2f x its cpu, %5.2f x its memory  %-9s", m.seconds / load.seconds,
           m.processor / load.processor, (double)m.peak_bytes / (double)load.peak_bytes,
           m.ok ? isoproof_verdict_name((isoproof_verdict)m.bytes) : "FAILED");
    if (j->shape->baseline[i] > 0 && options->scale == 1 && j->format == ISOPROOF_FORMAT_PLUME)
      printf(" %6.1f x faster than %.2f s", j->shape->baseline[i] / m.seconds, j->shape->baseline[i]);
    printf("\n");
    fflush(stdout);
  }
  j->level = NULL;
}

static void run_shape(const shape *s, const bench_options *options) {
  job j = {.shape = s, .txns = s->txns / options->scale, .seed = options->seed};
  snprintf(j.path, sizeof j.path, "%s/weak-%s", options->directory, s->name);
  measurement made = measure(generate, &j, 1);
  for (int i = 0; i < (s->formats ? FORMATS : 1); i++) {
    char path[600];
    j.format = formats[i];
    if (made.ok) run_format(&j, options);
    path_of(&j, formats[i], path);
    unlink(path);
  }
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
