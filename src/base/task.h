/* task.h - what long loops ask of their task, which the caller owns.  Every function accepts a NULL task: never
 * cancelled, one thread. */
#ifndef ISO_BASE_TASK_H
#define ISO_BASE_TASK_H

#include <stdatomic.h>

#include "base/error.h"

struct isoproof_task {
  atomic_int cancelled;
  unsigned threads;
  double deadline; /* monotonic seconds, 0 none */
  isoproof_progress_fn callback;
  void *user;
  double next_report;
  /* What the stages in progress are for. */
  const char *level;
  uint32_t levels_decided, levels_total;
};

/* Monotonic seconds. */
double iso_now(void);

/* ISOPROOF_OK, ISOPROOF_ERR_CANCELLED or ISOPROOF_ERR_TIMEOUT (with the error filled).  Cheap enough for every few
 * thousand steps of a loop; any thread may call it. */
isoproof_status iso_task_check(const isoproof_task *task, isoproof_error *error);

/* The number of threads to use, at least 1; a NULL task means 1. */
unsigned iso_task_threads(const isoproof_task *task);

/* Reports progress when the last report is a tenth of a second old.  Only from the thread that runs the task. */
void iso_task_progress(isoproof_task *task, const char *stage, const char *unit, uint64_t done, uint64_t total);
/* Reports a stage of which nothing more is known, at once. */
void iso_task_stage(isoproof_task *task, const char *stage);

/* What the stages from here on are for: the level that is being decided (NULL for none), and how many of how many are
 * decided. */
void iso_task_about(isoproof_task *task, const char *level, uint32_t decided, uint32_t total);

#endif
