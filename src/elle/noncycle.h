/* noncycle.h - anomalies that are no cycles of dependencies: single transactions and single keys give them away.
 *
 * Aborted and intermediate reads and dirty updates (Elle, VLDB 2020, section 3.3.1), reads of garbage, duplicates and
 * internal inconsistencies (section 5.1).  What the exact checkers refute is kept here, too, as it comes without a
 * cycle of known dependencies.  A list of them owns its items until its `list` is freed.
 */
#ifndef ISO_ELLE_NONCYCLE_H
#define ISO_ELLE_NONCYCLE_H

#include "base/vector.h"
#include "level/anomalies.h"

/* One instance.  What the numbers are depends on the anomaly:
 *   G1a, garbage-read, future-read, duplicate-elements  op is the read, other the write (ISO_NO_OP for nobody's),
 *                                                       element its place
 *   G1b                op is the read, other the write that was replaced
 *   internal           op is the read, other the operation of the transaction that it contradicts
 *   incompatible-order op is a read, other one of another order
 *   dirty-update       op is the write on top, other the aborted one
 *   lost-update        op and other are reads of one version, by transactions that both write the key afterwards; one
 *                      instance for each of them but the first
 *   cyclic-versions    key; op and other are two operations of versions on the cycle
 *   predicate-read-miss op is the read, key the row
 *   ...-cycle-exists   ISO_NO_OP: the result of an exact checker shows it */
typedef struct iso_noncycle_anomaly {
  uint32_t anomaly;
  uint32_t op, other;
  uint32_t key, element;
} iso_noncycle_anomaly;

typedef struct iso_noncycle_anomalies {
  uint64_t count[ISO_ANOMALY_COUNT];
  ISO_VEC(iso_noncycle_anomaly) list; /* the first of each anomaly, or all */
  bool all;
  bool failed; /* memory was out */
} iso_noncycle_anomalies;

/* Counts `instances` more, and keeps one of them where it is the first, or all are kept. */
void iso_noncycle_anomalies_add(iso_noncycle_anomalies *anomalies, iso_anomaly anomaly, uint64_t instances,
                                iso_noncycle_anomaly one);

#endif
