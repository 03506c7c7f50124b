/* list_cache.h - a cache of the texts of the longest lists of recent keys.
 *
 * A read of a list mostly begins with what was read of its key before; what has the same text need not be parsed again.
 * A cache is for one dialect.
 * Only lists of plain integers with single spaces (JSON: commas) between them are kept, and only short ones.  The cache
 * owns its texts until iso_list_cache_free.
 */
#ifndef ISO_FORMAT_LIST_CACHE_H
#define ISO_FORMAT_LIST_CACHE_H

#include "base/vector.h"
#include "format/token.h"
#include "history/pool.h"

enum { ISO_LIST_SLOTS = 512, ISO_LIST_LONGEST = 16384 };

typedef struct iso_cached_list {
  iso_value key;
  ISO_VEC(char) text; /* without brackets */
  ISO_VEC(iso_value) elements;
  ISO_VEC(uint32_t) ends; /* where each element ends in the text */
} iso_cached_list;

typedef struct iso_list_cache {
  iso_cached_list *slots; /* by key modulo ISO_LIST_SLOTS; NULL until something is stored */
} iso_list_cache;

/* May be used again afterwards. */
void iso_list_cache_free(iso_list_cache *cache);
/* How many elements the list after the current token has in common with the cached one, where one of the two is a
 * prefix of the other, else 0; the tokenizer goes behind them.  *elements stays valid until the next call. */
size_t iso_list_cache_find(const iso_list_cache *cache, iso_tokenizer *t, iso_value key, const iso_value **elements);
/* Stores a list of which `recalled` elements were found in the cache.  Forgets silently when memory is out. */
void iso_list_cache_store(iso_list_cache *cache, iso_token_dialect dialect, iso_value key, const char *text,
                          size_t length, const iso_value *elements, size_t count, size_t recalled);

#endif
