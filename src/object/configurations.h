/* configurations.h - sets of configurations, the states that a search for a linearization can be in: the value of the
 * register, which open calls took effect, and which calls of unknown outcome were made use of.
 *
 * A set owns its columns until iso_configurations_free; clearing keeps them for the next use.
 */
#ifndef ISO_OBJECT_CONFIGURATIONS_H
#define ISO_OBJECT_CONFIGURATIONS_H

#include "base/error.h"
#include "base/vector.h"
#include "history/pool.h"

/* Open calls, one bit each. */
__extension__ typedef unsigned __int128 iso_call_set;
enum { ISO_MOST_OPEN = 128 };

/* The least call of a set that is not empty. */
static inline unsigned iso_call_first(iso_call_set set) {
  uint64_t low = (uint64_t)set;
  return low != 0 ? (unsigned)__builtin_ctzll(low) : 64 + (unsigned)__builtin_ctzll((uint64_t)(set >> 64));
}
static inline iso_call_set iso_call_one(unsigned call) { return (iso_call_set)1 << call; }

typedef struct iso_configuration {
  iso_call_set done;   /* they took effect */
  iso_value state;     /* of the register */
  uint32_t used_first; /* kinds of calls of unknown outcome, ascending, one as often as it was used */
  uint32_t used_count;
  uint32_t next; /* of the same state and calls, + 1; 0 none */
  bool gone;     /* another one of the set can do all that it can */
} iso_configuration;

typedef struct iso_configurations {
  ISO_VEC(iso_configuration) list;
  ISO_VEC(uint32_t) used;
  uint32_t *slots; /* by hash: a configuration + 1 */
  size_t slot_mask;
  uint64_t seed;
} iso_configurations;

bool iso_configurations_init(iso_configurations *set);
void iso_configurations_free(iso_configurations *set);
void iso_configurations_clear(iso_configurations *set);
/* Adds a configuration unless one that is no worse is there: who has used fewer calls of unknown outcome can still use
 * what others have used.  `used` is not part of the set.  False when memory is out.  Expected time is that of comparing
 * with those of the same state and calls. */
bool iso_configurations_add(iso_configurations *set, iso_value state, iso_call_set done, const uint32_t *used,
                            uint32_t used_count);

#endif
