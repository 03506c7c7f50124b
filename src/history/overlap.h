/* overlap.h - counting transactions that overlap in time and played given parts, without looking at every pair.
 *
 * Two transactions overlap when each began before the other had ended.  Parts are given by the caller, which owns them.
 */
#ifndef ISO_HISTORY_OVERLAP_H
#define ISO_HISTORY_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a transaction did in a group, such as a key or two keys. */
typedef struct iso_part {
  uint64_t group;
  int64_t start, end; /* start < end */
  uint32_t txn;       /* at most once per group */
  uint32_t roles;     /* bits */
} iso_part;

/* Room for the groups of a count; freed with iso_overlap_free. */
typedef struct iso_overlap {
  int64_t *starts, *ends;
  size_t room;
} iso_overlap;

bool iso_overlap_init(iso_overlap *o, size_t largest_group); /* false when memory is out */
void iso_overlap_free(iso_overlap *o);

/* How many of sorted times are below a time; below or at it.  O(log count). */
size_t iso_times_below(const int64_t *times, size_t count, int64_t time);
size_t iso_times_until(const int64_t *times, size_t count, int64_t time);

/* Pairs of transactions of one group that overlap, where one has all of the roles `one` and the other all of `other`.
 * O(count log count). */
uint64_t iso_overlap_pairs(iso_overlap *o, const iso_part *parts, size_t count, uint32_t one, uint32_t other);
/* Sets conflict[txn] for each that overlaps another one of the group, where one of the two has all of the roles
 * `writes`. */
void iso_overlap_conflicts(iso_overlap *o, const iso_part *parts, size_t count, uint32_t writes, bool *conflict);

#endif
