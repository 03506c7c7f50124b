/* guess.h - a better first sequence of a history with open reads, for sessions that tell little.
 *
 * Placing (check/order/placement.h) needs to know what was read, and what was read follows from a sequence: the last
 * version before the reader that fits.  So the two take turns.  Where keys are few, and for what is left, values tell
 * enough: a read is right when it finds its value, whoever wrote it.  Nothing here proves anything.
 */
#ifndef ISO_CHECK_STRONG_OPEN_GUESS_H
#define ISO_CHECK_STRONG_OPEN_GUESS_H

#include "check/order/sequence.h"
#include "check/strong/open/possible.h"

/* By what is known alone, from any order at all; with what the sequence shows; by carrying the history out value by
 * value; by moving whole transactions to where the fewest reads find another value; by that, with the last few wrong
 * reads mended in windows; by carrying the history out from the order at hand, which is a good one. */
typedef enum iso_guess_way {
  ISO_GUESS_KNOWN,
  ISO_GUESS_SHOWN,
  ISO_GUESS_REPLAY,
  ISO_GUESS_VALUES,
  ISO_GUESS_MENDED,
  ISO_GUESS_COUNTED
} iso_guess_way;

typedef struct iso_open_guess {
  const iso_open_reads *open;
  const iso_event_graph *events;
  const uint8_t *cut; /* as for the events */
  bool exclusive;     /* writers of one key must not overlap */
  bool together;      /* begins and commits first move as one (check/order/placement.h) */
  iso_guess_way way;
  bool late; /* what is shown by versions that stand behind their readers is left out as far as it contradicts itself */
  uint64_t seed;
  iso_possible *possible; /* what is left for the open reads; NULL where nothing is known of that */
} iso_open_guess;

/* Puts another sequence of the same events in the place of `sequence`; not *placed where what it shows contradicts
 * itself, as it may where many reads have to be taken to have seen a version that stands behind them. */
isoproof_status iso_open_place(const iso_open_guess *guess, iso_doubt *doubt, isoproof_task *task,
                               iso_sequence *sequence, bool *placed, isoproof_error *error);

/* Settles every open read as the last version before it in the sequence that fits, or else the first one after it. */
isoproof_status iso_open_show(const iso_open_guess *guess, const iso_sequence *sequence, iso_doubt *doubt,
                              isoproof_error *error);

#endif
