/* process_tree.c - finding and signalling a tree of processes, by reading /proc until nothing new is found. */
#include "cluster/process_tree.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STOP_PASSES = 20 };

/* What getdents64 fills: the C library has the functions that allocate only. */
typedef struct entry {
  unsigned long long inode;
  long long offset;
  unsigned short bytes;
  unsigned char type;
  char name[];
} entry;

/* "123 (name) S 45 ...": the name may hold anything, also parentheses. */
static bool read_process(int proc, const char *name, iso_process_tree_process *process) {
  char path[64], text[512];
  snprintf(path, sizeof path, "%.40s/stat", name);
  int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  if (got <= 0) return false;
  text[got] = 0;
  const char *end = strrchr(text, ')');
  if (end == NULL || strlen(end) < 5) return false;
  *process = (iso_process_tree_process){.pid = (pid_t)strtol(name, NULL, 10), .state = end[2]};
  process->parent = (pid_t)strtol(end + 4, NULL, 10);
  return true;
}

static void scan(iso_process_tree *tree) {
  _Alignas(entry) char buffer[8192];
  tree->count = 0;
  int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) return;
  long got;
  while ((got = syscall(SYS_getdents64, proc, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < got;) {
      const entry *e = (const entry *)(const void *)(buffer + at);
      at += e->bytes;
      if (e->name[0] < '1' || e->name[0] > '9' || tree->count >= ISO_TREE_MOST) continue;
      if (read_process(proc, e->name, &tree->processes[tree->count])) tree->count++;
    }
  }
  close(proc);
}

bool iso_process_look(pid_t pid, iso_process_tree_process *process) {
  char name[24];
  int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  snprintf(name, sizeof name, "%ld", (long)pid);
  bool found = proc >= 0 && read_process(proc, name, process);
  if (proc >= 0) close(proc);
  return found;
}

static bool is_member(const iso_process_tree *tree, pid_t pid) {
  for (size_t i = 0; i < tree->count; i++)
    if (tree->processes[i].pid == pid) return tree->processes[i].member;
  return false;
}

void iso_process_tree_find(iso_process_tree *tree, pid_t root) {
  scan(tree);
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < tree->count; i++) {
      iso_process_tree_process *p = &tree->processes[i];
      if (p->member || p->pid == root || (p->parent != root && !is_member(tree, p->parent))) continue;
      p->member = more = true;
    }
  }
}

/* Signals all members but zombies; how many were not in `state` yet. */
static size_t signal_members(const iso_process_tree *tree, int number, char state) {
  size_t fresh = 0;
  for (size_t i = 0; i < tree->count; i++) {
    const iso_process_tree_process *p = &tree->processes[i];
    if (!p->member || p->state == 'Z' || p->state == 'X' || p->state == state) continue;
    fresh += kill(p->pid, number) == 0;
  }
  return fresh;
}

/* Until nobody is left that could start another one. */
static void stop_members(iso_process_tree *tree, pid_t root) {
  for (int pass = 0; pass < STOP_PASSES; pass++) {
    iso_process_tree_find(tree, root);
    if (signal_members(tree, SIGSTOP, 'T') == 0) return;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}

void iso_process_tree_signal(iso_process_tree *tree, pid_t root, int number) {
  if (number == SIGCONT) {
    iso_process_tree_find(tree, root);
    (void)signal_members(tree, SIGCONT, 0);
    kill(root, SIGCONT);
    return;
  }
  kill(root, SIGSTOP);
  stop_members(tree, root);
  if (number != SIGKILL) return;
  (void)signal_members(tree, SIGKILL, 0);
  kill(root, SIGKILL);
}

void iso_process_tree_kill_below(iso_process_tree *tree, pid_t root) {
  stop_members(tree, root);
  (void)signal_members(tree, SIGKILL, 0);
}
