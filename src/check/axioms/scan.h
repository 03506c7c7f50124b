/* scan.h - the edges that the axioms of the weak levels force.
 *
 * Each axiom has the form: for a read of x by t3 from t1 and another writer t2 of x, a condition on t2 and t3 forces t2
 * before t1 in the commit order (spec of the levels in docs/levels.md).  A scan finds, for every external read, the
 * writers t2 that matter: of the writers of one session that meet the condition only the last, as the others come
 * before it anyway, and none that is known to be before t1 already.  Read committed
 * and read atomic take n^1.5 at worst, the others reads x sessions (AWDIT has the same bounds).  A scan belongs to one
 * thread and owns its tables.
 */
#ifndef ISO_CHECK_AXIOMS_SCAN_H
#define ISO_CHECK_AXIOMS_SCAN_H

#include "check/order/clock.h"
#include "check/view/versions.h"
#include "level/method.h"

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

/* Scans the transactions of sessions [first, end) by the rule of the axiom (check/axioms/rule.h), which must have a
 * scan by sessions; `context` goes to request->forced. */
isoproof_status iso_scan_sessions(const iso_scan_request *request, uint32_t first, uint32_t end, void *context,
                                  isoproof_task *task, isoproof_error *error);

/* The scan of the causal axiom: the reads of keys [first, end), key by key, so that the writers of a key and what is
 * known of them stay in the cache.  The view needs its readers. */
isoproof_status iso_scan_causal(const iso_scan_request *request, uint32_t first, uint32_t end, void *context,
                                isoproof_task *task, isoproof_error *error);

#endif
