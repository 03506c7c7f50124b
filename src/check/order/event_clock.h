/* event_clock.h - which events come before which, as vector clocks over chains, in both directions.
 *
 * before[v][c] is one more than the last event of chain c that comes before v, 0 for none; after[v][c] is the first
 * event of chain c that comes after v, ISO_NO_REACH for none.  Both are exact, as a chain is one.  A row does not count
 * the event itself.  A reach owns its rows until iso_reach_free.
 */
#ifndef ISO_CHECK_ORDER_EVENT_CLOCK_H
#define ISO_CHECK_ORDER_EVENT_CLOCK_H

#include "check/order/sequence.h"

#define ISO_NO_REACH INT32_MAX

typedef struct iso_reach {
  uint32_t width; /* of a row: the chains, rounded up */
  int32_t *before, *after;
  uint8_t *changed_before, *changed_after; /* by event: by the last update */
} iso_reach;

/* How much memory it takes. */
uint64_t iso_reach_bytes(const iso_event_graph *events);
isoproof_status iso_reach_make(const iso_event_graph *events, iso_reach *reach, isoproof_error *error);
/* Brings the rows in line with the edges; `sequence` has all events. */
isoproof_status iso_reach_update(const iso_event_graph *events, const iso_sequence *sequence, isoproof_task *task,
                                 iso_reach *reach, isoproof_error *error);
void iso_reach_free(iso_reach *reach);

static inline const int32_t *iso_reach_before(const iso_reach *reach, uint32_t event) {
  return reach->before + (size_t)event * reach->width;
}
static inline const int32_t *iso_reach_after(const iso_reach *reach, uint32_t event) {
  return reach->after + (size_t)event * reach->width;
}
/* Whether a comes before b. */
static inline bool iso_reaches(const iso_event_graph *e, const iso_reach *reach, uint32_t a, uint32_t b) {
  return (int32_t)a < iso_reach_before(reach, b)[iso_event_chain(e, a)];
}

#endif
