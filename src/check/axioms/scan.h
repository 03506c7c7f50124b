/* scan.h - the edges that the axioms of the weak levels force.
 *
 * Each axiom has the form: for a read of x by t3 from t1 and another writer t2 of x, a condition on t2 and t3 forces t2
 * before t1 in the commit order (spec of the levels in docs/levels.md).  A scan finds, for every external read, the
 * writers t2 that matter: of the writers of one session that meet the condition only the last, as the others come
 * before it anyway, and none that is known to be before t1 already.  A scan belongs to one thread and owns its tables.
 */
#ifndef ISO_CHECK_AXIOMS_SCAN_H
#define ISO_CHECK_AXIOMS_SCAN_H

#include "check/order/clock.h"
#include "check/versions.h"

/* The conditions on t2 and t3: C name, id of the level, what it says. */
#define ISO_AXIOM_LIST(X)                                                                                              \
  X(READ_COMMITTED, "read-committed", "t3 read another key from t2 before")                                            \
  X(READ_ATOMIC, "read-atomic", "t2 is before t3 in its session, or t3 reads from t2")                                 \
  X(CAUSAL, "causal", "t2 is causally before t3")                                                                      \
  X(READ_YOUR_WRITES, "read-your-writes", "t2 is before t3 in its session")                                            \
  X(MONOTONIC_READS, "monotonic-reads", "the session of t3 read from t2 before")                                       \
  X(MONOTONIC_WRITES, "monotonic-writes", "t3 reads from a transaction that follows t2 in its session")                \
  X(WRITES_FOLLOW_READS, "writes-follow-reads", "t3 reads from a transaction whose session read from t2 before")

typedef enum iso_axiom {
#define ISO_X(name, id, text) ISO_AXIOM_##name,
  ISO_AXIOM_LIST(ISO_X)
#undef ISO_X
      ISO_AXIOMS
} iso_axiom;

const char *iso_axiom_level(iso_axiom axiom);

typedef struct iso_scanner iso_scanner;

/* Told of an edge t2 -> t1; t1 is the transaction that view->reads[read], a read of t3, saw, perhaps ISO_INITIAL. */
typedef void (*iso_forced_fn)(void *context, uint32_t t2, uint32_t t3, uint32_t read);

/* What a scan needs besides the view. */
typedef struct iso_scan_request {
  const iso_view *view;
  const iso_versions *versions; /* of lists: what they say already is left out; NULL where there are no lists */
  iso_axiom axiom;
  /* Causal needs them, and its scan covers the writers in their columns.  The others use them, where they are given for
   * all sessions, to leave out what CO says already. */
  const iso_clocks *clocks;
  /* Where given, only versions of transactions on these cycles are looked at: every cycle of a session guarantee is one
   * of causal. */
  const uint32_t *component;
  const uint8_t *only; /* where given, by place in view->reads: only these are looked at */
  iso_forced_fn forced;
} iso_scan_request;

/* Scans the transactions of sessions [first, end) as t3 (for WRITES_FOLLOW_READS as the ones read from), for every
 * axiom but causal; `context` goes to request->forced. */
isoproof_status iso_scan_sessions(const iso_scan_request *request, uint32_t first, uint32_t end, void *context,
                                  isoproof_task *task, isoproof_error *error);

/* The scan of the causal axiom: the reads of keys [first, end), key by key, so that the writers of a key and what is
 * known of them stay in the cache.  The view needs its readers. */
isoproof_status iso_scan_causal(const iso_scan_request *request, uint32_t first, uint32_t end, void *context,
                                isoproof_error *error);

/* Whether t3 reads a key other than that of `read` from t2 before it does `read`; whether it reads from t2 at all. */
bool iso_reads_before(const iso_view *view, uint32_t t2, uint32_t t3, uint32_t read);
bool iso_reads_from(const iso_view *view, uint32_t t2, uint32_t t3);

#endif
