/* frugal.h - how a quick proof is carried out within a given amount of memory, with the history in a mapped file.
 *
 * The table of writes is what is large.  It is made slice after slice, each time with one pass that enters writes and
 * one that looks reads up; what was found stays at 4 bytes per read, and reads are judged afterwards.  What of the file
 * was read is let go.  Where that does not fit either, nothing is proved.
 */
#ifndef ISO_CHECK_QUICK_FRUGAL_H
#define ISO_CHECK_QUICK_FRUGAL_H

#include "check/quick/state.h"

/* With how many threads the history can be carried out in the order of its times; 0 where it does not fit. */
unsigned iso_quick_plan_replay(iso_quick *q);
/* Finds into how many slices the table is divided once it is measured; false where no number would do. */
bool iso_quick_plan_slices(iso_quick *q);
/* Whether labels can be found (snapshots.h), with so many bytes for a place of the table and for a transaction. */
bool iso_quick_plan_snapshots(iso_quick *q, size_t per_place, size_t per_txn);
/* Gives back what is not needed any more to sort, nor to find who is to blame. */
void iso_quick_release(iso_quick *q);

#endif
