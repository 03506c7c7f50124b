/* The runner: recorder, histogram, sessions on the simulated database and on SQLite. */
#include "tests/scratch.h"
#include "tests/unit/unit.h"

#include <stdatomic.h>

#include <pthread.h>
#include <unistd.h>

#include "run/recorder.h"
#include "run/run.h"

/* ---- scratch files ---- */

static char folder[SCRATCH_BYTES];

static int make_folder(void **state) {
  (void)state;
  return !scratch_folder(folder);
}

static const char *scratch(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static int remove_folder(void **state) {
  (void)state;
  static const char *const names[] = {"h.jsonl", "long.jsonl", "database", "shop.sql"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(scratch(names[i]));
  return rmdir(folder);
}

/* ---- histogram ---- */

static void quantiles_are_close(void **state) {
  (void)state;
  iso_histogram *h = calloc(1, sizeof *h);
  iso_histogram_sum *sum = calloc(1, sizeof *sum);
  assert_true(h != NULL && sum != NULL);
  assert_int_equal(iso_histogram_quantile(sum, 0.5), 0);
  for (int64_t i = 1; i <= 100000; i++) iso_histogram_add(h, i * 1000);
  iso_histogram_gather(sum, h);
  assert_int_equal(sum->count, 100000);
  assert_int_equal(sum->most, 100000000);
  const double shares[] = {0.01, 0.5, 0.9, 0.99, 1};
  for (int i = 0; i < 5; i++) {
    double expected = shares[i] * 1e8, found = (double)iso_histogram_quantile(sum, shares[i]);
    assert_true(found >= expected * 0.99 && found <= expected * 1.13);
  }
  iso_histogram_add(h, -5);
  iso_histogram_add(h, INT64_MAX);
  iso_histogram_gather(sum, h);
  assert_true(sum->most == INT64_MAX);
  free(h);
  free(sum);
}

/* ---- recorder ---- */

typedef struct scribe {
  iso_recorder *recorder;
  int64_t name;
} scribe;

static void write_txn(iso_session_log *log, int64_t session, size_t ops) {
  iso_jsonl_op *items = calloc(ops, sizeof *items);
  assert_non_null(items);
  for (size_t i = 0; i < ops; i++)
    items[i] = (iso_jsonl_op){.kind = ISOPROOF_OP_WRITE,
                              .key = isoproof_integer((int64_t)i),
                              .value = isoproof_integer(session * 10000000 + 1)};
  iso_jsonl_txn txn = {.session = isoproof_integer(session),
                       .status = ISOPROOF_TXN_COMMITTED,
                       .start = 1,
                       .end = 2,
                       .start_index = -1,
                       .end_index = -1,
                       .node = isoproof_nil(),
                       .error = isoproof_nil(),
                       .ops = items,
                       .count = ops};
  iso_session_log_txn(log, &txn);
  free(items);
}

/* Lines of 5 bytes and of megabytes, from several threads. */
static void *scribble(void *argument) {
  scribe *s = argument;
  iso_session_log log;
  if (iso_session_log_open(&log, s->recorder, NULL) != ISOPROOF_OK) return NULL;
  for (int i = 0; i < 6; i++) write_txn(&log, s->name, i % 3 == 0 ? 90000 : 1);
  iso_session_log_close(&log);
  return NULL;
}

static void lines_stay_whole(void **state) {
  (void)state;
  iso_recorder recorder;
  iso_session_log log;
  scribe scribes[3];
  pthread_t threads[3];
  assert_ok(iso_recorder_open(&recorder, scratch("long.jsonl"), NULL));
  assert_ok(iso_session_log_open(&log, &recorder, NULL));
  iso_session_log_header(&log, NULL, 0);
  iso_session_log_close(&log);
  for (int i = 0; i < 3; i++) {
    scribes[i] = (scribe){&recorder, i};
    assert_int_equal(pthread_create(&threads[i], NULL, scribble, &scribes[i]), 0);
  }
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  assert_ok(iso_recorder_close(&recorder, NULL));
  isoproof_history *history;
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_error error = {.offset = -1};
  assert_ok_error(isoproof_history_open(scratch("long.jsonl"), NULL, NULL, &history, &error), error);
  isoproof_history_counts(history, &counts);
  assert_int_equal(counts.transactions, 18);
  assert_int_equal(counts.operations, 3 * (2 * 90000 + 4));
  isoproof_history_free(history);
}

static void a_full_disk_is_reported_once(void **state) {
  (void)state;
  iso_recorder recorder;
  iso_session_log log;
  isoproof_error error = {.offset = -1};
  if (access("/dev/full", W_OK) != 0) skip();
  assert_ok(iso_recorder_open(&recorder, "/dev/full", NULL));
  assert_ok(iso_session_log_open(&log, &recorder, NULL));
  assert_false(iso_recorder_failed(&recorder));
  write_txn(&log, 1, 1);
  assert_true(iso_recorder_failed(&recorder));
  write_txn(&log, 1, 1);
  iso_session_log_close(&log);
  assert_int_equal(iso_recorder_close(&recorder, &error), ISOPROOF_ERR_IO);
  assert_string_equal(error.file, "/dev/full");
  assert_int_equal(iso_recorder_open(&recorder, "/no/such/folder/h", &error), ISOPROOF_ERR_IO);
}

/* ---- runs ---- */

/* What the options of the test point to. */
static isoproof_workload_options workload = {.struct_size = sizeof workload};

static isoproof_run_options options_for(const char *const *url, isoproof_workload_kind kind, uint64_t txns) {
  isoproof_run_options options = {.struct_size = sizeof options};
  isoproof_run_defaults(&options);
  isoproof_workload_defaults(kind, &workload);
  options.workload = &workload;
  options.urls = url;
  workload.txns = txns;
  workload.sessions = 4;
  options.seconds = txns > 0 ? 0 : 0.3;
  options.path = scratch("h.jsonl");
  return options;
}

/* Runs, opens what was recorded, and compares the counts. */
static isoproof_history *recorded(const isoproof_run_options *options, isoproof_task *task,
                                  isoproof_run_summary **report) {
  isoproof_history *history;
  isoproof_error error = {.offset = -1};
  isoproof_counts counts = {.struct_size = sizeof counts};
  assert_ok_error(isoproof_run(options, task, report, &error), error);
  assert_ok_error(isoproof_history_open(options->path, NULL, NULL, &history, &error), error);
  isoproof_history_counts(history, &counts);
  const isoproof_run_counts *run = isoproof_run_summary_counts(*report);
  assert_int_equal(counts.committed, run->committed);
  assert_int_equal(counts.aborted, run->aborted);
  assert_int_equal(counts.unknown, run->unknown);
  assert_true(counts.transactions == 0 || counts.has_times);
  isoproof_resolution resolution = {.struct_size = sizeof resolution};
  assert_ok_error(isoproof_history_resolve(history, NULL, &resolution, &error), error);
  assert_int_equal(resolution.duplicate_writes, 0);
  assert_int_equal(resolution.thin_air, 0);
  return history;
}

static isoproof_verdict verdict(isoproof_history *history, const char *level) {
  isoproof_check_options how = {.struct_size = sizeof how, .levels = &level, .level_count = 1};
  isoproof_result *result;
  isoproof_error error = {.offset = -1};
  assert_ok_error(isoproof_check(history, &how, NULL, &result, &error), error);
  isoproof_verdict found = isoproof_result_verdict(result);
  isoproof_result_free(result);
  return found;
}

static void every_workload_runs_on_the_simulator(void **state) {
  (void)state;
  static const char *const url[] = {"sim:"};
  for (int kind = 0; kind < ISOPROOF_WORKLOADS; kind++) {
    if (isoproof_workload_needs((isoproof_workload_kind)kind) == ISOPROOF_NEED_ROWS) continue;
    isoproof_run_options options = options_for(url, (isoproof_workload_kind)kind, 400);
    isoproof_run_summary *report;
    isoproof_history *history = recorded(&options, NULL, &report);
    const isoproof_run_counts *counts = isoproof_run_summary_counts(report);
    assert_true(counts->committed > 100);
    assert_true(counts->p50_ns > 0 && counts->p50_ns <= counts->p99_ns && counts->p99_ns <= counts->max_ns);
    assert_int_equal(counts->broken_totals, 0);
    assert_string_equal(isoproof_run_summary_driver(report), "sim");
    assert_string_equal(isoproof_history_fact(history, "workload"), isoproof_workload_at((size_t)kind));
    assert_non_null(isoproof_history_fact(history, "isolation"));
    assert_int_equal(verdict(history, "read-committed"), ISOPROOF_SATISFIED);
    isoproof_history_free(history);
    isoproof_run_summary_free(report);
  }
}

#ifdef ISO_HAVE_SQLITE

/* Rows on a database that keeps its promise, sent in every way there is. */
static void workloads_of_rows_run_on_sqlite(void **state) {
  (void)state;
  static const char *const url[] = {"sqlite:"};
  for (int kind = 0; kind < ISOPROOF_WORKLOADS; kind++) {
    if (isoproof_workload_needs((isoproof_workload_kind)kind) != ISOPROOF_NEED_ROWS) continue;
    for (size_t trips = 0; isoproof_round_trips_at(trips) != NULL; trips++) {
      isoproof_run_options options = options_for(url, (isoproof_workload_kind)kind, 120);
      options.round_trips = isoproof_round_trips_at(trips);
      options.statements = isoproof_statements_at(trips % 2);
      isoproof_run_summary *report;
      isoproof_history *history = recorded(&options, NULL, &report);
      assert_true(isoproof_run_summary_counts(report)->committed > 0);
      assert_string_equal(isoproof_history_fact(history, "round-trips"), options.round_trips);
      assert_string_equal(isoproof_history_fact(history, "statements"), options.statements);
      assert_non_null(isoproof_history_fact(history, "layout"));
      assert_non_null(isoproof_history_fact(history, "access"));
      assert_int_equal(isoproof_history_fact(history, "jitter") != NULL,
                       isoproof_workload_meets((isoproof_workload_kind)kind));
      assert_int_equal(verdict(history, "serializable"), ISOPROOF_SATISFIED);
      isoproof_history_free(history);
      isoproof_run_summary_free(report);
    }
  }
}

#endif

/* Whether a weakness or a bug shows is a matter of chance: who meets whom. */
enum { TRIES = 20 };

static void a_weaker_database_is_found_out(void **state) {
  (void)state;
  static const char *const url[] = {"sim:?level=read-committed"};
  bool found = false;
  for (int tries = 0; tries < TRIES && !found; tries++) {
    isoproof_run_options options = options_for(url, ISOPROOF_WORKLOAD_MIXED, 40000);
    workload.keys = 4;
    isoproof_run_summary *report;
    isoproof_history *history = recorded(&options, NULL, &report);
    assert_int_equal(verdict(history, "read-committed"), ISOPROOF_SATISFIED);
    found = verdict(history, "read-atomic") == ISOPROOF_VIOLATED;
    isoproof_history_free(history);
    isoproof_run_summary_free(report);
  }
  assert_true(found);
}

static bool is_found(isoproof_sim_bug bug, uint64_t seed) {
  char url[128];
  const char *const urls[] = {url};
  bool lists = bug == ISOPROOF_SIM_BUG_DUPLICATE_APPEND;
  snprintf(url, sizeof url, "sim:?bugs=%s&rate=0.2", isoproof_sim_bug_name(bug));
  isoproof_run_options options =
      options_for(urls, lists ? ISOPROOF_WORKLOAD_LIST_APPEND : ISOPROOF_WORKLOAD_MIXED, 8000);
  workload.keys = 5;
  workload.abort_share = 0.05;
  workload.seed = seed;
  isoproof_run_summary *report;
  isoproof_history *history;
  isoproof_error error = {.offset = -1};
  assert_ok_error(isoproof_run(&options, NULL, &report, &error), error);
  assert_ok_error(isoproof_history_open(options.path, NULL, NULL, &history, &error), error);
  isoproof_verdict found = verdict(history, isoproof_sim_bug_level(bug));
  isoproof_history_free(history);
  isoproof_run_summary_free(report);
  return found == ISOPROOF_VIOLATED;
}

static void every_bug_of_the_simulator_is_found(void **state) {
  (void)state;
  for (int bug = 0; bug < ISOPROOF_SIM_BUG_PHANTOM; bug++) { /* those from there on are of rows */
    uint64_t seed = 1;
    while (seed <= TRIES && !is_found((isoproof_sim_bug)bug, seed)) seed++;
    if (seed > TRIES) fail_msg("%s was not found", isoproof_sim_bug_name((isoproof_sim_bug)bug));
  }
}

static void sqlite_keeps_its_promise(void **state) {
  (void)state;
  static const char *const url[] = {"sqlite:"};
  isoproof_driver_info info = {.struct_size = sizeof info};
  bool built = false;
  for (size_t i = 0; isoproof_driver_at(i, &info); i++)
    built = built || (strcmp(info.name, "sqlite") == 0 && info.built);
  if (!built) skip();
  isoproof_run_options options = options_for(url, ISOPROOF_WORKLOAD_MIXED, 300);
  isoproof_run_summary *report;
  isoproof_history *history = recorded(&options, NULL, &report);
  const char *name, *value;
  assert_true(isoproof_run_summary_counts(report)->committed > 30);
  assert_string_equal(isoproof_run_summary_claim(report), "serializable");
  assert_true(isoproof_run_summary_setting_at(report, 0, &name, &value));
  assert_string_equal(isoproof_run_summary_url_at(report, 0), "sqlite:");
  assert_null(isoproof_run_summary_url_at(report, 1));
  assert_int_equal(verdict(history, "causal"), ISOPROOF_SATISFIED);
  isoproof_history_free(history);
  isoproof_run_summary_free(report);
}

#ifdef ISO_HAVE_SQLITE
/* A script with a setup, two kinds of transactions, and invariants of which one is broken. */
static void scripts_are_run_on_sqlite(void **state) {
  (void)state;
  static const char script[] = "-- setup\nCREATE TABLE stock (id INTEGER PRIMARY KEY, n INTEGER);\n"
                               "INSERT INTO stock VALUES (1, 0), (2, 0);\n"
                               "-- transaction sell isolation immediate weight 2\n\\set item random(1, 2)\n"
                               "SELECT n AS was FROM stock WHERE id = :item \\gset\n"
                               "UPDATE stock SET n = :was + 1 WHERE id = :item;\n"
                               "-- transaction look\nBEGIN;\nSELECT * FROM stock;\nROLLBACK;\n"
                               "-- invariant both\nSELECT count(*) FROM stock\n-- expect 2\n"
                               "-- invariant none_sold finally\nSELECT sum(n) FROM stock\n-- expect 0\n";
  static char path[256];
  const char *paths[] = {path};
  snprintf(path, sizeof path, "%s", scratch("shop.sql"));
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fputs(script, out);
  fclose(out);
  static const char *const url[] = {"sqlite:"};
  isoproof_run_options options = options_for(url, ISOPROOF_WORKLOAD_MIXED, 60);
  options.scripts = paths;
  options.script_count = 1;
  options.retries = 100;
  isoproof_run_summary *summary = NULL;
  isoproof_error error = {.offset = -1};
  assert_ok(isoproof_run(&options, NULL, &summary, &error));
  const isoproof_run_counts *counts = isoproof_run_summary_counts(summary);
  assert_true(counts->committed > 0 && counts->aborted > 0 && counts->unknown == 0);
  assert_int_equal(isoproof_run_summary_broken_invariants(summary), 1);
  assert_string_equal(isoproof_run_summary_claim(summary), "mixed");
  isoproof_run_summary_free(summary);
}
#endif

static void a_lost_reply_is_unknown_and_ends_the_session(void **state) {
  (void)state;
  static const char *const url[] = {"sim:?lost=0.05"};
  isoproof_run_options options = options_for(url, ISOPROOF_WORKLOAD_LOST_UPDATE, 1000);
  isoproof_run_summary *report;
  isoproof_history *history = recorded(&options, NULL, &report);
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  assert_true(counts.unknown > 5);
  for (uint64_t i = 0; i < counts.sessions; i++) {
    isoproof_session session = {.struct_size = sizeof session};
    assert_true(isoproof_history_session_at(history, i, &session));
    for (uint64_t t = 0; t < session.txn_count; t++) {
      isoproof_txn txn = {.struct_size = sizeof txn};
      assert_true(isoproof_history_txn_at(history, session.first_txn + t, &txn));
      if (txn.status != ISOPROOF_TXN_UNKNOWN) continue;
      assert_int_equal(t, session.txn_count - 1);
      assert_true(txn.end == ISOPROOF_NO_TIME);
      assert_int_not_equal(txn.error.type, ISOPROOF_NIL);
    }
  }
  assert_int_equal(verdict(history, "causal"), ISOPROOF_SATISFIED);
  isoproof_history_free(history);
  isoproof_run_summary_free(report);
}

static void retries_are_transactions_of_their_own(void **state) {
  (void)state;
  static const char *const url[] = {"sim:"};
  isoproof_run_options options = options_for(url, ISOPROOF_WORKLOAD_LOST_UPDATE, 20000);
  workload.keys = 1;
  options.retries = 3;
  isoproof_run_summary *report;
  isoproof_history *history = recorded(&options, NULL, &report);
  const isoproof_run_counts *counts = isoproof_run_summary_counts(report);
  assert_int_equal(counts->committed + counts->aborted, 20000 + counts->retried);
  assert_true(counts->errors[ISO_CLASS_SERIALIZATION] == counts->aborted);
  isoproof_history_free(history);
  isoproof_run_summary_free(report);
}

static bool hold_now_and_then(void *user) {
  atomic_uint *asked = user;
  return atomic_fetch_add(asked, 1) % 8 == 7;
}

/* Phases, a ramp, a schedule that no database can follow, time to think, and a checker that lets sessions wait. */
static void a_load_is_a_run_as_any(void **state) {
  (void)state;
  static const char *const url[] = {"sim:"};
  static const isoproof_workload_kind kinds[] = {ISOPROOF_WORKLOAD_MIXED, ISOPROOF_WORKLOAD_UPSERT};
  static const uint32_t sessions[] = {1, 4, 2};
  static const double seconds[] = {0.05, 0.1, 0.05};
  for (size_t i = 0; i < 2; i++) {
    isoproof_run_options options = options_for(url, kinds[i], 0);
    atomic_uint asked = 0;
    options.seconds = 0;
    options.phase_sessions = sessions;
    options.phase_seconds = seconds;
    options.phase_count = 3;
    options.ramp = 0.02;
    options.rate = 1e6;
    options.think_time = 1e-4;
    options.think_exponential = true;
    options.hold = hold_now_and_then;
    options.over_user = &asked;
    isoproof_run_summary *report;
    isoproof_history *history = recorded(&options, NULL, &report);
    const isoproof_run_counts *counts = isoproof_run_summary_counts(report);
    assert_true(counts->committed > 0);
    assert_true(counts->lag_max_ns >= counts->lag_p50_ns && counts->lag_max_ns > 0);
    assert_int_equal(verdict(history, "read-committed"), ISOPROOF_SATISFIED);
    isoproof_history_free(history);
    isoproof_run_summary_free(report);
  }
}

static void clients_may_roll_back(void **state) {
  (void)state;
  static const char *const url[] = {"sim:"};
  isoproof_run_options options = options_for(url, ISOPROOF_WORKLOAD_GENERAL, 1000);
  workload.abort_share = 1;
  isoproof_run_summary *report;
  isoproof_history *history = recorded(&options, NULL, &report);
  assert_int_equal(isoproof_run_summary_counts(report)->aborted, 1000);
  isoproof_history_free(history);
  isoproof_run_summary_free(report);
}

static void lists_are_read_in_the_end(void **state) {
  (void)state;
  static const char *const url[] = {"sim:"};
  isoproof_run_options options = options_for(url, ISOPROOF_WORKLOAD_LIST_APPEND, 2000);
  isoproof_run_summary *report;
  isoproof_history *history = recorded(&options, NULL, &report);
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_session last = {.struct_size = sizeof last};
  isoproof_history_counts(history, &counts);
  assert_int_equal(counts.sessions, 5);
  assert_true(isoproof_history_session_at(history, 4, &last));
  assert_int_equal(last.name.integer, 4);
  uint64_t reads = 0;
  for (uint64_t t = 0; t < last.txn_count; t++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    assert_true(isoproof_history_txn_at(history, last.first_txn + t, &txn));
    reads += txn.op_count;
  }
  assert_true(reads >= counts.keys);
  isoproof_history_free(history);
  isoproof_run_summary_free(report);
}

/* ---- cancelling, companions, progress ---- */

typedef struct beside {
  isoproof_task *task;
  int events, looks;
  int64_t told; /* when the first event was */
} beside;

static void companion(isoproof_run_handle *run, void *user) {
  beside *b = user;
  b->told = isoproof_run_event(run, "kill node 1");
  assert_true(isoproof_run_now(run) >= b->told);
  if (isoproof_run_wait(run, 0.05)) isoproof_run_event(run, "heal \"node\" 1");
  b->events = 2;
  if (b->task != NULL) isoproof_task_cancel(b->task);
  while (isoproof_run_wait(run, 100)) continue;
}

static void look(const isoproof_run_progress *progress, void *user) {
  beside *b = user;
  assert_true(progress->counts->seconds >= 0 && progress->sessions_live <= 4);
  b->looks++;
}

static void a_companion_puts_events_into_the_history(void **state) {
  (void)state;
  static const char *const url[] = {"sim:?nodes=2&level=causal"};
  isoproof_run_options options = options_for(url, ISOPROOF_WORKLOAD_MIXED, 0);
  beside b = {NULL, 0, 0, 0};
  options.seconds = 2; /* long beside what the companion waits for */
  options.companion = companion;
  options.companion_user = &b;
  options.progress = look;
  options.progress_user = &b;
  isoproof_run_summary *report;
  isoproof_history *history = recorded(&options, NULL, &report);
  assert_true(b.looks > 0);
  assert_int_equal(b.events, 2);
  const char *first = isoproof_history_fact(history, "event.1"), *second = isoproof_history_fact(history, "event.2");
  assert_true(first != NULL && strstr(first, " kill node 1") != NULL);
  assert_true(strtoll(first, NULL, 10) == b.told);
  assert_true(second != NULL && strstr(second, " heal \"node\" 1") != NULL);
  assert_non_null(isoproof_history_fact(history, "node.1"));
  isoproof_txn txn = {.struct_size = sizeof txn};
  assert_true(isoproof_history_txn_at(history, 0, &txn));
  assert_int_equal(txn.node.type, ISOPROOF_INTEGER);
  isoproof_history_free(history);
  isoproof_run_summary_free(report);
}

/* Faults begin and end, one within the other, and progress tells the one that began last. */
typedef struct fault_watch {
  isoproof_task *task;
  atomic_uint stage; /* how many of the texts below were seen */
} fault_watch;

static const struct {
  const char *event, *shown;
} fault_stages[] = {{"fault pause node 1 begin", "pause node 1"},
                    {"fault kill node 0 begin: by force", "kill node 0 and 1 more"},
                    {"fault kill node 0 end", "pause node 1"},
                    {"fault pause node 1 end", NULL}};
enum { FAULT_STAGES = sizeof fault_stages / sizeof *fault_stages };

static void faulty_companion(isoproof_run_handle *run, void *user) {
  fault_watch *w = user;
  for (unsigned i = 0; i < FAULT_STAGES; i++) {
    isoproof_run_event(run, fault_stages[i].event);
    while (atomic_load(&w->stage) <= i && isoproof_run_wait(run, 0.01)) continue;
  }
  isoproof_task_cancel(w->task);
}

static void look_for_faults(const isoproof_run_progress *progress, void *user) {
  fault_watch *w = user;
  unsigned stage = atomic_load(&w->stage);
  const char *expected = stage < FAULT_STAGES ? fault_stages[stage].shown : NULL;
  bool same = expected == NULL ? progress->fault == NULL : progress->fault != NULL;
  if (same && expected != NULL) same = strcmp(progress->fault, expected) == 0;
  if (same && stage < FAULT_STAGES) atomic_store(&w->stage, stage + 1);
}

static void progress_tells_active_faults(void **state) {
  (void)state;
  static const char *const url[] = {"sim:"};
  isoproof_run_options options = options_for(url, ISOPROOF_WORKLOAD_MIXED, 0);
  fault_watch w = {.stage = 0};
  assert_ok(isoproof_task_new(&w.task));
  options.seconds = 100;
  options.companion = faulty_companion;
  options.companion_user = &w;
  options.progress = look_for_faults;
  options.progress_user = &w;
  isoproof_run_summary *report;
  isoproof_history *history = recorded(&options, w.task, &report);
  assert_int_equal(atomic_load(&w.stage), FAULT_STAGES);
  isoproof_history_free(history);
  isoproof_run_summary_free(report);
  isoproof_task_free(w.task);
}

static void cancelling_ends_cleanly(void **state) {
  (void)state;
  static const char *const url[] = {"sim:"};
  isoproof_run_options options = options_for(url, ISOPROOF_WORKLOAD_MIXED, 0);
  beside b = {NULL, 0, 0, 0};
  assert_ok(isoproof_task_new(&b.task));
  options.seconds = 100;
  options.companion = companion;
  options.companion_user = &b;
  isoproof_run_summary *report;
  isoproof_history *history = recorded(&options, b.task, &report);
  assert_true(isoproof_run_summary_cancelled(report));
  assert_true(isoproof_run_summary_counts(report)->seconds < 20);
  assert_memory_equal(isoproof_history_fact(history, "interrupted"), "after ", 6);
  isoproof_history_free(history);
  isoproof_run_summary_free(report);
  isoproof_task_free(b.task);
}

/* ---- rounds ---- */

/* A session that has lost its connection is not waited for, and comes back. */
static void rounds_go_on_without_lost_sessions(void **state) {
  (void)state;
  static const char *const url[] = {"sim:?lost=0.02"};
  isoproof_run_options options = options_for(url, ISOPROOF_WORKLOAD_MINI, 2000);
  isoproof_run_summary *report;
  isoproof_history *history = recorded(&options, NULL, &report);
  const isoproof_run_counts *counts = isoproof_run_summary_counts(report);
  assert_true(counts->unknown > 5);
  assert_int_equal(verdict(history, "causal"), ISOPROOF_SATISFIED);
  isoproof_history_free(history);
  isoproof_run_summary_free(report);
}

static void cancelling_ends_rounds(void **state) {
  (void)state;
  static const char *const url[] = {"sim:"};
  isoproof_run_options options = options_for(url, ISOPROOF_WORKLOAD_MINI, 0);
  beside b = {NULL, 0, 0, 0};
  assert_ok(isoproof_task_new(&b.task));
  options.seconds = 100;
  options.companion = companion;
  options.companion_user = &b;
  isoproof_run_summary *report;
  isoproof_history *history = recorded(&options, b.task, &report);
  assert_true(isoproof_run_summary_cancelled(report));
  isoproof_history_free(history);
  isoproof_run_summary_free(report);
  isoproof_task_free(b.task);
}

/* ---- refusals ---- */

static void refused(const isoproof_run_options *options, isoproof_status expected, const char *word) {
  isoproof_run_summary *report;
  isoproof_error error = {.offset = -1};
  assert_int_equal(isoproof_run(options, NULL, &report, &error), expected);
  assert_null(report);
  if (strstr(error.message, word) == NULL && strstr(error.file, word) == NULL)
    fail_msg("expected '%s' in: %s", word, error.message);
}

#ifdef ISO_HAVE_SQLITE

/* Somebody else, who writes into the table of the run. */
static void stranger(isoproof_run_handle *run, void *user) {
  const char *const *url = user;
  iso_database *database = NULL;
  iso_connection *connection = NULL;
  iso_reply reply = {0};
  if (iso_database_open(url, 1, NULL, &database, NULL) == ISOPROOF_OK &&
      iso_connect(database, 0, &connection, NULL) == ISOPROOF_OK)
    while (isoproof_run_wait(run, 0.01)) iso_execute(connection, "UPDATE watched SET v = 7", &reply);
  iso_reply_free(&reply);
  iso_disconnect(connection);
  iso_database_close(database);
}

static void strangers_are_found_out(void **state) {
  (void)state;
  char text[300];
  snprintf(text, sizeof text, "sqlite:%s", scratch("database"));
  const char *const url[] = {text};
  isoproof_run_options options = options_for(url, ISOPROOF_WORKLOAD_MIXED, 0);
  workload.txns = 0;
  options.seconds = 600;
  options.table = "watched";
  options.companion = stranger;
  options.companion_user = (void *)(uintptr_t)url;
  refused(&options, ISOPROOF_ERR_INTERFERENCE,
          "of table watched holds 7, which this run did not write; seen by session");
  isoproof_history *history = NULL;
  isoproof_result *result = NULL;
  isoproof_error error = {.offset = -1};
  assert_ok_error(isoproof_history_open(options.path, NULL, NULL, &history, &error), error);
  assert_non_null(strstr(isoproof_history_fact(history, "interference"), "holds 7"));
  /* Nobody has read what nobody wrote. */
  isoproof_resolution resolution = {.struct_size = sizeof resolution};
  assert_ok_error(isoproof_history_resolve(history, NULL, &resolution, &error), error);
  assert_int_equal(resolution.thin_air, 0);
  assert_int_equal(isoproof_check(history, NULL, NULL, &result, &error), ISOPROOF_ERR_INTERFERENCE);
  isoproof_history_free(history);
  workload.txns = 10;
}

#endif

static void nonsense_is_refused(void **state) {
  (void)state;
  static const char *const sim[] = {"sim:"}, *const strange[] = {"oracle:"};
  const isoproof_run_options good = options_for(sim, ISOPROOF_WORKLOAD_MIXED, 10);
  isoproof_run_options bad = good;
  bad.url_count = 0;
  refused(&bad, ISOPROOF_ERR_USAGE, "urls");
  bad = good;
  bad.urls = strange;
  refused(&bad, ISOPROOF_ERR_USAGE, "oracle");
  bad = good;
  bad.path = NULL;
  refused(&bad, ISOPROOF_ERR_USAGE, "path");
  bad = good;
  bad.path = "/no/such/folder/h.jsonl";
  refused(&bad, ISOPROOF_ERR_IO, "/no/such/folder/h.jsonl");
  bad = good;
  bad.isolation = "chaos";
  refused(&bad, ISOPROOF_ERR_USAGE, "chaos");
  bad = good;
  workload.txns = 0;
  bad.seconds = 0;
  refused(&bad, ISOPROOF_ERR_USAGE, "seconds");
  workload.txns = 10;
  bad = good;
  bad.seconds = -1;
  refused(&bad, ISOPROOF_ERR_USAGE, "seconds");
  bad = good;
  workload.sessions = 0;
  refused(&bad, ISOPROOF_ERR_USAGE, "sessions");
  workload.sessions = 4;
  bad = good;
  bad.struct_size = 0;
  refused(&bad, ISOPROOF_ERR_USAGE, "struct_size");
  bad = good;
  bad.layout = "round";
  refused(&bad, ISOPROOF_ERR_USAGE, "keyed, indexed");
  bad = good;
  bad.access = "blind";
  refused(&bad, ISOPROOF_ERR_USAGE, "access: expected one of auto");
  bad = good;
  bad.statements = "shouted";
  refused(&bad, ISOPROOF_ERR_USAGE, "prepared, plain");
  bad = good;
  bad.round_trips = "none";
  refused(&bad, ISOPROOF_ERR_USAGE, "single, batched, both");
  bad = good;
  bad.rate = -1;
  refused(&bad, ISOPROOF_ERR_USAGE, "rate: expected 0 to");
  bad = good;
  bad.deadlock_timeout = 1;
  refused(&bad, ISOPROOF_ERR_USAGE, "deadlock_timeout: sessions of the driver");
  workload.kind = ISOPROOF_WORKLOAD_PHANTOM;
  workload.writes_per_key = 8;
  bad = good;
  bad.tables = 2;
  refused(&bad, ISOPROOF_ERR_USAGE, "tables: the workload phantom");
  workload.kind = ISOPROOF_WORKLOAD_MIXED;
  if (access("/dev/full", W_OK) != 0) return;
  bad = good;
  bad.path = "/dev/full";
  refused(&bad, ISOPROOF_ERR_IO, "/dev/full");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quantiles_are_close),
      cmocka_unit_test(lines_stay_whole),
      cmocka_unit_test(a_full_disk_is_reported_once),
      cmocka_unit_test(every_workload_runs_on_the_simulator),
#ifdef ISO_HAVE_SQLITE
      cmocka_unit_test(workloads_of_rows_run_on_sqlite),
#endif
      cmocka_unit_test(a_weaker_database_is_found_out),
      cmocka_unit_test(every_bug_of_the_simulator_is_found),
      cmocka_unit_test(sqlite_keeps_its_promise),
#ifdef ISO_HAVE_SQLITE
      cmocka_unit_test(scripts_are_run_on_sqlite),
#endif
      cmocka_unit_test(a_lost_reply_is_unknown_and_ends_the_session),
      cmocka_unit_test(retries_are_transactions_of_their_own),
      cmocka_unit_test(a_load_is_a_run_as_any),
      cmocka_unit_test(clients_may_roll_back),
      cmocka_unit_test(lists_are_read_in_the_end),
      cmocka_unit_test(a_companion_puts_events_into_the_history),
      cmocka_unit_test(progress_tells_active_faults),
      cmocka_unit_test(cancelling_ends_cleanly),
      cmocka_unit_test(rounds_go_on_without_lost_sessions),
      cmocka_unit_test(cancelling_ends_rounds),
#ifdef ISO_HAVE_SQLITE
      cmocka_unit_test(strangers_are_found_out),
#endif
      cmocka_unit_test(nonsense_is_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
