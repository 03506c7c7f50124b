/* proof.h - an independent judge of proofs.  Nothing is owned. */
#ifndef ISO_VERIFY_PROOF_H
#define ISO_VERIFY_PROOF_H

#include "result/proof.h"

/* Whether the history bears the proof out: every step, every condition, and the pattern. */
bool iso_verify_proof(const isoproof_history *history, const iso_proof *proof);

#endif
