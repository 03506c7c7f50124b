/* written.h - a set of pairs of key and value: what was written, as far as somebody is interested.
 *
 * Open addressing; the set owns its slots until iso_written_free.
 */
#ifndef ISO_LIVE_WRITTEN_H
#define ISO_LIVE_WRITTEN_H

#include "history/pool.h"

typedef struct iso_written {
  uint64_t *slots; /* key and value in one number; UINT64_MAX when free */
  size_t count, mask;
  uint64_t seed;
} iso_written;

/* Adds the pair, and says whether it was there already (`had` may be NULL); false when memory is out. */
bool iso_written_add(iso_written *set, iso_value key, iso_value value, bool *had);
bool iso_written_has(const iso_written *set, iso_value key, iso_value value);
/* Empties the set and keeps its room. */
void iso_written_clear(iso_written *set);
void iso_written_free(iso_written *set);

#endif
