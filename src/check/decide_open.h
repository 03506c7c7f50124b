/* decide_open.h - one level of a history with open reads, where observations and orders can be searched for together
 * (check/strong/open). */
#ifndef ISO_CHECK_DECIDE_OPEN_H
#define ISO_CHECK_DECIDE_OPEN_H

#include "check/choice_search.h"

/* What a refutation rests on: the level stays violated whatever the reads observed that are left out, and whatever the
 * others did. */
typedef struct iso_refutation {
  bool violated;
  uint32_t *shown; /* by operation, as in the resolution: what reads may have observed; NULL: the rest is not known */
  uint32_t *left;  /* the reads that it does without */
  size_t left_count;
} iso_refutation;

void iso_refutation_free(iso_refutation *refutation);

/* Tries to decide the one level of the options.  Satisfied: the outcome has a result, which was checked like any other
 * under the choices that were found.  Otherwise it has none, and the refutation, which the caller frees, says whether
 * the level is violated.  The resolution of the history is what it was afterwards. */
isoproof_status iso_decide_open(isoproof_history *history, const isoproof_check_options *options,
                                const isoproof_level_info *level, isoproof_task *task, iso_outcome *outcome,
                                iso_refutation *refutation, isoproof_error *error);

/* Leaves the choices in the resolution that satisfy a level which the given one implies, the strongest for which some
 * are found; what is there where none are. */
isoproof_status iso_choose_weaker(isoproof_history *history, const isoproof_level_info *level, isoproof_task *task,
                                  isoproof_error *error);

#endif
