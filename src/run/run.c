/* run.c - isoproof_run: from options to a recorded history. */
#include "run/run.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/abi.h"
#include "run/summary.h"

/* How often the caller's thread looks, and how long a session may take to end by itself. */
enum { LOOK_MS = 100, GRACE_MS = 2000, CANCEL_EVERY_MS = 500, NAP_MS = 20 };

/* ---- for sessions and companions ---- */

int64_t isoproof_run_now(const isoproof_run_handle *run) {
  struct timespec now;
  clock_gettime(run->clock, &now);
  return ((int64_t)now.tv_sec - run->base.tv_sec) * 1000000000 + (now.tv_nsec - run->base.tv_nsec);
}

void iso_run_stop(isoproof_run_handle *run) {
  pthread_mutex_lock(&run->lock);
  atomic_store(&run->stop, true);
  pthread_cond_broadcast(&run->stopped);
  pthread_mutex_unlock(&run->lock);
}

void iso_run_interfered(isoproof_run_handle *run, const char *format, ...) {
  char text[ISO_INTERFERENCE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&run->lock);
  if (run->interference[0] == 0) memcpy(run->interference, text, sizeof text);
  pthread_mutex_unlock(&run->lock);
  iso_run_stop(run);
}

bool iso_run_was_interfered(isoproof_run_handle *run) {
  pthread_mutex_lock(&run->lock);
  bool was = run->interference[0] != 0;
  pthread_mutex_unlock(&run->lock);
  return was;
}

bool iso_run_sleep_until(const isoproof_run_handle *run, int64_t moment) {
  for (int64_t now; (now = isoproof_run_now(run)) < moment;) {
    if (iso_run_stopping(run)) return false;
    int64_t left = moment - now;
    struct timespec rest = {.tv_nsec = left < NAP_MS * 1000000L ? (long)left : NAP_MS * 1000000L};
    nanosleep(&rest, NULL);
  }
  return !iso_run_stopping(run);
}

bool isoproof_run_wait(isoproof_run_handle *run, double seconds) {
  if (!(seconds > 0)) seconds = 0;
  if (seconds > 1e6) seconds = 1e6;
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  int64_t ns = until.tv_nsec + (int64_t)(seconds * 1e9);
  until.tv_sec += (time_t)(ns / 1000000000);
  until.tv_nsec = (long)(ns % 1000000000);
  pthread_mutex_lock(&run->lock);
  int result = 0;
  while (!atomic_load(&run->stop) && result == 0) result = pthread_cond_timedwait(&run->stopped, &run->lock, &until);
  bool go_on = !atomic_load(&run->stop);
  pthread_mutex_unlock(&run->lock);
  return go_on;
}

int64_t isoproof_run_event(isoproof_run_handle *run, const char *text) {
  char name[32], value[512];
  int64_t now = isoproof_run_now(run);
  pthread_mutex_lock(&run->lock);
  iso_active_faults_note(&run->faults, text);
  if (run->events < ISO_MOST_EVENTS) {
    snprintf(name, sizeof name, "event.%u", ++run->events);
    snprintf(value, sizeof value, "%" PRId64 " %s", now, text);
    iso_jsonl_fact fact = {name, value, strlen(name), strlen(value)};
    iso_session_log_header(&run->log, &fact, 1);
  }
  pthread_mutex_unlock(&run->lock);
  return now;
}

bool isoproof_run_table_at(const isoproof_run_handle *run, size_t number, char *name, size_t size) {
  char table[ISO_TABLE_BYTES];
  if (!iso_database_capabilities(run->database).sql || number >= (run->options->tables > 0 ? run->options->tables : 1))
    return false;
  /* Keys are in the table of their number modulo the number of tables. */
  iso_database_table(run->database, (int64_t)number, table);
  snprintf(name, size, "%s", table);
  return true;
}

