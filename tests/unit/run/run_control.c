/* Control over a run: companions, progress, cancelling, rounds, strangers, and what is refused. */
#include "tests/unit/run/run_tests.h"

#include <stdatomic.h>

#include <unistd.h>

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

void a_companion_puts_events_into_the_history(void **state) {
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

void progress_tells_active_faults(void **state) {
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

void cancelling_ends_cleanly(void **state) {
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
void rounds_go_on_without_lost_sessions(void **state) {
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

void cancelling_ends_rounds(void **state) {
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

void strangers_are_found_out(void **state) {
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

void nonsense_is_refused(void **state) {
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
