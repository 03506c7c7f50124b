/* serial_start.h - a serial order of a history with very many open reads, as far as there is one, for the causal level.
 *
 * What is serializable but for a few reads is mostly causal, and along such an order nearly every read finds its
 * version at once.  That is guessed as at serializable (guess.h).  Nothing here proves anything.
 */
#ifndef ISO_CHECK_STRONG_OPEN_SERIAL_START_H
#define ISO_CHECK_STRONG_OPEN_SERIAL_START_H

#include "check/order/sequence.h"
#include "check/strong/open/open_reads.h"

/* Fills when[transaction], from an order of all transactions of the view of the reads that are known; *found where the
 * order that was guessed is wrong for few reads only. */
isoproof_status iso_serial_start(iso_view *view, const iso_open_reads *open, iso_doubt *doubt,
                                 const iso_sequence *known, isoproof_task *task, int64_t *when, bool *found,
                                 isoproof_error *error);

#endif
