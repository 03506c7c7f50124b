/* effect.h - which transactions are committed in effect, and so count as committed.
 *
 * A transaction of unknown outcome that a committed one read from did commit; so did those that it read from in turn.
 * One that nobody observed can be left out at every level without creating a violation.
 */
#ifndef ISO_HISTORY_EFFECT_H
#define ISO_HISTORY_EFFECT_H

#include "base/task.h"
#include "history/history.h"

/* Fills *counts, which the caller frees with free(): one byte per transaction, 1 where it is committed or committed in
 * effect, else 0.  Linear: each element of a list is followed once, however many reads show it. */
isoproof_status iso_history_effect(isoproof_history *history, isoproof_task *task, uint8_t **counts,
                                   isoproof_error *error);
/* Adds to `counts`, where a byte of 1 says that a transaction is known to be committed, those that follow from them by
 * the reads of this history.  Of a history in parts, what follows in one part is to be spread in the others. */
isoproof_status iso_history_effect_spread(isoproof_history *history, isoproof_task *task, uint8_t *counts,
                                          isoproof_error *error);

#endif
