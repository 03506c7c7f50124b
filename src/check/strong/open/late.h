/* late.h - reads whose likely version stands behind them in an order: which of them can all be true.
 *
 * In a guess, a read that no version before it explains is taken to have seen the first one behind it.  Where many are,
 * that contradicts what is known sooner or later, and then nothing can be placed by it at all.  So these versions are
 * entered one by one, those that are nearest first, into an order that moves; whatever would close a cycle, or costs
 * too much to find out about, is left out, and the read stays open.
 */
#ifndef ISO_CHECK_STRONG_OPEN_LATE_H
#define ISO_CHECK_STRONG_OPEN_LATE_H

#include "check/order/sequence.h"
#include "check/strong/open/open_reads.h"

typedef struct iso_late_read {
  uint32_t read, version; /* by number among the open reads; as in open_reads.h */
  uint32_t far;           /* how far behind the reader that stands */
  bool fits;
} iso_late_read;

typedef ISO_VEC(iso_late_read) iso_late_reads;

/* Finds out which of them fit, beside the edges of the graph and each other.  The sequence, of all events, becomes one
 * that has them.  The reads are sorted on the way. */
isoproof_status iso_late_reads_fit(const iso_open_reads *open, const iso_event_graph *events, iso_late_reads *late,
                                   iso_sequence *sequence, isoproof_task *task, isoproof_error *error);

#endif
