/* output.h - standard output, whose failure must not go unnoticed.  Owns nothing. */
#ifndef CLI_TERMINAL_OUTPUT_H
#define CLI_TERMINAL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* An isoproof_write_fn; `user` is a FILE. */
bool write_stream(void *user, const void *data, size_t size);
/* Flushes standard output; when it failed now or earlier, says so and makes the exit code worse. */
int finish_output(int code);

#endif
