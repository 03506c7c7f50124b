/* Equal scalars have equal codes, a key has one number and a session has one: the rest of the library compares numbers
 * where it means names.  A file that gives one name twice is refused here. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vector.h"
#include "format/binary.h"
#include "history/numbering.h"

/* Entries hashed ahead of their look-ups, so that the misses of a large table overlap. */
enum { AHEAD = 32 };

static isoproof_status twice(const isoproof_history *h, isoproof_error *error, const char *column, uint64_t at,
                             uint64_t before, const char *expected) {
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, (iso_place){h->file, 0, 0, -1},
                     "section %s, element %llu: expected %s, found the same as in element %llu", column,
                     (unsigned long long)at, expected, (unsigned long long)before);
}

/* ---- names ---- */

static isoproof_status unique_names(const isoproof_history *h, const iso_value *names, uint32_t count,
                                    const char *column, isoproof_error *error) {
  iso_numbering seen;
  isoproof_status status = ISOPROOF_OK;
  iso_numbering_init(&seen);
  for (uint32_t i = 0; i < count && status == ISOPROOF_OK; i++) {
    uint32_t number = i;
    status = iso_numbering_add(&seen, names[i], &number, error);
    if (status == ISOPROOF_OK && number != i) status = twice(h, error, column, i, number, "a name of its own");
  }
  iso_numbering_free(&seen);
  return status;
}

/* Facts are few, and their names are interned. */
static isoproof_status unique_facts(const isoproof_history *h, isoproof_error *error) {
  iso_value *names = iso_alloc(h->fact_count, sizeof *names);
  if (names == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < h->fact_count; i++) names[i] = h->facts[i].name;
  isoproof_status status = unique_names(h, names, h->fact_count, "FACTS", error);
  free(names);
  return status;
}

/* ---- the pool ---- */

static bool is_text(const iso_pool_entry *entry) {
  return entry->type != ISOPROOF_INTEGER && entry->type != ISOPROOF_UNSIGNED;
}

static uint64_t hash_entry(const iso_pool_view *pool, uint32_t i, uint64_t seed) {
  const iso_pool_entry *entry = &pool->entries[i];
  if (is_text(entry)) return iso_hash_bytes(pool->text + entry->payload, entry->length, seed + entry->type);
  return iso_hash_u64(entry->payload, seed + entry->type);
}

static bool same_entry(const iso_pool_view *pool, uint32_t a, uint32_t b) {
  const iso_pool_entry *x = &pool->entries[a], *y = &pool->entries[b];
  if (x->type != y->type || x->length != y->length) return false;
  if (!is_text(x)) return x->payload == y->payload;
  return memcmp(pool->text + x->payload, pool->text + y->payload, x->length) == 0;
}

/* Open addressing; a slot is the number of an entry + 1 below the high half of its hash, 0 when free. */
typedef struct entry_table {
  const iso_pool_view *pool;
  uint64_t *slots;
  size_t mask;
} entry_table;

/* Adds an entry; returns the number of the one that is the same, or its own. */
static uint32_t table_add(entry_table *table, uint32_t i, uint64_t hash) {
  uint64_t slot = (hash >> 32 << 32) | (i + 1);
  for (size_t at = hash & table->mask;; at = (at + 1) & table->mask) {
    uint64_t other = table->slots[at];
    if (other == 0) {
      table->slots[at] = slot;
      return i;
    }
    uint32_t before = (uint32_t)other - 1;
    if (other >> 32 == hash >> 32 && same_entry(table->pool, i, before)) return before;
  }
}

static isoproof_status unique_entries(const isoproof_history *h, isoproof_task *task, isoproof_error *error) {
  const iso_pool_view *pool = &h->pool;
  uint64_t hashes[AHEAD], seed = iso_hash_seed();
  size_t size = 64;
  while (size < 2 * (size_t)pool->count) size *= 2;
  entry_table table = {.pool = pool, .slots = iso_alloc_zero(size, sizeof *table.slots), .mask = size - 1};
  if (table.slots == NULL) return iso_fail_memory(error);
  isoproof_status status = ISOPROOF_OK;
  for (uint32_t first = 0; first < pool->count && status == ISOPROOF_OK; first += AHEAD) {
    uint32_t count = pool->count - first < AHEAD ? pool->count - first : AHEAD;
    if (first % (1024 * AHEAD) == 0) status = iso_task_check(task, error);
    for (uint32_t i = 0; i < count; i++) {
      hashes[i] = hash_entry(pool, first + i, seed);
      __builtin_prefetch(&table.slots[hashes[i] & table.mask], 1);
    }
    for (uint32_t i = 0; i < count && status == ISOPROOF_OK; i++) {
      uint32_t before = table_add(&table, first + i, hashes[i]);
      if (before == first + i) continue;
      status = twice(h, error, "POOL_ENTRIES", first + i, before, "a scalar of its own");
    }
  }
  free(table.slots);
  return status;
}

isoproof_status iso_binary_unique(const isoproof_history *h, isoproof_task *task, isoproof_error *error) {
  if (h->pool.count > 0) ISO_TRY(unique_entries(h, task, error));
  ISO_TRY(unique_names(h, h->session_name, h->sessions, "SESSION_NAME", error));
  ISO_TRY(unique_names(h, h->key_name, h->keys, "KEY_NAME", error));
  return h->fact_count > 0 ? unique_facts(h, error) : ISOPROOF_OK;
}
