/* examine.h - what the live checker does with what was pushed.  Everything belongs to the live checker. */
#ifndef ISO_LIVE_EXAMINE_H
#define ISO_LIVE_EXAMINE_H

#include "live/live.h"

/* Takes over a transaction, the next one in the order of ends. */
isoproof_status iso_live_take(isoproof_live *live, iso_live_txn *txn, isoproof_error *error);
/* Notes what a transaction writes; true when it was, perhaps, written before.  *blamed becomes true when a violation
 * has read that: it may have read it from this one. */
bool iso_live_note_write(isoproof_live *live, iso_live_txn *txn, const iso_live_op *op, bool *blamed);
/* All levels that are asked for are there. */
isoproof_status iso_live_sort_levels(isoproof_live *live, isoproof_error *error);
/* Settles all tracks; where the whole history would be needed, only during a poll. */
isoproof_status iso_live_settle_all(isoproof_live *live, isoproof_error *error);
/* Brings the verdicts up to date with what was taken. */
isoproof_status iso_live_examine(isoproof_live *live, isoproof_error *error);
/* How many transactions stay, where nobody has changed that. */
uint64_t iso_live_first_horizon(const isoproof_live *live);
/* How many transactions are in memory, and how many bytes that takes, about. */
uint64_t iso_live_retained(const isoproof_live *live);
uint64_t iso_live_bytes(const isoproof_live *live);

#endif
