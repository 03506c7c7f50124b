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

enum { POLL_MS = 100, LOCK_BYTES = 512, END_GRACE_MS = 3000, LAST_GRACE_MS = 10000, STEP_MS = 10 };

typedef struct slot {
  pid_t pid; /* 0: never used */
  bool running;
  int status;
  int end_signal;
  char lock_file[LOCK_BYTES];
} slot;

struct iso_keeper {
  char folder[PATH_MAX];
  bool own_network;
  slot slots[ISO_GUARD_SLOTS];
  iso_process_tree tree;
  char packet[ISO_GUARD_PACKET];
  const char *strings[ISO_GUARD_STRINGS * 2 + 8];
};

iso_keeper *iso_keeper_new(const char *folder, bool own_network) {
  iso_keeper *keeper = iso_alloc_zero(1, sizeof *keeper);
  size_t bytes = strlen(folder) + 1;
  if (keeper == NULL || bytes > sizeof keeper->folder) {
    free(keeper);
    return NULL;
  }
  memcpy(keeper->folder, folder, bytes);
  keeper->own_network = own_network;
  return keeper;
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
static bool reap(iso_keeper *keeper) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    forget_clock(pid);
    for (slot *s = keeper->slots; s < keeper->slots + ISO_GUARD_SLOTS; s++) {
      if (!s->running || s->pid != pid) continue;
      s->running = false;
      s->status = status;
    }
  }
  return pid == 0; /* some are left */
}

/* In the new process: becomes the command. */
static _Noreturn void become(const iso_guard_request *request, const char *const *strings, pid_t parent) {
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
static bool unpack(iso_keeper *keeper, const iso_guard_request *request, size_t size) {
  size_t at = sizeof *request, next = 0;
  const uint32_t counts[] = {3, request->arguments, request->environment};
  if (request->arguments == 0 || request->arguments > ISO_GUARD_STRINGS || request->environment > ISO_GUARD_STRINGS)
    return false;
  for (int part = 0; part < 3; part++) {
    for (uint32_t i = 0; i < counts[part]; i++) {
      const char *end = at < size ? memchr(keeper->packet + at, 0, size - at) : NULL;
      if (end == NULL) return false;
      keeper->strings[next++] = keeper->packet + at;
      at = (size_t)(end - keeper->packet) + 1;
    }
    if (part > 0) keeper->strings[next++] = NULL;
  }
  return strlen(keeper->strings[2]) < LOCK_BYTES;
}

static int spawn(iso_keeper *keeper, slot *s, const iso_guard_request *request, size_t size) {
  if (s->running) return EBUSY;
  if (!unpack(keeper, request, size)) return EINVAL;
  /* Blocked, so that a signal to the new process waits until that no longer ignores it, as we do. */
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  pid_t self = getpid(), pid = fork();
  if (pid == 0) become(request, keeper->strings, self);
  int problem = errno;
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (pid < 0) return problem;
  *s = (slot){.pid = pid, .running = true, .end_signal = request->signal_number};
  memcpy(s->lock_file, keeper->strings[2], strlen(keeper->strings[2]) + 1);
  return 0;
}

static void signal_slot(iso_keeper *keeper, const slot *s, int number) {
  if (!s->running) return;
  if (number == SIGKILL || number == SIGSTOP || number == SIGCONT)
    iso_process_tree_signal(&keeper->tree, s->pid, number);
  else
    kill(s->pid, number);
}

/* ---- requests ---- */

/* False when there will be no more. */
static bool serve(iso_keeper *keeper, int connection) {
  ssize_t got = recv(connection, keeper->packet, sizeof keeper->packet, 0);
  if (got < 0 && errno == EINTR) return true;
  iso_guard_request request;
  if (got < (ssize_t)sizeof request) return false;
  memcpy(&request, keeper->packet, sizeof request);
  if (request.slot >= ISO_GUARD_SLOTS) return false;
  slot *s = &keeper->slots[request.slot];
  iso_guard_reply reply = {0};
  (void)reap(keeper);
  switch ((iso_guard_kind)request.kind) {
  case ISO_GUARD_SPAWN:
    reply.problem = spawn(keeper, s, &request, (size_t)got);
    break;
  case ISO_GUARD_SIGNAL:
    signal_slot(keeper, s, request.signal_number);
    break;
  case ISO_GUARD_STATE:
    break;
  default:
    return false;
  }
  reply.running = s->running;
  reply.status = s->status;
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
static bool some_run(const iso_keeper *keeper) {
  for (const slot *s = keeper->slots; s < keeper->slots + ISO_GUARD_SLOTS; s++)
    if (s->running) return true;
  return false;
}

static void end_all(iso_keeper *keeper) {
  (void)reap(keeper);
  for (const slot *s = keeper->slots; s < keeper->slots + ISO_GUARD_SLOTS; s++) {
    if (!s->running) continue;
    signal_slot(keeper, s, SIGCONT);
    signal_slot(keeper, s, s->end_signal != 0 ? s->end_signal : SIGKILL);
  }
  for (int ms = 0; ms < END_GRACE_MS && some_run(keeper); ms += STEP_MS) {
    moment();
    (void)reap(keeper);
  }
  for (const slot *s = keeper->slots; s < keeper->slots + ISO_GUARD_SLOTS; s++) signal_slot(keeper, s, SIGKILL);
  /* What servers started, and left. */
  for (int ms = 0; ms < LAST_GRACE_MS && reap(keeper); ms += STEP_MS) {
    iso_process_tree_kill_below(&keeper->tree, getpid());
    moment();
  }
  for (const slot *s = keeper->slots; s < keeper->slots + ISO_GUARD_SLOTS; s++)
    if (s->lock_file[0] != 0) forget_segment(s->lock_file);
}

static void remove_folder(const iso_keeper *keeper) {
  pid_t pid = fork();
  if (pid == 0) {
    if (chdir("/") != 0) _exit(126);
    execl("/bin/rm", "rm", "-rf", "--", keeper->folder, (char *)NULL);
    execl("/usr/bin/rm", "rm", "-rf", "--", keeper->folder, (char *)NULL);
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

_Noreturn void iso_keeper_main(iso_keeper *keeper, int connection) {
  withdraw(connection);
  iso_guard_reply hello = {.problem = keeper->own_network ? leave_network() : 0};
  if (send(3, &hello, sizeof hello, MSG_NOSIGNAL) != (ssize_t)sizeof hello) _exit(1);
  struct pollfd wait_for = {.fd = 3, .events = POLLIN};
  for (;;) {
    int ready = poll(&wait_for, 1, POLL_MS);
    (void)reap(keeper);
    if (ready > 0 && !serve(keeper, 3)) break;
  }
  close(3);
  end_all(keeper);
  remove_folder(keeper);
  _exit(0);
}
