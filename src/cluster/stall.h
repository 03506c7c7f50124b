/* stall.h - processes of a server stopped for a moment each, one at a time, as a busy machine would do it.
 *
 * A transaction that is held up between two steps of its commit leaves a gap of microseconds open for a millisecond:
 * races within a server that takes a process per session become likely.  A moment is what the other sessions need for a
 * transaction or two, however busy the machine is.  For the guardian, so nothing here allocates.
 * A stall owns a descriptor between begin and end, and is one thread's.
 */
#ifndef ISO_CLUSTER_STALL_H
#define ISO_CLUSTER_STALL_H

#include <stdint.h>

#include "cluster/process_tree.h"

enum { ISO_STALL_MOST = 512 };

typedef struct iso_stall {
  bool on;
  pid_t root;         /* of the server */
  int victim;         /* descriptor of the stopped process; -1 none */
  uint64_t random;    /* state of the generator */
  int64_t next, look; /* when the next step is due, and the next look at the processes; monotonic nanoseconds */
  int64_t latest;     /* when the stopped process goes on in any case */
  uint64_t enough;    /* nanoseconds of work of all sessions after which it does */
  unsigned commits, fruitless; /* commits stopped, and looks in vain, since the last stop of another kind */
  pid_t sessions[ISO_STALL_MOST];
  size_t count;
} iso_stall;

/* Goes on until iso_stall_end, step by step. */
void iso_stall_begin(iso_stall *stall, pid_t root);
/* The stopped process goes on. */
void iso_stall_end(iso_stall *stall);
/* Does what is due; nanoseconds until the next step. */
int64_t iso_stall_step(iso_stall *stall, iso_process_tree *tree);

#endif
