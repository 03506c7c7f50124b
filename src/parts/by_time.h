/* by_time.h - sequences of transactions, and of their begins and commits, by the times of a history.
 *
 * Clients see a transaction take effect some time between its start and its end: near either of them in most systems.
 * Whoever takes part is in a sequence; all of these respect real time: who ended before somebody began comes first.
 * The arrays `event` of a sequence are the caller's to free; there is no `place`.
 */
#ifndef ISO_PARTS_BY_TIME_H
#define ISO_PARTS_BY_TIME_H

#include "parts/coordinator.h"

/* Transactions by the times of their starts, or of their ends; *good: sessions are in their order. */
isoproof_status iso_txns_by_time(const iso_coordinator *c, bool starts, iso_sequence *s, bool *good,
                                 isoproof_error *error);
/* Begins (2t) by the times of starts and commits (2t+1) by those of ends, a commit before a begin of the same time. */
isoproof_status iso_events_by_time(const iso_coordinator *c, iso_sequence *s, bool *good, isoproof_error *error);

#endif