void isoproof_run_tables_change(isoproof_run_handle *run, bool done) {
  isoproof_error found = {.offset = -1};
  if (done)
    iso_database_learn_tables(run->database);
  else if (iso_database_verify(run->database, &found) == ISOPROOF_ERR_INTERFERENCE)
    iso_run_interfered(run, "%.300s", found.message);
}

/* ---- options ---- */

static const char *const default_urls[] = {"sqlite:"};

static const isoproof_run_options defaults = {.struct_size = sizeof defaults,
                                              .urls = default_urls,
                                              .url_count = 1,
                                              .seconds = 3,
                                              .statement_timeout = 10,
                                              .tables = 1};

bool isoproof_run_defaults(isoproof_run_options *options) { return ISO_STRUCT_GIVE(options, defaults); }

static isoproof_status take_options(const isoproof_run_options *given, isoproof_run_options *options,
                                    isoproof_error *error) {
  *options = defaults;
  ISO_TRY(ISO_OPTIONS_READ(isoproof_run_options, options, given, error));
  if (options->script_count > 0 && options->scripts == NULL)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "scripts: expected paths, found none");
  if (options->url_count == 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "urls: expected at least one, found none");
  if (options->path == NULL) return iso_fail(error, ISOPROOF_ERR_USAGE, "path: expected a file for the history");
  if (!(options->seconds >= 0 && options->seconds <= 1e9))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "seconds: expected 0 to 1e9, found %g", options->seconds);
  ISO_TRY(iso_session_settings_check(options, error));
  const struct {
    const char *name;
    double seconds;
  } timeouts[] = {{"statement_timeout", options->statement_timeout},
                  {"lock_timeout", options->lock_timeout},
                  {"deadlock_timeout", options->deadlock_timeout}};
  for (size_t i = 0; i < sizeof timeouts / sizeof *timeouts; i++)
    if (!(timeouts[i].seconds >= 0 && timeouts[i].seconds <= 1e6))
      return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected 0 to 1e6 seconds, found %g", timeouts[i].name,
                      timeouts[i].seconds);
  return ISOPROOF_OK;
}

/* ---- before ---- */

static isoproof_status open_sessions(isoproof_run_handle *run, isoproof_error *error) {
  run->session_count = iso_share_sessions(run);
  run->sessions = iso_alloc_zero((size_t)run->session_count + 1, sizeof *run->sessions);
  if (run->sessions == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i <= run->session_count; i++)
    ISO_TRY(iso_session_open(&run->sessions[i], run, iso_share_session(run, i), error));
  /* Connections one after the other, before the clock starts: a node that is not there is found out here. */
  for (uint32_t i = 0; i < run->session_count; i++) {
    ISO_TRY(iso_connect(run->database, run->sessions[i].node, &run->sessions[i].connection, error));
    ISO_TRY(iso_timeouts_apply(&run->sessions[i], error));
    ISO_TRY(iso_session_settings_apply(&run->sessions[i], error));
  }
  iso_timeouts_note(run);
  run->meeting.parties = run->session_count;
  return ISOPROOF_OK;
}

/* ---- during ---- */

typedef struct watch {
  isoproof_task *task;
  double last_look, next_report;
  uint64_t last_done;
  double rate;
  bool cancelled;
} watch;

static double seconds_since_start(const isoproof_run_handle *run) { return (double)isoproof_run_now(run) * 1e-9; }

static uint32_t live_sessions(const isoproof_run_handle *run) {
  uint32_t live = 0;
  for (uint32_t i = 0; i < run->session_count; i++)
    live += run->sessions[i].started && !atomic_load(&run->sessions[i].ended);
  return live;
}

