/* output.h - standard output, whose failure must not go unnoticed.  Owns nothing. */
#ifndef CLI_TERMINAL_OUTPUT_H
#define CLI_TERMINAL_OUTPUT_H

#include <isoproof/json.h>
#include <stdio.h>

/* An isoproof_write_fn; `user` is a FILE. */
bool write_stream(void *user, const void *data, size_t size);
/* A writer of JSON to a stream; NULL when memory is out, which finish_output says. */
isoproof_json *json_to(FILE *out);
/* Closes it, and may be given NULL; false when something did not arrive. */
bool json_done(isoproof_json *json);
/* Whether whoever read standard output has gone, as `| head` does when it has seen enough. */
bool output_gone(void);
/* Notes an error that is due to that alone, about which nothing is said. */
void output_note_gone(void);
/* Flushes standard output; when it failed now or earlier, says so and makes the exit code worse.  That nobody reads any
 * more is no failure: the exit code is that of the job, as far as it was done. */
int finish_output(int code);

#endif
