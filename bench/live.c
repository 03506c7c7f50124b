/* live.c - the live checker fed by the simulator: transactions per second, beside a check of the same history as a
 * whole.
 *
 *     live [--case NAME] [--scale S] [--seed N] [--repeat N] [--stream N]
 *     live --sim N [--case LEVEL] | --paced SECONDS [--case LEVEL]
 *
 * A case simulates transactions of 10 operations at a level, sorts them by their ends, and pushes them in batches with
 * a poll after each.  Only pushing and polling is timed; the column `check` is isoproof_check of the whole history in
 * memory, resolving included, with as many threads; the ratio is that of processor time.  Every measurement is a
 * process of its own.
 *
 * What comes from streams, with nothing recorded, is in live_stream.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "live_stream.h"
#include "measure.h"

enum { OPS = 10, TXNS = 1000000, BATCH = 50000, SESSIONS = 20, KEYS = 100000 };

typedef struct live_case {
  const char *name;
  isoproof_sim_level simulated;
  const char *level;
  bool times, lists;
  uint32_t batch;
} live_case;

/* Name, simulated at, level, times, lists, transactions per batch. */
static const live_case cases[] = {
    {"serializable", ISOPROOF_SIM_SERIALIZABLE, "serializable", false, false, BATCH},
    {"strict", ISOPROOF_SIM_SERIALIZABLE, "strict-serializable", true, false, BATCH},
    {"snapshot", ISOPROOF_SIM_SNAPSHOT, "snapshot-isolation", false, false, BATCH},
    {"strong-snapshot", ISOPROOF_SIM_SNAPSHOT, "strong-snapshot-isolation", true, false, BATCH},
    {"causal", ISOPROOF_SIM_CAUSAL, "causal", false, false, BATCH},
    {"causal-of-snapshots", ISOPROOF_SIM_SNAPSHOT, "causal", false, false, BATCH},
    {"causal-of-serial", ISOPROOF_SIM_SERIALIZABLE, "causal", false, false, BATCH},
    {"atomic-of-causal", ISOPROOF_SIM_CAUSAL, "read-atomic", false, false, BATCH},
    {"committed-of-causal", ISOPROOF_SIM_CAUSAL, "read-committed", false, false, BATCH},
    {"serializable-lists", ISOPROOF_SIM_SERIALIZABLE, "serializable", false, true, BATCH},
    {"serializable-1k", ISOPROOF_SIM_SERIALIZABLE, "serializable", false, false, 1000},
    {"snapshot-1k", ISOPROOF_SIM_SNAPSHOT, "snapshot-isolation", false, false, 1000},
};
enum { CASES = sizeof cases / sizeof cases[0] };

typedef struct ended {
  int64_t end;
  uint64_t txn;
} ended;

typedef struct job {
  const live_case *is;
  isoproof_history *history;
  isoproof_history **batches; /* by number, as whoever records them would have them */
  size_t batch_count;
  ended *order; /* the transactions by their ends */
  uint64_t pushed, whole_checks;
  double megabytes; /* of the checker, at most */
  bool whole;       /* check the whole instead */
} job;

/* ---- batches ---- */

static int by_end(const void *a, const void *b) {
  const ended *x = a, *y = b;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

static isoproof_status copy_op(const isoproof_history *history, uint64_t number, isoproof_builder *builder,
                               isoproof_error *error) {
  isoproof_op op = {.struct_size = sizeof op};
  isoproof_history_op_at(history, number, &op);
  if (op.kind != ISOPROOF_OP_READ_LIST) return isoproof_builder_op(builder, op.kind, op.key, op.value, error);
  isoproof_scalar *elements = calloc(op.element_count + 1, sizeof *elements);
  if (elements == NULL) return ISOPROOF_ERR_MEMORY;
  for (uint64_t i = 0; i < op.element_count; i++) isoproof_history_element_at(history, number, i, &elements[i]);
  isoproof_status status = isoproof_builder_elements(builder, op.kind, op.key, elements, op.element_count, error);
  free(elements);
  return status;
}

static isoproof_status copy_txn(const isoproof_history *history, uint64_t number, bool times, isoproof_builder *builder,
                                isoproof_error *error) {
  isoproof_txn txn = {.struct_size = sizeof txn};
  isoproof_session from = {.struct_size = sizeof from};
  uint32_t session;
  isoproof_history_txn_at(history, number, &txn);
  isoproof_history_session_at(history, txn.session, &from);
  isoproof_status status = isoproof_builder_session(builder, from.name, &session, error);
  if (status == ISOPROOF_OK) status = isoproof_builder_begin(builder, session, txn.status, error);
  if (status == ISOPROOF_OK && times) status = isoproof_builder_times(builder, txn.start, txn.end, error);
  for (uint64_t i = 0; status == ISOPROOF_OK && i < txn.op_count; i++) {
    status = copy_op(history, txn.first_op + i, builder, error);
  }
  return status;
}

/* A part of the order as a history. */
static isoproof_status make_part(const job *j, const ended *order, size_t count, isoproof_history **out,
                                 isoproof_error *error) {
  isoproof_builder *builder;
  isoproof_status status = isoproof_builder_new(&builder, error);
  if (status != ISOPROOF_OK) return status;
  for (size_t i = 0; status == ISOPROOF_OK && i < count; i++) {
    status = copy_txn(j->history, order[i].txn, true, builder, error);
  }
  if (status == ISOPROOF_OK) status = isoproof_builder_finish(builder, out, error);
  isoproof_builder_free(builder);
  return status;
}

static isoproof_status divide(job *j, isoproof_error *error) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(j->history, &counts);
  ended *order = j->order = calloc(counts.transactions + 1, sizeof *order);
  isoproof_status status = order == NULL ? ISOPROOF_ERR_MEMORY : ISOPROOF_OK;
  for (uint64_t i = 0; status == ISOPROOF_OK && i < counts.transactions; i++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    isoproof_history_txn_at(j->history, i, &txn);
    order[i] = (ended){.end = txn.end, .txn = i};
  }
  if (status == ISOPROOF_OK) qsort(order, counts.transactions, sizeof *order, by_end);
  j->batches = calloc(counts.transactions / j->is->batch + 1, sizeof *j->batches); // NOLINT(bugprone-sizeof-expression)
  if (j->batches == NULL) status = ISOPROOF_ERR_MEMORY;
  for (uint64_t at = 0; status == ISOPROOF_OK && at < counts.transactions; at += j->is->batch) {
    uint64_t count = counts.transactions - at < j->is->batch ? counts.transactions - at : j->is->batch;
    status = make_part(j, order + at, count, &j->batches[j->batch_count++], error);
  }
  return status;
}