static void report_progress(isoproof_run_handle *run, watch *w, uint32_t live) {
  const isoproof_run_options *options = run->options;
  isoproof_run_progress p = {
      .seconds_limit = options->seconds, .txns_limit = run->workload->txns, .sessions_live = live};
  double now = seconds_since_start(run);
  isoproof_run_counts counts;
  iso_run_count(run, now, &counts);
  p.counts = &counts;
  uint64_t done = counts.committed + counts.aborted + counts.unknown;
  if (now - w->last_look > 0.5) {
    double fresh = (double)(done - w->last_done) / (now - w->last_look);
    w->rate = w->last_look > 0 ? 0.5 * w->rate + 0.5 * fresh : fresh;
    w->last_look = now;
    w->last_done = done;
  }
  p.rate = w->rate;
  char fault[128];
  pthread_mutex_lock(&run->lock);
  p.fault = iso_active_faults_name(&run->faults, fault, sizeof fault);
  pthread_mutex_unlock(&run->lock);
  options->progress(&p, options->progress_user);
}

/* Until the next look: not past the end, and often where the end may come any moment. */
static void rest(const isoproof_run_handle *run) {
  double now = seconds_since_start(run), limit = run->options->seconds, until = LOOK_MS * 1e-3;
  if (iso_run_stopping(run) || (run->workload->txns > 0 && now < 1)) until = 2e-3;
  if (limit > now && limit - now < until) until = limit - now;
  struct timespec moment = {.tv_nsec = (long)(until * 1e9)};
  nanosleep(&moment, NULL);
}

/* Whoever does not end in time is asked to by the database. */
static void cancel_late(isoproof_run_handle *run) {
  for (uint32_t i = 0; i < run->session_count; i++) {
    iso_session *session = &run->sessions[i];
    if (session->started && !atomic_load(&session->ended)) iso_cancel(session->connection);
  }
}

/* Looks after the sessions until all have ended. */
static void watch_sessions(isoproof_run_handle *run, watch *w) {
  double limit = run->options->seconds, next_cancel = 0;
  uint32_t live;
  while ((live = live_sessions(run)) > 0) {
    rest(run);
    double now = seconds_since_start(run);
    if (w->task != NULL && atomic_load(&w->task->cancelled) != 0) w->cancelled = true;
    bool over = run->options->over != NULL && run->options->over(run->options->over_user);
    if ((w->cancelled || over || (limit > 0 && now >= limit)) && !iso_run_stopping(run)) iso_run_stop(run);
    if (iso_run_stopping(run)) {
      if (next_cancel == 0) next_cancel = now + GRACE_MS * 1e-3;
      if (now >= next_cancel) {
        cancel_late(run);
        next_cancel = now + CANCEL_EVERY_MS * 1e-3;
      }
    }
    if (run->options->progress != NULL && now >= w->next_report) {
      report_progress(run, w, live);
      w->next_report = now + 0.9e-3 * LOOK_MS;
    }
  }
}

typedef struct companion {
  isoproof_run_handle *run;
  pthread_t thread;
  bool started;
} companion;

static void *companion_main(void *argument) {
  isoproof_run_handle *run = argument;
  run->options->companion(run, run->options->companion_user);
  return NULL;
}

static isoproof_status start_threads(isoproof_run_handle *run, companion *beside, isoproof_error *error) {
  if (run->options->companion != NULL) {
    if (pthread_create(&beside->thread, NULL, companion_main, run) != 0)
      return iso_fail(error, ISOPROOF_ERR_MEMORY, "cannot start a thread beside the sessions");
    beside->started = true;
  }
  for (uint32_t i = 0; i < run->session_count; i++) {
    iso_session *session = &run->sessions[i];
    if (pthread_create(&session->thread, NULL, iso_session_main, session) != 0)
      return iso_fail(error, ISOPROOF_ERR_MEMORY, "cannot start the thread of session %u", i);
    session->started = true;
  }
  return ISOPROOF_OK;
}

/* Signals are for the caller's threads: a client library must not be interrupted in the middle of an answer. */
static isoproof_status start_undisturbed(isoproof_run_handle *run, companion *beside, isoproof_error *error) {
  sigset_t none, before;
  sigemptyset(&none);
  sigaddset(&none, SIGINT);
  sigaddset(&none, SIGTERM);
  sigaddset(&none, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &none, &before);
  isoproof_status status = start_threads(run, beside, error);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status;
}

