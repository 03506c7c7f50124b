/* named_reads.h - which reads a violation rests on.
 *
 * As long as these reads observed what they did, and these transactions take part, the level is violated, whatever
 * other reads observed.  The lists belong to the caller.
 */
#ifndef ISO_CHECK_NAMED_READS_H
#define ISO_CHECK_NAMED_READS_H

#include "check/level_check.h"

typedef struct iso_named_reads {
  ISO_VEC(uint32_t) ops;
  ISO_VEC(uint32_t) txns;
  bool failed; /* memory was out */
} iso_named_reads;

/* Those of one anomaly of a result of the engines by level, in their order; false when it is not one of theirs, and for
 * numbers above the last. */
bool iso_named_reads_of(iso_level_check *check, size_t number, iso_named_reads *named);
void iso_named_reads_free(iso_named_reads *named);

#endif
