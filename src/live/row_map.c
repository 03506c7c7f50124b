/* An ordered map as a skip list: nodes in their order, every fourth of which is in the list above, and so on. */
#include "live/row_map.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/vector.h"

static bool is_before(const iso_row_node *node, int64_t major, int64_t minor) {
  return node->major != major ? node->major < major : node->minor < minor;
}

/* The links that lead to the first node that is not before the pair, one for each height. */
static void find_links(const iso_row_map *map, int64_t major, int64_t minor,
                       iso_row_node *const *links[ISO_ROW_MAP_HEIGHT]) {
  iso_row_node *const *row = map->first;
  for (unsigned h = map->height; h-- > 0;) {
    while (row[h] != NULL && is_before(row[h], major, minor)) row = row[h]->next;
    links[h] = &row[h];
  }
}

static const iso_row_node *first_not_before(const iso_row_map *map, int64_t major, int64_t minor) {
  iso_row_node *const *row = map->first;
  for (unsigned h = map->height; h-- > 0;) {
    while (row[h] != NULL && is_before(row[h], major, minor)) row = row[h]->next;
  }
  return row[0];
}

const iso_row_node *iso_row_map_from(const iso_row_map *map, int64_t major) {
  return first_not_before(map, major, INT64_MIN);
}

const iso_row_node *iso_row_map_find(const iso_row_map *map, int64_t major, int64_t minor) {
  const iso_row_node *node = first_not_before(map, major, minor);
  return node != NULL && node->major == major && node->minor == minor ? node : NULL;
}

static size_t size_of(unsigned height) { return sizeof(iso_row_node) + height * sizeof(iso_row_node *); }

static unsigned draw_height(iso_row_map *map) {
  if (map->random == 0) map->random = iso_hash_seed() | 1;
  map->random = map->random * UINT64_C(6364136223846793005) + 1;
  unsigned height = 1;
  for (uint64_t bits = map->random >> 20; (bits & 3) == 0 && height < ISO_ROW_MAP_HEIGHT; bits >>= 2) height++;
  return height;
}

bool iso_row_map_put(iso_row_map *map, int64_t major, int64_t minor, int64_t value) {
  iso_row_node *const *links[ISO_ROW_MAP_HEIGHT];
  find_links(map, major, minor, links);
  iso_row_node *found = map->height > 0 ? *links[0] : NULL;
  if (found != NULL && found->major == major && found->minor == minor) {
    found->value = value;
    return true;
  }
  unsigned height = draw_height(map);
  iso_row_node *node = iso_alloc(1, size_of(height));
  if (node == NULL) return false;
  for (; map->height < height; map->height++) links[map->height] = &map->first[map->height];
  node->major = major;
  node->minor = minor;
  node->value = value;
  for (unsigned h = 0; h < height; h++) {
    node->next[h] = *links[h];
    *(iso_row_node **)links[h] = node;
  }
  map->count++;
  map->bytes += size_of(height);
  return true;
}

void iso_row_map_remove(iso_row_map *map, int64_t major, int64_t minor) {
  iso_row_node *const *links[ISO_ROW_MAP_HEIGHT];
  if (map->height == 0) return;
  find_links(map, major, minor, links);
  iso_row_node *node = *links[0];
  if (node == NULL || node->major != major || node->minor != minor) return;
  unsigned height = 0;
  for (; height < map->height && *links[height] == node; height++) *(iso_row_node **)links[height] = node->next[height];
  map->count--;
  map->bytes -= size_of(height);
  free(node);
}

void iso_row_map_free(iso_row_map *map) {
  for (iso_row_node *node = map->first[0]; node != NULL;) {
    iso_row_node *next = node->next[0];
    free(node);
    node = next;
  }
  *map = (iso_row_map){0};
}

bool iso_row_map_copy(iso_row_map *to, const iso_row_map *from) {
  for (const iso_row_node *node = from->first[0]; node != NULL; node = node->next[0]) {
    if (iso_row_map_put(to, node->major, node->minor, node->value)) continue;
    iso_row_map_free(to);
    return false;
  }
  return true;
}
