#include "base/task.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

double iso_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

isolde_status isolde_task_new(isolde_task **task) {
  isolde_task *made = calloc(1, sizeof *made);
  if (made == NULL) return ISOLDE_ERR_MEMORY;
  atomic_init(&made->cancelled, 0);
  *task = made;
  return ISOLDE_OK;
}

void isolde_task_free(isolde_task *task) { free(task); }

void isolde_task_cancel(isolde_task *task) {
  if (task != NULL) atomic_store_explicit(&task->cancelled, 1, memory_order_relaxed);
}

void isolde_task_set_threads(isolde_task *task, unsigned threads) { task->threads = threads; }

void isolde_task_set_timeout(isolde_task *task, double seconds) {
  task->deadline = seconds > 0 ? iso_now() + seconds : 0;
}

void isolde_task_set_progress(isolde_task *task, isolde_progress_fn callback, void *user) {
  task->callback = callback;
  task->user = user;
  task->next_report = 0;
}

isolde_status iso_task_check(const isolde_task *task, isolde_error *error) {
  if (task == NULL) return ISOLDE_OK;
  if (atomic_load_explicit(&task->cancelled, memory_order_relaxed)) {
    return iso_fail(error, ISOLDE_ERR_CANCELLED, "cancelled");
  }
  if (task->deadline > 0 && iso_now() > task->deadline) {
    return iso_fail(error, ISOLDE_ERR_TIMEOUT, "the time limit was reached");
  }
  return ISOLDE_OK;
}

unsigned iso_task_threads(const isolde_task *task) {
  enum { MOST = 256 };
  if (task == NULL) return 1;
  if (task->threads > 0) return task->threads < MOST ? task->threads : MOST;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (processors < 1) return 1;
  return processors < MOST ? (unsigned)processors : MOST;
}

void iso_task_progress(isolde_task *task, const char *stage, const char *unit, uint64_t done, uint64_t total) {
  if (task == NULL || task->callback == NULL) return;
  double now = iso_now();
  if (now < task->next_report) return;
  task->next_report = now + 0.1;
  isolde_progress progress = {stage, unit, done, total};
  task->callback(&progress, task->user);
}
