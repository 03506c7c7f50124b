/* proof.h - a proof as a witness with sentences.  What is made belongs to the arena. */
#ifndef ISO_EXPLAIN_PROOF_H
#define ISO_EXPLAIN_PROOF_H

#include <isoproof/check.h>

#include "base/arena.h"
#include "result/proof.h"

/* Fills everything of *out but code, name, level and count. */
isoproof_status iso_explain_proof(const isoproof_history *history, const iso_proof *proof, iso_arena *arena,
                                  isoproof_anomaly *out, isoproof_error *error);

#endif
