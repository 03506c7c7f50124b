/* wire.h - messages between ranks that never block: a thread of its own sends, receives and hands on.
 *
 * MPI knows no time-outs, and a call that waits for a rank that is gone waits for ever.  So every request here is
 * started, and asked after: what does not complete is given up with the rank.  Only this thread calls MPI while the
 * wire is open. A wire owns its messages; a handler borrows what it is given.
 */
#ifndef MPI_WIRE_H
#define MPI_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_MOST_BYTES = 1 << 16 }; /* of a message */

/* C name: what is in it is said in team.h. */
#define WIRE_TAG_LIST(X) X(PING) X(PONG) X(CONTROL) X(STATE) X(DATA)

typedef enum wire_tag {
#define WIRE_X(name) WIRE_##name,
  WIRE_TAG_LIST(WIRE_X)
#undef WIRE_X
      WIRE_TAGS
} wire_tag;

typedef struct wire wire;

typedef struct wire_handler {
  /* Both are called by the thread of the wire, and may send: a message that has come, at a moment of wire_now not
   * before its arrival; and now and then, some thousand times a second. */
  void (*receive)(int rank, wire_tag tag, const void *bytes, size_t size, int64_t moment, void *user);
  void (*turn)(void *user);
  void *user;
} wire_handler;

/* CLOCK_MONOTONIC_RAW in nanoseconds. */
int64_t wire_now(void);

/* Initialises MPI; NULL when that, or memory, fails.  Where it waits in vain for a rank that died, the process ends
 * with `code` after a minute.  The rank of this process, and how many there are. */
wire *wire_open(int code);
int wire_rank(const wire *w);
int wire_size(const wire *w);
/* Starts the thread; false when there is none. */
bool wire_start(wire *w, wire_handler handler);

/* From the handler only.  Copies the bytes; false when memory is out. */
bool wire_send(wire *w, int rank, wire_tag tag, const void *bytes, size_t size);
/* Messages to a rank that are on their way. */
unsigned wire_unsent(const wire *w, int rank);
/* A rank that is gone: nothing is sent to it any more, nor taken from it. */
void wire_give_up(wire *w, int rank);

/* Ends the thread once everything was sent, or after a few seconds.  Where all ranks are there, MPI is finalised (and
 * the process ends with `code` if that takes too long); where one is gone (which `whole` denies), that could take for
 * ever, and the process is to end by _exit: returns false then. */
bool wire_close(wire *w, int code, bool whole);

#endif
