/* configurations.h - sets of what a register may have come to: its value, which open calls took effect, and which calls
 * of unknown outcome were made use of.
 *
 * A set owns its columns until iso_configs_free; clearing keeps them for the next use.
 */
#ifndef ISO_OBJECT_CONFIGURATIONS_H
#define ISO_OBJECT_CONFIGURATIONS_H

#include "base/error.h"
#include "base/vector.h"
#include "history/pool.h"

typedef struct iso_config {
  uint64_t done;       /* one bit an open call: it took effect */
  iso_value state;     /* of the register */
  uint32_t used_first; /* kinds of calls of unknown outcome, ascending, one as often as it was used */
  uint32_t used_count;
  uint32_t next; /* of the same state and calls, + 1; 0 none */
  bool gone;     /* another one of the set can do all that it can */
} iso_config;

typedef struct iso_configs {
  ISO_VEC(iso_config) list;
  ISO_VEC(uint32_t) used;
  uint32_t *slots; /* by hash: a configuration + 1 */
  size_t slot_mask;
  uint64_t seed;
} iso_configs;

bool iso_configs_init(iso_configs *set);
void iso_configs_free(iso_configs *set);
void iso_configs_clear(iso_configs *set);
/* Adds a configuration unless one that is no worse is there: who has used fewer calls of unknown outcome can still use
 * what others have used.  `used` is not part of the set.  False when memory is out. */
bool iso_configs_add(iso_configs *set, iso_value state, uint64_t done, const uint32_t *used, uint32_t used_count);

#endif
