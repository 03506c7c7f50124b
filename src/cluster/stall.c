/* stall.c - stops one process of a session after the other, each until the others have worked for a moment. */
#include "cluster/stall.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MILLISECOND = 1000000 };
enum {
  LOOK_NS = 300 * MILLISECOND, /* between two looks at which processes there are */
  GAP_NS = MILLISECOND / 10,   /* at most, between two stops */
  POLL_NS = MILLISECOND / 20,  /* between two looks at how far the others are */
  /* What the others do meanwhile, all together: about a transaction or two each.  A race needs somebody who began
   * within the gap and goes on after it, so that many short stops are better than few long ones. */
  LEAST_WORK_NS = MILLISECOND / 20,
  MOST_WORK_NS = MILLISECOND,
  LONGEST_NS = 40 * MILLISECOND, /* of a stop, where the machine has no time for the others */
  COMMITS_BEFORE_ANY = 8,        /* stops of commits, before one of a session that does anything */
  MOST_FRUITLESS = 300,          /* looks for a commit, after which anything will do */
  TITLE_BYTES = 256
};

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

/* The beginning of a file of /proc as a text; false when it is not there. */
static bool read_proc(pid_t pid, const char *name, char text[TITLE_BYTES]) {
  char path[48];
  snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd >= 0 ? read(fd, text, TITLE_BYTES - 1) : -1;
  if (fd >= 0) close(fd);
  if (got <= 0) return false;
  text[got] = 0;
  return true;
}

/* What a process that serves a client does, by its title: "idle" of "postgres: user database 127.0.0.1(4242) idle";
 * NULL: it serves none. */
static const char *work_of(pid_t pid, char title[TITLE_BYTES]) {
  if (!read_proc(pid, "cmdline", title)) return NULL;
  const char *client = strchr(title, '('), *end = client != NULL ? strstr(client, ") ") : NULL;
  return end != NULL ? end + 2 : NULL;
}

static void find_sessions(iso_stall *stall, iso_process_tree *tree) {
  char title[TITLE_BYTES];
  iso_process_tree_find(tree, stall->root);
  stall->count = 0;
  for (size_t i = 0; i < tree->count && stall->count < ISO_STALL_MOST; i++) {
    const iso_process_tree_process *p = &tree->processes[i];
    if (p->member && p->parent == stall->root && work_of(p->pid, title) != NULL)
      stall->sessions[stall->count++] = p->pid;
  }
}

/* How long the sessions have had a processor until now, all together; 0 where the kernel does not tell. */
static uint64_t work_done(const iso_stall *stall) {
  uint64_t sum = 0;
  char text[TITLE_BYTES];
  for (size_t i = 0; i < stall->count; i++)
    if (read_proc(stall->sessions[i], "schedstat", text)) sum += strtoull(text, NULL, 10);
  return sum;
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

/* Whether to stop a session for what it does.  To stop one that waits, or has not read yet what came from its client,
 * holds up nothing.  Mostly one that commits: what others see then, and what the server remembers of it, changes step
 * by step. */
static bool is_wanted(const iso_stall *stall, const char *work) {
  bool any = stall->commits >= COMMITS_BEFORE_ANY || stall->fruitless >= MOST_FRUITLESS;
  if (work == NULL) return false;
  if (!any) return strncmp(work, "COMMIT", 6) == 0;
  return strncmp(work, "idle", 4) != 0 && strstr(work, "waiting") == NULL;
}

/* One that works right now, if any does. */
static bool stop_one(iso_stall *stall) {
  char title[TITLE_BYTES];
  size_t first = stall->count > 0 ? draw(stall, stall->count) : 0;
  for (size_t i = 0; i < stall->count; i++) {
    pid_t pid = stall->sessions[(first + i) % stall->count];
    const char *work = work_of(pid, title);
    if (!is_wanted(stall, work) || !stop(stall, pid)) continue;
    stall->commits = strncmp(work, "COMMIT", 6) == 0 ? stall->commits + 1 : 0;
    stall->fruitless = 0;
    return true;
  }
  stall->fruitless++;
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

/* While one is stopped: a busy machine has no time for the others, so the clock alone says nothing about them. */
static int64_t go_on(iso_stall *stall, int64_t time) {
  if (time < stall->latest && work_done(stall) < stall->enough) return POLL_NS;
  release(stall);
  return (int64_t)draw(stall, GAP_NS);
}

int64_t iso_stall_step(iso_stall *stall, iso_process_tree *tree) {
  int64_t time = now();
  if (time < stall->next) return stall->next - time;
  int64_t wait = GAP_NS;
  if (stall->victim >= 0) {
    wait = go_on(stall, time);
  } else {
    if (time >= stall->look) {
      find_sessions(stall, tree);
      stall->look = time + LOOK_NS;
    }
    if (stop_one(stall)) {
      uint64_t work = LEAST_WORK_NS + draw(stall, MOST_WORK_NS - LEAST_WORK_NS), done = work_done(stall);
      stall->enough = done + work;
      stall->latest = now() + (done > 0 ? LONGEST_NS : (int64_t)work);
      wait = POLL_NS;
    }
  }
  stall->next = now() + wait;
  return wait;
}
