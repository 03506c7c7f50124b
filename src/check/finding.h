/* finding.h - what a checker found, small enough to keep a million of them.
 *
 * A finding names operations by number; explain/witness.h turns one into a witness that people can read.  A list of
 * findings owns its items until iso_findings_free.
 */
#ifndef ISO_CHECK_FINDING_H
#define ISO_CHECK_FINDING_H

#include "base/vector.h"
#include "history/history.h"

/* The patterns: C name, code. */
#define ISO_TAP_LIST(X)                                                                                                \
  X(A, "TAP-a")                                                                                                        \
  X(B, "TAP-b")                                                                                                        \
  X(C, "TAP-c")                                                                                                        \
  X(D, "TAP-d")                                                                                                        \
  X(E, "TAP-e")                                                                                                        \
  X(F, "TAP-f")                                                                                                        \
  X(G, "TAP-g")                                                                                                        \
  X(H, "TAP-h")                                                                                                        \
  X(I, "TAP-i")                                                                                                        \
  X(J, "TAP-j")                                                                                                        \
  X(K, "TAP-k")                                                                                                        \
  X(L, "TAP-l")                                                                                                        \
  X(M, "TAP-m")                                                                                                        \
  X(N, "TAP-n")

typedef enum iso_tap {
#define ISO_X(name, code) ISO_TAP_##name,
  ISO_TAP_LIST(ISO_X)
#undef ISO_X
      ISO_TAPS
} iso_tap;

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
 *   h, i, k to n  op is the read of x by t3, `seen` the axiom (check/weak_scan.h), `other` the place among its
 * instances
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
