/* live_judge.c - the two threads that judge a history while it is written. */
#include "cli/commands/live_judge.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/terminal/interrupt.h"
#include "cli/terminal/message.h"

/* Batches that wait for the checker; and how many transactions are pushed before it must look at them. */
enum { QUEUE = 4, MOST_AT_ONCE = 50000, MARKS = 256 };

typedef struct queued {
  isoproof_history *history;
  uint64_t *order;
  uint64_t offset, lines;
  bool last;
} queued;

/* How many transactions had been read at a moment. */
typedef struct mark {
  double when;
  uint64_t read;
} mark;

struct live_judge {
  live_plan plan;
  const char *levels[LIVE_LEVELS]; /* of the plan */
  isoproof_task *read_task, *check_task;
  pthread_t reader, checker;
  bool reading, checking; /* the threads were started */

  pthread_mutex_t lock; /* for all that follows up to the next comment */
  pthread_cond_t changed;
  queued queue[QUEUE];
  size_t queued;
  bool input_over; /* the reader has ended */
  bool stopped;    /* the checker wants no more */
  isoproof_status read_status, check_status;
  isoproof_error read_error, check_error;
  live_status status;
  mark marks[MARKS];
  size_t mark_count;
  double rate_since;
  uint64_t rate_judged;

  uint64_t offset; /* of what was pushed */
  bool last;

