/* smallest_proof.h - of many instances of a pattern, the one with the smallest proof.
 * Nothing is owned; the prover does the work. */
#ifndef ISO_CHECK_AXIOMS_SMALLEST_PROOF_H
#define ISO_CHECK_AXIOMS_SMALLEST_PROOF_H

#include "check/axioms/shortest_proof.h"

/* Replaces a finding of a known cycle or of a forced edge by the one of its pattern with the fewest steps, those of the
 * conditions counted; of several, the first.  The search is exact as long as it gets by with some million steps, and
 * after that takes the best that it has met. */
void iso_prove_smallest(iso_prover *prover, iso_finding *finding);

#endif
