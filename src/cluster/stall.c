/* stall.c - stops one process of a session after the other, each for a fraction of a millisecond up to some. */
#include "cluster/stall.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_NS = 300000000, SHORTEST_NS = 200000, LONGEST_NS = 3000000, GAP_NS = 300000, TRIES = 12 };

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* xorshift: which process, and how long, need no better one. */
static uint64_t draw(iso_stall *stall, uint64_t below) {
  stall->random ^= stall->random << 13;
  stall->random ^= stall->random >> 7;
  stall->random ^= stall->random << 17;
  return stall->random % below;
}

/* Whether a process serves a client, by its title: "postgres: user database 127.0.0.1(4242) idle". */
static bool serves_client(pid_t pid) {
  char path[48], title[256];
  snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd >= 0 ? read(fd, title, sizeof title) : -1;
  if (fd >= 0) close(fd);
  return got > 0 && memchr(title, '(', (size_t)got) != NULL;
}

static void find_sessions(iso_stall *stall, iso_process_tree *tree) {
  iso_process_tree_find(tree, stall->root);
  stall->count = 0;
  for (size_t i = 0; i < tree->count && stall->count < ISO_STALL_MOST; i++) {
    const iso_process_tree_process *p = &tree->processes[i];
    if (p->member && p->parent == stall->root && serves_client(p->pid)) stall->sessions[stall->count++] = p->pid;
  }
}

/* Stops a process that works and still is a child of the server: a number may have got a new meaning since the last
 * look, the descriptor cannot. */
static bool stop(iso_stall *stall, pid_t pid) {
  iso_process_tree_process process;
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) return false;
  bool works = iso_process_look(pid, &process) && process.parent == stall->root && process.state == 'R';
  if (works && syscall(SYS_pidfd_send_signal, fd, SIGSTOP, NULL, 0) == 0) {
    stall->victim = fd;
    return true;
  }
  close(fd);
  return false;
}

/* One that works right now, if any does: to stop one that waits for its client holds up nothing. */
static bool stop_one(iso_stall *stall) {
  for (int i = 0; i < TRIES && stall->count > 0; i++)
    if (stop(stall, stall->sessions[draw(stall, stall->count)])) return true;
  return false;
}

static void release(iso_stall *stall) {
  if (stall->victim < 0) return;
  (void)syscall(SYS_pidfd_send_signal, stall->victim, SIGCONT, NULL, 0);
  close(stall->victim);
  stall->victim = -1;
}

void iso_stall_begin(iso_stall *stall, pid_t root) {
  if (stall->on) iso_stall_end(stall);
  *stall = (iso_stall){.on = true, .root = root, .victim = -1, .random = (uint64_t)now() | 1};
}

void iso_stall_end(iso_stall *stall) {
  if (stall->on) release(stall);
  stall->on = false;
}

int64_t iso_stall_step(iso_stall *stall, iso_process_tree *tree) {
  int64_t time = now();
  if (time < stall->next) return stall->next - time;
  int64_t wait = GAP_NS;
  if (stall->victim >= 0) {
    release(stall);
    wait = (int64_t)draw(stall, GAP_NS);
  } else {
    if (time >= stall->look) {
      find_sessions(stall, tree);
      stall->look = time + LOOK_NS;
    }
    if (stop_one(stall)) wait = SHORTEST_NS + (int64_t)draw(stall, LONGEST_NS - SHORTEST_NS);
  }
  stall->next = now() + wait;
  return wait;
}
