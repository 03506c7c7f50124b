/* value_hints.h - the edges of value_order.h: what values that count up would tell of an order.
 *
 * Part of value_order.h, which hands them out.  Hints own their arrays until iso_hints_free.
 */
#ifndef ISO_CHECK_ORDER_VALUE_HINTS_H
#define ISO_CHECK_ORDER_VALUE_HINTS_H

#include "check/order/events.h"

typedef struct iso_hint {
  uint32_t from, to; /* events */
} iso_hint;

/* Orders of versions stand first, then those of readers and whoever overwrites what they read: those are the first to
 * be given up, as they rest on two guesses. */
typedef struct iso_hints {
  ISO_VEC(iso_hint) items;
  size_t versions;
} iso_hints;

isoproof_status iso_hints_list(const iso_event_graph *events, iso_hints *hints, isoproof_task *task,
                               isoproof_error *error);
void iso_hints_free(iso_hints *hints);

#endif
