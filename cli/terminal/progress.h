/* progress.h - one line on standard error for what takes longer than a second, on a terminal only.
 *
 * A progress belongs to one command; it may be updated from several threads.
 */
#ifndef CLI_TERMINAL_PROGRESS_H
#define CLI_TERMINAL_PROGRESS_H

#include <isoproof/base.h>

/* Starts; shows nothing when `quiet` or when standard error is no terminal. */
void progress_begin(bool quiet);
/* What is being worked on (a file name), shown before the stage; copied. */
void progress_subject(const char *subject);
/* An isoproof_progress_fn. */
void progress_update(const isoproof_progress *progress, void *user);
/* Shows a line of the caller's own instead. */
void progress_line(const char *text);
/* Erases the line.  Safe to call at any time; a later update shows it again. */
void progress_clear(void);

#endif
