/* Lets values go that nothing refers to any more: the live checker is written down, and read into a new pool. */
#include <stdlib.h>

#include "live/saved.h"

/* How large the pool may always be; and what part of the memory that is allowed. */
enum { POOL_LEAST = 8 << 20, POOL_SHARE = 16 };

static uint64_t pool_bytes(const iso_pool *pool) { return pool->count * sizeof *pool->entries + pool->text_count; }

static uint64_t least(const isoproof_live *live) {
  uint64_t share = live->options.memory_limit / POOL_SHARE;
  return share > 0 && share < POOL_LEAST ? share : POOL_LEAST;
}

/* What is not written down stays as it is. */
static void exchange(isoproof_live *live, isoproof_live *fresh) {
  isoproof_live old = *live;
  *live = *fresh;
  *fresh = old;
#define ISO_X(field) (live->field = old.field)
  ISO_X(options), ISO_X(task), ISO_X(tight), ISO_X(polling), ISO_X(polled), ISO_X(reason);
  ISO_X(pending_reads), ISO_X(bytes), ISO_X(has_levels);
#undef ISO_X
  iso_live_level *levels = live->levels.items; /* those of the old one say more */
  live->levels.items = fresh->levels.items, fresh->levels.items = levels;
  live->violations.items = old.violations.items;
  live->violations.count = old.violations.count;
  live->violations.capacity = old.violations.capacity;
  fresh->violations.items = NULL;
  fresh->violations.count = fresh->violations.capacity = 0;
  for (size_t i = 0; i < live->carried.count; i++) {
    live->carried.items[i].track->store.names = &live->keys;
    live->carried.items[i].track->store.pool = &live->pool;
  }
}

isoproof_status iso_live_renew(isoproof_live *live, bool at_once, isoproof_error *error) {
  uint64_t most = live->pool_most > least(live) ? live->pool_most : least(live);
  if (live->plain || live->finished || (!at_once && pool_bytes(&live->pool) < most)) return ISOPROOF_OK;
  iso_saver saved;
  isoproof_live *fresh;
  isoproof_live_options options = live->options;
  options.level_count = 0;
  ISO_TRY(iso_live_write_state(live, &saved, error));
  isoproof_status status = isoproof_live_new(&options, live->task, &fresh, error);
  if (status == ISOPROOF_OK) {
    status = iso_live_read_state(fresh, saved.bytes.items, saved.bytes.count, error);
    if (status == ISOPROOF_OK) {
      exchange(live, fresh);
      live->pool_most = 2 * pool_bytes(&live->pool);
    }
    isoproof_live_free(fresh);
  }
  iso_vec_free(&saved.bytes);
  return status;
}
