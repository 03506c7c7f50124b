/* fault_command.c - the user's own command as a fault: what it is told, how long it may take, what became of it.
 *
 * It is a child of the guardian with a process group of its own, so that nothing of it outlives the run.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/fault.h"

/* How long it may take; and once the run is to end. */
enum { COMMAND_SECONDS = 60, ENDING_SECONDS = 10, STEP_MS = 20 };
/* What of our environment it gets: as much as the guardian takes. */
enum { ENVIRONMENT_MOST = 150, ENVIRONMENT_BYTES = 16384, OWN_MOST = 8, OWN_BYTES = 1200 };

extern char **environ;

typedef struct surroundings {
  const char *texts[ENVIRONMENT_MOST + OWN_MOST + 1];
  char own[OWN_MOST][OWN_BYTES];
  size_t count, own_count;
} surroundings;

static void add(surroundings *s, const char *name, const char *value) {
  if (s->own_count >= OWN_MOST) return;
  snprintf(s->own[s->own_count], OWN_BYTES, "ISOPROOF_FAULT_%s=%s", name, value);
  s->texts[s->count++] = s->own[s->own_count++];
}

static void surround(isoproof_cluster *cluster, const iso_fault *fault, const char *phase, surroundings *s) {
  char number[24], pid[24] = "";
  size_t bytes = 0;
  iso_process_state state = {0};
  s->count = s->own_count = 0;
  for (size_t i = 0; environ != NULL && environ[i] != NULL && s->count < ENVIRONMENT_MOST; i++) {
    size_t length = strlen(environ[i]) + 1;
    if (bytes + length > ENVIRONMENT_BYTES || strncmp(environ[i], "ISOPROOF_FAULT_", 15) == 0) continue;
    bytes += length;
    s->texts[s->count++] = environ[i];
  }
  snprintf(number, sizeof number, "%zu", fault->node->number);
  if (cluster->type != &iso_cluster_attached &&
      iso_guardian_state(&cluster->guardian, (unsigned)fault->node->number, &state, NULL) == ISOPROOF_OK &&
      state.running)
    snprintf(pid, sizeof pid, "%ld", (long)state.pid);
  add(s, "PHASE", phase);
  add(s, "NODE", number);
  snprintf(number, sizeof number, "%zu", cluster->node_count);
  add(s, "NODES", number);
  add(s, "URL", fault->node->url);
  add(s, "PID", pid);
  add(s, "FOLDER", fault->node->folder != NULL ? fault->node->folder : "");
  s->texts[s->count] = NULL;
}

const char *isoproof_cluster_command_log(const isoproof_cluster *cluster) { return cluster->command_log; }

/* A line of ours in the log of commands. */
static void note(const isoproof_cluster *cluster, const iso_fault *fault, const char *phase, const char *what) {
  int fd = open(cluster->command_log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return;
  dprintf(fd, "isoproof: %.3f s, node %zu, %s: %s\n", (double)isoproof_run_now(fault->run) * 1e-9, fault->node->number,
          phase, what);
  close(fd);
}

/* Until it has ended, or has had its time; the end of the run leaves it a little. */
static isoproof_status wait_for(isoproof_cluster *cluster, const iso_fault *fault, iso_process_state *state,
                                isoproof_error *error) {
  double limit = iso_now() + COMMAND_SECONDS;
  bool ending = false;
  for (;;) {
    ISO_TRY(iso_guardian_state(&cluster->guardian, ISO_GUARDIAN_TOOL, state, error));
    if (!state->running) return ISOPROOF_OK;
    if (iso_now() >= limit) break;
    if (!ending && !isoproof_run_wait(fault->run, STEP_MS * 1e-3)) {
      ending = true;
      if (limit > iso_now() + ENDING_SECONDS) limit = iso_now() + ENDING_SECONDS;
    }
    if (ending) usleep(STEP_MS * 1000);
  }
  ISO_TRY(iso_guardian_signal(&cluster->guardian, ISO_GUARDIAN_TOOL, SIGKILL, error));
  ISO_TRY(iso_guardian_wait(&cluster->guardian, ISO_GUARDIAN_TOOL, ENDING_SECONDS, state, NULL, error));
  return iso_fail(error, ISOPROOF_ERR_TIMEOUT, "the command took longer than %d s and was killed",
                  ending ? ENDING_SECONDS : COMMAND_SECONDS);
}

isoproof_status iso_fault_command(isoproof_cluster *cluster, const iso_fault *fault, const char *phase,
                                  isoproof_error *error) {
  surroundings s;
  char here[4096], what[400];
  const char *const arguments[] = {"/bin/sh", "-c", fault->command, "isoproof-fault", phase, NULL};
  surround(cluster, fault, phase, &s);
  iso_command command = {.arguments = arguments,
                         .environment = s.texts,
                         .directory = getcwd(here, sizeof here) != NULL ? here : "/",
                         .log = cluster->command_log,
                         .end_signal = SIGKILL};
  iso_process_state state = {0};
  note(cluster, fault, phase, fault->command);
  ISO_TRY(iso_guardian_spawn(&cluster->guardian, ISO_GUARDIAN_TOOL, &command, error));
  isoproof_status status = wait_for(cluster, fault, &state, error);
  if (status != ISOPROOF_OK) {
    note(cluster, fault, phase, "killed");
    return status;
  }
  if (WIFEXITED(state.status))
    snprintf(what, sizeof what, "exit code %d", WEXITSTATUS(state.status));
  else
    snprintf(what, sizeof what, "ended by signal %d", WTERMSIG(state.status));
  note(cluster, fault, phase, what);
  if (WIFEXITED(state.status) && WEXITSTATUS(state.status) == 0) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "the command ended in the phase %s with %s", phase, what);
}
