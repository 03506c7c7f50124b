/* process_tree.h - a process and its descendants, as /proc shows them, without allocating.
 *
 * A tree is scratch memory that its caller owns; every call looks anew.
 */
#ifndef ISO_CLUSTER_PROCESS_TREE_H
#define ISO_CLUSTER_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { ISO_TREE_MOST = 32768 };

typedef struct iso_process_tree_process {
  pid_t pid, parent;
  char state; /* as in /proc: 'Z' is a zombie, 'T' stopped */
  bool member;
} iso_process_tree_process;

typedef struct iso_process_tree {
  iso_process_tree_process processes[ISO_TREE_MOST];
  size_t count;
} iso_process_tree;

/* Marks what is below a process as members. */
void iso_process_tree_find(iso_process_tree *tree, pid_t root);
/* A process as it is now; false when it is not there. */
bool iso_process_look(pid_t pid, iso_process_tree_process *process);

/* SIGSTOP, SIGCONT or SIGKILL to a child of this process and everything below it.  Before anything is killed all of it
 * is stopped, so that nobody waits for a process and its number cannot get a new meaning meanwhile. */
void iso_process_tree_signal(iso_process_tree *tree, pid_t root, int number);
/* Kills everything below a process, but not itself. */
void iso_process_tree_kill_below(iso_process_tree *tree, pid_t root);

#endif
