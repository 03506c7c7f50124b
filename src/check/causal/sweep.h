/* sweep.h - which writers between a version and its reader are causally before the reader?
 *
 * Transactions are taken by their places in an order.  The sources, writers of some key, are looked at in blocks of a
 * few hundred neighbours; a sweep over the places behind a block carries one bit for each.  A sweeper belongs to one
 * thread and owns its tables until iso_sweeper_free; the strip that it reads belongs to the caller.
 */
#ifndef ISO_CHECK_CAUSAL_SWEEP_H
#define ISO_CHECK_CAUSAL_SWEEP_H

#include "check/causal/between.h"

enum { ISO_SWEEP_WORDS = 8, ISO_SWEEP_BITS = 64 * ISO_SWEEP_WORDS };

/* A history in the order of places. */
typedef struct iso_strip {
  uint32_t count;
  uint32_t *before_first; /* count + 1 */
  uint32_t *before;       /* places of the transactions directly before in CO */
  uint32_t *read_first;   /* count + 1 */
  struct iso_strip_read {
    uint32_t key;
    uint32_t from;       /* place + 1; 0 for the initial transaction */
    uint32_t read;       /* place in view->reads */
  } * reads;             /* those with a writer of the key between */
  uint32_t *write_first; /* count + 1 */
  uint32_t *write_key;
  uint32_t keys;
} iso_strip;

/* A writer far before a reader that it could concern. */
typedef struct iso_far {
  uint32_t writer, reader; /* places */
  uint32_t read;
} iso_far;

typedef struct iso_sweeper {
  const iso_strip *strip;
  uint64_t *bits;  /* ISO_SWEEP_WORDS a place of the sweep */
  size_t capacity; /* places */
  struct iso_key_mask {
    uint32_t sweep;        /* number of the sweep that it is about */
    uint32_t slot;         /* of masks */
  } * key;                 /* by key */
  ISO_VEC(uint64_t) masks; /* ISO_SWEEP_WORDS each: who of the block writes the key */
  iso_between_list found;
  uint32_t sweeps;
  bool all; /* note every writer that concerns a read, not only a few */
  bool failed;
} iso_sweeper;

bool iso_sweeper_make(const iso_strip *strip, iso_sweeper *sweeper);
void iso_sweeper_free(iso_sweeper *sweeper);

/* Sweeps from the block (places [block * ISO_SWEEP_BITS, ...)) to place `end`, and adds what it finds; of the writers
 * that concern one read only a few, unless `all` is set. */
void iso_sweep(iso_sweeper *sweeper, uint32_t block, uint32_t end);

/* The same for writers that are far away, one sweep for a few hundred of them.  Sorts `items`. */
void iso_sweep_far(iso_sweeper *sweeper, iso_far *items, size_t count);

#endif
