/* chains.h - versions that were made from each other: who read a version of a key and wrote the next one.
 *
 * They are trees, one or more for each key, in which every version comes after those above it.  Chains own their arrays
 * until iso_chains_free.
 */
#ifndef ISO_CHECK_COUNT_CHAINS_H
#define ISO_CHECK_COUNT_CHAINS_H

#include "check/count/sequence.h"

/* Beside view->write_key: the tree below a version is numbered from its own number on, without gaps. */
typedef struct iso_chains {
  uint32_t *number;
  uint32_t *size;     /* of the tree below it, itself included */
  uint8_t *is_forked; /* by key: its versions are not all in one chain */
} iso_chains;

/* The sequence must respect what is known. */
isoproof_status iso_chains_make(const iso_view *view, const iso_run_sequence *sequence, iso_chains *out,
                                isoproof_error *error);
void iso_chains_free(iso_chains *chains);

/* Whether the version of the key that `later` wrote was made, step by step, from the one that `earlier` wrote. */
bool iso_chains_before(const iso_view *view, const iso_chains *chains, uint32_t key, uint32_t earlier, uint32_t later);

#endif
