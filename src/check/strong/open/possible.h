/* possible.h - the versions that an open read can have seen, after all that is known of the order of events.
 *
 * What comes after the reader was not seen, and neither was what somebody overwrote who comes before the reader.  Any
 * sequence that keeps to what is known finds one of these, or one that does not fit.  A finder owns its arrays until
 * iso_possible_free and refers to the rest.
 */
#ifndef ISO_CHECK_STRONG_OPEN_POSSIBLE_H
#define ISO_CHECK_STRONG_OPEN_POSSIBLE_H

#include "check/order/event_clock.h"
#include "check/strong/open/open_reads.h"

/* Whose writes a reader cannot have missed: of everybody before it, of its own session, of nobody in particular. */
typedef enum iso_missed { ISO_MISSES_NOTHING, ISO_MISSES_NO_SESSION, ISO_MAY_MISS } iso_missed;

typedef struct iso_possible {
  const iso_event_graph *e;
  const iso_event_clocks *clocks; /* NULL: only session order is known */
  const iso_open_reads *open;
  iso_missed missed;
  ISO_VEC(uint32_t) versions; /* of the last read that was asked about */
  uint32_t *seen;             /* by group of its key: behind the last writer that it cannot have missed */
} iso_possible;

isoproof_status iso_possible_make(const iso_event_graph *events, const iso_event_clocks *clocks,
                                  const iso_open_reads *open, iso_missed missed, iso_possible *possible,
                                  isoproof_error *error);
void iso_possible_free(iso_possible *possible);
/* Finds those of a read. */
isoproof_status iso_possible_find(iso_possible *possible, const iso_open_read *read, isoproof_error *error);

/* Settles what one version is left for; *settled counts them.  *impossible is set when none is left for a read; an
 * optional transaction takes no part then. */
isoproof_status iso_possible_settle(iso_possible *possible, iso_doubt *doubt, isoproof_task *task, uint64_t *settled,
                                    bool *impossible, isoproof_error *error);

#endif