/* Runs all sessions to their end.  The first problem of one of them is that of the run. */
static isoproof_status run_sessions(isoproof_run_handle *run, watch *w, isoproof_error *error) {
  companion beside = {.run = run};
  isoproof_status status = start_undisturbed(run, &beside, error);
  if (status != ISOPROOF_OK) iso_run_stop(run);
  watch_sessions(run, w);
  iso_run_stop(run);
  for (uint32_t i = 0; i < run->session_count; i++) {
    iso_session *session = &run->sessions[i];
    if (!session->started) continue;
    pthread_join(session->thread, NULL);
    if (status == ISOPROOF_OK && session->status != ISOPROOF_OK) {
      status = session->status;
      if (error != NULL) *error = session->problem;
    }
  }
  if (beside.started) pthread_join(beside.thread, NULL);
  if (status == ISOPROOF_OK && run->rounds_status != ISOPROOF_OK) {
    status = run->rounds_status;
    if (error != NULL) *error = run->rounds_problem;
  }
  return status;
}

/* ---- all of it ---- */

static isoproof_status make_generator(isoproof_run_handle *run, isoproof_error *error) {
  ISO_TRY(iso_generator_new(run->options->workload, &run->generator, error));
  run->workload = &run->generator->options;
  if (run->options->seconds == 0 && run->workload->txns == 0 && run->options->phase_count == 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "seconds and txns: expected a limit, found none");
  ISO_TRY(iso_load_check(run->options, run->workload->sessions, error));
  ISO_TRY(iso_share_take(run, error));
  run->has_load = iso_load_init(&run->load, run->options, run->workload->sessions, run->workload->seed);
  if (!run->has_load) return iso_fail_memory(error);
  if (run->share.count > 1) iso_load_share(&run->load, run->share.number, iso_share_sessions(run), run->workload->seed);
  return ISOPROOF_OK;
}

/* Without this line a reader of the history knows that the run came to no end (docs/format-jsonl.md). */
static void write_end(isoproof_run_handle *run, bool cancelled) {
  const char *how = cancelled ? "interrupted" : "yes";
  iso_jsonl_fact fact = {ISO_JSONL_FINISHED, how, strlen(ISO_JSONL_FINISHED), strlen(how)};
  iso_session_log_header(&run->log, &fact, 1);
}

/* Whoever reads the history later is to know that the run was not to end there. */
static void note_interruption(isoproof_run_handle *run, double seconds) {
  char value[64];
  snprintf(value, sizeof value, "after %.1f s", seconds);
  iso_jsonl_fact fact = {"interrupted", value, strlen("interrupted"), strlen(value)};
  iso_session_log_header(&run->log, &fact, 1);
}

/* A history that somebody else had a hand in says so, and is nothing to judge. */
static isoproof_status check_tables(isoproof_run_handle *run, isoproof_error *error) {
  isoproof_error found = {.offset = -1};
  if (iso_database_verify(run->database, &found) == ISOPROOF_ERR_INTERFERENCE)
    iso_run_interfered(run, "%.300s", found.message);
  if (!iso_run_was_interfered(run)) return ISOPROOF_OK;
  iso_jsonl_fact fact = {"interference", run->interference, strlen("interference"), strlen(run->interference)};
  iso_session_log_header(&run->log, &fact, 1);
  return iso_fail(
      error, ISOPROOF_ERR_INTERFERENCE,
      "interference: %s; somebody else changes the tables of the run, which says nothing about the database",
      run->interference);
}