  /* The checker's own. */
  isoproof_live *live;
  isoproof_counts counts;
  const char *format;
  double began;
  uint64_t lines; /* up to the offset */
  bool finished;  /* the writer said so */
  uint64_t kept;  /* transactions that FILE.live tells of */
  double next_keep;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- reading ---- */

/* Remembers when so many had been read; of old moments every second one is forgotten. */
static void remember(live_judge *j) {
  if (j->mark_count == MARKS) {
    for (size_t i = 0; i < MARKS / 2; i++) j->marks[i] = j->marks[2 * i + 1];
    j->mark_count = MARKS / 2;
  }
  j->marks[j->mark_count++] = (mark){now(), j->status.read};
}

static isoproof_status take(void *user, isoproof_follow_batch *batch, isoproof_error *error) {
  live_judge *j = user;
  (void)error;
  pthread_mutex_lock(&j->lock);
  j->status.waiting_bytes = batch->waiting;
  while (batch->history != NULL && j->queued == QUEUE && !j->stopped) pthread_cond_wait(&j->changed, &j->lock);
  bool stopped = j->stopped;
  if (batch->history != NULL && !stopped) {
    j->status.read = batch->transactions;
    remember(j);
    j->queue[j->queued++] = (queued){batch->history, batch->order, batch->offset, batch->lines, batch->last};
    batch->kept = true;
    pthread_cond_broadcast(&j->changed);
  }
  pthread_mutex_unlock(&j->lock);
  return stopped ? ISOPROOF_ERR_CANCELLED : ISOPROOF_OK;
}

static void *read_main(void *argument) {
  live_judge *j = argument;
  isoproof_error error = {.offset = -1};
  isoproof_follow_options how = {
      .struct_size = sizeof how, .format = j->plan.format, .to_end = j->plan.to_end, .take = take, .user = j};
  if (j->kept > 0) how.offset = j->offset, how.lines = j->lines, how.transactions = j->kept;
  isoproof_status status = isoproof_follow(j->plan.path, &how, j->read_task, &error);
  pthread_mutex_lock(&j->lock);
  j->read_status = j->stopped ? ISOPROOF_OK : status;
  j->read_error = error;
  j->input_over = true;
  pthread_cond_broadcast(&j->changed);
  pthread_mutex_unlock(&j->lock);
  return NULL;
}

/* ---- checking ---- */

static isoproof_status give_whole(void *user, isoproof_task *task, isoproof_history **history, isoproof_error *error) {
  const live_judge *j = user;
  return isoproof_follow_part(j->plan.path, j->plan.format, j->offset, j->last, task, history, error);
}

static isoproof_live_options options_of(live_judge *j) {
  isoproof_live_options how = {.struct_size = sizeof how,
                               .levels = j->plan.levels,
                               .level_count = j->plan.level_count,
                               .memory_limit = j->plan.memory_limit};
  if (strcmp(j->plan.path, "-") != 0) {
    how.whole = give_whole;
    how.whole_user = j;
  }
  return how;
}

/* The checker is made with the first batch, whose header may say what is claimed. */
static isoproof_status make_checker(live_judge *j, const isoproof_history *first, isoproof_error *error) {
  const char *claim = j->plan.claim ? isoproof_history_fact(first, "claims") : NULL;
  bool known = claim != NULL && isoproof_level_find(claim) != NULL;
  isoproof_live_options how = options_of(j);
  if (known) how.levels = &claim, how.level_count = 1;
  if (j->plan.claim && !known) { /* nothing is expected */
    j->plan.stops = false;
    pthread_mutex_lock(&j->lock);
    j->status.unasked = true;
    pthread_mutex_unlock(&j->lock);
  }
  return isoproof_live_new(&how, j->check_task, &j->live, error);
}

static void add_counts(live_judge *j, const isoproof_history *history) {
  isoproof_counts c = {.struct_size = sizeof c};
  isoproof_history_counts(history, &c);
  j->counts.transactions += c.transactions;
  j->counts.committed += c.committed;
  j->counts.aborted += c.aborted;
  j->counts.unknown += c.unknown;
  j->counts.operations += c.operations;
  if (j->format == NULL) j->format = isoproof_history_format(history);
}

static isoproof_status push(live_judge *j, const queued *batch, isoproof_error *error) {
  isoproof_status status = j->live == NULL ? make_checker(j, batch->history, error) : ISOPROOF_OK;
  if (status != ISOPROOF_OK) return status;
  pthread_mutex_lock(&j->lock);
  j->offset = batch->offset;
  j->lines = batch->lines;
  j->last = batch->last;
  pthread_mutex_unlock(&j->lock);
  add_counts(j, batch->history);
  const char *finished = isoproof_history_fact(batch->history, "finished");
  j->finished |= finished != NULL && strcmp(finished, "yes") == 0;
  isoproof_counts times = {.struct_size = sizeof times};
  isoproof_history_counts(batch->history, &times);
  return isoproof_live_push(j->live, batch->history, times.has_times ? NULL : batch->order, error);
}

/* "serializable, after 1200 transactions: write skew: ..." */
static void describe(const live_judge *j, live_status *s) {
  const isoproof_history *history;
  const isoproof_result *result;
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  for (s->violations = 0; isoproof_live_violation_at(j->live, s->violations, &history, &result);) s->violations++;
  if (s->first_violation[0] != 0 || !isoproof_live_violation_at(j->live, 0, &history, &result)) return;
  if (isoproof_result_anomaly_at(result, 0, &anomaly))
    snprintf(s->first_violation, sizeof s->first_violation, "%s (%s): %s", anomaly.name, anomaly.code,
             anomaly.explanation != NULL ? anomaly.explanation : "");
}

static void look(live_judge *j, const isoproof_live_state *state) {
  live_status s;
  pthread_mutex_lock(&j->lock);
  s = j->status;
  pthread_mutex_unlock(&j->lock);
  isoproof_live_verdict v = {.struct_size = sizeof v};
  s.level_count = 0;
  while (s.level_count < LIVE_LEVELS && isoproof_live_level_at(j->live, s.level_count, &v))
    s.levels[s.level_count++] = (live_level){v.level, v.verdict, v.final, v.since};
  describe(j, &s);
  pthread_mutex_lock(&j->lock);
  memcpy(j->status.levels, s.levels, sizeof s.levels);
  memcpy(j->status.first_violation, s.first_violation, sizeof s.first_violation);
  j->status.level_count = s.level_count;
  j->status.violations = s.violations;
  j->status.judged = state->transactions;
  j->counts.sessions = state->sessions;
  j->status.retained = state->retained;
  j->status.pending_reads = state->pending_reads;
  j->status.whole_checks = state->whole_checks;
  j->status.bytes = state->bytes;
  j->status.verdict = state->verdict;
  j->status.final = state->final;
  j->status.reason = state->reason;
  pthread_cond_broadcast(&j->changed);
  pthread_mutex_unlock(&j->lock);
}

static isoproof_status poll(live_judge *j, isoproof_error *error) {
  isoproof_live_state state = {.struct_size = sizeof state};
  isoproof_status status = isoproof_live_poll(j->live, &state, error);
  if (status == ISOPROOF_OK) look(j, &state);
  return status;
}

/* The next batch; false when none will come.  *empty: nothing else waits behind it. */
static bool next(live_judge *j, queued *batch, bool *empty) {
  pthread_mutex_lock(&j->lock);
  while (j->queued == 0 && !j->input_over) pthread_cond_wait(&j->changed, &j->lock);
  bool got = j->queued > 0;
  if (got) {
    *batch = j->queue[0];
    memmove(j->queue, j->queue + 1, --j->queued * sizeof *j->queue);
    *empty = j->queued == 0;
    pthread_cond_broadcast(&j->changed);
  }
  pthread_mutex_unlock(&j->lock);
  return got;
}

/* Everything that was asked about is violated for good, or one of it, as the plan says. */
static bool is_enough(live_judge *j) {
  pthread_mutex_lock(&j->lock);
  bool enough = j->plan.stops && j->status.final;
  pthread_mutex_unlock(&j->lock);
  return enough;
}

/* ---- keeping, and going on ---- */

/* Not so often that it would slow the check down. */
enum { KEEP_SECONDS = 5, KEEP_SHARE = 20 };

static void keep(live_judge *j) {
  live_kept kept = {.transactions = j->status.judged,
                    .offset = j->offset,
                    .lines = j->lines,
                    .committed = j->counts.committed,
                    .aborted = j->counts.aborted,
                    .unknown = j->counts.unknown,
                    .operations = j->counts.operations,
                    .finished = j->finished};
  double begun = now();
  for (size_t i = 0; i < j->status.level_count && i < LIVE_KEPT_LEVELS; i++) {
    if (!j->status.levels[i].final) continue;
    kept.violated[kept.violated_count] = j->status.levels[i].id;
    kept.since[kept.violated_count++] = j->status.levels[i].since;
  }
  /* Other formats cannot be read from their middle on. */
  bool can = j->format != NULL && strcmp(j->format, "jsonl") == 0;
  if (!can || isoproof_live_save(j->live, &kept.state, &kept.state_size, NULL) != ISOPROOF_OK) kept.state = NULL;
  if (!live_keep(j->plan.path, &kept)) j->plan.keeps = false;
  live_kept_free(&kept);
  double wait = KEEP_SHARE * (now() - begun);
  j->next_keep = now() + (wait > KEEP_SECONDS ? wait : KEEP_SECONDS);
}

static void go_on(live_judge *j) {
  live_kept *kept = j->plan.kept;
  isoproof_live_options how = options_of(j);
  isoproof_error error = {.offset = -1};
  if (kept == NULL || kept->state == NULL) return;
  if (isoproof_live_restore(&how, j->check_task, kept->state, kept->state_size, &j->live, &error) == ISOPROOF_OK) {
    j->offset = kept->offset;
    j->lines = kept->lines;
    j->kept = j->status.judged = j->status.read = j->counts.transactions = kept->transactions;
    j->counts.committed = kept->committed;
    j->counts.aborted = kept->aborted;
    j->counts.unknown = kept->unknown;
    j->counts.operations = kept->operations;
    j->format = "jsonl";
    j->finished = kept->finished;
    j->plan.to_end |= kept->finished;
    live_kept_free(kept);
    return;
  }
  snprintf(kept->reason, sizeof kept->reason, "%.200s", error.message);
  live_kept_free(kept);
}

static isoproof_status check_all(live_judge *j, isoproof_error *error) {
  queued batch;
  bool empty = false;
  uint64_t since_poll = 0;
  isoproof_status status = ISOPROOF_OK;
  while (status == ISOPROOF_OK && next(j, &batch, &empty)) {
    isoproof_counts counts = {.struct_size = sizeof counts};
    isoproof_history_counts(batch.history, &counts);
    since_poll += counts.transactions;
    status = push(j, &batch, error);
    isoproof_history_free(batch.history);
    free(batch.order);
    if (status != ISOPROOF_OK || (!empty && since_poll < MOST_AT_ONCE)) continue;
    status = poll(j, error);
    since_poll = 0;
    bool enough = status == ISOPROOF_OK && is_enough(j);
    if (status == ISOPROOF_OK && j->plan.keeps && (enough || now() > j->next_keep)) keep(j);
    if (enough) return ISOPROOF_OK;
  }
  if (status == ISOPROOF_OK && j->live != NULL && since_poll > 0) status = poll(j, error);
  /* Before the end: what only the end of the file violates, more of it may mend. */
  if (status == ISOPROOF_OK && j->live != NULL && j->plan.keeps) keep(j);
  if (status == ISOPROOF_OK && j->live != NULL && j->last) {
    status = isoproof_live_finish(j->live, error);
    if (status == ISOPROOF_OK) status = poll(j, error);
  }
  return status;
}

static void *check_main(void *argument) {
  live_judge *j = argument;
  isoproof_error error = {.offset = -1};
  isoproof_status status = check_all(j, &error);
  pthread_mutex_lock(&j->lock);
  j->check_status = status;
  j->check_error = error;
  if (status != ISOPROOF_OK && status != ISOPROOF_ERR_CANCELLED)
    snprintf(j->status.failure, sizeof j->status.failure, "%s", error.message);
  j->stopped = true;
  j->status.over = true;
  isoproof_task_cancel(j->read_task);
  pthread_cond_broadcast(&j->changed);
  pthread_mutex_unlock(&j->lock);
  return NULL;
}

/* ---- for commands ---- */

/* Signals are for the thread that waits for them. */
static bool start_threads(live_judge *j) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  j->reading = pthread_create(&j->reader, NULL, read_main, j) == 0;
  if (!j->reading) j->input_over = true;
  j->checking = j->reading && pthread_create(&j->checker, NULL, check_main, j) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return j->checking;
}

