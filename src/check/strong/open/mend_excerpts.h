/* mend_excerpts.h - the last few wrong reads of a guess put right, each with all that stands around it.
 *
 * What is between an order that is wrong for a handful of reads and one that is right is a few hundred transactions
 * around each of them, and of so few a level is decided at once (excerpt.h).  Nothing here proves anything.
 */
#ifndef ISO_CHECK_STRONG_OPEN_MEND_EXCERPTS_H
#define ISO_CHECK_STRONG_OPEN_MEND_EXCERPTS_H

#include "check/order/sequence.h"
#include "check/strong/open/open_reads.h"
#include "level/method.h"

/* Of a sequence of events in which the transactions stand one after the other.  Where the level lets them overlap, they
 * may do so afterwards around the reads that were wrong. */
isoproof_status iso_excerpts_mend(const iso_event_graph *events, const iso_open_reads *open,
                                  const iso_strong_level *level, isoproof_task *task, iso_sequence *sequence,
                                  isoproof_error *error);

#endif
