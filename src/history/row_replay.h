/* row_replay.h - a better guess of what reads of rows saw: the history is carried out again, as far as that goes. */
#ifndef ISO_HISTORY_ROW_REPLAY_H
#define ISO_HISTORY_ROW_REPLAY_H

#include "history/row_versions.h"

/* Has transactions take effect one after the other, whoever ended first before all others, and before that only whom
 * this one cannot do without; resolves what they saw of rows to the versions of that moment.  Where nobody can go on,
 * somebody has to.  settled[t] is 1 afterwards where transaction t saw everything as it was, and else as it was
 * before.  Nothing is owned. */
isoproof_status iso_row_replay(const isoproof_history *history, isoproof_task *task, iso_resolution *resolution,
                               uint8_t *settled, isoproof_error *error);

#endif
