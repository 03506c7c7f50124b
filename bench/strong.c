/* strong.c - the strong levels on generated histories: from a file to the verdict.
 *
 *     strong [--case NAME] [--scale S] [--directory DIR] [--seed N] [--repeat N]
 *
 * Every row is a whole run in a process of its own: loading, resolving and checking one level, with two threads.  The
 * histories come from the simulator, at serializable and at snapshot isolation, each without times (Plume text) and
 * with times (binary).  The baseline is VeriStrong, with pruning, on such a machine, where its figures are known,
 * and a valid history of the same shape for those with a bug.  Its version is not recorded (bench/README.md, "Whose
 * figures these are").  --scale divides the numbers of transactions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "measure.h"

#define BASELINE "VeriStrong (C++, 2026, pruning on; version not recorded)"

/* Seconds and megabytes of the baseline; 0 where unknown. */
typedef struct figures {
  double seconds, megabytes;
} figures;

typedef struct shape {
  const char *name;
  uint32_t sessions, ops, keys;
  uint64_t txns;
  isoproof_key_distribution distribution;
  double skew, reads, rmw;
  isoproof_sim_bug bug; /* ISOPROOF_SIM_BUGS for none */
  figures serializable, snapshot;
} shape;

#define NO_BUG ISOPROOF_SIM_BUGS

/* Name, sessions, operations, keys, transactions, distribution, skew, share of reads, of writes that follow a read of
 * their key, bug, baselines. */
static const shape shapes[] = {
    {"general", 20, 15, 10000, 2000, ISOPROOF_KEYS_ZIPF, 1, 0.5, 0, NO_BUG, {0.3, 0}, {1.5, 0}},
    {"dense-uniform", 20, 15, 1000, 5000, ISOPROOF_KEYS_UNIFORM, 0, 0.5, 0, NO_BUG, {18, 1200}, {77, 1900}},
    {"dense-zipf", 20, 15, 1000, 5000, ISOPROOF_KEYS_ZIPF, 1, 0.5, 0, NO_BUG, {18, 1200}, {77, 1900}},
    {"dense-hotspot", 20, 15, 1000, 5000, ISOPROOF_KEYS_HOTSPOT, 0, 0.5, 0, NO_BUG, {18, 1200}, {77, 1900}},
    {"dense-reads-30", 20, 15, 1000, 5000, ISOPROOF_KEYS_ZIPF, 1, 0.3, 0, NO_BUG, {0, 0}, {0, 0}},
    {"dense-reads-95", 20, 15, 1000, 5000, ISOPROOF_KEYS_ZIPF, 1, 0.95, 0, NO_BUG, {0, 0}, {0, 0}},
    {"dense-rmw", 20, 15, 1000, 5000, ISOPROOF_KEYS_ZIPF, 1, 0.5, 1, NO_BUG, {0, 0}, {0, 0}},
    {"read-write-10k", 24, 8, 10000, 10000, ISOPROOF_KEYS_UNIFORM, 0, 0.5, 0, NO_BUG, {19, 1060}, {0, 0}},
    {"read-write-16k", 24, 8, 10000, 16000, ISOPROOF_KEYS_UNIFORM, 0, 0.5, 0, NO_BUG, {65, 2200}, {0, 0}},
    {"100k", 20, 15, 100000, 100000, ISOPROOF_KEYS_ZIPF, 0.5, 0.5, 0, NO_BUG, {0, 0}, {0, 0}},
    {"100k-lost-update",
     20,
     15,
     100000,
     100000,
     ISOPROOF_KEYS_ZIPF,
     0.5,
     0.5,
     0,
     ISOPROOF_SIM_BUG_LOST_UPDATE,
     {0, 0},
     {0, 0}},
    {"100k-long-fork",
     20,
     15,
     100000,
     100000,
     ISOPROOF_KEYS_ZIPF,
     0.5,
     0.5,
     0,
     ISOPROOF_SIM_BUG_LONG_FORK,
     {0, 0},
     {0, 0}},
    {"100k-write-skew",
     20,
     15,
     100000,
     100000,
     ISOPROOF_KEYS_ZIPF,
     0.5,
     0.5,
     0,
     ISOPROOF_SIM_BUG_WRITE_SKEW,
     {0, 0},
     {0, 0}},
    {"1m", 20, 15, 1000000, 1000000, ISOPROOF_KEYS_ZIPF, 0.5, 0.5, 0, NO_BUG, {0, 0}, {0, 0}},
};

/* What is checked of which history: how it is simulated, whether it has times, the level. */
static const struct run {
  isoproof_sim_level simulated;
  bool times;
  bool serializable; /* else a snapshot level */
  const char *level;
} runs[] = {
    {ISOPROOF_SIM_SERIALIZABLE, false, true, "serializable"},
    {ISOPROOF_SIM_SERIALIZABLE, false, false, "snapshot-isolation"},
    {ISOPROOF_SIM_SERIALIZABLE, true, true, "strict-serializable"},
    {ISOPROOF_SIM_SERIALIZABLE, true, false, "strong-snapshot-isolation"},
    {ISOPROOF_SIM_SNAPSHOT, false, false, "snapshot-isolation"},
    {ISOPROOF_SIM_SNAPSHOT, true, false, "strong-snapshot-isolation"},
};
enum { RUNS = sizeof runs / sizeof runs[0] };

