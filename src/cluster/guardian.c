/* guardian.c - the guardian process: starts servers, kills them, removes their folder.
 *
 * It is a fork of a process that may have threads, so nothing here allocates or takes a lock of the C library.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vector.h"
#include "cluster/guardian.h"
#include "cluster/process_tree.h"
#include "cluster/stall.h"

enum { POLL_MS = 100, LOCK_BYTES = 512, END_GRACE_MS = 3000, LAST_GRACE_MS = 10000, STEP_MS = 10 };

typedef struct slot {
  pid_t pid; /* 0: never used */
  bool running;
  int status;
  int end_signal;
  char lock_file[LOCK_BYTES];
} slot;

struct iso_guardian_process {
  char folder[PATH_MAX];
  bool own_network;
  slot slots[ISO_GUARDIAN_SLOTS];
  iso_process_tree tree;
  iso_stall stall;
  char packet[ISO_GUARDIAN_PACKET];
  const char *strings[ISO_GUARDIAN_STRINGS * 2 + 8];
};

iso_guardian_process *iso_guardian_process_new(const char *folder, bool own_network) {
  iso_guardian_process *process = iso_alloc_zero(1, sizeof *process);
  size_t bytes = strlen(folder) + 1;
  if (process == NULL || bytes > sizeof process->folder) {
    free(process);
    return NULL;
  }
  memcpy(process->folder, folder, bytes);
  process->own_network = own_network;
  return process;
}

static void moment(void) { nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL); }

/* ---- children ---- */

/* What a killed process leaves in /dev/shm when its clock was faked. */
static void forget_clock(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/dev/shm/faketime_shm_%ld", (long)pid);
  unlink(path);
  snprintf(path, sizeof path, "/dev/shm/sem.faketime_sem_%ld", (long)pid);
  unlink(path);
}

/* All waiting is here, so that a pid is valid as long as its slot runs. */
static bool reap(iso_guardian_process *process) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    forget_clock(pid);
    for (slot *s = process->slots; s < process->slots + ISO_GUARDIAN_SLOTS; s++) {
      if (!s->running || s->pid != pid) continue;
      s->running = false;
      s->status = status;
    }
  }
  return pid == 0; /* some are left */
}

