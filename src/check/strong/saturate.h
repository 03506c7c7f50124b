/* saturate.h - the orders that follow from what is known, without a guess.
 *
 * For a read of x by r from t, and in every chain: the last writer s of x there that comes before r must come before t
 * (SEEN); the first writer s of x there that comes after t must come after r (OVERTAKEN).  Under snapshot isolation two
 * writers of a key must not overlap: the first writer s there whose commit comes after the begin of t must begin after
 * t commits (OVERLAP).  Of the writers of a chain only one is looked at, so pairs are never enumerated.  What follows
 * is added to the events, the clocks are brought up to date, and only what they touched is looked at again.  A round
 * takes reads x chains at worst.
 */
#ifndef ISO_CHECK_STRONG_SATURATE_H
#define ISO_CHECK_STRONG_SATURATE_H

#include "check/strong/rules/rule.h"

typedef struct iso_saturation {
  uint32_t rounds;
  bool cyclic; /* what follows contradicts itself; the sequence and the clocks are those of the round before */
} iso_saturation;

/* Goes on until nothing follows any more, or a round brings so little that a search does the rest better.  `sequence`
 * has all events. */
isoproof_status iso_saturate(const iso_strong_rule *rule, iso_event_graph *events, iso_sequence *sequence,
                             iso_event_clocks *clocks, isoproof_task *task, iso_saturation *saturation,
                             isoproof_error *error);

#endif
