/* exec_process.c - the process of a client: starting it, lines to it and from it, and its end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/task.h"
#include "database/drivers/exec.h"

extern char **environ;

enum { END_GRACE_MS = 2000, STEP_MS = 5, CHUNK = 65536 };

static isoproof_status spawn(iso_exec_process *process, const char *command, int in, int out, isoproof_error *error) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions) != 0) return iso_fail_memory(error);
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return iso_fail_memory(error);
  }
  /* A group of its own: Ctrl-C is for us, who end it in good order. */
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  sigaddset(&usual, SIGINT);
  sigaddset(&usual, SIGTERM);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawn_file_actions_adddup2(&actions, in, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  char shell[] = "sh", option[] = "-c", *text = strdup(command);
  char *const arguments[] = {shell, option, text, NULL};
  int problem =
      text != NULL ? posix_spawn(&process->pid, "/bin/sh", &actions, &attributes, arguments, environ) : ENOMEM;
  free(text);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (problem == 0) return ISOPROOF_OK;
  process->pid = 0;
  errno = problem;
  return iso_fail_errno(error, "exec:", "starting the program");
}

isoproof_status iso_exec_start(iso_exec_process *process, const char *command, isoproof_error *error) {
  int to[2] = {-1, -1}, from[2] = {-1, -1};
  *process = (iso_exec_process){.to = -1, .from = -1};
  process->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (process->wake < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) != 0 || pipe2(from, O_CLOEXEC) != 0) {
    int problem = errno;
    if (to[0] >= 0) close(to[0]);
    if (to[1] >= 0) close(to[1]);
    errno = problem;
    return iso_fail_errno(error, "exec:", "making pipes");
  }
  isoproof_status status = spawn(process, command, to[0], from[1], error);
  close(to[0]);
  close(from[1]);
  process->to = to[1];
  process->from = from[0];
  fcntl(process->to, F_SETFL, O_NONBLOCK);
  fcntl(process->from, F_SETFL, O_NONBLOCK);
  return status;
}

/* Whether it has ended within the time. */
static bool ends_within(pid_t pid, int ms) {
  for (int waited = 0;; waited += STEP_MS) {
    pid_t done = waitpid(pid, NULL, WNOHANG);
    if (done == pid || (done < 0 && errno == ECHILD)) return true;
    if (waited >= ms) return false;
    nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL);
  }
}

void iso_exec_stop(iso_exec_process *process) {
  if (process->to >= 0) close(process->to);
  if (process->from >= 0) close(process->from);
  process->to = process->from = -1;
  if (process->pid > 0 && !ends_within(process->pid, END_GRACE_MS)) {
    kill(-process->pid, SIGKILL);
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR) continue;
  }
  if (process->wake >= 0) close(process->wake);
  process->wake = -1;
  process->pid = 0;
  iso_vec_free(&process->input);
}

/* Milliseconds that are left, for poll: -1 for ever. */
static int left_ms(double until) {
  if (until <= 0) return -1;
  double left = (until - iso_now()) * 1000;
  return left > 0 ? (int)left + 1 : 0;
}

bool iso_exec_send(iso_exec_process *process, const char *text, size_t length, uint32_t timeout_ms) {
  double until = timeout_ms > 0 ? iso_now() + timeout_ms / 1000.0 : 0;
  while (length > 0) {
    /* A socket, as writing to a pipe that nobody reads would raise a signal. */
    ssize_t wrote = send(process->to, text, length, MSG_NOSIGNAL);
    if (wrote >= 0) {
      text += wrote;
      length -= (size_t)wrote;
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    struct pollfd waits[2] = {{.fd = process->to, .events = POLLOUT}, {.fd = process->wake, .events = POLLIN}};
    int ms = left_ms(until);
    if (ms == 0 || (poll(waits, 2, ms) > 0 && (waits[1].revents & POLLIN) != 0)) return false;
  }
  return true;
}

/* Looks for a whole line in what is there. */
static bool find_line(iso_exec_process *process, size_t from, char **line, size_t *length) {
  char *start = process->input.items,
       *end = from < process->input.count ? memchr(start + from, '\n', process->input.count - from) : NULL;
  if (end == NULL) return false;
  *end = 0;
  *line = start;
  *length = (size_t)(end - start);
  process->taken = *length + 1;
  return true;
}

iso_exec_heard iso_exec_hear(iso_exec_process *process, uint32_t timeout_ms, char **line, size_t *length) {
  double until = timeout_ms > 0 ? iso_now() + timeout_ms / 1000.0 : 0;
  size_t rest = process->input.count - process->taken, searched = 0;
  if (process->taken > 0 && rest > 0) memmove(process->input.items, process->input.items + process->taken, rest);
  process->input.count = rest;
  process->taken = 0;
  for (;;) {
    if (find_line(process, searched, line, length)) return ISO_EXEC_LINE;
    searched = process->input.count;
    if (searched > ISO_EXEC_MOST_LINE || !iso_vec_reserve(&process->input, CHUNK)) return ISO_EXEC_TOO_LONG;
    ssize_t got = read(process->from, process->input.items + searched, process->input.capacity - searched);
    if (got > 0) process->input.count += (size_t)got;
    if (got > 0 || (got < 0 && errno == EINTR)) continue;
    if (got == 0 || errno != EAGAIN) return ISO_EXEC_CLOSED;
    struct pollfd waits[2] = {{.fd = process->from, .events = POLLIN}, {.fd = process->wake, .events = POLLIN}};
    int ms = left_ms(until);
    if (ms == 0) return ISO_EXEC_SILENT;
    if (poll(waits, 2, ms) > 0 && (waits[1].revents & POLLIN) != 0) return ISO_EXEC_WOKEN;
  }
}

void iso_exec_rest(const iso_exec_process *process) {
  uint64_t woken;
  ssize_t got = read(process->wake, &woken, sizeof woken);
  (void)got; /* it rests already when there is nothing to read */
}

void iso_exec_wake(const iso_exec_process *process) {
  const uint64_t one = 1;
  ssize_t wrote = write(process->wake, &one, sizeof one);
  (void)wrote; /* it is there already when it does not fit */
}