typedef struct job {
  const shape *shape;
  uint64_t txns, seed;
  isoproof_sim_level simulated;
  const char *level;
  char path[2][512]; /* without times, with times */
  bool times;
} job;

static bool generate(void *context, uint64_t *operations, uint64_t *bytes) {
  (void)bytes;
  const job *j = context;
  isoproof_history *history;
  isoproof_error error;
  isoproof_sim_options options = bench_simulation(j->seed, j->shape->sessions, j->txns, j->shape->ops, j->shape->keys);
  options.level = j->simulated;
  options.distribution = j->shape->distribution;
  options.skew = j->shape->skew;
  options.hot_share = 0.8;
  options.hot_keys_share = 0.2;
  options.read_share = j->shape->reads;
  options.rmw_share = j->shape->rmw;
  if (j->shape->bug != NO_BUG) options.bugs[j->shape->bug] = 1;
  if (isoproof_simulate(&options, NULL, &history, NULL, &error) != ISOPROOF_OK) return bench_failed(&error);
  isoproof_status status = bench_write(history, ISOPROOF_FORMAT_PLUME, j->path[0], &error);
  if (status == ISOPROOF_OK) {
    status = bench_write(history, ISOPROOF_FORMAT_BINARY, j->path[1], &error);
  }
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
  if (isoproof_history_open(j->path[j->times], NULL, task, &history, &error) != ISOPROOF_OK)
    return bench_failed(&error);
  *operations = bench_operations(history);
  if (isoproof_check(history, &options, task, &result, &error) != ISOPROOF_OK) return bench_failed(&error);
  *bytes = (uint64_t)isoproof_result_verdict(result);
  isoproof_result_free(result);
  isoproof_history_free(history);
  isoproof_task_free(task);
  return true;
}

/* How the run compares with the baseline: with the published solver, or with the valid history of the same shape. */
static void print_comparison(const shape *s, const struct run *run, const measurement *m, double valid) {
  figures baseline = run->serializable ? s->serializable : s->snapshot;
  double megabytes = (double)m->peak_bytes / 1e6;
  if (s->bug != NO_BUG && valid > 0) printf("  %5.2f x the valid one", m->seconds / valid);
  if (run->times) return; /* what the solver is known for is without */
  if (baseline.seconds > 0) printf("  %6.0f x faster than %g s", baseline.seconds / m->seconds, baseline.seconds);
  if (baseline.megabytes > 0)
    printf(", %4.0f x smaller than %g MB", baseline.megabytes / megabytes, baseline.megabytes);
}

/* `valid` has the seconds of each run on the last shape without a bug. */
static void run_shape(const shape *s, job *j, unsigned repeats, bool compare, double valid[RUNS]) {
  static const char *const sources[] = {[ISOPROOF_SIM_SERIALIZABLE] = "ser", [ISOPROOF_SIM_SNAPSHOT] = "si"};
  measurement made = {.ok = false};
  int have = -1;
  for (int i = 0; i < RUNS; i++) {
    /* Runs on one history are next to each other. */
    if (have != (int)runs[i].simulated) {
      j->simulated = runs[i].simulated;
      made = measure(generate, j, 1);
      have = (int)runs[i].simulated;
    }
    if (!made.ok) continue;
    j->level = runs[i].level;
    j->times = runs[i].times;
    measurement m = measure(check, j, repeats);
    printf("%-17s %-4s %-9s %-26s %8.3f s %7.0f MB  %-9s", s->name, sources[runs[i].simulated],
           runs[i].times ? "times" : "no times", runs[i].level, m.seconds, (double)m.peak_bytes / 1e6,
           m.ok ? isoproof_verdict_name((isoproof_verdict)m.bytes) : "FAILED");
    if (compare && m.ok) print_comparison(s, &runs[i], &m, valid[i]);
    if (s->bug == NO_BUG) valid[i] = m.seconds;
    printf("\n");
    fflush(stdout);
  }
  unlink(j->path[0]);
  unlink(j->path[1]);
}

int main(int argc, char **argv) {
  bench_options options;
  int status = bench_begin(argc, argv, "strong", &options);
  if (status == 0) printf("\"faster than\" and \"smaller than\" compare with: %s\n", BASELINE);
  double valid[RUNS] = {0};
  for (size_t i = 0; status == 0 && i < sizeof shapes / sizeof shapes[0]; i++) {
    if (options.only != NULL && strncmp(options.only, shapes[i].name, strlen(options.only)) != 0) continue;
    job j = {.shape = &shapes[i], .txns = shapes[i].txns / options.scale, .seed = options.seed};
    snprintf(j.path[0], sizeof j.path[0], "%s/strong-%s.txt", options.directory, shapes[i].name);
    snprintf(j.path[1], sizeof j.path[1], "%s/strong-%s.isoproof", options.directory, shapes[i].name);
    run_shape(&shapes[i], &j, options.repeats, options.scale == 1, valid);
  }
  if (status == 0) bench_end(&options);
  return status;
}
