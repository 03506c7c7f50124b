/* elle.c - dependencies as Elle infers them, on large histories: from a file of EDN to the verdict.
 *
 *     elle [--scale S] [--directory DIR] [--seed N] [--repeat N] [--case NAME] [--keep yes]
 *
 * Every row is a whole run in a process of its own: reading EDN and checking, with two threads.  The baseline is Elle
 * on such a machine, where its figures are known; its version is not recorded (bench/README.md, "Whose figures these
 * are").  --scale divides the numbers of transactions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "measure.h"

#define BASELINE "Elle (version not recorded)"

/* A shape of history, the seconds that it may take, and those of the baseline; 0 where unknown. */
typedef struct shape {
  const char *name;
  uint64_t txns;
  uint32_t sessions;
  bool lists;
  double unknown_share;
  isoproof_sim_bug bug;
  uint64_t bugs;
  double limit, baseline;
} shape;

static const shape shapes[] = {
    {"lists-100k-20", 100000, 20, true, 0, 0, 0, 0.3, 14.4},
    {"lists-100k-1000", 100000, 1000, true, 0, 0, 0, 0.3, 14.4},
    {"lists-1m-20", 1000000, 20, true, 0, 0, 0, 3, 98},
    {"lists-1m-1000", 1000000, 1000, true, 0, 0, 0, 3, 98},
    {"lists-10m-20", 10000000, 20, true, 0, 0, 0, 40, 0},
    {"lists-10m-1000", 10000000, 1000, true, 0, 0, 0, 40, 0},
    {"lists-crashes", 100000, 20, true, 0.1, 0, 0, 0.3, 0}, /* 10,000 processes that crash */
    {"lists-broken", 100000, 20, true, 0, ISOPROOF_SIM_BUG_WRITE_SKEW, 1000, 0, 0},
    {"registers-10k", 10000, 20, false, 0, 0, 0, 0.2, 96},
    {"registers-100k", 100000, 20, false, 0, 0, 0, 0, 0},
};

typedef struct job {
  const shape *shape;
  uint64_t txns, seed;
  bool check;
  char path[512];
} job;

/* A copy of a history in which a process that does not learn an outcome is never heard of again: another one takes its
 * place, as in Jepsen. */
static bool copy_op(isoproof_builder *builder, const isoproof_history *history, uint64_t number,
                    isoproof_error *error) {
  static isoproof_scalar elements[1 << 16];
  isoproof_op op = {.struct_size = sizeof op};
  if (!isoproof_history_op_at(history, number, &op)) return false;
  bool list = op.kind == ISOPROOF_OP_READ_LIST && op.value.type == ISOPROOF_INTEGER;
  if (!list) return isoproof_builder_op(builder, op.kind, op.key, op.value, error) == ISOPROOF_OK;
  size_t count = 0;
  while (count < sizeof elements / sizeof elements[0] &&
         isoproof_history_element_at(history, number, count, &elements[count])) {
    count++;
  }
  return isoproof_builder_elements(builder, op.kind, op.key, elements, count, error) == ISOPROOF_OK;
}

static bool crash(isoproof_history **history, isoproof_error *error) {
  isoproof_builder *builder;
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_txn txn = {.struct_size = sizeof txn};
  isoproof_history_counts(*history, &counts);
  int64_t fresh = (int64_t)counts.sessions, name = 0;
  if (isoproof_builder_new(&builder, error) != ISOPROOF_OK) return false;
  bool good = true;
  for (uint64_t t = 0; good && t < counts.transactions; t++) {
    uint32_t session;
    good = isoproof_history_txn_at(*history, t, &txn);
    if (txn.index == 0) name = (int64_t)txn.session;
    good = good && isoproof_builder_session(builder, isoproof_integer(name), &session, error) == ISOPROOF_OK &&
           isoproof_builder_begin(builder, session, txn.status, error) == ISOPROOF_OK &&
           isoproof_builder_times(builder, txn.start, txn.end, error) == ISOPROOF_OK;
    for (uint64_t op = 0; good && op < txn.op_count; op++) good = copy_op(builder, *history, txn.first_op + op, error);
    if (txn.status == ISOPROOF_TXN_UNKNOWN) name = fresh++;
  }
  isoproof_history *copy = NULL;
  good = good && isoproof_builder_finish(builder, &copy, error) == ISOPROOF_OK;
  isoproof_builder_free(builder);
  if (!good) return false;
  isoproof_history_free(*history);
  *history = copy;
  return true;
}

