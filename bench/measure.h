/* measure.h - times a job in a child process, so that its peak memory is its own.  Owns nothing. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct measurement {
  bool ok;
  double seconds;      /* of the job alone, without the start of the process; the fastest run */
  double median;       /* of the runs */
  double processor;    /* seconds of all threads, user and system, of that run */
  double instructions; /* of all threads, in user mode; 0 where the machine does not count them */
  uint64_t operations; /* whatever the job counted */
  uint64_t bytes;      /* likewise */
  uint64_t peak_bytes; /* of the process */
} measurement;

/* A job fills in what it counted; returns false when it failed. */
typedef bool (*measure_fn)(void *context, uint64_t *operations, uint64_t *bytes);

enum { MEASURE_MOST_REPEATS = 999 };

/* Runs the job `repeats` times (at most MEASURE_MOST_REPEATS), each in a fresh process, and gives the fastest run, with
 * the median of all. */
measurement measure(measure_fn job, void *context, unsigned repeats);

/* Monotonic seconds. */
double measure_now(void);

#endif
