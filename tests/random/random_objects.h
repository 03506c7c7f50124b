/* random_objects.h - small random histories of sets, counters and registers of words, as text.  A history is a plain
 * value of its caller's. */
#ifndef RANDOM_OBJECTS_H
#define RANDOM_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OBJECTS_TXNS = 7, OBJECTS_TEXT = 512 };

typedef struct objects_txn {
  unsigned session;
  const char *status;
  unsigned start, end;
  char ops[OBJECTS_TEXT];
} objects_txn;

/* Transactions of one session stand in its order. */
typedef struct objects_history {
  unsigned count;
  bool timed;
  objects_txn txns[OBJECTS_TXNS];
} objects_history;

/* What kinds of operations there are. */
typedef enum objects_kind { OBJECTS_SETS, OBJECTS_COUNTERS, OBJECTS_WORDS, OBJECTS_KINDS } objects_kind;

/* 2 to 7 transactions on 1 to 3 keys, run by a tiny store whose reads see a recent state, mostly the last one. */
void objects_draw(uint64_t *state, objects_kind kind, objects_history *out);
/* The transactions from `first` to before `end` as JSON lines; returns the length. */
size_t objects_text(const objects_history *history, unsigned first, unsigned end, char *out, size_t size);

#endif