static bool generate(void *context, uint64_t *operations, uint64_t *bytes) {
  (void)bytes;
  const job *j = context;
  isoproof_history *history;
  isoproof_error error;
  isoproof_sim_options options = bench_simulation(j->seed, j->shape->sessions, j->txns, 5, 100);
  options.level = ISOPROOF_SIM_SERIALIZABLE;
  options.ops_min = 1;
  options.lists = j->shape->lists;
  options.appends_per_key = 100;
  options.unknown_share = j->shape->unknown_share;
  options.bugs[j->shape->bug] = j->shape->bugs;
  if (isoproof_simulate(&options, NULL, &history, NULL, &error) != ISOPROOF_OK) return bench_failed(&error);
  if (j->shape->unknown_share > 0 && !crash(&history, &error)) return bench_failed(&error);
  isoproof_status status = bench_write(history, ISOPROOF_FORMAT_EDN, j->path, &error);
  *operations = bench_operations(history);
  isoproof_history_free(history);
  return status == ISOPROOF_OK || bench_failed(&error);
}

static bool check(void *context, uint64_t *operations, uint64_t *bytes) {
  const job *j = context;
  const char *model = "strict-serializable";
  isoproof_history *history;
  isoproof_result *result;
  isoproof_task *task;
  isoproof_error error;
  isoproof_check_options options = {.struct_size = sizeof options,
                                    .elle_workload = j->shape->lists ? "list-append" : "rw-register",
                                    .models = &model,
                                    .model_count = 1,
                                    .wfr_keys = true,
                                    .sequential_keys = true,
                                    .linearizable_keys = true};
  if (isoproof_task_new(&task) != ISOPROOF_OK) return false;
  isoproof_task_set_threads(task, 0);
  if (isoproof_history_open(j->path, NULL, task, &history, &error) != ISOPROOF_OK) return bench_failed(&error);
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  *operations = counts.transactions;
  if (j->check) {
    if (isoproof_check(history, &options, task, &result, &error) != ISOPROOF_OK) return bench_failed(&error);
    *bytes = (uint64_t)isoproof_result_elle_verdict(result);
    isoproof_result_free(result);
  }
  isoproof_history_free(history);
  isoproof_task_free(task);
  return true;
}

static void run_shape(const shape *s, const bench_options *options) {
  job j = {.shape = s, .txns = s->txns / options->scale, .seed = options->seed};
  snprintf(j.path, sizeof j.path, "%s/elle-%s.edn", options->directory, s->name);
  measurement made = {.ok = true};
  if (access(j.path, R_OK) != 0) made = measure(generate, &j, 1);
  measurement load = made.ok ? measure(check, &j, options->repeats) : made;
  j.check = true;
  measurement m = made.ok ? measure(check, &j, options->repeats) : made;
  static const char *const words[] = {"none", "valid", "invalid", "unknown"};
  printf("%-16s %9llu txns  read %7.3f s  all %7.3f s %6.0f MB  %-8s", s->name, (unsigned long long)m.operations,
         load.seconds, m.seconds, (double)m.peak_bytes / 1e6, m.ok && m.bytes < 4 ? words[m.bytes] : "FAILED");
  if (s->limit > 0 && options->scale == 1) printf(" %s %.1f s", m.seconds <= s->limit ? "within" : "OVER", s->limit);
  if (s->baseline > 0 && options->scale == 1)
    printf(", %.0f x faster than %.1f s", s->baseline / m.seconds, s->baseline);
  printf("\n");
  fflush(stdout);
  if (!options->keep) unlink(j.path);
}

int main(int argc, char **argv) {
  bench_options options;
  int status = bench_begin(argc, argv, "elle", &options);
  if (status == 0) printf("\"within\" is the goal of this project; \"faster than\" compares with: %s\n", BASELINE);
  for (size_t i = 0; status == 0 && i < sizeof shapes / sizeof shapes[0]; i++) {
    bool wanted =
        options.only == NULL ? shapes[i].txns / options.scale <= 1000000 : strcmp(options.only, shapes[i].name) == 0;
    if (wanted) run_shape(&shapes[i], &options);
  }
  if (status == 0) bench_end(&options);
  return status;
}
