/* cycle.h - finding the shortest proof of an instance, and telling it.
 * A prover owns its scratch arrays until iso_prover_free and refers to a weak result. */
#ifndef ISO_EXPLAIN_CYCLE_H
#define ISO_EXPLAIN_CYCLE_H

#include <isolde/check.h>

#include "base/arena.h"
#include "check/weak.h"
#include "explain/proof.h"

typedef struct iso_prover {
  const iso_weak *weak;
  uint32_t *mark, *queue; /* by transaction: visited in this search; to visit */
  iso_step *via;          /* by transaction: the step towards the goal */
  uint32_t search;        /* number of the search */
} iso_prover;

isolde_status iso_prover_init(iso_prover *prover, const iso_weak *weak, isolde_error *error);
void iso_prover_free(iso_prover *prover);

/* The proof that a finding (TAP-g, h, i, k to n) is right; false when there is none, or memory is out. */
bool iso_prove(iso_prover *prover, const iso_finding *finding, iso_proof *proof);

/* Fills everything of *out but code, name, level and count. */
isolde_status iso_proof_tell(const isolde_history *history, const iso_proof *proof, iso_arena *arena,
                             isolde_anomaly *out, isolde_error *error);

#endif
