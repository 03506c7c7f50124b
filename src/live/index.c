/* The index of values that were ever written: a bitmap of small numbers, runs of them per key, and filters of pairs. */
#include "live/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vector.h"

enum {
  PAGE_BITS = 15, /* values per page */
  PAGE_WORDS = ISO_LIVE_PAGE_WORDS,
  BLOCK_WORDS = ISO_LIVE_BLOCK_WORDS,
  BLOCK_PROBES = 5,
  FIRST_BLOCKS = 1 << 6,
  ENTRIES_PER_BLOCK = 48
};

_Static_assert((int)PAGE_WORDS == 1 << (PAGE_BITS - 6), "a bit for each value of a page");

void iso_live_index_init(iso_live_index *index) { *index = (iso_live_index){.seed = iso_hash_seed()}; }

static void free_filters(iso_live_filters *filters) {
  for (size_t i = 0; i < filters->count; i++) free(filters->items[i].words);
}

void iso_live_index_free(iso_live_index *index) {
  for (size_t i = 0; i < index->page_count; i++) free(index->pages[i]);
  free(index->pages);
  free(index->runs);
  free_filters(&index->once);
  free_filters(&index->twice);
  *index = (iso_live_index){.seed = index->seed};
}

void iso_live_index_give_up(iso_live_index *index) {
  iso_live_index_free(index);
  index->given_up = true;
}

/* ---- the bitmap ---- */

static uint64_t *page_of(iso_live_index *index, iso_value value) {
  size_t number = value >> PAGE_BITS;
  if (number >= index->page_count) {
    size_t count = number + 1 + number / 2;
    uint64_t **pages = iso_realloc(index->pages, count, sizeof *pages);
    if (pages == NULL) return NULL;
    memset(pages + index->page_count, 0, (count - index->page_count) * sizeof *pages);
    index->bytes += (count - index->page_count) * sizeof *pages;
    index->pages = pages;
    index->page_count = count;
  }
  if (index->pages[number] == NULL) {
    index->pages[number] = iso_alloc_zero(PAGE_WORDS, sizeof **index->pages);
    index->bytes += PAGE_WORDS * sizeof **index->pages;
  }
  return index->pages[number];
}

static bool bitmap_has(const iso_live_index *index, iso_value value) {
  size_t number = value >> PAGE_BITS;
  if (value >= ISO_VALUE_INLINE_LIMIT || number >= index->page_count || index->pages[number] == NULL) return false;
  return (index->pages[number][(value >> 6) % PAGE_WORDS] >> (value & 63) & 1) != 0;
}

/* ---- the filters ---- */

static uint64_t hash_pair(const iso_live_index *index, const iso_pool *pool, uint32_t key, iso_value value) {
  uint64_t content = value;
  if (value > ISO_VALUE_NIL && value < ISO_VALUE_COUNTED) {
    iso_pool_view view = iso_pool_look(pool);
    isoproof_scalar scalar = iso_pool_scalar(&view, value);
    bool number = scalar.type == ISOPROOF_INTEGER || scalar.type == ISOPROOF_UNSIGNED;
    content = number ? iso_hash_u64((uint64_t)scalar.integer, index->seed)
                     : iso_hash_bytes(scalar.text, scalar.length, index->seed + scalar.type);
  }
  return iso_hash_u64(content ^ (uint64_t)key << 32, index->seed + key);
}

static uint64_t *block_of(const iso_live_filter *filter, uint64_t hash) {
  return filter->words + (hash >> 45 & (filter->blocks - 1)) * BLOCK_WORDS;
}

static bool filter_has(const iso_live_filter *filter, uint64_t hash) {
  const uint64_t *block = block_of(filter, hash);
  for (int i = 0; i < BLOCK_PROBES; i++) {
    uint64_t bit = hash >> (9 * i) & 511;
    if ((block[bit >> 6] >> (bit & 63) & 1) == 0) return false;
  }
  return true;
}

static void filter_add(iso_live_filter *filter, uint64_t hash) {
  uint64_t *block = block_of(filter, hash);
  for (int i = 0; i < BLOCK_PROBES; i++) {
    uint64_t bit = hash >> (9 * i) & 511;
    block[bit >> 6] |= UINT64_C(1) << (bit & 63);
  }
  filter->count++;
}

static bool filters_have(const iso_live_filters *filters, uint64_t hash) {
  for (size_t i = 0; i < filters->count; i++) {
    if (filter_has(&filters->items[i], hash)) return true;
  }
  return false;
}

/* The filter that has room: a new one is twice as large as the last. */
static iso_live_filter *open_filter(iso_live_index *index, iso_live_filters *filters) {
  iso_live_filter *last = filters->count > 0 ? &filters->items[filters->count - 1] : NULL;
  if (last != NULL && last->count < last->most) return last;
  if (filters->count == ISO_LIVE_FILTERS) return NULL;
  uint64_t blocks = last != NULL ? 2 * last->blocks : FIRST_BLOCKS;
  if (blocks > UINT64_C(1) << 19) blocks = UINT64_C(1) << 19;
  iso_live_filter filter = {.blocks = blocks, .most = blocks * ENTRIES_PER_BLOCK};
  filter.words = iso_alloc_zero((size_t)blocks * BLOCK_WORDS, sizeof *filter.words);
  if (filter.words == NULL) return NULL;
  index->bytes += blocks * BLOCK_WORDS * sizeof *filter.words;
  filters->items[filters->count] = filter;
  return &filters->items[filters->count++];
}

