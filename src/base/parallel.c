/* Fork and join: one function on several threads, and the share of each in a range. */
#include "base/parallel.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct {
  iso_parallel_fn fn;
  void *context;
  unsigned thread, threads;
  pthread_t handle;
  bool started;
} worker;

static void *work(void *argument) {
  worker *w = argument;
  w->fn(w->context, w->thread, w->threads);
  return NULL;
}

void iso_parallel(unsigned threads, iso_parallel_fn fn, void *context) {
  worker *workers = threads > 1 ? calloc(threads, sizeof *workers) : NULL;
  for (unsigned i = 1; workers != NULL && i < threads; i++) {
    workers[i] = (worker){.fn = fn, .context = context, .thread = i, .threads = threads};
    workers[i].started = pthread_create(&workers[i].handle, NULL, work, &workers[i]) == 0;
  }
  fn(context, 0, threads);
  for (unsigned i = 1; i < threads; i++) {
    if (workers != NULL && workers[i].started) {
      pthread_join(workers[i].handle, NULL);
    } else {
      fn(context, i, threads);
    }
  }
  free(workers);
}

void iso_parallel_range(uint64_t count, unsigned thread, unsigned threads, uint64_t *first, uint64_t *end) {
  *first = count / threads * thread + (count % threads) * thread / threads;
  *end = count / threads * (thread + 1) + (count % threads) * (thread + 1) / threads;
}
