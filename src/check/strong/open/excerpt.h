/* excerpt.h - a stretch of a serial order as a history of its own, so that it can be put in order by deciding that.
 *
 * The excerpt has the transactions of the stretch with what they read and the last that they wrote, one more that comes
 * before all of them and writes what the stretch finds, and one that comes after them and reads what those find who
 * come behind the stretch.  A sequence that proves a level for the excerpt explains all reads of the stretch but those
 * that were left out, which are wrong as it is and whose version nobody writes there, and changes nothing for others.
 * Where the excerpt violates the level, nothing follows for the whole: others may have to move.
 */
#ifndef ISO_CHECK_STRONG_OPEN_EXCERPT_H
#define ISO_CHECK_STRONG_OPEN_EXCERPT_H

#include "check/order/value_line.h"
#include "check/strong/open/open_reads.h"

/* The transactions of a line at the places of `bounds`. */
typedef struct iso_stretch {
  const iso_value_line *line;
  const iso_open_reads *open;
  iso_value_bounds bounds;
  bool exclusive;   /* at the level, writers of one key must not overlap, whether somebody reads it or not */
  uint8_t *matters; /* by key, zero before and afterwards */
} iso_stretch;

/* Makes the excerpt, which the caller frees.  By its number in it, `txns` names each transaction, and ISO_NO_TXN for
 * the two that were added; it has room for them. */
isoproof_status iso_excerpt_make(const iso_stretch *stretch, isoproof_history **excerpt, uint32_t *txns,
                                 isoproof_error *error);

#endif