/* ---- jobs ---- */

static bool check_whole(job *j, isoproof_task *task) {
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &j->is->level, .level_count = 1};
  isoproof_result *result;
  isoproof_error error;
  if (isoproof_check(j->history, &options, task, &result, &error) != ISOPROOF_OK) return bench_failed(&error);
  bool satisfied = isoproof_result_verdict(result) == ISOPROOF_SATISFIED;
  isoproof_result_free(result);
  return satisfied;
}

/* What was recorded so far. */
static isoproof_status give_whole(void *user, isoproof_task *task, isoproof_history **history, isoproof_error *error) {
  (void)task;
  const job *j = user;
  return make_part(j, j->order, j->pushed, history, error);
}

static bool push_all(job *j, isoproof_task *task, uint64_t *bytes) {
  isoproof_live_options options = {
      .struct_size = sizeof options, .levels = &j->is->level, .level_count = 1, .whole = give_whole, .whole_user = j};
  isoproof_live_state state = {.struct_size = sizeof state};
  isoproof_live *live;
  isoproof_error error;
  if (isoproof_live_new(&options, task, &live, &error) != ISOPROOF_OK) return bench_failed(&error);
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; status == ISOPROOF_OK && i < j->batch_count; i++) {
    isoproof_counts counts = {.struct_size = sizeof counts};
    isoproof_history_counts(j->batches[i], &counts);
    status = isoproof_live_push(live, j->batches[i], NULL, &error);
    j->pushed += counts.transactions;
    if (status == ISOPROOF_OK) status = isoproof_live_poll(live, &state, &error);
    if (*bytes < state.bytes) *bytes = state.bytes;
  }
  isoproof_live_free(live);
  return status == ISOPROOF_OK ? state.verdict == ISOPROOF_SATISFIED : bench_failed(&error);
}

static bool run_job(void *context, uint64_t *operations, uint64_t *bytes) {
  job *j = context;
  isoproof_task *task;
  if (isoproof_task_new(&task) != ISOPROOF_OK) return false;
  isoproof_task_set_threads(task, 2);
  bool ok = j->whole ? check_whole(j, task) : push_all(j, task, bytes);
  isoproof_task_free(task);
  *operations = bench_operations(j->history);
  return ok;
}

static bool run_case(const live_case *c, const bench_options *options) {
  isoproof_sim_options sim = bench_simulation(options->seed, SESSIONS, TXNS / options->scale, OPS, KEYS);
  isoproof_error error;
  job j = {.is = c};
  sim.level = c->simulated;
  sim.lists = c->lists;
  if (isoproof_simulate(&sim, NULL, &j.history, NULL, &error) != ISOPROOF_OK) return bench_failed(&error);
  if (divide(&j, &error) != ISOPROOF_OK) return bench_failed(&error);
  measurement live = measure(run_job, &j, options->repeats);
  j.whole = true;
  measurement whole = measure(run_job, &j, options->repeats);
  uint64_t pushed = TXNS / options->scale;
  double txns = (double)pushed;
  printf(
      "%-20s %-26s %9.0f tx/s %7.2f s, processor %7.2f s %6.1f MB   check %7.2f s, processor %7.2f s   ratio %5.2f%s\n",
      c->name, c->level, txns / live.seconds, live.seconds, live.processor, (double)live.bytes / 1e6, whole.seconds,
      whole.processor, live.processor / whole.processor, live.ok && whole.ok ? "" : "   FAILED");
  for (size_t i = 0; i < j.batch_count; i++) isoproof_history_free(j.batches[i]);
  free(j.batches);
  free(j.order);
  isoproof_history_free(j.history);
  return live.ok && whole.ok;
}

int main(int argc, char **argv) {
  bench_options options;
  int status = bench_begin(argc, argv, "live", &options);
  if (status != 0) return status;
  live_stream_options streams = {.seed = options.seed, .only = options.only, .txns = TXNS / options.scale};
  bool ok = true, alone = false;
  for (int i = 1; i + 1 < argc; i++) {
    if (strcmp(argv[i], "--stream") == 0) streams.txns = strtoull(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--sim") == 0) streams.sim = strtoull(argv[i + 1], NULL, 10), alone = true;
    if (strcmp(argv[i], "--paced") == 0) streams.paced = strtoull(argv[i + 1], NULL, 10), alone = true;
  }
  for (size_t i = 0; i < CASES && !alone; i++) {
    if (options.only != NULL && strcmp(options.only, cases[i].name) != 0) continue;
    ok &= run_case(&cases[i], &options);
  }
  ok &= live_streams(&streams);
  bench_end(&options);
  return ok ? 0 : 1;
}
