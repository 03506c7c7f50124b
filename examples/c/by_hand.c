/* by_hand.c - the library in one small program: a history built by hand, judged, and its anomalies told.
 *
 *     cc by_hand.c $(pkg-config --cflags --libs isoproof) -o by_hand && ./by_hand
 *
 * It also shows how a long call reports its progress and how another thread stops it.
 */
#include <isoproof/isoproof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the example when a call failed; a real program would report and go on. */
static void must(isoproof_status status, const isoproof_error *error) {
  if (status == ISOPROOF_OK) return;
  char text[1100];
  isoproof_error_format(error, text, sizeof text);
  fprintf(stderr, "%s: %s\n", isoproof_status_name(status), text);
  exit(1);
}

/* A deposit, a transfer that is rolled back, and a reader that sees what never happened. */
static isoproof_history *build(void) {
  isoproof_error error;
  isoproof_builder *builder;
  isoproof_history *history;
  uint32_t writer, reader;
  isoproof_scalar savings = isoproof_string("savings"), checking = isoproof_string("checking");
  must(isoproof_builder_new(&builder, &error), &error);
  must(isoproof_builder_session(builder, isoproof_string("writer"), &writer, &error), &error);
  must(isoproof_builder_session(builder, isoproof_string("reader"), &reader, &error), &error);

  must(isoproof_builder_begin(builder, writer, ISOPROOF_TXN_COMMITTED, &error), &error);
  must(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, savings, isoproof_integer(100), &error), &error);
  must(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, checking, isoproof_integer(100), &error), &error);

  must(isoproof_builder_begin(builder, writer, ISOPROOF_TXN_ABORTED, &error), &error);
  must(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, savings, isoproof_integer(50), &error), &error);
  must(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, checking, isoproof_integer(150), &error), &error);

  must(isoproof_builder_begin(builder, reader, ISOPROOF_TXN_COMMITTED, &error), &error);
  must(isoproof_builder_op(builder, ISOPROOF_OP_READ, savings, isoproof_integer(50), &error), &error);
  must(isoproof_builder_op(builder, ISOPROOF_OP_READ, checking, isoproof_integer(150), &error), &error);

  must(isoproof_builder_finish(builder, &history, &error), &error);
  isoproof_builder_free(builder);
  return history;
}

static void tell(const isoproof_history *history, const isoproof_anomaly *anomaly) {
  char from[64], to[64], key[64];
  printf("%s %s (breaks %s)\n  %s\n", anomaly->code, anomaly->name, anomaly->level, anomaly->explanation);
  for (size_t i = 0; i < anomaly->edge_count; i++) {
    const isoproof_edge *edge = &anomaly->edges[i];
    isoproof_history_txn_name(history, edge->from_txn, from, sizeof from);
    isoproof_history_txn_name(history, edge->to_txn, to, sizeof to);
    isoproof_scalar_format(edge->has_key ? edge->key : isoproof_nil(), key, sizeof key);
    printf("  %s -%s-> %s%s%s\n", from, edge->kind, to, edge->has_key ? " on " : "", edge->has_key ? key : "");
  }
}

static void check_and_tell(isoproof_history *history) {
  isoproof_error error;
  isoproof_result *result;
  must(isoproof_check(history, NULL, NULL, &result, &error), &error);
  for (size_t i = 0; i < isoproof_result_level_count(result); i++) {
    isoproof_level_verdict level = {.struct_size = sizeof level};
    if (isoproof_result_level_at(result, i, &level))
      printf("%-28s %s\n", level.level, isoproof_verdict_name(level.verdict));
  }
  for (size_t i = 0; i < isoproof_result_anomaly_count(result); i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    if (isoproof_result_anomaly_at(result, i, &anomaly)) tell(history, &anomaly);
  }
  isoproof_verdict verdict = isoproof_result_verdict_of(result, "read-committed");
  isoproof_result_free(result);
  if (verdict != ISOPROOF_VIOLATED) {
    fprintf(stderr, "read-committed should be violated, is %s\n", isoproof_verdict_name(verdict));
    exit(1);
  }
}

/* Progress arrives in the thread that runs the task. */
static void on_progress(const isoproof_progress *progress, void *user) {
  (void)user;
  fprintf(stderr, "%s: %llu of %llu %s\n", progress->stage, (unsigned long long)progress->done,
          (unsigned long long)progress->total, progress->unit);
}

/* isoproof_task_cancel is the one call that another thread may make on a task in use. */
static void *stop(void *task) {
  isoproof_task_cancel(task);
  return NULL;
}

static void cancel(isoproof_history *history) {
  isoproof_error error;
  isoproof_task *task;
  isoproof_result *result = NULL;
  pthread_t other;
  if (isoproof_task_new(&task) != ISOPROOF_OK) exit(1);
  isoproof_task_set_progress(task, on_progress, NULL);
  isoproof_task_set_threads(task, 2);
  if (pthread_create(&other, NULL, stop, task) != 0) exit(1);
  pthread_join(other, NULL); /* before the call, so that the outcome is certain; usually during it */
  isoproof_status status = isoproof_check(history, NULL, task, &result, &error);
  printf("cancelled from another thread: %s\n", isoproof_status_name(status));
  isoproof_result_free(result);
  isoproof_task_free(task);
  if (status != ISOPROOF_ERR_CANCELLED) exit(1);
}

int main(void) {
  isoproof_history *history = build();
  check_and_tell(history);
  cancel(history);
  isoproof_history_free(history);
  return 0;
}