static isoproof_status go(isoproof_run_handle *run, isoproof_task *task, isoproof_run_summary **report,
                          isoproof_error *error) {
  watch w = {.task = task};
  ISO_TRY(iso_run_open_database(run, error));
  /* Not before: a database that is not there must not cost an older history its place. */
  ISO_TRY(iso_recorder_open(&run->recorder, run->options->path, error));
  ISO_TRY(iso_session_log_open(&run->log, &run->recorder, error));
  ISO_TRY(iso_timeouts_choose(run, error));
  ISO_TRY(iso_run_write_header(run, error));
  if (run->script != NULL) ISO_TRY(iso_script_write_start(run, error));
  ISO_TRY(iso_rounds_write_initial(run, error));
  ISO_TRY(iso_rounds_prepare(run, error));
  ISO_TRY(open_sessions(run, error));
  ISO_TRY(iso_share_meet(run, ISOPROOF_POINT_READY, NULL, error));
  iso_share_start_clock(run);
  if (run->script != NULL) ISO_TRY(iso_script_watch_begin(run, error));
  ISO_TRY(run_sessions(run, &w, error));
  double seconds = seconds_since_start(run);
  if (run->script != NULL) iso_script_end(run);
  if (w.cancelled) note_interruption(run, seconds);
  run->generator->others_generations = iso_generator_generations(run->generator);
  ISO_TRY(iso_share_meet(run, ISOPROOF_POINT_ENDED, &run->generator->others_generations, error));
  if (run->script == NULL && iso_share_is_first(run) && !w.cancelled && !iso_recorder_failed(&run->recorder) &&
      !iso_run_was_interfered(run))
    ISO_TRY(iso_session_final(&run->sessions[run->session_count], error));
  ISO_TRY(check_tables(run, error));
  write_end(run, w.cancelled);
  return iso_report_new(run, w.cancelled, seconds, report, error);
}

static void clean_up(isoproof_run_handle *run) {
  for (uint32_t i = 0; run->sessions != NULL && i <= run->session_count; i++) iso_session_free(&run->sessions[i]);
  free(run->sessions);
  if (run->script != NULL) iso_script_watch_end(run);
  iso_session_log_close(&run->log);
  if (run->script != NULL) iso_script_teardown(run);
  iso_script_unload(run->script);
  /* A failed tear-down leaves a table behind, which the next run removes: no reason to lose the history. */
  isoproof_error error = {.offset = -1};
  if (run->database != NULL && iso_database_teardown(run->database, &error) != ISOPROOF_OK &&
      run->options->notice != NULL)
    run->options->notice(error.message, run->options->notice_user);
  iso_database_close(run->database);
  iso_generator_free(run->generator);
  if (run->has_meeting) iso_meeting_destroy(&run->meeting);
  if (run->has_load) iso_load_destroy(&run->load);
}

static isoproof_status prepare(isoproof_run_handle *run, isoproof_error *error) {
  pthread_condattr_t clock;
  if (pthread_mutex_init(&run->lock, NULL) != 0) return iso_fail_memory(error);
  bool good = pthread_condattr_init(&clock) == 0;
  if (good) {
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    good = pthread_cond_init(&run->stopped, &clock) == 0;
    pthread_condattr_destroy(&clock);
  }
  if (good) return ISOPROOF_OK;
  pthread_mutex_destroy(&run->lock);
  return iso_fail_memory(error);
}

isoproof_status isoproof_run(const isoproof_run_options *given, isoproof_task *task, isoproof_run_summary **report,
                             isoproof_error *error) {
  isoproof_run_options options;
  *report = NULL;
  ISO_TRY(take_options(given, &options, error));
  isoproof_run_handle run;
  memset(&run, 0, sizeof run);
  run.options = &options;
  ISO_TRY(prepare(&run, error));
  isoproof_status status = make_generator(&run, error);
  if (status == ISOPROOF_OK) status = go(&run, task, report, error);
  clean_up(&run);
  isoproof_status closed = iso_recorder_close(&run.recorder, status == ISOPROOF_OK ? error : NULL);
  if (status == ISOPROOF_OK) status = closed;
  if (status != ISOPROOF_OK) {
    isoproof_run_summary_free(*report);
    *report = NULL;
  }
  pthread_cond_destroy(&run.stopped);
  pthread_mutex_destroy(&run.lock);
  return status;
}
