/* snapshots.h - proves snapshot isolation by labels: when each transaction took its snapshot, and when it committed.
 *
 * Who ended earlier is taken to have written the earlier version.  Then snapshot isolation is a matter of inequalities
 * between labels: a transaction commits after its snapshot, before the snapshot of the next one of its session, and
 * before the snapshots of whoever read from it and of whoever wrote the next version of one of its keys; and whoever
 * read a version took its snapshot before the next one was committed.  Commits start at the ends, and what an
 * inequality wants earlier is moved there, until nothing moves: labels that meet all of them are an execution.  Where
 * the order of the ends is not that of the versions there are none.  If somebody read from one that ended later, that
 * one is moved, and labels are looked for again; else nothing is proved.
 */
#ifndef ISO_CHECK_QUICK_SNAPSHOTS_H
#define ISO_CHECK_QUICK_SNAPSHOTS_H

#include "check/quick/state.h"

/* Of a history that has been measured.  Only where its reads are judged, before or after, and are sound, labels prove
 * anything.  Frees the table of writes, and where memory is limited whatever else it does not need.  False when memory
 * is out. */
bool iso_quick_snapshots(iso_quick *q, bool *proved);

#endif
