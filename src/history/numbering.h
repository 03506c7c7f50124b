/* numbering.h - a map from value codes to numbers 0, 1, 2, ... in the order of first appearance.
 *
 * Keys and sessions are nearly always small integers, so small codes index an array directly; the array grows only in
 * proportion to what was seen, so that one absurd key cannot allocate gigabytes, and outliers go to a hash table.  A
 * numbering owns its arrays until iso_numbering_free.
 */
#ifndef ISO_HISTORY_NUMBERING_H
#define ISO_HISTORY_NUMBERING_H

#include "history/pool.h"

typedef struct iso_numbering {
  uint32_t *direct;   /* code -> number + 1, for inline integers below direct_count */
  uint32_t *interned; /* pool entry -> number + 1 */
  size_t direct_count, interned_count;
  uint32_t *slots; /* number + 1; open addressing over the codes of `names` */
  size_t slot_mask, slot_used;
  iso_value *names; /* number -> code */
  size_t count, capacity;
  uint64_t seed;
} iso_numbering;

void iso_numbering_init(iso_numbering *numbering);
void iso_numbering_free(iso_numbering *numbering);
/* What the inline function below does when the code is not in the direct array. */
isoproof_status iso_numbering_add_slow(iso_numbering *numbering, iso_value code, uint32_t *number,
                                       isoproof_error *error);

/* The number of a code, new when it was not seen before.  O(1) amortized, expected for outliers. */
static inline isoproof_status iso_numbering_add(iso_numbering *numbering, iso_value code, uint32_t *number,
                                                isoproof_error *error) {
  if (code < numbering->direct_count && numbering->direct[code] != 0) {
    *number = numbering->direct[code] - 1;
    return ISOPROOF_OK;
  }
  return iso_numbering_add_slow(numbering, code, number, error);
}

#endif
