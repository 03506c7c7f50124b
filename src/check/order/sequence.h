/* sequence.h - the events of a history in an order that respects every known edge.
 *
 * The first sequence takes the first open event of each chain in turn, or the one that is next in real time.  When
 * edges are added later, a sequence is repaired rather than made again: events stay where they are but for those that
 * an added edge wants earlier, so that what fitted goes on fitting.  Nothing recurses.  A sequence owns its arrays
 * until iso_sequence_free.
 */
#ifndef ISO_CHECK_ORDER_SEQUENCE_H
#define ISO_CHECK_ORDER_SEQUENCE_H

#include "check/order/events.h"

typedef struct iso_sequence {
  uint32_t *event; /* in order */
  uint32_t *place; /* by event; ISO_NO_EVENT for one that is not placed */
  uint32_t count;  /* how many are placed: all that take part, or there is a cycle among the rest */
  uint32_t total;  /* how many take part */
} iso_sequence;

/* A sequence of all events of the given number and shape that take part, found earlier. */
typedef struct iso_first_sequence {
  uint32_t *event;
  uint32_t count, events;
  iso_event_shape shape;
} iso_first_sequence;

/* Makes the sequence that one, where it is of the same events and respects every known edge; otherwise nothing changes.
 */
isoproof_status iso_sequence_follow(const iso_event_graph *events, const iso_first_sequence *first,
                                    iso_sequence *sequence, isoproof_error *error);

/* Linear in the edges; with real time n log n. */
isoproof_status iso_sequence_make(const iso_event_graph *events, isoproof_task *task, iso_sequence *sequence,
                                  isoproof_error *error);

/* The same, with the events as near to the order of when[event] as the known edges allow. */
isoproof_status iso_sequence_make_by(const iso_event_graph *events, const int64_t *when, isoproof_task *task,
                                     iso_sequence *sequence, isoproof_error *error);
/* The same in the order in which transactions started, of a history with times.  Where they take their locks as they
 * come, that is nearer to what happened than the order of ends. */
isoproof_status iso_sequence_make_by_starts(const iso_event_graph *events, isoproof_task *task, iso_sequence *sequence,
                                            isoproof_error *error);
/* depth[event] becomes the length of the longest path to it: an event comes after those only that are less deep.  For a
 * sequence of all events that take part. */
void iso_sequence_depths(const iso_event_graph *events, const iso_sequence *sequence, uint32_t *depth);

/* Puts every event right before the first one that needs it, as far as the lengths of paths tell when that is; one that
 * nobody needs stays as early as it can be.  Short chains leave most events much freedom, and this guesses well when
 * they happened. */
isoproof_status iso_sequence_settle(const iso_event_graph *events, iso_sequence *sequence, const uint32_t *depth,
                                    isoproof_error *error);

/* After derived edges from number `first_new` on were added.  When they close a cycle, *cyclic is set and the sequence
 * stays as it was.  moved[event] is set for those that came earlier among the others, unless `moved` is NULL. */
isoproof_status iso_sequence_repair(const iso_event_graph *events, uint32_t first_new, iso_sequence *sequence,
                                    uint8_t *moved, bool *cyclic, isoproof_task *task, isoproof_error *error);
void iso_sequence_free(iso_sequence *sequence);
/* The events in their order, to come back to; the caller frees them.  NULL when memory is out. */
uint32_t *iso_sequence_copy(const iso_sequence *sequence);
void iso_sequence_restore(iso_sequence *sequence, const uint32_t *event);

#endif
