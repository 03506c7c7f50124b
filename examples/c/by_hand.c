/* by_hand.c - the library in one small program: a history built by hand, judged, and its anomalies told.
 *
 *     cc by_hand.c $(pkg-config --cflags --libs isolde) -o by_hand && ./by_hand
 *
 * It also shows how a long call reports its progress and how another thread stops it.
 */
#include <isoproof/isoproof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the example when a call failed; a real program would report and go on. */
static void must(isolde_status status, const isolde_error *error) {
  if (status == ISOLDE_OK) return;
  char text[1100];
  isolde_error_format(error, text, sizeof text);
  fprintf(stderr, "%s: %s\n", isolde_status_name(status), text);
  exit(1);
}

/* A deposit, a transfer that is rolled back, and a reader that sees what never happened. */
static isolde_history *build(void) {
  isolde_error error;
  isolde_builder *builder;
  isolde_history *history;
  uint32_t writer, reader;
  isolde_scalar savings = isolde_string("savings"), checking = isolde_string("checking");
  must(isolde_builder_new(&builder, &error), &error);
  must(isolde_builder_session(builder, isolde_string("writer"), &writer, &error), &error);
  must(isolde_builder_session(builder, isolde_string("reader"), &reader, &error), &error);

  must(isolde_builder_begin(builder, writer, ISOLDE_COMMITTED, &error), &error);
  must(isolde_builder_op(builder, ISOLDE_OP_WRITE, savings, isolde_integer(100), &error), &error);
  must(isolde_builder_op(builder, ISOLDE_OP_WRITE, checking, isolde_integer(100), &error), &error);

  must(isolde_builder_begin(builder, writer, ISOLDE_ABORTED, &error), &error);
  must(isolde_builder_op(builder, ISOLDE_OP_WRITE, savings, isolde_integer(50), &error), &error);
  must(isolde_builder_op(builder, ISOLDE_OP_WRITE, checking, isolde_integer(150), &error), &error);

  must(isolde_builder_begin(builder, reader, ISOLDE_COMMITTED, &error), &error);
  must(isolde_builder_op(builder, ISOLDE_OP_READ, savings, isolde_integer(50), &error), &error);
  must(isolde_builder_op(builder, ISOLDE_OP_READ, checking, isolde_integer(150), &error), &error);

  must(isolde_builder_finish(builder, &history, &error), &error);
  isolde_builder_free(builder);
  return history;
}

static void tell(const isolde_history *history, const isolde_anomaly *anomaly) {
  char from[64], to[64], key[64];
  printf("%s %s (breaks %s)\n  %s\n", anomaly->code, anomaly->name, anomaly->level, anomaly->explanation);
  for (size_t i = 0; i < anomaly->edge_count; i++) {
    const isolde_edge *edge = &anomaly->edges[i];
    isolde_history_txn_name(history, edge->from_txn, from, sizeof from);
    isolde_history_txn_name(history, edge->to_txn, to, sizeof to);
    isolde_scalar_format(edge->has_key ? edge->key : isolde_nil(), key, sizeof key);
    printf("  %s -%s-> %s%s%s\n", from, edge->kind, to, edge->has_key ? " on " : "", edge->has_key ? key : "");
  }
}

static void check_and_tell(isolde_history *history) {
  isolde_error error;
  isolde_result *result;
  must(isolde_check(history, NULL, NULL, &result, &error), &error);
  for (size_t i = 0; i < isolde_result_levels(result); i++) {
    isolde_level_verdict level;
    if (isolde_result_level(result, i, &level)) printf("%-28s %s\n", level.level, isolde_verdict_name(level.verdict));
  }
  for (size_t i = 0; i < isolde_result_anomalies(result); i++) {
    isolde_anomaly anomaly;
    if (isolde_result_anomaly(result, i, &anomaly)) tell(history, &anomaly);
  }
  isolde_verdict verdict = isolde_result_of(result, "read-committed");
  isolde_result_free(result);
  if (verdict != ISOLDE_VIOLATED) {
    fprintf(stderr, "read-committed should be violated, is %s\n", isolde_verdict_name(verdict));
    exit(1);
  }
}

/* Progress arrives in the thread that runs the task. */
static void on_progress(const isolde_progress *progress, void *user) {
  (void)user;
  fprintf(stderr, "%s: %llu of %llu %s\n", progress->stage, (unsigned long long)progress->done,
          (unsigned long long)progress->total, progress->unit);
}

/* isolde_task_cancel is the one call that another thread may make on a task in use. */
static void *stop(void *task) {
  isolde_task_cancel(task);
  return NULL;
}

static void cancel(isolde_history *history) {
  isolde_error error;
  isolde_task *task;
  isolde_result *result = NULL;
  pthread_t other;
  if (isolde_task_new(&task) != ISOLDE_OK) exit(1);
  isolde_task_set_progress(task, on_progress, NULL);
  isolde_task_set_threads(task, 2);
  if (pthread_create(&other, NULL, stop, task) != 0) exit(1);
  pthread_join(other, NULL); /* before the call, so that the outcome is certain; usually during it */
  isolde_status status = isolde_check(history, NULL, task, &result, &error);
  printf("cancelled from another thread: %s\n", isolde_status_name(status));
  isolde_result_free(result);
  isolde_task_free(task);
  if (status != ISOLDE_ERR_CANCELLED) exit(1);
}

int main(void) {
  isolde_history *history = build();
  check_and_tell(history);
  cancel(history);
  isolde_history_free(history);
  return 0;
}
