/* choice_search.h - one level of a history in which several writes could explain a read, choice by choice.
 *
 * A choice is tried; when it violates the level, the witness names a few transactions that do so by themselves, and as
 * long as their reads are chosen in this way the level stays violated, whatever else is chosen: so one of these reads
 * must have observed another write.  A solver collects what was learned in this way and proposes the next choice, until
 * one fits or none is left.  This decides every level; those that check/strong/open decides need it for a witness only.
 */
#ifndef ISO_CHECK_CHOICE_SEARCH_H
#define ISO_CHECK_CHOICE_SEARCH_H

#include "base/task.h"
#include "result/result.h"

/* What a level was found to be under some choices, and these. */
typedef struct iso_outcome {
  isoproof_result *result;
  uint32_t *writer; /* by operation, as in the resolution */
} iso_outcome;

/* Takes a result over, with the choices that are in the resolution of the history. */
isoproof_status iso_outcome_keep(iso_outcome *outcome, isoproof_history *history, isoproof_result *result,
                                 isoproof_error *error);
void iso_outcome_free(iso_outcome *outcome);

/* The outcome of a search that came to a limit, `status`: the level is unknown for that reason. */
isoproof_status iso_outcome_give_up(iso_outcome *outcome, isoproof_history *history,
                                    const isoproof_check_options *options, isoproof_status status, isoproof_task *task,
                                    isoproof_error *error);

/* The choices that are in the resolution, and back. */
isoproof_status iso_resolution_copy(isoproof_history *history, isoproof_task *task, uint32_t **writer,
                                    isoproof_error *error);
/* Frees the copy. */
void iso_resolution_put_back(isoproof_history *history, uint32_t *writer);

/* Decides the one level of the options, `level`; a limit leaves it unknown.  With `seconds` above 0 it is known to
 * be violated, and only a few choices are tried for the violation that rests on the fewest of them, after the first one
 * for no longer than that.  The resolution of the history is what it
 * was afterwards. */
isoproof_status iso_search_choices(isoproof_history *history, const isoproof_check_options *options,
                                   const isoproof_level_info *level, double seconds, isoproof_task *task,
                                   iso_outcome *outcome, isoproof_error *error);

#endif
