/* The recorder of a run, and the histogram of its latencies. */
#include "tests/unit/run/run_tests.h"

#include <pthread.h>
#include <unistd.h>

#include "run/recorder.h"

/* ---- histogram ---- */

void quantiles_are_close(void **state) {
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

void lines_stay_whole(void **state) {
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

void a_full_disk_is_reported_once(void **state) {
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