bool live_judge_start(live_judge **judge, const live_plan *plan) {
  live_judge *j = calloc(1, sizeof *j);
  pthread_condattr_t clock;
  *judge = NULL;
  if (j == NULL) {
    message("out of memory");
    return false;
  }
  j->plan = *plan;
  if (j->plan.level_count > LIVE_LEVELS) j->plan.level_count = LIVE_LEVELS;
  for (size_t i = 0; i < j->plan.level_count; i++) j->levels[i] = plan->levels[i];
  j->plan.levels = j->levels;
  j->began = j->rate_since = now();
  j->counts.struct_size = sizeof j->counts;
  pthread_mutex_init(&j->lock, NULL);
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&j->changed, &clock);
  pthread_condattr_destroy(&clock);
  j->read_task = plan->on_signals ? interrupt_task_new() : interrupt_task_after();
  j->check_task = interrupt_task_after();
  if (j->check_task != NULL) isoproof_task_set_threads(j->check_task, plan->threads);
  if (j->check_task != NULL) go_on(j);
  if (j->read_task != NULL && j->check_task != NULL && start_threads(j)) {
    *judge = j;
    return true;
  }
  message("cannot start the threads that judge the history");
  live_judge_free(j);
  return false;
}

/* How far the checker is behind what was written. */
static void measure(live_judge *j) {
  live_status *s = &j->status;
  double t = now();
  uint64_t unread = j->offset > 0 ? (uint64_t)((double)s->waiting_bytes * (double)s->judged / (double)j->offset) : 0;
  s->behind = s->read - s->judged + unread;
  s->behind_seconds = 0;
  for (size_t i = 0; i < j->mark_count; i++) {
    if (j->marks[i].read <= s->judged) continue;
    s->behind_seconds = t - j->marks[i].when;
    break;
  }
  s->seconds = t - j->began;
  if (t - j->rate_since < 0.5) return;
  double fresh = (double)(s->judged - j->rate_judged) / (t - j->rate_since);
  s->rate = j->rate_judged > 0 ? 0.5 * s->rate + 0.5 * fresh : fresh;
  j->rate_since = t;
  j->rate_judged = s->judged;
}

