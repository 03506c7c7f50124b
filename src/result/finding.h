/* finding.h - what a checker found, small enough to keep a million of them.
 *
 * A finding names operations by number; explain/witness.h turns one into a witness that people can read.  A list of
 * findings owns its items until iso_findings_free.
 */
#ifndef ISO_RESULT_FINDING_H
#define ISO_RESULT_FINDING_H

#include "base/vector.h"
#include "history/history.h"
#include "level/tap.h"

/* One instance.  What `seen` and `other` are depends on the pattern:
 *   a  op read a value (or element) that nobody wrote; element is its place in a list
 *   b  op read `seen`, a write of an aborted transaction
 *   c  op read `seen`, a later write of its own transaction
 *   d  op read `seen` (or the initial version) of another transaction after `other`, a write of its own
 *   e  op read `seen`, an own write, although the own write `other` came after it
 *   f  op read `seen`, although its transaction wrote the key again with `other`
 *   j  op read one version and `other`, an earlier read of the transaction, read one of another transaction
 *   g  `seen` is a transaction on the cycle, op its first operation
 *   h, i, k to n  op is the read of x by t3, `seen` the axiom (level/method.h), `other` the place among its
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
