/* index.h - which values were ever written, at about a bit for each: what is not in it, nobody wrote so far.
 *
 * Clients count, so that values are small numbers and each is written once: a bitmap.  As soon as a value is written to
 * two keys, and for values that are no small numbers, pairs of key and value go into filters, which take ten bits each
 * and may say yes to what was never written.  Pairs that were, perhaps, written twice go into filters of their own: who
 * read one of these may have read from either writer, however long ago one of them has left memory.  The index owns its
 * memory until iso_live_index_free.
 */
#ifndef ISO_LIVE_INDEX_H
#define ISO_LIVE_INDEX_H

#include "history/pool.h"

enum {
  ISO_LIVE_FILTERS = 40,
  ISO_LIVE_PAGE_WORDS = 512, /* of the bitmap */
  ISO_LIVE_BLOCK_WORDS = 8   /* of a filter */
};

/* A Bloom filter in blocks of a cache line. */
typedef struct iso_live_filter {
  uint64_t *words;
  uint64_t blocks; /* a power of two */
  uint64_t count, most;
} iso_live_filter;

/* Filters of growing sizes, of which the last one is being filled. */
typedef struct iso_live_filters {
  iso_live_filter items[ISO_LIVE_FILTERS];
  size_t count;
} iso_live_filters;

typedef struct iso_live_index {
  uint64_t **pages; /* of the bitmap */
  size_t page_count;
  bool pairs; /* values alone do not tell writes apart */
  iso_live_filters once, twice;
  uint64_t bytes, seed;
  bool given_up; /* for want of memory: it says yes to everything */
} iso_live_index;

void iso_live_index_init(iso_live_index *index);
void iso_live_index_free(iso_live_index *index);
/* Adds a value of a key, given by a number that stays; true when it was, perhaps, there already.  Gives up when memory
 * is out. */
bool iso_live_index_add(iso_live_index *index, const iso_pool *pool, uint32_t key, iso_value value);
/* False: it was never added. */
bool iso_live_index_has(const iso_live_index *index, const iso_pool *pool, uint32_t key, iso_value value);
/* False: it was added once at most. */
bool iso_live_index_has_twice(const iso_live_index *index, const iso_pool *pool, uint32_t key, iso_value value);
/* Frees everything and says yes from now on. */
void iso_live_index_give_up(iso_live_index *index);

#endif
