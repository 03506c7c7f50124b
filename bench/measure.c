/* Times jobs in child processes, whose peak memory the kernel reports when they end. */
#include "measure.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double measure_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A counter of the instructions of this process and the threads that it is going to start; -1 where there is none. */
static int count_instructions(void) {
  struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE, .size = sizeof attr};
  attr.config = PERF_COUNT_HW_INSTRUCTIONS;
  attr.inherit = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static double processor_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void run_child(measure_fn job, void *context, int out) {
  measurement m = {0};
  uint64_t instructions = 0;
  int counter = count_instructions();
  double start = measure_now(), spent = processor_seconds();
  m.ok = job(context, &m.operations, &m.bytes);
  m.seconds = measure_now() - start;
  m.processor = processor_seconds() - spent;
  if (counter >= 0 && read(counter, &instructions, sizeof instructions) == (ssize_t)sizeof instructions) {
    m.instructions = (double)instructions;
  }
  bool told = write(out, &m, sizeof m) == (ssize_t)sizeof m;
  _exit(m.ok && told ? 0 : 1);
}

static measurement measure_once(measure_fn job, void *context) {
  measurement m = {0};
  int ends[2], status = 0;
  struct rusage usage;
  if (pipe(ends) != 0) return m;
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run_child(job, context, ends[1]);
  }
  close(ends[1]);
  if (child > 0) {
    if (read(ends[0], &m, sizeof m) != (ssize_t)sizeof m) m = (measurement){0};
    if (wait4(child, &status, 0, &usage) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
      m.peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    else
      m.ok = false;
  }
  close(ends[0]);
  return m;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

measurement measure(measure_fn job, void *context, unsigned repeats) {
  measurement best = {0};
  double seconds[MEASURE_MOST_REPEATS];
  if (repeats > MEASURE_MOST_REPEATS) repeats = MEASURE_MOST_REPEATS;
  for (unsigned i = 0; i < repeats; i++) {
    measurement m = measure_once(job, context);
    if (!m.ok) return m;
    if (!best.ok || m.seconds < best.seconds) best = m;
    seconds[i] = m.seconds;
  }
  if (repeats > 0) {
    qsort(seconds, repeats, sizeof *seconds, by_size);
    best.median = (seconds[(repeats - 1) / 2] + seconds[repeats / 2]) / 2;
  }
  return best;
}