/* In the new process: becomes the command. */
static _Noreturn void become(const iso_guardian_request *request, const char *const *strings, pid_t parent) {
  const char *directory = strings[0], *log = strings[1];
  const char *const *arguments = strings + 3, *const *environment = arguments + request->arguments + 1;
  sigset_t none;
  setpgid(0, 0);
  if (request->change_user != 0 &&
      (setgroups(0, NULL) != 0 || setgid(request->group) != 0 || setuid(request->user) != 0))
    _exit(126);
  /* After the change of the user, which would clear it. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (out < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 || chdir(directory) != 0) _exit(126);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  union {
    const char *const *given;
    char *const *wanted;
  } argv = {.given = arguments}, envp = {.given = environment};
  execve(arguments[0], argv.wanted, envp.wanted);
  static const char words[] = "it cannot be executed\n";
  if (write(2, words, sizeof words - 1) < 0) _exit(126);
  _exit(127);
}

/* The strings of a packet, arguments and environment each with a NULL at the end; false when it is malformed. */
static bool unpack(iso_guardian_process *process, const iso_guardian_request *request, size_t size) {
  size_t at = sizeof *request, next = 0;
  const uint32_t counts[] = {3, request->arguments, request->environment};
  if (request->arguments == 0 || request->arguments > ISO_GUARDIAN_STRINGS ||
      request->environment > ISO_GUARDIAN_STRINGS)
    return false;
  for (int part = 0; part < 3; part++) {
    for (uint32_t i = 0; i < counts[part]; i++) {
      const char *end = at < size ? memchr(process->packet + at, 0, size - at) : NULL;
      if (end == NULL) return false;
      process->strings[next++] = process->packet + at;
      at = (size_t)(end - process->packet) + 1;
    }
    if (part > 0) process->strings[next++] = NULL;
  }
  return strlen(process->strings[2]) < LOCK_BYTES;
}

static int spawn(iso_guardian_process *process, slot *s, const iso_guardian_request *request, size_t size) {
  if (s->running) return EBUSY;
  if (!unpack(process, request, size)) return EINVAL;
  /* Blocked, so that a signal to the new process waits until that no longer ignores it, as we do. */
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  pid_t self = getpid(), pid = fork();
  if (pid == 0) become(request, process->strings, self);
  int problem = errno;
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (pid < 0) return problem;
  *s = (slot){.pid = pid, .running = true, .end_signal = request->signal_number};
  memcpy(s->lock_file, process->strings[2], strlen(process->strings[2]) + 1);
  return 0;
}

static void signal_slot(iso_guardian_process *process, const slot *s, int number) {
  if (!s->running) return;
  if (number == SIGKILL || number == SIGSTOP || number == SIGCONT)
    iso_process_tree_signal(&process->tree, s->pid, number);
  else
    kill(s->pid, number);
}

/* ---- requests ---- */

/* False when there will be no more. */
static bool serve(iso_guardian_process *process, int connection) {
  ssize_t got = recv(connection, process->packet, sizeof process->packet, 0);
  if (got < 0 && errno == EINTR) return true;
  iso_guardian_request request;
  if (got < (ssize_t)sizeof request) return false;
  memcpy(&request, process->packet, sizeof request);
  if (request.slot >= ISO_GUARDIAN_SLOTS) return false;
  slot *s = &process->slots[request.slot];
  iso_guardian_reply reply = {0};
  (void)reap(process);
  switch ((iso_guardian_kind)request.kind) {
  case ISO_GUARDIAN_SPAWN:
    reply.problem = spawn(process, s, &request, (size_t)got);
    break;
  case ISO_GUARDIAN_SIGNAL:
    signal_slot(process, s, request.signal_number);
    break;
  case ISO_GUARDIAN_STATE:
    break;
  case ISO_GUARDIAN_STALL:
    iso_stall_end(&process->stall);
    if (request.signal_number != 0 && s->running) iso_stall_begin(&process->stall, s->pid);
    break;
  default:
    return false;
  }
  reply.running = s->running;
  reply.status = s->status;
  reply.pid = (int32_t)s->pid;
  return send(connection, &reply, sizeof reply, MSG_NOSIGNAL) == (ssize_t)sizeof reply;
}

/* ---- the end ---- */

/* The segment that keeps a second PostgreSQL from the same data: the seventh line of its lock file has key and id. */
static void forget_segment(const char *lock_file) {
  char text[1024];
  int fd = open(lock_file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
  if (fd >= 0) close(fd);
  if (got <= 0) return;
  text[got] = 0;
  const char *line = text;
  for (int i = 0; i < 6 && line != NULL; i++) line = (line = strchr(line, '\n')) != NULL ? line + 1 : NULL;
  if (line == NULL) return;
  char *rest;
  unsigned long key = strtoul(line, &rest, 10);
  if (rest == line) return;
  unsigned long id = strtoul(rest, NULL, 10);
  struct shmid_ds info;
  if (id > INT_MAX || shmctl((int)id, IPC_STAT, &info) != 0) return;
  if ((unsigned long)(uint32_t)info.shm_perm.__key == (key & UINT32_MAX) && info.shm_nattch == 0)
    shmctl((int)id, IPC_RMID, NULL);
}

/* Whether servers that end by themselves still do. */
static bool some_run(const iso_guardian_process *process) {
  for (const slot *s = process->slots; s < process->slots + ISO_GUARDIAN_SLOTS; s++)
    if (s->running) return true;
  return false;
}

static void end_all(iso_guardian_process *process) {
  iso_stall_end(&process->stall);
  (void)reap(process);
  for (const slot *s = process->slots; s < process->slots + ISO_GUARDIAN_SLOTS; s++) {
    if (!s->running) continue;
    signal_slot(process, s, SIGCONT);
    signal_slot(process, s, s->end_signal != 0 ? s->end_signal : SIGKILL);
  }
  for (int ms = 0; ms < END_GRACE_MS && some_run(process); ms += STEP_MS) {
    moment();
    (void)reap(process);
  }
  for (const slot *s = process->slots; s < process->slots + ISO_GUARDIAN_SLOTS; s++) signal_slot(process, s, SIGKILL);
  /* What servers started, and left. */
  for (int ms = 0; ms < LAST_GRACE_MS && reap(process); ms += STEP_MS) {
    iso_process_tree_kill_below(&process->tree, getpid());
    moment();
  }
  for (const slot *s = process->slots; s < process->slots + ISO_GUARDIAN_SLOTS; s++)
    if (s->lock_file[0] != 0) forget_segment(s->lock_file);
}

static void remove_folder(const iso_guardian_process *process) {
  pid_t pid = fork();
  if (pid == 0) {
    if (chdir("/") != 0) _exit(126);
    execl("/bin/rm", "rm", "-rf", "--", process->folder, (char *)NULL);
    execl("/usr/bin/rm", "rm", "-rf", "--", process->folder, (char *)NULL);
    _exit(127);
  }
  while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
}

/* Away from the terminal, its signals, and the files of the caller. */
static void withdraw(int from) {
  sigset_t none;
  setsid();
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  const int deaf[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU};
  for (size_t i = 0; i < sizeof deaf / sizeof *deaf; i++) signal(deaf[i], SIG_IGN);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  prctl(PR_SET_NAME, "isoproof-guardian");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3 && null >= 0; fd++) dup2(null, fd);
  int moved = fcntl(from, F_DUPFD_CLOEXEC, 3);
  if (moved >= 0) dup3(moved, 3, O_CLOEXEC);
  if (close_range(4, ~0U, 0) != 0)
    for (int fd = 4; fd < 4096; fd++) close(fd);
}

/* A network with nothing but a loopback device; 0 or errno. */
static int leave_network(void) {
  struct ifreq loopback = {.ifr_name = "lo"};
  if (unshare(CLONE_NEWNET) != 0) return errno;
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), problem = 0;
  if (fd < 0) return errno;
  if (ioctl(fd, SIOCGIFFLAGS, &loopback) != 0) problem = errno;
  loopback.ifr_flags = (short)(loopback.ifr_flags | IFF_UP);
  if (problem == 0 && ioctl(fd, SIOCSIFFLAGS, &loopback) != 0) problem = errno;
  close(fd);
  return problem;
}

_Noreturn void iso_guardian_process_main(iso_guardian_process *process, int connection) {
  withdraw(connection);
  iso_guardian_reply hello = {.problem = process->own_network ? leave_network() : 0};
  if (send(3, &hello, sizeof hello, MSG_NOSIGNAL) != (ssize_t)sizeof hello) _exit(1);
  struct pollfd wait_for = {.fd = 3, .events = POLLIN};
  for (;;) {
    int64_t wait = process->stall.on ? iso_stall_step(&process->stall, &process->tree) : POLL_MS * INT64_C(1000000);
    int ready = ppoll(&wait_for, 1, &(struct timespec){.tv_nsec = (long)wait}, NULL);
    (void)reap(process);
    if (ready > 0 && !serve(process, 3)) break;
  }
  close(3);
  end_all(process);
  remove_folder(process);
  _exit(0);
}
