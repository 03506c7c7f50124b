/* output.c - writing results, and noticing when they did not arrive. */
#include "cli/terminal/output.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cli/terminal/message.h"

/* Why the first write failed: by the time the program ends, errno is about something else. */
static atomic_int first_failure;

bool write_stream(void *user, const void *data, size_t size) {
  int none = 0;
  if (fwrite(data, 1, size, user) == size) return true;
  atomic_compare_exchange_strong(&first_failure, &none, errno);
  return false;
}

int finish_output(int code) {
  errno = 0;
  bool failed = fflush(stdout) != 0 || ferror(stdout) != 0;
  int why = errno != 0 ? errno : atomic_load(&first_failure);
  if (!failed) return code;
  if (why != 0)
    message("cannot write to standard output: %s", strerror(why));
  else
    message("cannot write to standard output");
  return exit_worse(code, EXIT_USAGE);
}
