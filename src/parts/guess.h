/* guess.h - what holds if transactions took effect when their times suggest it.
 *
 * A guess that fits is a proof, and takes no knowledge of who read from whom on the side of the coordinator; one that
 * does not fit says nothing.
 */
#ifndef ISO_PARTS_GUESS_H
#define ISO_PARTS_GUESS_H

#include "parts/coordinator.h"

typedef struct iso_guess {
  bool serial;    /* every read found the version it saw, one transaction after the other */
  bool snapshots; /* so it did where transactions read when they start and write when they end, with no two writers of a
                     key at once */
  bool snapshots_moved; /* a sequence of begins and commits does that is near to their times, without real time */
  bool read_committed, read_atomic; /* the axiom allows that transactions commit when they end */
} iso_guess;

/* Tries what the wanted levels may follow from; afterwards the facts of all parts are known. */
isoproof_status iso_coordinator_guess(iso_coordinator *c, iso_guess *guess, isoproof_error *error);

#endif
