/* visible.h - which versions open reads observed, at levels that say what a reader must not miss.
 *
 * Such a level asks for an order of transactions that contains SO and WR, and in which a writer s that is visible to a
 * reader comes before the one whose version it read.  What is visible depends on what is read: so a sequence and a
 * choice of versions are tried together, and whatever they break becomes a clause of orders and choices.
 */
#ifndef ISO_CHECK_STRONG_OPEN_VISIBLE_H
#define ISO_CHECK_STRONG_OPEN_VISIBLE_H

#include "check/strong/open/search.h"

/* What makes a writer visible to a reader: that the reader */
enum {
  ISO_BY_EARLIER_READ = 1 << 0,      /* read another key from it before */
  ISO_BY_READ = 1 << 1,              /* reads from it */
  ISO_BY_SESSION = 1 << 2,           /* follows it in its session */
  ISO_BY_WRITE = 1 << 3,             /* wrote a key after it that it wrote, too */
  ISO_BY_SESSION_READ = 1 << 4,      /* is of a session that read from it before */
  ISO_BY_READ_SESSION = 1 << 5,      /* reads from somebody who follows it in its session */
  ISO_BY_READ_SESSION_READ = 1 << 6, /* reads from somebody whose session read from it before */
  ISO_BY_STEPS = 1 << 7              /* comes after it by any number of steps */
};

typedef struct iso_visibility {
  unsigned by;
  bool orders; /* steps are WW, too, not only SO and WR */
} iso_visibility;

/* Where a search may begin: an order of the transactions, and what reads may have observed, as in the resolution;
 * ISO_UNSETTLED where nothing is known.  Owns its arrays until iso_open_start_free. */
typedef struct iso_open_start {
  int64_t *when;    /* by transaction; NULL: nothing is known at all */
  uint32_t *writer; /* by operation */
} iso_open_start;

void iso_open_start_free(iso_open_start *start);

/* As iso_open_search; what reads are found to have observed stays in the resolution of the doubt when they are
 * explained. `clocks` may be NULL, and so may `start`, of which the sequence has the order. */
isoproof_status iso_visible_search(iso_event_graph *events, iso_sequence *sequence, const iso_event_clocks *clocks,
                                   const iso_open_reads *open, const iso_visibility *visibility, iso_doubt *doubt,
                                   const iso_open_start *start, uint64_t most_conflicts, isoproof_task *task,
                                   iso_refined *outcome, iso_open_search_stats *stats, isoproof_error *error);

/* What versions a reader cannot have missed at such a level. */
static inline iso_missed iso_visibility_missed(const iso_visibility *visibility) {
  if (visibility->by & ISO_BY_STEPS) return ISO_MISSES_NOTHING;
  return visibility->by & ISO_BY_SESSION ? ISO_MISSES_NO_SESSION : ISO_MAY_MISS;
}

#endif
