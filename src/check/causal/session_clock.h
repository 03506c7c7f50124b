/* session_clock.h - what each transaction can have seen, where sessions are few: short vector clocks.
 *
 * The clock of a transaction has an entry for every session: how many of its transactions are causally before.  Entries
 * are as short as the longest session allows, and a row fills whole cache lines, so that threads share the columns
 * without sharing lines.  Clocks own their rows until iso_session_clocks_free and refer to the history.
 */
#ifndef ISO_CHECK_CAUSAL_SESSION_CLOCK_H
#define ISO_CHECK_CAUSAL_SESSION_CLOCK_H

#include "check/order/sequence.h"

typedef struct iso_session_clocks {
  const isoproof_history *h;
  bool is_short;   /* entries have 16 bits, else 32 */
  size_t row;      /* bytes from one clock to the next */
  void *allocated; /* what is freed */
  uint8_t *rows;   /* by transaction; NULL where there are no clocks */
} iso_session_clocks;

/* Makes the clocks along a sequence of all transactions that take part, which respects CO.  Where they would take more
 * memory than they are worth there are none, without any failure; `wide` ones are worth more. */
isoproof_status iso_session_clocks_make(const iso_event_graph *events, const iso_sequence *sequence, bool wide,
                                        unsigned threads, isoproof_task *task, iso_session_clocks *clocks,
                                        isoproof_error *error);
void iso_session_clocks_free(iso_session_clocks *clocks);

/* How many transactions of a session are causally before one. */
static inline uint32_t iso_session_clock_seen(const iso_session_clocks *clocks, uint32_t session, uint32_t txn) {
  const void *row = clocks->rows + txn * clocks->row;
  return clocks->is_short ? ((const uint16_t *)row)[session] : ((const uint32_t *)row)[session];
}
/* Whether `earlier` is causally before `later`. */
static inline bool iso_session_clock_before(const iso_session_clocks *clocks, uint32_t earlier, uint32_t later) {
  uint32_t session = clocks->h->txn_session[earlier];
  uint32_t number = earlier - clocks->h->session_first_txn[session];
  return number < iso_session_clock_seen(clocks, session, later);
}

#endif
