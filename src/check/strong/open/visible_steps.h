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

/* A step of a way between transactions: by a read, where that is open (+ 1), by an order of the sequence, because an
 * optional transaction takes part, or surely. */
typedef struct iso_way_step {
  uint32_t txn, to, read;
  bool order, part;
} iso_way_step;

/* That a session read from somebody who wrote the key: the transaction that did, and which read. */
typedef struct iso_session_read {
  uint32_t txn, read;
  uint32_t best; /* among those of the session so far, the one who comes last in the sequence: its place here */
} iso_session_read;

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
  /* What sessions read, by the keys that were written there; only where a rule asks for it. */
  uint32_t *seen_first; /* keys + 2, the last one while it is made */
  ISO_VEC(iso_session_read) seen;
  /* A search for a way: steps that cost no literal, and those that cost one; who was reached by which. */
  struct iso_way_steps {
    iso_way_step *items;
    size_t count, capacity;
  } free_steps, paid_steps;
  uint32_t *reached, stamp;
  iso_way_step *step_of;
  ISO_VEC(iso_lit) clause;
  bool started; /* first choices come from elsewhere, and need not be possible */
  bool is_void; /* the lesson at hand says nothing */
  uint64_t broken, lessons;
  bool listed; /* something got literals */
  isoproof_error *error;
} iso_watcher;

/* The transaction that wrote a version. */
static inline uint32_t iso_watcher_writer(const iso_watcher *watcher, uint32_t version) {
  return version > 0 ? watcher->open->slot_txn[version - 1] : ISO_INITIAL;
}

/* The lesson about a visible writer, a clause: it comes before the one that was read, or something else changes. */
isoproof_status iso_watcher_begin_lesson(iso_watcher *watcher, const iso_seen_read *read, uint32_t writer);
/* Or a read did not see what it is taken to have seen. */
isoproof_status iso_watcher_deny(iso_watcher *watcher, const iso_seen_read *read);
/* Or an optional transaction takes no part; nothing for others. */
isoproof_status iso_watcher_deny_part(iso_watcher *watcher, uint32_t txn);
/* Or one comes before another. */
isoproof_status iso_watcher_demand(iso_watcher *watcher, uint32_t from, uint32_t to);
isoproof_status iso_watcher_end_lesson(iso_watcher *watcher);

/* Whether a writer comes too late in the sequence to be visible to whoever reads that. */
static inline bool iso_watcher_is_late(const iso_watcher *w, const iso_seen_read *read, uint32_t reader,
                                       uint32_t writer) {
  if (writer == read->from || writer == reader) return false;
  return read->from == ISO_INITIAL || w->s->place[writer] > w->s->place[read->from];
}

/* Finds out what sessions read, where the rule is about that. */
isoproof_status iso_watcher_look(iso_watcher *watcher);
/* Lessons from what is visible to a reader by a few steps. */
isoproof_status iso_watcher_check(iso_watcher *watcher, uint32_t reader, const iso_seen_read *read);

/* The first choice of every read, that of `start` where there is one; *impossible where one has none.  A count for
 * which that does not add up is stated at once. */
isoproof_status iso_watcher_choose(iso_watcher *watcher, const iso_open_start *start, bool *impossible);

#endif
