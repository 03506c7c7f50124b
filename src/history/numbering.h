/* numbering.h - a map from value codes to dense numbers 0, 1, 2, ... in the order of first appearance.
 *
 * Keys and sessions are nearly always small integers, so small codes index an array directly; the array grows only
 * in proportion to what was seen, so that one absurd key cannot allocate gigabytes, and outliers go to a hash table.
 */
#ifndef ISO_HISTORY_NUMBERING_H
#define ISO_HISTORY_NUMBERING_H

#include "history/pool.h"

typedef struct iso_dense {
  uint32_t *direct;   /* code -> number + 1, for inline integers below direct_count */
  uint32_t *interned; /* pool entry -> number + 1 */
  size_t direct_count, interned_count;
  uint32_t *slots; /* number + 1; open addressing over the codes of `names` */
  size_t slot_mask, slot_used;
  iso_value *names; /* number -> code */
  size_t count, capacity;
  uint64_t seed;
} iso_dense;

void iso_dense_init(iso_dense *dense);
void iso_dense_free(iso_dense *dense);
/* What the inline function below does when the code is not in the direct array. */
isoproof_status iso_dense_add_slow(iso_dense *dense, iso_value code, uint32_t *number, isoproof_error *error);

/* The number of a code, new when it was not seen before. */
static inline isoproof_status iso_dense_add(iso_dense *dense, iso_value code, uint32_t *number, isoproof_error *error) {
  if (code < dense->direct_count && dense->direct[code] != 0) {
    *number = dense->direct[code] - 1;
    return ISOPROOF_OK;
  }
  return iso_dense_add_slow(dense, code, number, error);
}

#endif
