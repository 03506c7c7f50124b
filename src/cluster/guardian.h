/* guardian.h - a guardian process that is the parent of every server, and outlives us just long enough to clean up.
 *
 * An iso_guardian is the client's end of it (guardian_client.c): it owns the process (guardian.c), whatever that
 * started, and the folder, until iso_guardian_end or the death of this process; one thread at a time may use it.
 *
 * The guardian is a fork of this process that never execs and never allocates.  It listens on a socket; when that
 * closes, for whatever reason, it kills what it started (and what those started: orphans become its children), removes
 * the folder, and leaves.  Should the guardian itself be killed, the kernel kills the servers.
 */
#ifndef ISO_CLUSTER_GUARDIAN_H
#define ISO_CLUSTER_GUARDIAN_H

#include <sys/types.h>

#include "base/task.h"

enum {
  ISO_GUARDIAN_SLOTS = 32,
  ISO_GUARDIAN_TOOL = ISO_GUARDIAN_SLOTS - 1, /* the slot for what ends by itself */
  ISO_GUARDIAN_PACKET = 32768,
  ISO_GUARDIAN_STRINGS = 200 /* of a command */
};

typedef struct iso_guardian {
  int socket;
  pid_t pid; /* 0: none */
  bool own_network;
} iso_guardian;

/* A process to start. */
typedef struct iso_command {
  const char *const *arguments;   /* NULL at the end; the first is an absolute path */
  const char *const *environment; /* NULL at the end */
  const char *directory;          /* to be in */
  const char *log;                /* what it prints is appended to this file */
  const char *lock_file; /* of PostgreSQL: names a shared memory segment that a killed server leaves; or NULL */
  int end_signal;        /* what ends it at once but in good order; SIGKILL where that takes too long */
  bool change_user;
  uid_t user;
  gid_t group;
} iso_command;

typedef struct iso_process_state {
  bool running;
  pid_t pid;  /* as long as it runs */
  int status; /* as of waitpid, once it does not run */
} iso_process_state;

/* Starts the guardian of a folder; with `own_network`, in a network namespace of its own where that is permitted. */
isoproof_status iso_guardian_start(iso_guardian *guardian, const char *folder, bool own_network, isoproof_error *error);
/* Kills everything, removes the folder, and waits until that is done. */
void iso_guardian_end(iso_guardian *guardian);

/* Starts a process in a slot where none runs. */
isoproof_status iso_guardian_spawn(iso_guardian *guardian, unsigned slot, const iso_command *command,
                                   isoproof_error *error);
/* SIGKILL, SIGSTOP and SIGCONT are for the process and all its descendants, others for itself.  No error when it does
 * not run. */
isoproof_status iso_guardian_signal(iso_guardian *guardian, unsigned slot, int signal_number, isoproof_error *error);
isoproof_status iso_guardian_state(iso_guardian *guardian, unsigned slot, iso_process_state *state,
                                   isoproof_error *error);
/* Has processes of a server stopped for a moment each, one at a time, until told otherwise; only of one slot at once.
 */
isoproof_status iso_guardian_stall(iso_guardian *guardian, unsigned slot, bool on, isoproof_error *error);
/* Waits until it has ended; ISOPROOF_ERR_TIMEOUT. */
isoproof_status iso_guardian_wait(iso_guardian *guardian, unsigned slot, double seconds, iso_process_state *state,
                                  isoproof_task *task, isoproof_error *error);
/* Starts a tool and waits for its success; a failure comes with the last line of its log. */
isoproof_status iso_guardian_run(iso_guardian *guardian, const iso_command *command, double seconds,
                                 isoproof_task *task, isoproof_error *error);

/* What a log ends with: the last line that speaks of an error, or else the last one; "" without any. */
void iso_guardian_last_line(const char *path, char *line, size_t size);

/* ---- between the two processes ---- */

typedef enum iso_guardian_kind {
  ISO_GUARDIAN_SPAWN,
  ISO_GUARDIAN_SIGNAL,
  ISO_GUARDIAN_STATE,
  ISO_GUARDIAN_STALL /* signal_number: whether to begin */
} iso_guardian_kind;

typedef struct iso_guardian_request {
  uint32_t kind, slot;
  int32_t signal_number;
  uint32_t change_user, user, group;
  uint32_t arguments, environment; /* how many strings follow: directory, log, lock file, arguments, environment */
} iso_guardian_request;

/* The first one comes unasked and tells of the network. */
typedef struct iso_guardian_reply {
  int32_t problem; /* errno */
  uint32_t running;
  int32_t status;
  int32_t pid;
} iso_guardian_reply;

typedef struct iso_guardian_process iso_guardian_process;
/* Memory for the guardian, made before the fork. */
iso_guardian_process *iso_guardian_process_new(const char *folder, bool own_network);
_Noreturn void iso_guardian_process_main(iso_guardian_process *process, int socket);

#endif
