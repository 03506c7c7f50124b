/* clock.h - what each transaction can have seen, as vector clocks over sessions.
 *
 * Entry s of the clock of t is one more than the number of the last transaction of session s that is CO-before t, or 0:
 * so u is CO-before t exactly when u < clock[t][session(u)].  This is exact because a session is a chain.  With many
 * sessions the clocks are made for a block of columns at a time.  Clocks own their rows until iso_clocks_free.
 */
#ifndef ISO_CHECK_ORDER_CLOCK_H
#define ISO_CHECK_ORDER_CLOCK_H

#include "check/order/commit_order.h"

typedef struct iso_clocks {
  uint32_t first_session, width; /* the columns */
  uint32_t *rows;                /* txns x width */
} iso_clocks;

/* `order` is that of CO alone, with its cycles found.  Time and memory: transactions x width, and edges x width. */
isoproof_status iso_clocks_make(const iso_view *view, const iso_order *order, uint32_t first_session, uint32_t width,
                                isoproof_task *task, iso_clocks *clocks, isoproof_error *error);
void iso_clocks_free(iso_clocks *clocks);

static inline const uint32_t *iso_clock(const iso_clocks *clocks, uint32_t txn) {
  return clocks->rows + (size_t)txn * clocks->width;
}

/* Whether `earlier`, whose session is among the columns, is CO-before `later`. */
static inline bool iso_clock_before(const iso_clocks *clocks, const isoproof_history *h, uint32_t earlier,
                                    uint32_t later) {
  return earlier < iso_clock(clocks, later)[h->txn_session[earlier] - clocks->first_session];
}

#endif
