/* index.h - which values were ever written, at about a bit for each: what is not in it, nobody wrote so far.
 *
 * Clients count, so that values are small numbers and each is written once: a bitmap.  As soon as a value is written to
 * two keys, clients may count for each key: the numbers that a key has had one after the other are a run, which takes
 * no more room when it grows.  What is in no run, and values that are no small numbers, go into filters as pairs of key
 * and value, which take ten bits each and may say yes to what was never written.  Pairs that were, perhaps, written
 * twice go into filters of their own: who read one of these may have read from either writer, however long ago one of
 * them has left memory.  The index owns its memory until iso_live_index_free.
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

/* The numbers of a key from `first` to before `next`, each of which was written, and by bits which of those from `next`
 * on were. */
typedef struct iso_live_run {
  uint32_t first, next;
  uint64_t ahead;
} iso_live_run;

typedef struct iso_live_index {
  uint64_t **pages; /* of the bitmap */
  size_t page_count;
  bool pairs;         /* values alone do not tell writes apart */
  iso_live_run *runs; /* by key, from then on */
  size_t run_count;
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
/* Where the numbers of a key are, for whoever fetches that early; anything where there is no such place. */
static inline const void *iso_live_index_place(const iso_live_index *index, uint32_t key) {
  return key < index->run_count ? (const void *)&index->runs[key] : index;
}
/* Frees everything and says yes from now on. */
void iso_live_index_give_up(iso_live_index *index);

#endif