void live_judge_status(live_judge *j, live_status *status) {
  pthread_mutex_lock(&j->lock);
  measure(j);
  *status = j->status;
  pthread_mutex_unlock(&j->lock);
}

void live_judge_wait(live_judge *j, double seconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += (time_t)seconds;
  until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  pthread_mutex_lock(&j->lock);
  if (!j->status.over) pthread_cond_timedwait(&j->changed, &j->lock, &until);
  pthread_mutex_unlock(&j->lock);
}

void live_judge_stop(live_judge *j) { isoproof_task_cancel(j->read_task); }

isoproof_status live_judge_end(live_judge *j, isoproof_error *error) {
  if (j->reading) pthread_join(j->reader, NULL);
  if (j->checking) pthread_join(j->checker, NULL);
  j->reading = j->checking = false;
  bool failed = j->check_status != ISOPROOF_OK;
  *error = failed ? j->check_error : j->read_error;
  return failed ? j->check_status : j->read_status;
}

void live_judge_free(live_judge *j) {
  isoproof_error error;
  if (j == NULL) return;
  if (j->reading) {
    pthread_mutex_lock(&j->lock);
    j->stopped = true;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
    live_judge_stop(j);
    isoproof_task_cancel(j->check_task);
    (void)live_judge_end(j, &error);
  }
  for (size_t i = 0; i < j->queued; i++) {
    isoproof_history_free(j->queue[i].history);
    free(j->queue[i].order);
  }
  isoproof_live_free(j->live);
  if (j->plan.on_signals)
    interrupt_task_free(j->read_task);
  else
    isoproof_task_free(j->read_task);
  isoproof_task_free(j->check_task);
  pthread_cond_destroy(&j->changed);
  pthread_mutex_destroy(&j->lock);
  free(j);
}

const isoproof_live *live_judge_checker(const live_judge *j) { return j->live; }

isoproof_status live_judge_history(const live_judge *j, isoproof_task *task, isoproof_history **history,
                                   isoproof_error *error) {
  return isoproof_follow_part(j->plan.path, j->plan.format, j->offset, j->last, task, history, error);
}

const isoproof_counts *live_judge_counts(const live_judge *j) { return &j->counts; }
const char *live_judge_format(const live_judge *j) { return j->format; }
