/* batch.h - one job per file, on several threads, with output in the order of the files.
 *
 * What a job writes and complains belongs to the batch once the job returns.
 */
#ifndef CLI_COMMANDS_BATCH_H
#define CLI_COMMANDS_BATCH_H

#include <stddef.h>
#include <stdio.h>

/* What a job gives: its exit code, output on `out`, and one message for standard error (malloc, NULL for none). */
typedef struct reply {
  int code;
  FILE *out;
  char *complaint;
} reply;

typedef void (*job_fn)(void *context, size_t number, reply *to);

/* Runs jobs 0 .. count - 1 and returns the worst exit code.  Stops early, with EXIT_INTERRUPTED, on a signal. */
int batch_run(size_t count, unsigned workers, const char *stage, job_fn job, void *context);

#endif
