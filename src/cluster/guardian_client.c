/* guardian_client.c - the client of the guardian: starting it, and asking it. */
#include "cluster/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vector.h"

/* What comes back; false when nobody is there. */
static bool hear(const iso_guardian *guardian, iso_guardian_reply *reply) {
  ssize_t got;
  do {
    got = recv(guardian->socket, reply, sizeof *reply, 0);
  } while (got < 0 && errno == EINTR);
  return got == (ssize_t)sizeof *reply;
}

static isoproof_status hear_first(iso_guardian *guardian, bool own_network, isoproof_error *error) {
  iso_guardian_reply reply;
  if (!hear(guardian, &reply)) {
    iso_guardian_end(guardian);
    return iso_fail(error, ISOPROOF_ERR_IO, "the guardian of the servers ended at once");
  }
  guardian->own_network = own_network && reply.problem == 0;
  return ISOPROOF_OK;
}

isoproof_status iso_guardian_start(iso_guardian *guardian, const char *folder, bool own_network,
                                   isoproof_error *error) {
  int ends[2];
  *guardian = (iso_guardian){.socket = -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return iso_fail_errno(error, folder, "make a socket for its guardian");
  iso_guardian_process *process = iso_guardian_process_new(folder, own_network);
  pid_t pid = -1;
  sigset_t all, before;
  if (process != NULL) {
    /* No signal may reach the child while it still has the handlers of the caller. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid = fork();
    if (pid == 0) iso_guardian_process_main(process, ends[1]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  int problem = errno;
  free(process);
  close(ends[1]);
  if (pid > 0) {
    *guardian = (iso_guardian){.socket = ends[0], .pid = pid};
    return hear_first(guardian, own_network, error);
  }
  close(ends[0]);
  errno = problem;
  return process == NULL ? iso_fail_memory(error) : iso_fail_errno(error, folder, "start its guardian");
}

void iso_guardian_end(iso_guardian *guardian) {
  if (guardian->pid == 0) return;
  close(guardian->socket);
  while (waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR) continue;
  *guardian = (iso_guardian){.socket = -1};
}

/* ---- asking ---- */

static isoproof_status ask(iso_guardian *guardian, const void *packet, size_t size, iso_guardian_reply *reply,
                           isoproof_error *error) {
  if (guardian->pid != 0 && send(guardian->socket, packet, size, MSG_NOSIGNAL) == (ssize_t)size &&
      hear(guardian, reply))
    return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "the guardian of the servers is gone");
}

static bool put(char *packet, size_t *used, const char *text) {
  size_t bytes = strlen(text) + 1;
  if (bytes > ISO_GUARDIAN_PACKET - *used) return false;
  memcpy(packet + *used, text, bytes);
  *used += bytes;
  return true;
}

static bool put_all(char *packet, size_t *used, const char *const *texts, uint32_t *count) {
  for (; texts[*count] != NULL; (*count)++)
    if (*count >= ISO_GUARDIAN_STRINGS || !put(packet, used, texts[*count])) return false;
  return true;
}

isoproof_status iso_guardian_spawn(iso_guardian *guardian, unsigned slot, const iso_command *command,
                                   isoproof_error *error) {
  char packet[ISO_GUARDIAN_PACKET];
  iso_guardian_request request = {.kind = ISO_GUARDIAN_SPAWN,
                                  .slot = slot,
                                  .signal_number = command->end_signal,
                                  .change_user = command->change_user,
                                  .user = command->user,
                                  .group = command->group};
  size_t used = sizeof request;
  bool fits = put(packet, &used, command->directory) && put(packet, &used, command->log) &&
              put(packet, &used, command->lock_file != NULL ? command->lock_file : "") &&
              put_all(packet, &used, command->arguments, &request.arguments) &&
              put_all(packet, &used, command->environment, &request.environment);
  if (!fits) return iso_fail(error, ISOPROOF_ERR_LIMIT, "%s: its arguments are too long", command->arguments[0]);
  memcpy(packet, &request, sizeof request);
  iso_guardian_reply reply;
  ISO_TRY(ask(guardian, packet, used, &reply, error));
  if (reply.problem == 0) return ISOPROOF_OK;
  errno = reply.problem;
  return iso_fail_errno(error, command->arguments[0], "start it");
}

isoproof_status iso_guardian_signal(iso_guardian *guardian, unsigned slot, int signal_number, isoproof_error *error) {
  iso_guardian_request request = {.kind = ISO_GUARDIAN_SIGNAL, .slot = slot, .signal_number = signal_number};
  iso_guardian_reply reply;
  return ask(guardian, &request, sizeof request, &reply, error);
}

isoproof_status iso_guardian_stall(iso_guardian *guardian, unsigned slot, bool on, isoproof_error *error) {
  iso_guardian_request request = {.kind = ISO_GUARDIAN_STALL, .slot = slot, .signal_number = on};
  iso_guardian_reply reply;
  return ask(guardian, &request, sizeof request, &reply, error);
}

isoproof_status iso_guardian_state(iso_guardian *guardian, unsigned slot, iso_process_state *state,
                                   isoproof_error *error) {
  iso_guardian_request request = {.kind = ISO_GUARDIAN_STATE, .slot = slot};
  iso_guardian_reply reply;
  ISO_TRY(ask(guardian, &request, sizeof request, &reply, error));
  *state = (iso_process_state){.running = reply.running != 0, .pid = (pid_t)reply.pid, .status = reply.status};
  return ISOPROOF_OK;
}

isoproof_status iso_guardian_wait(iso_guardian *guardian, unsigned slot, double seconds, iso_process_state *state,
                                  isoproof_task *task, isoproof_error *error) {
  double until = iso_now() + seconds;
  for (;;) {
    ISO_TRY(iso_guardian_state(guardian, slot, state, error));
    if (!state->running) return ISOPROOF_OK;
    ISO_TRY(iso_task_check(task, error));
    if (iso_now() >= until)
      return iso_fail(error, ISOPROOF_ERR_TIMEOUT, "a process of the cluster did not end within %g seconds", seconds);
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
  }
}

/* ---- tools ---- */

/* The beginning of the last line before `end` that has something in it; NULL without one. */
static char *line_before(char *text, char **end) {
  while (*end > text && ((*end)[-1] == '\n' || (*end)[-1] == ' ')) (*end)--;
  if (*end == text) return NULL;
  char *start = *end;
  while (start > text && start[-1] != '\n') start--;
  return start;
}

void iso_guardian_last_line(const char *path, char *line, size_t size) {
  char tail[16384];
  line[0] = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  off_t bytes = lseek(fd, 0, SEEK_END);
  ssize_t got = pread(fd, tail, sizeof tail, bytes > (off_t)sizeof tail ? bytes - (off_t)sizeof tail : 0);
  close(fd);
  if (got <= 0) return;
  char *end = tail + got;
  for (char *start = line_before(tail, &end); start != NULL; end = start, start = line_before(tail, &end)) {
    size_t length = (size_t)(end - start);
    bool telling = memmem(start, length, "ERROR", 5) != NULL || memmem(start, length, "FATAL", 5) != NULL;
    if (telling || line[0] == 0) snprintf(line, size, "%.*s", (int)length, start);
    if (telling) return;
  }
}

isoproof_status iso_guardian_run(iso_guardian *guardian, const iso_command *command, double seconds,
                                 isoproof_task *task, isoproof_error *error) {
  iso_process_state state = {.running = true};
  ISO_TRY(iso_guardian_spawn(guardian, ISO_GUARDIAN_TOOL, command, error));
  isoproof_status status = iso_guardian_wait(guardian, ISO_GUARDIAN_TOOL, seconds, &state, task, error);
  if (status != ISOPROOF_OK) {
    (void)iso_guardian_signal(guardian, ISO_GUARDIAN_TOOL, SIGKILL, NULL);
    return status;
  }
  if (WIFEXITED(state.status) && WEXITSTATUS(state.status) == 0) return ISOPROOF_OK;
  char line[300];
  iso_guardian_last_line(command->log, line, sizeof line);
  if (WIFSIGNALED(state.status))
    return iso_fail(error, ISOPROOF_ERR_IO, "%s was ended by signal %d: %s", command->arguments[0],
                    WTERMSIG(state.status), line);
  return iso_fail(error, ISOPROOF_ERR_IO, "%s ended with code %d: %s", command->arguments[0], WEXITSTATUS(state.status),
                  line);
}
