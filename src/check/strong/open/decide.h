/* decide.h - a strong level of a history in which some reads do not say which version they saw.
 *
 * What is known prunes the versions that a read can have seen, and a read with one left adds to what is known, until
 * little changes; then the search (check/strong/open/search.h) settles the rest together with the order of events.  A
 * decision owns its sequence until iso_open_decision_free.
 */
#ifndef ISO_CHECK_STRONG_OPEN_DECIDE_H
#define ISO_CHECK_STRONG_OPEN_DECIDE_H

#include "check/strong/open/visible.h"
#include "level/method.h"

typedef struct iso_open_decision {
  bool decided; /* false: the level, or the history, is none for this way */
  bool violated;
  iso_first_sequence sequence; /* satisfied: the events, ticks too, in an order that proves it */
  uint32_t rounds;             /* of pruning */
  uint64_t doubtful, settled;  /* reads: at first, and by pruning */
  iso_open_search_stats search;
  /* Violated: the reads, ascending, that the refutation does without, where that is known: it stands whatever they
   * observed, under any choice for the others. */
  bool has_core;
  ISO_VEC(uint32_t) left;
} iso_open_decision;

/* Decides.  After `most_conflicts`, where that is not 0, it stays open.  A satisfied level leaves what its sequence has
 * each open read observe in the resolution of the history, and a violated one what reads are likely to have observed:
 * what was found out, and for the rest what a sequence shows that keeps to what is known. */
isoproof_status iso_open_decide(isoproof_history *history, const iso_strong_level *level, uint64_t most_conflicts,
                                isoproof_task *task, iso_open_decision *decision, isoproof_error *error);
/* The same for an excerpt (excerpt.h), of which no excerpts are made. */
isoproof_status iso_open_decide_excerpt(isoproof_history *excerpt, const iso_strong_level *level,
                                        uint64_t most_conflicts, isoproof_task *task, iso_open_decision *decision,
                                        isoproof_error *error);
/* The same for a level that says what a reader must not miss; there is no sequence to begin with then.  With a start,
 * which may be NULL, little is pruned before the search. */
isoproof_status iso_open_decide_visible(isoproof_history *history, const iso_visibility *visibility,
                                        const iso_open_start *start, uint64_t most_conflicts, isoproof_task *task,
                                        iso_open_decision *decision, isoproof_error *error);
/* Whether the history has lists: which version of one was read is another matter, and is left open here. */
bool iso_open_has_lists(const isoproof_history *history);
void iso_open_decision_free(iso_open_decision *decision);

#endif
