/* possible.h - the versions that an open read can have seen, after all that is known of the order of events.
 *
 * What comes after the reader was not seen, and neither was what somebody overwrote who comes before the reader.  Nor
 * can two writers be seen that both wrote two keys, each at one of these: whoever came first was overwritten.  Any
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
  uint32_t *seen_groups;      /* those with any such writer */
  uint32_t seen_count;
  uint32_t *replacer; /* by version of each place, and behind those by key of its initial one: who is known to have read
                         it and to have written the key, + 1; NULL where several may have */
} iso_possible;

isoproof_status iso_possible_make(const iso_event_graph *events, const iso_event_clocks *clocks,
                                  const iso_open_reads *open, iso_missed missed, iso_possible *possible,
                                  isoproof_error *error);
/* From then on, who writes the key as well did not see what somebody else is known to have seen who does so, too: for
 * levels at which that is a lost update. */
isoproof_status iso_possible_note_updates(iso_possible *possible, isoproof_error *error);
void iso_possible_free(iso_possible *possible);
/* Finds those of a read. */
isoproof_status iso_possible_find(iso_possible *possible, const iso_open_read *read, isoproof_error *error);

/* How far a version is from its reader in a sequence, those after it farther than all before it. */
int64_t iso_open_distance(const iso_open_reads *open, const iso_event_graph *events, const iso_sequence *sequence,
                          uint32_t reader, uint32_t version);

/* How good a first choice of a read a version is, the least first: what comes before the reader anyway makes nobody
 * visible who is not already; then by distance in the sequence. */
static inline int64_t iso_possible_rank(bool known, int64_t distance) {
  const int64_t far = INT64_C(1) << 34;
  return (known ? 0 : far) + distance;
}
/* The one with the least rank, and that; of a row of a count, of those that match or not as `wanted` says (-1: any).
 * UINT32_MAX where there is none.  For histories without optional transactions. */
uint32_t iso_possible_nearest(iso_possible *possible, const iso_open_read *read, const iso_sequence *sequence,
                              int wanted, int64_t *rank);

/* Settles what one version is left for; *settled counts them.  *impossible is set when none is left for a read, which
 * is marked in `core`; an optional transaction takes no part then. */
isoproof_status iso_possible_settle(iso_possible *possible, iso_doubt *doubt, isoproof_task *task, uint64_t *settled,
                                    bool *impossible, uint8_t *core, isoproof_error *error);

#endif
