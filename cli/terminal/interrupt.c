/* interrupt.c - signals. */
#include "cli/terminal/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

/* Tasks in progress, one a worker thread at most; a handler may only touch lock-free atomics. */
enum { MOST_TASKS = 1024 };
static _Atomic(isoproof_task *) tasks[MOST_TASKS];
static atomic_bool caught;

static void cancel_all(int number) {
  (void)number;
  atomic_store(&caught, true);
  for (size_t i = 0; i < MOST_TASKS; i++) {
    isoproof_task *task = atomic_load(&tasks[i]);
    if (task != NULL) isoproof_task_cancel(task);
  }
}

void interrupt_install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = cancel_all;
  action.sa_flags = (int)SA_RESETHAND;
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

void interrupt_task_free(isoproof_task *task) {
  for (size_t i = 0; i < MOST_TASKS; i++) {
    isoproof_task *mine = task;
    if (task != NULL && atomic_compare_exchange_strong(&tasks[i], &mine, NULL)) break;
  }
  isoproof_task_free(task);
}
