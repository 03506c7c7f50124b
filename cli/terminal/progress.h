/* progress.h - one line on standard error for what takes longer than a second, on a terminal only.
 *
 * A progress belongs to one command; it may be updated from several threads.  The line moves by itself: while there is
 * no news it shows how long a stage has taken so far, instead of a share that stands still.
 */
#ifndef CLI_TERMINAL_PROGRESS_H
#define CLI_TERMINAL_PROGRESS_H

#include <isoproof/base.h>

enum { PROGRESS_PARTS = 8 };

/* Starts; shows nothing when `quiet` or when standard error is no terminal. */
void progress_begin(bool quiet);
/* Erases the line for good. */
void progress_end(void);
/* What is being worked on (a file name), shown before the stage; copied. */
void progress_subject(const char *subject);
/* An isoproof_progress_fn. */
void progress_update(const isoproof_progress *progress, void *user);
/* A stage of which nothing more is known. */
void progress_stage(const char *stage);
/* Shows a line of the caller's own instead: parts, the most important first, of which as many are shown as fit. */
void progress_parts(const char *const *parts, size_t count);
/* Erases the line.  Safe to call at any time; a later update shows it again. */
void progress_clear(void);
/* Whether a line stands on the terminal; a handler of signals may ask. */
bool progress_is_shown(void);

/* "12 s", "3 min 05 s" */
void progress_duration(double seconds, char *text, size_t size);

#endif
