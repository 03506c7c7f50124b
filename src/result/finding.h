/* finding.h - what a checker found, small enough to keep a million of them.
 *
 * A finding names operations by number; explain/witness.h turns one into a witness that people can read.  A list of
 * findings owns its items until iso_findings_free.
 */
#ifndef ISO_RESULT_FINDING_H
#define ISO_RESULT_FINDING_H

#include "base/vector.h"
#include "history/history.h"

/* What shows a pattern. */
typedef enum iso_tap_class {
  ISO_CLASS_READ,  /* one or two reads: verify/finding.h judges them */
  ISO_CLASS_CYCLE, /* a cycle of what is known before any axiom is asked: result/proof.h */
  ISO_CLASS_AXIOM  /* an edge that an axiom forces: result/proof.h */
} iso_tap_class;

/* The patterns: C name, code, class.  Those after TAP-n need the known order of the versions of lists
 * (check/versions.h). */
#define ISO_TAP_LIST(X)                                                                                                \
  X(A, "TAP-a", READ)                                                                                                  \
  X(B, "TAP-b", READ)                                                                                                  \
  X(C, "TAP-c", READ)                                                                                                  \
  X(D, "TAP-d", READ)                                                                                                  \
  X(E, "TAP-e", READ)                                                                                                  \
  X(F, "TAP-f", READ)                                                                                                  \
  X(G, "TAP-g", CYCLE)                                                                                                 \
  X(H, "TAP-h", AXIOM)                                                                                                 \
  X(I, "TAP-i", AXIOM)                                                                                                 \
  X(J, "TAP-j", READ)                                                                                                  \
  X(K, "TAP-k", AXIOM)                                                                                                 \
  X(L, "TAP-l", AXIOM)                                                                                                 \
  X(M, "TAP-m", AXIOM)                                                                                                 \
  X(N, "TAP-n", AXIOM)                                                                                                 \
  X(G0, "G0", CYCLE)                                                                                                   \
  X(G1C, "G1c", CYCLE)                                                                                                 \
  X(G0_PROCESS, "G0-process", CYCLE)                                                                                   \
  X(G1C_PROCESS, "G1c-process", CYCLE)                                                                                 \
  X(INCOMPATIBLE_ORDER, "incompatible-order", READ)                                                                    \
  X(DUPLICATE_ELEMENTS, "duplicate-elements", READ)

typedef enum iso_tap {
#define ISO_X(name, code, class) ISO_TAP_##name,
  ISO_TAP_LIST(ISO_X)
#undef ISO_X
      ISO_TAPS
} iso_tap;

iso_tap_class iso_tap_class_of(iso_tap tap);
const char *iso_tap_code(iso_tap tap);

/* One instance.  What `seen` and `other` are depends on the pattern:
 *   a  op read a value (or element) that nobody wrote; element is its place in a list
 *   b  op read `seen`, a write of an aborted transaction
 *   c  op read `seen`, a later write of its own transaction
 *   d  op read `seen` (or the initial version) of another transaction after `other`, a write of its own
 *   e  op read `seen`, an own write, although the own write `other` came after it
 *   f  op read `seen`, although its transaction wrote the key again with `other`
 *   j  op read one version and `other`, an earlier read of the transaction, read one of another transaction
 *   g  `seen` is a transaction on the cycle, op its first operation
 *   h, i, k to n  op is the read of x by t3, `seen` the axiom (check/axioms/scan.h), `other` the place among its
 * instances
 *   G0, G1c and their -process forms  `seen` is a transaction on the cycle, op its first operation
 *   incompatible-order  op read a list that differs at `element` from what the read `other` shows; or op shows the
 * append `seen` as that element without, before it, the append `other` that the transaction of `seen` made before
 *   duplicate-elements  op shows the append `seen` as that element, and before it already
 */
typedef struct iso_finding {
  uint32_t tap;
  uint32_t op;
  uint32_t seen;
  uint32_t other;
  uint32_t element; /* of a list or set read; 0 otherwise */
} iso_finding;

/* All findings of a history: counts by pattern, and the first of each, or all. */
typedef struct iso_findings {
  uint64_t count[ISO_TAPS];
  iso_finding first[ISO_TAPS]; /* smallest op; valid where count > 0 */
  bool keep_all;
  ISO_VEC(iso_finding) all; /* in order of op where keep_all */
  bool failed;              /* memory was out */
} iso_findings;

void iso_findings_add(iso_findings *findings, iso_finding finding);
/* Adds `more`, whose operations all come after those of `findings`, and empties it. */
void iso_findings_append(iso_findings *findings, iso_findings *more);
void iso_findings_free(iso_findings *findings);

#endif
