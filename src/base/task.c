/* Cancellation, deadlines, numbers of threads and progress of a task. */
#include "base/task.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

double iso_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

isoproof_status isoproof_task_new(isoproof_task **task) {
  isoproof_task *made = calloc(1, sizeof *made);
  if (made == NULL) return ISOPROOF_ERR_MEMORY;
  atomic_init(&made->cancelled, 0);
  *task = made;
  return ISOPROOF_OK;
}

void isoproof_task_free(isoproof_task *task) { free(task); }

void isoproof_task_cancel(isoproof_task *task) {
  if (task != NULL) atomic_store_explicit(&task->cancelled, 1, memory_order_relaxed);
}

void isoproof_task_set_threads(isoproof_task *task, unsigned threads) { task->threads = threads; }

void isoproof_task_set_timeout(isoproof_task *task, double seconds) {
  task->deadline = seconds > 0 ? iso_now() + seconds : 0;
}

void isoproof_task_set_progress(isoproof_task *task, isoproof_progress_fn callback, void *user) {
  task->callback = callback;
  task->user = user;
  task->next_report = 0;
}

isoproof_status iso_task_check(const isoproof_task *task, isoproof_error *error) {
  if (task == NULL) return ISOPROOF_OK;
  if (atomic_load_explicit(&task->cancelled, memory_order_relaxed)) {
    return iso_fail(error, ISOPROOF_ERR_CANCELLED, "cancelled");
  }
  if (task->deadline > 0 && iso_now() > task->deadline) {
    return iso_fail(error, ISOPROOF_ERR_TIMEOUT, "the time limit was reached");
  }
  return ISOPROOF_OK;
}

unsigned iso_task_threads(const isoproof_task *task) {
  enum { MOST = 256 };
  if (task == NULL) return 1;
  if (task->threads > 0) return task->threads < MOST ? task->threads : MOST;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (processors < 1) return 1;
  return processors < MOST ? (unsigned)processors : MOST;
}

void iso_task_progress(isoproof_task *task, const char *stage, const char *unit, uint64_t done, uint64_t total) {
  if (task == NULL || task->callback == NULL) return;
  double now = iso_now();
  if (now < task->next_report) return;
  task->next_report = now + 0.1;
  isoproof_progress progress = {stage, unit, done, total, task->level, task->levels_decided, task->levels_total};
  task->callback(&progress, task->user);
}

void iso_task_stage(isoproof_task *task, const char *stage) {
  if (task == NULL) return;
  task->next_report = 0;
  iso_task_progress(task, stage, "", 0, 0);
}

void iso_task_about(isoproof_task *task, const char *level, uint32_t decided, uint32_t total) {
  if (task == NULL) return;
  task->level = level;
  task->levels_decided = decided;
  task->levels_total = total;
  task->next_report = 0;
  if (level != NULL) iso_task_progress(task, "deciding", "levels", decided, total);
}
