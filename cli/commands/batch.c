/* batch.c - a counter hands out jobs; whoever completes the next one in order prints it and its successors. */
#include "cli/commands/batch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cli/terminal/interrupt.h"
#include "cli/terminal/message.h"
#include "cli/terminal/progress.h"

enum { MOST_WORKERS = 256 };

typedef struct slot {
  bool done;
  int code;
  char *text;
  size_t text_bytes;
  char *complaint;
} slot;

typedef struct batch {
  size_t count;
  unsigned workers;
  const char *stage;
  job_fn job;
  void *context;
  atomic_size_t next;
  pthread_mutex_t lock;
  slot *slots;
  size_t printed, finished;
  int worst;
} batch;

static void print_slot(batch *b, slot *s) {
  if (s->text_bytes > 0 || s->complaint != NULL) progress_clear();
  if (s->text_bytes > 0) fwrite(s->text, 1, s->text_bytes, stdout);
  if (s->complaint != NULL) message("%s", s->complaint);
  b->worst = exit_worse(b->worst, s->code);
  free(s->text);
  free(s->complaint);
  *s = (slot){.done = true};
}

static void deliver(batch *b, size_t number, const slot *result) {
  pthread_mutex_lock(&b->lock);
  b->slots[number] = *result;
  b->slots[number].done = true;
  b->finished++;
  while (b->printed < b->count && b->slots[b->printed].done) print_slot(b, &b->slots[b->printed++]);
  if (b->workers > 1) {
    isoproof_progress p = {.stage = b->stage, .unit = "files", .done = b->finished, .total = b->count};
    progress_update(&p, NULL);
  }
  pthread_mutex_unlock(&b->lock);
}

static void run_one(batch *b, size_t number) {
  slot result = {0};
  reply to = {.code = EXIT_SATISFIED, .out = stdout};
  /* One worker finishes jobs in order, so its output needs no detour. */
  if (b->workers > 1) to.out = open_memstream(&result.text, &result.text_bytes);
  if (to.out == NULL) {
    result.code = EXIT_UNKNOWN;
    message("out of memory");
  } else {
    b->job(b->context, number, &to);
    if (b->workers > 1 && fclose(to.out) != 0) to.code = exit_worse(to.code, EXIT_UNKNOWN);
    result.code = to.code;
    result.complaint = to.complaint;
  }
  deliver(b, number, &result);
}

static void *work(void *argument) {
  batch *b = argument;
  for (size_t number; !interrupted() && (number = atomic_fetch_add(&b->next, 1)) < b->count;) run_one(b, number);
  return NULL;
}

int batch_run(size_t count, unsigned workers, const char *stage, job_fn job, void *context) {
  if (workers > count) workers = (unsigned)count;
  if (workers > MOST_WORKERS) workers = MOST_WORKERS;
  batch b = {.count = count, .workers = workers, .stage = stage, .job = job, .context = context};
  b.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  b.slots = calloc(count > 0 ? count : 1, sizeof *b.slots);
  if (b.slots == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  pthread_t threads[MOST_WORKERS];
  unsigned started = 0;
  while (started + 1 < workers && pthread_create(&threads[started], NULL, work, &b) == 0) started++;
  work(&b);
  for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
  /* After a signal, jobs behind a gap are done but not printed: results in hand are still worth printing. */
  for (; b.printed < count; b.printed++) {
    if (b.slots[b.printed].done) print_slot(&b, &b.slots[b.printed]);
  }
  free(b.slots);
  return interrupted() ? EXIT_INTERRUPTED : b.worst;
}
