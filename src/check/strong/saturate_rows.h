/* saturate_rows.h - what check/strong/saturate.h finds, by rows of bits instead of clocks.
 *
 * A clock has a number for each chain.  Where chains are short and many, a bit for each event is less, and rows of bits
 * are joined and compared 64 events at a time: of a read, all writers of its key that are before the reader and not yet
 * before what it saw come out of one pass over three rows.
 */
#ifndef ISO_CHECK_STRONG_SATURATE_ROWS_H
#define ISO_CHECK_STRONG_SATURATE_ROWS_H

#include "check/strong/saturate.h"

/* Whether rows are the better way: there are many chains, and the rows of all events fit into memory.  In real time a
 * row has only those events that are not far away by the clock. */
bool iso_rows_suit(iso_event_graph *events, iso_sequence *sequence);
/* Whether a first round of them takes less than a guess at the order of that many transactions with many reads. */
bool iso_rows_are_quick(const iso_event_graph *events);

/* Goes on until nothing follows any more, or for `most_rounds` where that is not 0.  The derived edges are numbered by
 * their `round`: each rests on edges with lower numbers only.  The view has its readers and writers by key. */
isoproof_status iso_saturate_rows(const iso_strong_rule *rule, iso_event_graph *events, iso_sequence *sequence,
                                  uint32_t most_rounds, isoproof_task *task, iso_saturation *saturation,
                                  isoproof_error *error);

#endif
