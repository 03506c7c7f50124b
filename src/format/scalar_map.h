/* scalar_map.h - from the codes of one pool to those of another, entry by entry.
 *
 * A block of a file is parsed with a pool of its own.  Entries are added to the pool of the history in the order in
 * which they came, transaction by transaction, so that they get the codes that a reader without blocks gives them.  The
 * map owns its table, not the pools.
 */
#ifndef ISO_FORMAT_SCALAR_MAP_H
#define ISO_FORMAT_SCALAR_MAP_H

#include "format/micro_op.h"

typedef struct iso_scalar_map {
  ISO_VEC(iso_value) codes; /* by entry */
} iso_scalar_map;

void iso_scalar_map_free(iso_scalar_map *map);
/* Adds the entries of a pool up to place `end`, those that were not added yet. */
isoproof_status iso_scalar_map_add(iso_scalar_map *map, const iso_pool *from, size_t end, iso_pool *to,
                                   isoproof_error *error);
/* Replaces the codes of operations, and those of their elements. */
void iso_scalar_map_ops(const iso_scalar_map *map, iso_micro_op *micro, const iso_micro_ops *part);

static inline iso_value iso_scalar_map_code(const iso_scalar_map *map, iso_value code) {
  bool interned = (code & ISO_VALUE_INTERNED) != 0 && code < ISO_VALUE_COUNTED;
  return interned ? map->codes.items[code & ~ISO_VALUE_INTERNED] : code;
}

#endif
