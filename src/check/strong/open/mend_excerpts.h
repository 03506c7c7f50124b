/* mend_excerpts.h - the last few wrong reads of a guess put right, each with all that stands around it.
 *
 * What is between an order that is wrong for a handful of reads and one that is right is a few hundred transactions
 * around each of them, and of so few a level is decided at once (excerpt.h).  Nothing here proves anything.
 */
#ifndef ISO_CHECK_STRONG_OPEN_MEND_EXCERPTS_H
#define ISO_CHECK_STRONG_OPEN_MEND_EXCERPTS_H

#include "check/order/sequence.h"
#include "check/strong/open/open_reads.h"
#include "check/strong/rules/rule.h"
#include "level/method.h"

/* Of a sequence of events in which the transactions stand one after the other.  Where the level lets them overlap, they
 * may do so afterwards around the reads that were wrong.  The sequence becomes another one only if that leaves no more
 * broken, of which there are *broken. */
isoproof_status iso_excerpts_mend(const iso_examination *examination, const iso_open_reads *open,
                                  const iso_strong_level *level, iso_sequence *sequence, uint64_t *broken,
                                  isoproof_error *error);

#endif
