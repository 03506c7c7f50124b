/* undecided.h - how many pairs of writers are in an order that nobody knows: the size of the search, for statistics. */
#ifndef ISO_CHECK_STRONG_UNDECIDED_H
#define ISO_CHECK_STRONG_UNDECIDED_H

#include "check/order/event_clock.h"

/* Counts the pairs of writers of one key in different chains that are not ordered by the clocks (or, with NULL, all of
 * them), and the dependencies between transactions that wait for their order: one WW a pair, and one RW for each reader
 * of either version. */
void iso_count_undecided(const iso_event_graph *events, const iso_event_clocks *clocks, uint64_t *pairs,
                         uint64_t *dependencies);

#endif
