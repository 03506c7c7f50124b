/* visible_steps.h - what the parts of the search in visible.c share.  A watcher owns its arrays; visible.c frees them.
 */
#ifndef ISO_CHECK_STRONG_OPEN_VISIBLE_STEPS_H
#define ISO_CHECK_STRONG_OPEN_VISIBLE_STEPS_H

#include "check/strong/open/menus.h"
#include "check/strong/open/visible.h"

/* A read of somebody who takes part. */
typedef struct iso_seen_read {
  uint32_t key, from, op;
  uint32_t open; /* number of the open read, + 1; 0: it is known what it observed */
} iso_seen_read;

/* A step of a way between transactions: by a read, where that is open (+ 1), by an order of the sequence, or surely. */
typedef struct iso_way_step {
  uint32_t txn, to, read;
  bool order;
} iso_way_step;

typedef struct iso_watcher {
  const iso_open_reads *open;
  const iso_visibility *rule;
  const iso_view *v;
  iso_event_graph *e;
  iso_sequence *s;
  iso_refiner refiner;
  iso_possible possible;
  iso_menus menus;
  uint32_t *now; /* by open read: the version that it is taken to have seen */
  iso_seen_read *reads;
  uint32_t *read_first; /* txns + 1: in program order */
  uint32_t *past;       /* txns * chains: behind the last transaction of each chain that comes before it by steps */
  uint32_t *slot_last;  /* by version: the one before it in the sequence; WW steps only */
  uint32_t *current;    /* by key, while slot_last is found out */
  /* A search for a way: steps that cost no literal, and those that cost one; who was reached by which. */
  struct iso_way_steps {
    iso_way_step *items;
    size_t count, capacity;
  } free_steps, paid_steps;
  uint32_t *reached, stamp;
  iso_way_step *step_of;
  ISO_VEC(iso_lit) clause;
  uint64_t broken, lessons;
  bool listed; /* something got literals */
  isoproof_error *error;
} iso_watcher;

/* The transaction that wrote a version. */
static inline uint32_t iso_watcher_writer(const iso_watcher *watcher, uint32_t version) {
  return version > 0 ? watcher->open->slot_txn[version - 1] : ISO_INITIAL;
}

/* The first choice of every read; *impossible where one has none.  A count for which that does not add up is stated at
 * once. */
isoproof_status iso_watcher_choose(iso_watcher *watcher, bool *impossible);

#endif
