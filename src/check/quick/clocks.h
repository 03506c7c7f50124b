/* clocks.h - what each transaction can have seen: vector clocks, one entry per session.
 *
 * An entry says how many transactions of a session are causally before.  It has 16 bits where sessions are short enough
 * for that.  A row fills whole cache lines, so that threads share the columns without sharing lines.
 */
#ifndef ISO_CHECK_QUICK_CLOCKS_H
#define ISO_CHECK_QUICK_CLOCKS_H

#include "check/quick/state.h"

typedef struct iso_quick_clocks {
  const iso_quick *q;
  bool is_short;
  size_t row;      /* bytes */
  void *allocated; /* what is freed */
  uint8_t *rows;   /* by transaction */
} iso_quick_clocks;

/* Makes the clocks along q->sequence.  Free them with iso_quick_clocks_free; false when memory is out. */
bool iso_quick_clocks_make(const iso_quick *q, iso_quick_clocks *clocks);
void iso_quick_clocks_free(iso_quick_clocks *clocks);

/* Whether a packed transaction is causally before the one whose clock this is. */
static inline bool iso_quick_is_before(const iso_quick_clocks *c, uint32_t packed, const void *row) {
  uint32_t session = packed >> ISO_QUICK_NUMBER_BITS, number = packed & ISO_QUICK_NUMBER_MASK;
  return number < (c->is_short ? ((const uint16_t *)row)[session] : ((const uint32_t *)row)[session]);
}

#endif
