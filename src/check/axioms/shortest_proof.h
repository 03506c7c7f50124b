/* shortest_proof.h - finding the shortest proof of an instance.
 * A prover owns its scratch arrays until iso_prover_free and refers to a weak result. */
#ifndef ISO_CHECK_AXIOMS_SHORTEST_PROOF_H
#define ISO_CHECK_AXIOMS_SHORTEST_PROOF_H

#include <isoproof/check.h>

#include "base/arena.h"
#include "check/axioms/weak.h"
#include "result/proof.h"

/* How a search goes on from a transaction towards its goal. */
typedef struct iso_via {
  iso_predecessor edge;
  uint32_t to;
} iso_via;

typedef struct iso_prover {
  const iso_weak *weak;
  uint32_t *mark, *queue; /* by transaction: visited in this search; to visit */
  iso_via *via;           /* by transaction: the step towards the goal */
  /* By session: in which search it was followed back, and from which transaction on. */
  uint32_t *followed, *followed_from;
  uint32_t search; /* number of the search */
  uint64_t work;   /* edges looked at so far */
} iso_prover;

isoproof_status iso_prover_init(iso_prover *prover, const iso_weak *weak, isoproof_error *error);
void iso_prover_free(iso_prover *prover);

/* The proof that a finding of a known cycle or a forced edge is right; false when there is none, or memory is out. */
bool iso_prove(iso_prover *prover, const iso_finding *finding, iso_proof *proof);

#endif
