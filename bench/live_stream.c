/* live_stream.c - the live checker on streams that never end. */
#include "live_stream.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "measure.h"
#include "stream.h"

enum { OPS = 10, SESSIONS = 20, KEYS = 100000, BATCH = 5000, ROWS = 100, PACE = 50000, PACED_BATCH = 1000 };

typedef struct stream_case {
  const char *name, *level;
  bool snapshots, loses;
  const char *url;
} stream_case;

/* Name, level, at snapshot isolation, loses an update, another store. */
static const stream_case streams[] = {
    {"stream-serializable", "serializable", false, false, NULL},
    {"stream-strict", "strict-serializable", false, false, NULL},
    {"stream-snapshot", "snapshot-isolation", true, false, NULL},
    {"stream-causal", "causal", true, false, NULL},
    {"lost-update-serializable", "serializable", false, true, NULL},
    {"lost-update-snapshot", "snapshot-isolation", true, true, NULL},
};

static const stream_case simulated[] = {
    {"serializable", "serializable", false, false, "sim:?level=serializable"},
    {"snapshot-isolation", "snapshot-isolation", true, false, "sim:?level=snapshot-isolation"},
    {"causal", "causal", true, false, "sim:?level=causal"},
};

static const stream_case paced[] = {
    {"serializable", "serializable", false, true, NULL},
    {"snapshot-isolation", "snapshot-isolation", true, true, NULL},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- batches, made ahead ---- */

/* A thread makes the next batch while the checker looks at the last one. */
typedef struct source {
  stream *from;
  uint64_t size;
  pthread_t thread;
  isoproof_history *batch;
  uint64_t *order;
  uint64_t lost_at; /* when the batch was made */
  isoproof_status status;
  isoproof_error error;
} source;

static void *make_batch(void *context) {
  source *s = context;
  s->status = stream_next(s->from, s->size, &s->batch, &s->order, &s->error);
  s->lost_at = stream_lost_at(s->from);
  return NULL;
}

static bool make_ahead(source *s) {
  s->batch = NULL;
  s->order = NULL;
  return pthread_create(&s->thread, NULL, make_batch, s) == 0;
}

/* The batch that was made ahead, and the next one is begun; *lost_at: which of all transactions lost an update. */
static bool take_batch(source *s, isoproof_history **batch, uint64_t **order, uint64_t *lost_at) {
  pthread_join(s->thread, NULL);
  *batch = s->batch;
  *order = s->order;
  *lost_at = s->lost_at;
  bool made = s->status == ISOPROOF_OK || bench_failed(&s->error);
  return make_ahead(s) && made;
}

static void end_source(source *s) {
  pthread_join(s->thread, NULL);
  isoproof_history_free(s->batch);
  free(s->order);
  stream_free(s->from);
}

/* ---- pushing ---- */

typedef struct run {
  const stream_case *is;
  source source;
  isoproof_live *live;
  isoproof_task *task;
  isoproof_live_state state;
  uint64_t lost_at;
} run;

static bool begin_run(run *r, const stream_case *c, uint64_t lost_after, uint64_t batch, uint64_t seed) {
  stream_options shape = {.seed = seed,
                          .sessions = SESSIONS,
                          .keys = KEYS,
                          .ops = OPS,
                          .snapshots = c->snapshots,
                          .lost_after = c->loses ? lost_after : 0,
                          .url = c->url};
  isoproof_live_options options = {.struct_size = sizeof options, .levels = &c->level, .level_count = 1};
  isoproof_error error;
  *r = (run){.is = c, .source = {.from = stream_new(&shape), .size = batch}, .state.struct_size = sizeof r->state};
  if (r->source.from == NULL || isoproof_task_new(&r->task) != ISOPROOF_OK) return false;
  isoproof_task_set_threads(r->task, 2);
  if (isoproof_live_new(&options, r->task, &r->live, &error) != ISOPROOF_OK) return bench_failed(&error);
  return make_ahead(&r->source);
}

static void end_run(run *r) {
  end_source(&r->source);
  isoproof_live_free(r->live);
  isoproof_task_free(r->task);
  fflush(stdout);
}

/* One batch; the seconds that pushing and polling took. */
static bool push_next(run *r, double *seconds) {
  isoproof_history *batch = NULL;
  uint64_t *order = NULL;
  isoproof_error error;
  if (!take_batch(&r->source, &batch, &order, &r->lost_at)) return false;
  double begun = measure_now();
  isoproof_status status = isoproof_live_push(r->live, batch, order, &error);
  if (status == ISOPROOF_OK) status = isoproof_live_poll(r->live, &r->state, &error);
  *seconds = measure_now() - begun;
  isoproof_history_free(batch);
  free(order);
  return status == ISOPROOF_OK || bench_failed(&error);
}

/* ---- as fast as it goes ---- */

static double process_megabytes(void) {
  unsigned long long pages = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%llu %llu", &pages, &resident) != 2) resident = 0;
  fclose(file);
  return (double)resident * 4096 / 1e6;
}

/* Whether it goes on; says so where it does not. */
static bool goes_on(const run *r, double seconds) {
  const isoproof_live_state *state = &r->state;
  if (state->verdict == ISOPROOF_SATISFIED) return true;
  printf("%s: %s%s after %llu transactions, in a poll of %.3f s%s%s\n", r->is->name,
         isoproof_verdict_name(state->verdict), state->final ? " for good" : " so far",
         (unsigned long long)state->transactions, seconds, state->reason != NULL ? ": " : "",
         state->reason != NULL ? state->reason : "");
  return !state->final && state->verdict != ISOPROOF_UNDECIDED;
}

/* Pushes everything and prints what it took; false when a verdict is wrong. */
static bool push_all(run *r, uint64_t txns) {
  double all = 0, longest = 0, seconds, begun = measure_now();
  uint64_t batches = txns / BATCH, rows = batches < ROWS ? batches : ROWS;
  printf("transactions\tretained\tchecker MB\tprocess MB\tseconds of the checker\tseconds\n");
  for (uint64_t i = 0; i < batches; i++) {
    if (!push_next(r, &seconds)) return false;
    all += seconds;
    if (longest < seconds) longest = seconds;
    if ((i + 1) % (batches / rows) == 0) {
      printf("%llu\t%llu\t%.1f\t%.1f\t%.2f\t%.2f\n", (unsigned long long)r->state.transactions,
             (unsigned long long)r->state.retained, (double)r->state.bytes / 1e6, process_megabytes(), all,
             measure_now() - begun);
      fflush(stdout);
    }
    if (!goes_on(r, seconds)) return r->is->loses && r->state.final && r->lost_at != 0;
  }
  printf("%s: %.0f tx/s, longest poll %.3f s\n", r->is->name, (double)r->state.transactions / all, longest);
  return !r->is->loses;
}

static bool run_stream(const stream_case *c, uint64_t txns, uint64_t seed) {
  run r;
  bool ok = begin_run(&r, c, txns / 2, BATCH, seed) && push_all(&r, txns);
  end_run(&r);
  return ok;
}

/* ---- by the clock ---- */

static void wait_until(double moment) {
  double left = moment - measure_now();
  if (left <= 0) return;
  struct timespec nap = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
  nanosleep(&nap, NULL);
}

/* A batch is there when the last of its transactions is due. */
static bool push_paced(run *r, uint64_t txns) {
  double begun = measure_now(), worst = 0, seconds;
  for (uint64_t pushed = PACED_BATCH; pushed <= txns; pushed += PACED_BATCH) {
    double due = begun + (double)pushed / PACE;
    wait_until(due);
    if (!push_next(r, &seconds)) return false;
    double now = measure_now();
    bool reported = r->state.verdict == ISOPROOF_VIOLATED && r->lost_at != 0;
    if (reported) {
      double lost = begun + (double)r->lost_at / PACE;
      printf("%s at %d transactions a second: violated%s, reported %.3f s after transaction %llu, the last one of the "
             "violation, was due; most behind before: %.3f s\n",
             r->is->name, PACE, r->state.final ? " for good" : " so far", now - lost, (unsigned long long)r->lost_at,
             worst);
      return true;
    }
    if (worst < now - due) worst = now - due;
    if (!goes_on(r, seconds)) return false;
  }
  printf("%s at %d transactions a second: no violation was reported\n", r->is->name, PACE);
  return false;
}

static bool run_paced(const stream_case *c, uint64_t seconds, uint64_t seed) {
  run r;
  uint64_t txns = seconds * PACE;
  bool ok = begin_run(&r, c, txns / 2, PACED_BATCH, seed) && push_paced(&r, txns);
  end_run(&r);
  return ok;
}

bool live_streams(const live_stream_options *o) {
  bool ok = true, alone = o->sim != 0 || o->paced != 0;
  for (size_t i = 0; i < COUNT(streams) && !alone; i++) {
    if (o->only == NULL || strcmp(o->only, streams[i].name) == 0) ok &= run_stream(&streams[i], o->txns, o->seed);
  }
  for (size_t i = 0; i < COUNT(simulated) && o->sim != 0; i++) {
    const char *wanted = o->only != NULL ? o->only : "serializable";
    if (strcmp(wanted, simulated[i].name) == 0) ok &= run_stream(&simulated[i], o->sim, o->seed);
  }
  for (size_t i = 0; i < COUNT(paced) && o->paced != 0; i++) {
    if (o->only == NULL || strcmp(o->only, paced[i].name) == 0) ok &= run_paced(&paced[i], o->paced, o->seed);
  }
  return ok;
}
