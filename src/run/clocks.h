/* clocks.h - what is certain of the clock of another machine, by round trips (F. Cristian, Probabilistic clock
 * synchronization, Distributed Computing 3, 1989; the bounds are those of K. Marzullo's intervals).
 *
 * A message cannot arrive before it was sent.  So of the offset of the other clock (its time less that of the
 * reference) a round trip tells that it is at most `received - sent`, and at least `answered - returned`, whatever the
 * ways took and however different they were.  Such an interval holds at its moment, and widens with the distance from
 * it by the rate at which two clocks can run apart; the intersection of all is what is certain.  A clock owns its
 * bounds until iso_clock_free.
 */
#ifndef ISO_RUN_CLOCKS_H
#define ISO_RUN_CLOCKS_H

#include "base/error.h"
#include "base/vector.h"

/* How fast two oscillators run apart at most: quartz is within 100 ppm of its frequency, over age and temperature. */
enum { ISO_CLOCK_DRIFT_PPM = 200 };

/* Nanoseconds: `sent` and `returned` on the reference, the others on the other clock. */
typedef struct iso_round_trip {
  int64_t sent, received, answered, returned;
} iso_round_trip;

/* At a moment of the other clock its offset is within [low, high]. */
typedef struct iso_clock_bound {
  int64_t moment, low, high;
} iso_clock_bound;

typedef struct iso_clock {
  ISO_VEC(iso_clock_bound) bounds; /* by moment */
  bool adrift;                     /* the round trips contradict each other: the clocks ran apart faster than that */
} iso_clock;

/* Takes a round trip, in the order of their moments; one that makes no sense sets the clock adrift.  False when memory
 * is out. */
bool iso_clock_add(iso_clock *clock, iso_round_trip trip);
/* Makes every bound as narrow as all of them together allow.  Before iso_clock_at. */
void iso_clock_settle(iso_clock *clock);
/* Whether anything is certain. */
bool iso_clock_is_known(const iso_clock *clock);
/* What is certain at a moment of the other clock; iso_clock_is_known. */
iso_clock_bound iso_clock_at(const iso_clock *clock, int64_t moment);
void iso_clock_free(iso_clock *clock);

#endif
