/* window.h - where in an order of the transactions the cycles of forced edges can be.
 *
 * An order that respects CO has every cycle pass an edge that points backwards, and whoever is on the cycle stands
 * between the ends of such edges: in a window, where they overlap.  So only what is forced between transactions of one
 * window has to be known to find all cycles, and the transactions outside can be forgotten.
 */
#ifndef ISO_CHECK_CAUSAL_WINDOW_H
#define ISO_CHECK_CAUSAL_WINDOW_H

#include "check/causal/sweep.h"
#include "check/order/sequence.h"

typedef struct iso_window_pairs {
  ISO_VEC(iso_far) items; /* writers before readers of versions that somebody else of the window wrote */
  bool too_many;
  bool failed; /* memory was out */
} iso_window_pairs;

/* `backward` has every writer that stands behind the version whose reader it is causally before.  What is asked about
 * are writers less deep than the reader (iso_sequence_settle).  The caller frees the items. */
void iso_window_pairs_find(const iso_view *view, const iso_sequence *sequence, const uint32_t *depth,
                           const iso_between *backward, size_t count, iso_window_pairs *pairs);

#endif