/* True when it was, perhaps, there already. */
static bool add_pair(iso_live_index *index, iso_live_filters *filters, uint64_t hash) {
  bool had = filters_have(filters, hash);
  iso_live_filter *filter = had ? NULL : open_filter(index, filters);
  if (filter != NULL)
    filter_add(filter, hash);
  else if (!had)
    iso_live_index_give_up(index);
  return had;
}

/* ---- runs ---- */

enum { AHEAD = 64 };

static iso_live_run *run_of(iso_live_index *index, uint32_t key) {
  if (key >= index->run_count) {
    size_t count = (size_t)key + 1 + key / 2;
    iso_live_run *runs = iso_realloc(index->runs, count, sizeof *runs);
    if (runs == NULL) return NULL;
    index->bytes += (count - index->run_count) * sizeof *runs;
    for (size_t i = index->run_count; i < count; i++) runs[i] = (iso_live_run){.first = 1, .next = 1};
    index->runs = runs;
    index->run_count = count;
  }
  return &index->runs[key];
}

static bool run_has(const iso_live_run *run, iso_value value) {
  if (value < run->next) return value >= run->first;
  return value - run->next < AHEAD && (run->ahead >> (value - run->next) & 1) != 0;
}

static bool fits_run(const iso_live_run *run, iso_value value) {
  return value >= run->first && (value < run->next || value - run->next < AHEAD);
}

/* True when the value, which fits, was there already. */
static bool add_to_run(iso_live_run *run, iso_value value) {
  if (run_has(run, value)) return true;
  run->ahead |= UINT64_C(1) << (value - run->next);
  while ((run->ahead & 1) != 0) {
    run->ahead >>= 1;
    run->next++;
  }
  return false;
}

/* The values of a run go into the filters, and it begins anew with another value, which is beyond it. */
static void begin_run(iso_live_index *index, const iso_pool *pool, uint32_t key, iso_value value) {
  iso_live_run old = index->runs[key];
  index->runs[key] = (iso_live_run){.first = value, .next = value + 1};
  for (iso_value v = old.first; (v < old.next || old.ahead != 0) && !index->given_up; v++) {
    bool there = v < old.next || (old.ahead & 1) != 0;
    if (v >= old.next) old.ahead >>= 1;
    if (there) add_pair(index, &index->once, hash_pair(index, pool, key, v));
  }
}

/* ---- all together ---- */

static void note_twice(iso_live_index *index, const iso_pool *pool, uint32_t key, iso_value value) {
  if (!index->given_up) add_pair(index, &index->twice, hash_pair(index, pool, key, value));
}

/* Adds a value that is no small number, or in no run. */
static bool add_by_key(iso_live_index *index, const iso_pool *pool, uint32_t key, iso_value value) {
  return add_pair(index, &index->once, hash_pair(index, pool, key, value));
}

/* The same of a small number that alone does not tell writes apart.  What is in the filters is before the run of its
 * key: runs begin anew further on only. */
static bool add_number(iso_live_index *index, const iso_pool *pool, uint32_t key, iso_value value) {
  iso_live_run *run = run_of(index, key);
  if (run == NULL) {
    iso_live_index_give_up(index);
    return true;
  }
  if (fits_run(run, value)) return add_to_run(run, value);
  if (value < run->first) return add_by_key(index, pool, key, value);
  begin_run(index, pool, key, value);
  return false;
}

bool iso_live_index_add(iso_live_index *index, const iso_pool *pool, uint32_t key, iso_value value) {
  if (index->given_up) return true;
  bool small = value < ISO_VALUE_INLINE_LIMIT, had = small && bitmap_has(index, value);
  index->pairs |= had;
  if (!small || index->pairs) {
    had |= small ? add_number(index, pool, key, value) : add_by_key(index, pool, key, value);
    if (had) note_twice(index, pool, key, value);
    return had;
  }
  uint64_t *page = page_of(index, value);
  if (page == NULL) {
    iso_live_index_give_up(index);
    return false;
  }
  page[(value >> 6) % PAGE_WORDS] |= UINT64_C(1) << (value & 63);
  return false;
}

bool iso_live_index_has(const iso_live_index *index, const iso_pool *pool, uint32_t key, iso_value value) {
  if (index->given_up || bitmap_has(index, value)) return true;
  bool run = key < index->run_count && value < ISO_VALUE_INLINE_LIMIT && value >= index->runs[key].first;
  if (run) return run_has(&index->runs[key], value);
  return filters_have(&index->once, hash_pair(index, pool, key, value));
}

bool iso_live_index_has_twice(const iso_live_index *index, const iso_pool *pool, uint32_t key, iso_value value) {
  if (index->given_up) return true;
  return index->twice.count > 0 && filters_have(&index->twice, hash_pair(index, pool, key, value));
}
