/* saved.h - results that were saved as JSON, as documents: those of files, in order.
 *
 * A list owns its documents until saved_free, unless they are taken out of it.
 */
#ifndef CLI_COMMANDS_SAVED_H
#define CLI_COMMANDS_SAVED_H

#include <isoproof/report.h>

#include "cli/options/outputs.h"

typedef struct saved {
  isoproof_document **items;
  size_t count, capacity;
} saved;

/* Adds everything in one file; an exit code, after a message where it is no success.  An empty file is refused. */
int saved_collect(saved *list, const char *path, const isoproof_document_read_options *how, isoproof_task *task);
/* Adds what a text holds, perhaps nothing. */
int saved_collect_text(saved *list, const char *text, size_t size, const char *name, isoproof_task *task);
/* Writes the reports that options ask for, of all of them; takes the documents.  `stdout_taken`: see outputs. */
int saved_write(saved *list, const option_value *values, bool stdout_taken);
void saved_free(saved *list);

/* The exit code that `check` had for it. */
int saved_exit(const isoproof_document *document);

#endif
