/* event_clock.h - which events come before which, as vector clocks over chains, in both directions.
 *
 * before[v][c] is one more than the last event of chain c that comes before v, 0 for none; after[v][c] is the first
 * event of chain c that comes after v, ISO_NO_REACH for none.  Both are exact, as a chain is one.  A row does not count
 * the event itself.  The clocks own their rows until iso_event_clocks_free.
 */
#ifndef ISO_CHECK_ORDER_EVENT_CLOCK_H
#define ISO_CHECK_ORDER_EVENT_CLOCK_H

#include "check/order/sequence.h"

#define ISO_NO_REACH INT32_MAX

typedef struct iso_event_clocks {
  uint32_t width; /* of a row: the chains, rounded up */
  int32_t *before, *after;
  uint8_t *changed_before, *changed_after; /* by event: by the last update */
  bool fresh;                              /* never updated */
  uint32_t edges;                          /* derived ones that the last update knew */
} iso_event_clocks;

/* How much memory it takes: 8 bytes x events x chains. */
uint64_t iso_event_clocks_bytes(const iso_event_graph *events);
/* Clocks of more bytes than this are not made: the solver gets the whole graph then. */
#define ISO_MOST_CLOCK_BYTES (UINT64_C(3) << 30)
isoproof_status iso_event_clocks_make(const iso_event_graph *events, const isoproof_task *task,
                                      iso_event_clocks *clocks, isoproof_error *error);
/* Brings the rows in line with the edges; `sequence` has all events.  Edges x chains at worst; rows whose predecessors
 * did not change are not touched. */
isoproof_status iso_event_clocks_update(const iso_event_graph *events, const iso_sequence *sequence,
                                        isoproof_task *task, iso_event_clocks *clocks, isoproof_error *error);
void iso_event_clocks_free(iso_event_clocks *clocks);

static inline const int32_t *iso_event_clocks_before(const iso_event_clocks *clocks, uint32_t event) {
  return clocks->before + (size_t)event * clocks->width;
}
static inline const int32_t *iso_event_clocks_after(const iso_event_clocks *clocks, uint32_t event) {
  return clocks->after + (size_t)event * clocks->width;
}
/* Whether a comes before b. */
static inline bool iso_reaches(const iso_event_graph *e, const iso_event_clocks *clocks, uint32_t a, uint32_t b) {
  return (int32_t)a < iso_event_clocks_before(clocks, b)[iso_event_chain(e, a)];
}

#endif
