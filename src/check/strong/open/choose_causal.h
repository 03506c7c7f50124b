/* choose_causal.h - the causal level of a history with open reads, by guesses along commit orders.
 *
 * What is known for certain gets a commit order first (check/causal).  Along that order the open reads are answered,
 * which moves it; whoever is in the way of an answer is disliked in the next round.  Where rounds do not get better,
 * what they leave is where a search begins (check/strong/open/visible.h).
 */
#ifndef ISO_CHECK_STRONG_OPEN_CHOOSE_CAUSAL_H
#define ISO_CHECK_STRONG_OPEN_CHOOSE_CAUSAL_H

#include "check/strong/open/decide.h"

/* Decides that the causal axiom is satisfied, and leaves the choices in the resolution; or leaves it open, with a start
 * for a search, which is empty where guesses are no good or reads are no plain ones.  The caller frees the start. */
isoproof_status iso_choose_causal(isoproof_history *history, isoproof_task *task, iso_open_decision *decision,
                                  iso_open_start *start, isoproof_error *error);
/* The same of what pruning has left open; *decided, the choices are in the resolution of the doubt. */
isoproof_status iso_choose_causal_for(iso_doubt *doubt, isoproof_task *task, bool *decided, iso_open_start *start,
                                      isoproof_error *error);

#endif
