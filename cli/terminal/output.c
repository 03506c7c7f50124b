/* output.c - writing results, and noticing when they did not arrive. */
#include "cli/terminal/output.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal/message.h"

/* Why the first write failed: by the time the program ends, errno is about something else. */
static atomic_int first_failure;
/* Something was not written at all. */
static atomic_bool incomplete;

/* An error was due to a reader who has gone. */
static atomic_bool left_alone;

bool write_stream(void *user, const void *data, size_t size) {
  int none = 0;
  if (fwrite(data, 1, size, user) == size) return true;
  atomic_compare_exchange_strong(&first_failure, &none, errno);
  return false;
}

isoproof_json *json_to(FILE *out) {
  isoproof_json *json;
  int none = 0;
  if (isoproof_json_open(write_stream, out, &json, NULL) == ISOPROOF_OK) return json;
  atomic_compare_exchange_strong(&first_failure, &none, ENOMEM);
  atomic_store(&incomplete, true);
  return NULL;
}

bool json_done(isoproof_json *json) {
  isoproof_error error = {.offset = -1};
  if (isoproof_json_close(json, &error) == ISOPROOF_OK) return true;
  /* A stream that refuses bytes remembers it itself. */
  if (error.code != ISOPROOF_ERR_IO) atomic_store(&incomplete, true);
  return false;
}

bool output_gone(void) {
  struct pollfd pipe = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return atomic_load(&first_failure) == EPIPE || (poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0);
}

void output_note_gone(void) { atomic_store(&left_alone, true); }

int finish_output(int code) {
  errno = 0;
  bool failed = fflush(stdout) != 0 || ferror(stdout) != 0;
  int why = errno != 0 ? errno : atomic_load(&first_failure);
  if (atomic_load(&left_alone)) failed = true, why = EPIPE;
  if (!failed && !atomic_load(&incomplete)) return code;
  /* Whoever reads has seen enough, as `| head` does. */
  if (why == EPIPE || output_gone()) return atomic_load(&left_alone) && code == EXIT_USAGE ? EXIT_SATISFIED : code;
  if (why != 0)
    message("cannot write to standard output: %s", strerror(why));
  else
    message("cannot write to standard output");
  return exit_worse(code, EXIT_USAGE);
}
