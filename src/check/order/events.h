/* events.h - the events of a history under a rule (level/method.h), and the edges between them that are
 * known.
 *
 * Events are numbered so that the later event of a session has the larger number: event t for transaction t, or 2t for
 * its begin and 2t+1 for its commit.  A chain is a session, or a piece of one where the level has no session order; the
 * events of a chain are ordered by their numbers.  Where transactions have levels of their own, one that reads when it
 * commits keeps its begin, which nothing but its chain knows.  Order in real time is one more chain, of ticks: a
 * transaction that ends comes before the next tick, and one that starts comes after the last tick before it.  Edges
 * that were derived are kept with the reason for them.  The graph owns its arrays until iso_event_graph_free and refers
 * to the view.
 */
#ifndef ISO_CHECK_ORDER_EVENTS_H
#define ISO_CHECK_ORDER_EVENTS_H

#include "base/vector.h"
#include "check/view/view.h"

#define ISO_NO_EVENT UINT32_C(0xffffffff)

/* Why an edge was derived; `read` is a place in view->reads, of a read of x by r from t.
 *   SEEN     s is before r, so it is before t
 *   OVERTAKEN  t is before s, so r is before s
 *   OVERLAP  t began before s committed, both wrote `read` (a key here), so t is before s
 *   LIST     list reads of `read` (a key here) show it
 *   CHOSEN   one of two orders, tried
 *   FORCED   s is before r as the axiom of r's own level says, by SO and WR alone, so it is before t
 */
typedef enum iso_reason { ISO_SEEN, ISO_OVERTAKEN, ISO_OVERLAP, ISO_LIST, ISO_CHOSEN, ISO_FORCED } iso_reason;

typedef struct iso_derived {
  uint32_t from, to; /* events */
  uint32_t read;
  uint32_t reason : 3;
  uint32_t round : 29; /* it was derived from edges of earlier rounds */
  uint32_t next_in;    /* the edge to the same event before it, + 1 */
} iso_derived;

/* What becomes an event, and which orders count. */
typedef struct iso_event_shape {
  bool split;        /* a transaction has a begin and a commit of its own */
  bool ww_to_commit; /* with `split`: a WW leads to the commit of the later writer, not to its begin */
  bool real_time;    /* RT counts */
  bool ungrouped;    /* nobody asks for the writers of a key by chain: they are not made */
  /* With `split`, by transaction: the level that is its own (iso_txn_isolation), and that says what its begin is good
   * for.  NULL where all are alike. */
  const uint8_t *own;
} iso_event_shape;

typedef struct iso_event_graph {
  const iso_view *view;
  iso_event_shape shape;
  bool split;
  bool timed;          /* the history has times, whether the level asks for them or not */
  uint32_t txn_events; /* events of transactions; ticks follow */
  uint32_t ticks;
  uint32_t count;

  uint32_t chains;       /* ticks, where there are any, are the last one */
  uint32_t *chain_of;    /* by transaction */
  uint32_t *chain_start; /* first transaction of each chain of transactions; one more entry */

  uint32_t *tick_before; /* by transaction: ticks that come before it; NULL without real time */
  uint32_t *ended_first; /* ticks + 1 */
  uint32_t *ended;       /* transactions that end right before a tick */

  ISO_VEC(iso_derived) derived;
  uint32_t *in; /* by event: the last derived edge to it, + 1 */

  /* Writers of a key by chain, as in the view (and the view's own arrays where the chains are its sessions). */
  const uint32_t *group_first, *group_chain, *group_start;
  uint32_t *own_groups[3];
} iso_event_graph;

/* `cut` has a byte per transaction that is 1 where a chain must end before it; NULL cuts at sessions only. */
isoproof_status iso_event_graph_make(iso_view *view, iso_event_shape shape, const uint8_t *cut, iso_event_graph *events,
                                     isoproof_error *error);
void iso_event_graph_free(iso_event_graph *events);

isoproof_status iso_event_graph_add(iso_event_graph *events, iso_derived edge, isoproof_error *error);
/* Takes the derived edges from number `first` on away again. */
void iso_event_graph_drop(iso_event_graph *events, uint32_t first);

/* The predecessors of an event one by one: start with *at = 0; ISO_NO_EVENT after the last. */
uint32_t iso_next_before(const iso_event_graph *events, uint32_t event, uint64_t *at);
/* Whether the predecessor that was just returned with this cursor is one of a derived edge; those come last. */
static inline bool iso_is_derived(uint64_t at) { return at >> 32 != 0; }
/* The one of its chain; ISO_NO_EVENT when there is none. */
uint32_t iso_event_before(const iso_event_graph *events, uint32_t event);

/* The first event of a transaction, whatever it is good for; `txn` may be one past the last. */
static inline uint32_t iso_event_first(const iso_event_graph *e, uint32_t txn) { return e->split ? 2 * txn : txn; }
/* Whether a transaction with a level of its own reads from a snapshot, taken when it begins. */
static inline bool iso_event_is_snapshot(const iso_event_graph *e, uint32_t txn) {
  return e->shape.own[txn] == ISO_ISOLATION_PREFIX || e->shape.own[txn] == ISO_ISOLATION_SNAPSHOT_ISOLATION;
}
/* Whether what a transaction reads is what is there at its begin; else an axiom of SO and WR says what it may read. */
static inline bool iso_event_is_executed(const iso_event_graph *e, uint32_t txn) {
  return e->shape.own == NULL || e->shape.own[txn] >= ISO_ISOLATION_PREFIX;
}
/* Whether no other writer of its keys may commit between its begin and its commit, where the rule says so of some. */
static inline bool iso_event_is_exclusive(const iso_event_graph *e, uint32_t txn) {
  return e->shape.own == NULL || e->shape.own[txn] == ISO_ISOLATION_SNAPSHOT_ISOLATION;
}
/* Where a transaction reads. */
static inline uint32_t iso_event_begin(const iso_event_graph *e, uint32_t txn) {
  return iso_event_first(e, txn) + (e->shape.own != NULL && !iso_event_is_snapshot(e, txn));
}
static inline uint32_t iso_event_commit(const iso_event_graph *e, uint32_t txn) { return e->split ? 2 * txn + 1 : txn; }
/* Where WW arrives: what comes before the version that the transaction wrote comes before this event. */
static inline uint32_t iso_event_version(const iso_event_graph *e, uint32_t txn) {
  bool late = e->shape.ww_to_commit || !iso_event_is_exclusive(e, txn);
  return late ? iso_event_commit(e, txn) : iso_event_begin(e, txn);
}
/* ISO_NO_TXN for a tick. */
static inline uint32_t iso_event_txn(const iso_event_graph *e, uint32_t event) {
  if (event >= e->txn_events) return ISO_NO_TXN;
  return e->split ? event / 2 : event;
}
static inline uint32_t iso_event_chain(const iso_event_graph *e, uint32_t event) {
  return event >= e->txn_events ? e->chains - 1 : e->chain_of[e->split ? event / 2 : event];
}
/* Whether the event takes part. */
static inline bool iso_event_counts(const iso_event_graph *e, uint32_t event) {
  return event >= e->txn_events || e->view->counts[e->split ? event / 2 : event];
}

#endif
