/* The runner: sessions on the simulated database and on SQLite; its recorder and its control are in files beside this
 * one. */
#include "tests/unit/run/run_tests.h"

#include <unistd.h>

#include "tests/scratch.h"

/* ---- scratch files ---- */

static char folder[SCRATCH_BYTES];

static int make_folder(void **state) {
  (void)state;
  return !scratch_folder(folder);
}

const char *scratch(const char *name) {
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

/* ---- runs ---- */

/* What the options of the test point to. */
isoproof_workload_options workload = {.struct_size = sizeof workload};

isoproof_run_options options_for(const char *const *url, isoproof_workload_kind kind, uint64_t txns) {
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
isoproof_history *recorded(const isoproof_run_options *options, isoproof_task *task, isoproof_run_summary **report) {
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

isoproof_verdict verdict(isoproof_history *history, const char *level) {
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
