/* proof.h - why a level between transactions is violated: a cycle, each step with its evidence.
 *
 * A proof names operations and transactions only, so that it can be checked against the history by somebody who knows
 * nothing of how it was found (verify/proof.h).  It owns its steps until iso_proof_free.
 */
#ifndef ISO_RESULT_PROOF_H
#define ISO_RESULT_PROOF_H

#include "base/vector.h"
#include "graph/edge.h"
#include "result/finding.h"

/* A step from one transaction to another:
 *   SO  from is before to in their session
 *   WR  read_op of to saw write_op of from
 *   WW  the list that read_op of `reader` returned shows write_op of from, and to_op of to later or not at all
 *   CM  an axiom forces it: `reader` read with read_op the version of x that `to` wrote (or the initial one, when to is
 *       ISO_INITIAL), `from` wrote x with write_op as well, and the reasons [first_reason, first_reason + reasons), a
 *       chain from `from` to `reader`, meet the condition of the axiom */
typedef struct iso_proof_step {
  iso_edge_kind kind;
  uint32_t from, to;
  uint32_t write_op, read_op;
  uint32_t to_op;
  uint32_t reader;
  uint32_t first_reason, reasons;
} iso_proof_step;

typedef struct iso_proof {
  iso_tap tap;
  iso_axiom axiom;               /* meaningless for known cycles: TAP-g, G0, ... */
  ISO_VEC(iso_proof_step) cycle; /* each step starts where the one before ends; the last ends where the first starts */
  ISO_VEC(iso_proof_step) reasons; /* SO and WR only */
} iso_proof;

void iso_proof_free(iso_proof *proof);

#endif
