/* message.h - what the program says on standard error: one line each, without control characters.
 *
 * Nothing here keeps a pointer that it was given.
 */
#ifndef CLI_TERMINAL_MESSAGE_H
#define CLI_TERMINAL_MESSAGE_H

#include <isoproof/history.h>
#include <stdio.h>

/* Exit codes: C name, code, meaning.  With many files the one with the highest weight counts. */
#define EXIT_LIST(X)                                                                                                   \
  X(SATISFIED, 0, 0, "every asked level is satisfied, or the job is done")                                             \
  X(VIOLATED, 1, 2, "an asked level is violated")                                                                      \
  X(USAGE, 2, 3, "wrong usage, bad input, or a file that cannot be read or written")                                   \
  X(UNKNOWN, 3, 1, "unknown: a time or memory limit was reached, or no method decides")                                \
  X(RUN, 4, 4, "a database or a run failed")                                                                           \
  X(INTERNAL, 70, 5, "an internal error")                                                                              \
  X(INTERRUPTED, 130, 6, "interrupted")

enum {
#define EXIT_X(name, code, weight, text) EXIT_##name = (code),
  EXIT_LIST(EXIT_X)
#undef EXIT_X
};

int exit_worse(int a, int b);
int exit_of_status(isoproof_status status);

/* Both print "isoproof: ..." with every control character escaped; a note only with --verbose. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "isoproof: FILE:LINE:COL: message"; `file` stands in where the error names none. */
void message_error(const isoproof_error *error, const char *file);
/* A notice of the library (isoproof_notice_fn): what was done to a database is told even with --quiet. */
void message_notice(const char *text, void *user);
/* The message of errno for a file, after which the exit code is EXIT_USAGE. */
void message_errno(const char *file, const char *doing);

/* "isoproof: FILE:LINE: notice: ..." for each notice of a history. */
void message_notices(const isoproof_history *history, const char *file);

void message_set_verbose(bool verbose);
/* Who speaks, instead of "isoproof"; before threads are started. */
void message_set_name(const char *name);
const char *message_name(void);
/* Says nothing at all for a while: another process says the same. */
void message_mute(bool mute);

/* Writes text with control characters and broken UTF-8 as escapes; a newline is a control character too. */
void put_escaped(FILE *out, const char *text);
/* The same for one line of a longer text: newlines and tabs stay. */
void put_text(FILE *out, const char *text);

#endif
