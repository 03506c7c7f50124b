/* mend.h - a sequence of begins and commits by time, mended where reads contradict it, without a solver.
 *
 * A transaction takes its snapshot some time after its start and comes in force some time before its end: where a read
 * saw a version whose writer had not ended, times alone are wrong.  What each part could not carry out is put right by
 * the edge that moves the least, and carried out again, until nothing is broken.  Nobody has to know who read from whom
 * for that, and there is no going back: a cycle of such edges says nothing.
 */
#ifndef ISO_PARTS_MEND_H
#define ISO_PARTS_MEND_H

#include "parts/coordinator.h"

/* Whether there is a sequence that explains every read at snapshot isolation, with real time where `timed`; false where
 * none was found.  Afterwards the facts of all parts are known, unless it gave up early. */
isoproof_status iso_mend_snapshots(iso_coordinator *c, bool timed, bool *fits, isoproof_error *error);

#endif
