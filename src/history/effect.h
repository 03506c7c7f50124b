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

#endif
