/* search.h - which versions open reads observed and in which order events happened, in one search.
 *
 * A sequence of events is carried out (check/strong/execute.h).  An open read that finds a version that fits asks for
 * nothing.  One that does not gets one literal per version that it can have seen, of which one must be true; such a
 * literal puts the writer before the reader, and whoever else wrote the key before that writer or after the reader, as
 * far as sequences break that.  So orders and observations are literals of the same solver, and a conflict speaks of
 * both.
 */
#ifndef ISO_CHECK_STRONG_OPEN_SEARCH_H
#define ISO_CHECK_STRONG_OPEN_SEARCH_H

#include "check/strong/open/possible.h"
#include "check/strong/refine.h"

typedef struct iso_open_search_stats {
  uint32_t rounds;
  uint64_t choices, literals; /* reads with literals, and these */
  uint64_t decisions, conflicts;
  uint8_t *core; /* by open read: marked where it was refuted and the read has literals; the caller's, perhaps NULL */
} iso_open_search_stats;

/* Refines the sequence until every read, open or not, is explained; or refutes that; or, after `most_conflicts` where
 * that is not 0, gives up.  The clocks may be NULL.  `sessions`: session order counts. */
isoproof_status iso_open_search(const iso_examination *examination, iso_sequence *sequence,
                                const iso_event_clocks *clocks, const iso_open_reads *open, bool sessions,
                                uint64_t most_conflicts, iso_refined *outcome, iso_open_search_stats *stats,
                                isoproof_error *error);

/* How many reads and writers the sequence does not explain as it is. */
isoproof_status iso_open_count_broken(const iso_examination *examination, const iso_sequence *sequence,
                                      const iso_open_reads *open, bool sessions, uint64_t *broken,
                                      isoproof_error *error);
/* Settles every open read as what it finds in the sequence, but for those of optional transactions that take no part.
 */
isoproof_status iso_open_settle_all(const iso_examination *examination, const iso_sequence *sequence,
                                    const iso_open_reads *open, iso_doubt *doubt, isoproof_error *error);

#endif
