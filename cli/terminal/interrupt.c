/* interrupt.c - signals. */
#include "cli/terminal/interrupt.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal/progress.h"

/* Tasks in progress, one a worker thread at most; a handler may only touch lock-free atomics. */
enum { MOST_TASKS = 1024 };
static _Atomic(isoproof_task *) tasks[MOST_TASKS];
static atomic_bool caught;
static atomic_uint cancelling; /* handlers at work, in whatever threads */

/* The second one: nothing is waited for any more. */
static void end_at_once(int number) {
  static const char erase[] = "\r\033[K";
  if (progress_is_shown() && write(STDERR_FILENO, erase, sizeof erase - 1) < 0) errno = 0; /* nobody to tell */
  signal(number, SIG_DFL);
  raise(number);
}

static void cancel_all(int number) {
  int before = errno;
  if (atomic_exchange(&caught, true)) end_at_once(number);
  atomic_fetch_add(&cancelling, 1);
  for (size_t i = 0; i < MOST_TASKS; i++) {
    isoproof_task *task = atomic_load(&tasks[i]);
    if (task != NULL) isoproof_task_cancel(task);
  }
  atomic_fetch_sub(&cancelling, 1);
  errno = before;
}

void interrupt_install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = cancel_all;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
}

bool interrupted(void) { return atomic_load(&caught); }

isoproof_task *interrupt_task_new(void) {
  isoproof_task *task;
  if (isoproof_task_new(&task) != ISOPROOF_OK) return NULL;
  for (size_t i = 0; i < MOST_TASKS; i++) {
    isoproof_task *none = NULL;
    if (atomic_compare_exchange_strong(&tasks[i], &none, task)) break;
  }
  /* A signal between the last look and the registration must not be lost. */
  if (interrupted()) isoproof_task_cancel(task);
  return task;
}

isoproof_task *interrupt_task_after(void) {
  isoproof_task *task;
  return isoproof_task_new(&task) == ISOPROOF_OK ? task : NULL;
}

void interrupt_task_free(isoproof_task *task) {
  for (size_t i = 0; i < MOST_TASKS; i++) {
    isoproof_task *mine = task;
    if (task != NULL && atomic_compare_exchange_strong(&tasks[i], &mine, NULL)) break;
  }
  /* A handler in another thread may have seen it just before. */
  while (atomic_load(&cancelling) > 0) sched_yield();
  isoproof_task_free(task);
}
