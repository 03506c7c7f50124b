/* results.h - a file to which the result of every history is appended as soon as it is there, so that a batch that
 * ended early goes on where it was.
 *
 * A file of results is locked from results_open to results_close.
 */
#ifndef CLI_COMMANDS_RESULTS_H
#define CLI_COMMANDS_RESULTS_H

#include <isoproof/base.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct results results;

/* Makes the file, or with `resume` continues one: a last line that is not whole is taken away, and *code is made worse
 * by what is in it.  `levels` are those asked for now; results of others are refused.  NULL after a message, with the
 * exit code in *code. */
results *results_open(const char *path, bool resume, const char *const *levels, size_t level_count, int *code);
/* Whether there is a result of this file from before. */
bool results_has(const results *r, const char *path);
size_t results_count(const results *r);
/* Appends a line, whole or not at all; by any thread.  False after a message. */
bool results_add(results *r, const char *line, size_t bytes);
void results_close(results *r); /* accepts NULL */

#endif
