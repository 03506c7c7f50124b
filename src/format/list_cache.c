/* A direct-mapped cache of list texts by key, so that a read that extends the last one is parsed from where that
 * ended. */
#include "format/list_cache.h"

#include <string.h>

#include "format/token_scan.h"

void iso_list_cache_free(iso_list_cache *cache) {
  for (size_t i = 0; cache->slots != NULL && i < ISO_LIST_SLOTS; i++) {
    iso_vec_free(&cache->slots[i].text);
    iso_vec_free(&cache->slots[i].elements);
    iso_vec_free(&cache->slots[i].ends);
  }
  free(cache->slots);
  cache->slots = NULL;
}

/* How many bytes two texts have in common at their beginning, at most `most`; both may be read eight bytes further. */
static size_t in_common(const char *a, const char *b, size_t most) {
  size_t i = 0;
  while (i + 8 <= most) {
    uint64_t differ = iso_scan_load(a + i) ^ iso_scan_load(b + i);
    if (differ != 0) return i + (unsigned)__builtin_ctzll(differ) / 8;
    i += 8;
  }
  while (i < most && a[i] == b[i]) i++;
  return i;
}

static char between_elements(iso_token_dialect dialect) { return dialect == ISO_TOKEN_DIALECT_EDN ? ' ' : ','; }

/* The element that ends at an offset of the text; SIZE_MAX when none does. */
static size_t element_at(const iso_cached_list *list, size_t end) {
  size_t low = 0, high = list->ends.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (list->ends.items[middle] < end) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < list->ends.count && list->ends.items[low] == end ? low : SIZE_MAX;
}

size_t iso_list_cache_find(const iso_list_cache *cache, iso_tokenizer *t, iso_value key, const iso_value **elements) {
  if (cache->slots == NULL || t->discarding != 0) return 0;
  const iso_cached_list *list = &cache->slots[key % ISO_LIST_SLOTS];
  const char *p = t->window.cur;
  size_t there = (size_t)(t->window.end - p), length = list->text.count;
  if (list->key != key || length == 0 || there < ISO_TOKEN_ROOM || length > there - ISO_TOKEN_ROOM) return 0;
  size_t same = in_common(p, list->text.items, length), count = list->elements.count;
  if (same < length) {
    size_t last = p[same] == ']' ? element_at(list, same) : SIZE_MAX;
    if (last == SIZE_MAX) return 0;
    count = last + 1;
  } else if (p[same] != ']' && p[same] != between_elements(t->dialect)) {
    return 0;
  }
  *elements = list->elements.items;
  iso_token_advance(t, p + same, count);
  return count;
}

/* Adds the rest of a text, from the end of what is there on; false when it is not plain, or memory is out. */
static bool extend(iso_cached_list *list, char space, const char *text, size_t length, const iso_value *elements,
                   size_t count) {
  size_t from = list->text.count, known = list->elements.count;
  if (!iso_vec_reserve(&list->text, length - from + 8) || !iso_vec_reserve(&list->elements, count - known) ||
      !iso_vec_reserve(&list->ends, count - known)) {
    return false;
  }
  for (size_t i = from; i < length; i++) {
    bool digit = text[i] >= '0' && text[i] <= '9';
    bool between = text[i] == space && i > 0 && i + 1 < length && text[i + 1] != space;
    if (!digit && !between) return false;
    bool ends = digit && (i + 1 == length || text[i + 1] == space);
    if (!ends) continue;
    if (list->ends.count == count) return false;
    list->ends.items[list->ends.count++] = (uint32_t)i + 1;
  }
  if (list->ends.count != count) return false;
  memcpy(list->text.items + from, text + from, length - from);
  memset(list->text.items + length, 0, 8);
  memcpy(list->elements.items + known, elements + known, (count - known) * sizeof *elements);
  list->text.count = length;
  list->elements.count = count;
  return true;
}

void iso_list_cache_store(iso_list_cache *cache, iso_token_dialect dialect, iso_value key, const char *text,
                          size_t length, const iso_value *elements, size_t count, size_t recalled) {
  if (cache->slots == NULL) cache->slots = iso_alloc_zero(ISO_LIST_SLOTS, sizeof *cache->slots);
  if (cache->slots == NULL || length > ISO_LIST_LONGEST || count == 0) return;
  iso_cached_list *list = &cache->slots[key % ISO_LIST_SLOTS];
  bool same = list->key == key && list->text.count > 0;
  if (same && recalled < list->elements.count) return; /* another order, or nothing new */
  if (same && count == recalled) return;
  if (!same) list->text.count = list->elements.count = list->ends.count = 0;
  list->key = key;
  if (!extend(list, between_elements(dialect), text, length, elements, count))
    list->text.count = list->elements.count = list->ends.count = 0;
}
