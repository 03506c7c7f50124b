/* visible.h - which versions open reads observed, at levels that say what a reader must not miss.
 *
 * Such a level asks for an order of transactions that contains SO and WR, and in which a writer s that is visible to a
 * reader comes before the one whose version it read.  What is visible depends on what is read: so a sequence and a
 * choice of versions are tried together, and whatever they break becomes a clause of orders and choices.
 */
#ifndef ISO_CHECK_STRONG_OPEN_VISIBLE_H
#define ISO_CHECK_STRONG_OPEN_VISIBLE_H

#include "check/strong/open/search.h"

/* What makes a writer visible to a reader. */
typedef struct iso_visibility {
  bool read_before; /* that the reader read another key from it earlier, and nothing else */
  bool direct;      /* a single step */
  bool orders;      /* steps are WW, too, not only SO and WR */
} iso_visibility;

/* As iso_open_search; what reads are found to have observed stays in the resolution of the doubt when they are
 * explained. `clocks` may be NULL. */
isoproof_status iso_visible_search(iso_event_graph *events, iso_sequence *sequence, const iso_event_clocks *clocks,
                                   const iso_open_reads *open, const iso_visibility *visibility, iso_doubt *doubt,
                                   uint64_t most_conflicts, isoproof_task *task, iso_refined *outcome,
                                   iso_open_search_stats *stats, isoproof_error *error);

/* What versions a reader cannot have missed at such a level. */
static inline iso_missed iso_visibility_missed(const iso_visibility *visibility) {
  if (visibility->read_before) return ISO_MAY_MISS;
  return visibility->direct ? ISO_MISSES_NO_SESSION : ISO_MISSES_NOTHING;
}

#endif
