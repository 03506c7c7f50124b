/* plain.h - the plain way, where transactions cannot be followed one by one: sets, counters, other levels.
 * Everything belongs to the live checker. */
#ifndef ISO_LIVE_PLAIN_H
#define ISO_LIVE_PLAIN_H

#include "live/live.h"

/* From now on everything is checked as a whole: from memory where nothing has left it, else as it was recorded. */
isoproof_status iso_live_go_plain(isoproof_live *live, isoproof_error *error);
/* Notes that a row was there at the start; once per row. */
isoproof_status iso_live_initial_row(isoproof_live *live, const iso_row_value *row, isoproof_error *error);
/* Takes over a transaction. */
isoproof_status iso_live_plain_take(isoproof_live *live, iso_live_txn *txn, isoproof_error *error);
/* Brings the verdicts up to date. */
isoproof_status iso_live_plain_examine(isoproof_live *live, isoproof_error *error);
/* A value was written again: who writes one once more may explain what looked violated for good. */
void iso_live_reopen(isoproof_live *live);

#endif
