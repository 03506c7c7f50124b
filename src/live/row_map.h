/* row_map.h - an ordered map from pairs of numbers to numbers: a skip list (W. Pugh, CACM 1990).
 *
 * The state of a table, by key; the same rows by value and key; a set of pairs.  A map owns its nodes until
 * iso_row_map_free.
 */
#ifndef ISO_LIVE_ROW_MAP_H
#define ISO_LIVE_ROW_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ISO_ROW_MAP_HEIGHT = 20 };

typedef struct iso_row_node iso_row_node;
struct iso_row_node {
  int64_t major, minor; /* what it is ordered by */
  int64_t value;
  iso_row_node *next[]; /* the next one of each height */
};

/* All zero is an empty map. */
typedef struct iso_row_map {
  iso_row_node *first[ISO_ROW_MAP_HEIGHT];
  unsigned height; /* of the highest node */
  uint64_t count, bytes;
  uint64_t random; /* how high the next node is */
} iso_row_map;

void iso_row_map_free(iso_row_map *map);
/* Adds the pair, or changes what it has; false when memory is out. */
bool iso_row_map_put(iso_row_map *map, int64_t major, int64_t minor, int64_t value);
void iso_row_map_remove(iso_row_map *map, int64_t major, int64_t minor);
/* NULL where it is not there. */
const iso_row_node *iso_row_map_find(const iso_row_map *map, int64_t major, int64_t minor);
/* The first one with at least this major number; the others follow by next[0]. */
const iso_row_node *iso_row_map_from(const iso_row_map *map, int64_t major);
/* Fills an empty map with what another one has; false when memory is out, and then it is empty. */
bool iso_row_map_copy(iso_row_map *to, const iso_row_map *from);

#endif
