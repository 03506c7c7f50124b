/* Writes a live checker down: what its tracks have let go, as far as it counts, and the transactions of their windows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "live/saved.h"

static void put(iso_saver *s, const void *bytes, size_t size) {
  if (s->failed || !iso_vec_reserve(&s->bytes, size)) {
    s->failed = true;
    return;
  }
  if (size > 0) memcpy(s->bytes.items + s->bytes.count, bytes, size);
  s->bytes.count += size;
}

static void put_u64(iso_saver *s, uint64_t number) { put(s, &number, sizeof number); }
static void put_i64(iso_saver *s, int64_t number) { put(s, &number, sizeof number); }
static void put_u32(iso_saver *s, uint32_t number) { put(s, &number, sizeof number); }
static void put_u8(iso_saver *s, unsigned number) {
  uint8_t byte = (uint8_t)number;
  put(s, &byte, 1);
}

/* A code that is its own value as it is, and a scalar written out. */
static void put_value(iso_saver *s, iso_value value) {
  put_u32(s, value);
  if (value <= ISO_VALUE_NIL || value >= ISO_VALUE_COUNTED) return;
  isoproof_scalar scalar = iso_pool_scalar(&s->pool, value);
  put_u32(s, (uint32_t)scalar.type);
  if (scalar.type == ISOPROOF_INTEGER || scalar.type == ISOPROOF_UNSIGNED) {
    put_i64(s, scalar.integer);
  } else {
    put_u64(s, scalar.length);
    put(s, scalar.text, scalar.length);
  }
}

static void put_text(iso_saver *s, const char *text) {
  put_u64(s, strlen(text));
  put(s, text, strlen(text));
}

static void put_names(iso_saver *s, const iso_numbering *names) {
  put_u64(s, names->count);
  for (size_t i = 0; i < names->count; i++) put_value(s, names->names[i]);
}

/* Keys are numbers here, values are codes. */
static void put_pairs(iso_saver *s, const iso_written *set) {
  put_u64(s, set->count);
  for (size_t i = 0; set->slots != NULL && i <= set->mask; i++) {
    if (set->slots[i] == UINT64_MAX) continue;
    put_u32(s, (uint32_t)(set->slots[i] >> 32));
    put_value(s, (iso_value)set->slots[i]);
  }
}

static void put_map(iso_saver *s, const iso_row_map *map) {
  put_u64(s, map->count);
  for (const iso_row_node *node = map->first[0]; node != NULL; node = node->next[0]) {
    put_i64(s, node->major);
    put_i64(s, node->minor);
    put_i64(s, node->value);
  }
}

/* ---- transactions ---- */

static int by_address(const void *a, const void *b) {
  uintptr_t x = (uintptr_t)((const iso_live_held *)a)->txn, y = (uintptr_t)((const iso_live_held *)b)->txn;
  return (x > y) - (x < y);
}

static void gather(iso_saver *s) {
  const isoproof_live *live = s->live;
  for (size_t i = 0; i < live->tracks.count; i++) {
    const iso_live_track *track = live->tracks.items[i].track;
    for (size_t j = 0; j < track->entries.count; j++)
      s->failed |= !iso_vec_push(&s->txns, (iso_live_held){track->entries.items[j].txn});
  }
  for (size_t i = 0; i < live->carried.count; i++) {
    const iso_carried *track = live->carried.items[i].track;
    const iso_carried_entries *lists[] = {&track->order, &track->waiting, &track->fresh, &track->out};
    for (size_t j = 0; j < sizeof lists / sizeof lists[0]; j++) {
      for (size_t k = 0; k < lists[j]->count; k++)
        s->failed |= !iso_vec_push(&s->txns, (iso_live_held){lists[j]->items[k]->txn});
    }
  }
  if (s->txns.count > 1) qsort(s->txns.items, s->txns.count, sizeof *s->txns.items, by_address);
  size_t kept = 0;
  for (size_t i = 0; i < s->txns.count; i++) {
    if (kept == 0 || s->txns.items[kept - 1].txn != s->txns.items[i].txn) s->txns.items[kept++] = s->txns.items[i];
  }
  s->txns.count = kept;
}

static uint64_t number_of(const iso_saver *s, iso_live_txn *txn) {
  const iso_live_held key = {txn};
  const iso_live_held *found = bsearch(&key, s->txns.items, s->txns.count, sizeof key, by_address);
  return found != NULL ? (uint64_t)(found - s->txns.items) : 0;
}

static void put_txn(iso_saver *s, const iso_live_txn *t) {
  uint32_t statements = 0, rows = 0, elements = 0;
  for (uint32_t i = 0; i < t->op_count; i++) {
    const iso_live_op *op = &t->ops[i];
    if (op->form == ISO_ROW_PREDICATE || op->form == ISO_ROW_COUNT)
      rows += t->statements[op->first].row_count, statements++;
    else
      elements += op->count;
  }
  uint32_t shape[] = {t->op_count, elements, statements, rows};
  put(s, shape, sizeof shape);
  put_u32(s, t->session);
  put_u64(s, t->place);
  put_u64(s, t->number);
  put(s, &t->info, sizeof t->info);
  put_value(s, t->info.node);
  put_value(s, t->info.error);
  put_value(s, t->info.name);
  put_i64(s, t->real_start);
  put_i64(s, t->real_end);
  for (uint32_t i = 0; i < t->op_count; i++) {
    put(s, &t->ops[i], sizeof t->ops[i]);
    put_value(s, t->ops[i].value);
  }
  put(s, t->statements, statements * sizeof *t->statements);
  put(s, t->rows, rows * sizeof *t->rows);
  for (uint32_t i = 0; i < elements; i++) put_value(s, t->elements[i]);
}

/* ---- tracks ---- */

static void put_slot(iso_saver *s, const iso_live_slot *slot) {
  put_u8(s, (unsigned)slot->has_frozen | (unsigned)(slot->list != NULL) << 1);
  if (slot->has_frozen) put_value(s, slot->frozen);
  if (slot->list == NULL) return;
  put_u32(s, slot->list->frozen);
  for (uint32_t i = 0; i < slot->list->frozen; i++) put_value(s, slot->list->elements.items[i]);
}

/* What is placed finds its place again: an order is kept only up to where it is frozen.  What the frozen part could be
 * instead (live/pocket.h), and older versions that may still be read (live/commits.h), are left out: who reads these
 * after a restart makes the recorded history be asked for. */
static void put_track(iso_saver *s, const iso_live_track *track) {
  put_text(s, track->level->id);
  put_u64(s, track->horizon);
  put_u64(s, track->floor);
  put_u64(s, track->frozen);
  put_i64(s, track->frozen_start);
  put_u8(s, track->misfit);
  put_pairs(s, &track->detached);
  put_u64(s, track->slots.count);
  for (size_t i = 0; i < track->slots.count; i++) put_slot(s, &track->slots.items[i]);
  put_u64(s, track->lanes.count);
  for (size_t i = 0; i < track->lanes.count; i++) put_u64(s, track->lanes.items[i].frozen);
  put_u64(s, track->entries.count);
  for (size_t i = 0; i < track->entries.count; i++) {
    const iso_live_entry *entry = &track->entries.items[i];
    put_u64(s, number_of(s, entry->txn));
    put_u8(s, (unsigned)(entry->where == ISO_LIVE_OUT) | (unsigned)entry->straddles << 1);
  }
}

/* The rows as those left them who are gone. */
static bool take_back(const iso_carried *track, iso_row_map *rows) {
  if (!iso_row_map_copy(rows, &track->store.rows)) return false;
  for (size_t i = track->order.count; i-- > 0;) {
    const iso_store_undo *undo = &track->order.items[i]->undo;
    for (uint32_t j = undo->count; j-- > 0;) {
      const iso_store_change *change = &undo->items[j];
      if (!change->present)
        iso_row_map_remove(rows, change->key, 0);
      else if (!iso_row_map_put(rows, change->key, 0, change->value))
        return false;
    }
  }
  return true;
}

static void put_entries(iso_saver *s, const iso_carried_entries *entries, bool out) {
  for (size_t i = 0; i < entries->count; i++) {
    put_u64(s, number_of(s, entries->items[i]->txn));
    put_u8(s, out);
  }
}

static void put_carried(iso_saver *s, const iso_carried *track) {
  iso_row_map rows = {0};
  s->failed |= !take_back(track, &rows);
  put_text(s, track->level->id);
  put_u64(s, track->horizon);
  put_u64(s, track->gone);
  put_u64(s, track->left);
  put_i64(s, track->frozen_start);
  put_u8(s, (unsigned)track->misfit | (unsigned)track->so_far << 1 | (unsigned)track->dropped << 2 |
                (unsigned)track->stale << 3 | (unsigned)track->mends_all << 4 | (unsigned)track->confirmed << 5);
  put_u64(s, track->doubted);
  put_u64(s, track->doubt.count);
  for (size_t i = 0; i < track->doubt.count; i++) put_u64(s, track->doubt.items[i]);
  put_map(s, &track->pendings);
  put_map(s, &rows);
  put_u64(s, track->frozen.count);
  for (size_t i = 0; i < track->frozen.count; i++) put_u64(s, track->frozen.items[i]);
  put_u64(s, iso_carried_retained(track));
  put_entries(s, &track->order, false);
  put_entries(s, &track->waiting, false);
  put_entries(s, &track->fresh, false);
  put_entries(s, &track->out, true);
  iso_row_map_free(&rows);
}

/* ---- the index ---- */

static void put_filters(iso_saver *s, const iso_live_filters *filters) {
  put_u64(s, filters->count);
  for (size_t i = 0; i < filters->count; i++) {
    const iso_live_filter *filter = &filters->items[i];
    put_u64(s, filter->blocks);
    put_u64(s, filter->count);
    put_u64(s, filter->most);
    put(s, filter->words, (size_t)filter->blocks * ISO_LIVE_BLOCK_WORDS * sizeof *filter->words);
  }
}

static void put_index(iso_saver *s, const iso_live_index *index) {
  put_u8(s, (unsigned)index->pairs | (unsigned)index->given_up << 1);
  put_u64(s, index->seed);
  put_u64(s, index->page_count);
  for (size_t i = 0; i < index->page_count; i++) {
    put_u8(s, index->pages[i] != NULL);
    if (index->pages[i] != NULL) put(s, index->pages[i], ISO_LIVE_PAGE_WORDS * sizeof **index->pages);
  }
  put_u64(s, index->run_count);
  if (index->run_count > 0) put(s, index->runs, index->run_count * sizeof *index->runs);
  put_filters(s, &index->once);
  put_filters(s, &index->twice);
}

/* ---- all together ---- */

static void put_levels(iso_saver *s) {
  const isoproof_live *live = s->live;
  put_u64(s, live->levels.count);
  for (size_t i = 0; i < live->levels.count; i++) {
    const iso_live_level *level = &live->levels.items[i];
    put_text(s, level->info->id);
    put_u8(s, (unsigned)level->verdict);
    put_u64(s, level->since);
  }
}

static void put_all(iso_saver *s) {
  const isoproof_live *live = s->live;
  put_u64(s, ISO_SAVED_MAGIC);
  put_text(s, isoproof_version());
  put_levels(s);
  put_u8(s, (unsigned)live->initial_is_zero | (unsigned)live->has_batch << 1 | (unsigned)live->has_rows << 2 |
                (unsigned)live->carries << 3 | (unsigned)live->followed << 4 | (unsigned)live->timed << 5 |
                (unsigned)live->indexed << 6);
  put_u8(s, (unsigned)live->format);
  put_u64(s, live->pushed);
  put_u64(s, live->whole_checks);
  put_names(s, &live->sessions);
  put_names(s, &live->keys);
  put_u64(s, live->session_counts.count);
  for (size_t i = 0; i < live->session_counts.count; i++) put_u64(s, live->session_counts.items[i]);
  put_u64(s, live->initial_rows.count);
  put(s, live->initial_rows.items, live->initial_rows.count * sizeof *live->initial_rows.items);
  put_index(s, &live->index);
  put_pairs(s, &live->undone);
  put_pairs(s, &live->blamed);
  put_u64(s, s->txns.count);
  for (size_t i = 0; i < s->txns.count; i++) put_txn(s, s->txns.items[i].txn);
  put_u64(s, live->tracks.count);
  for (size_t i = 0; i < live->tracks.count; i++) put_track(s, live->tracks.items[i].track);
  put_u64(s, live->carried.count);
  for (size_t i = 0; i < live->carried.count; i++) put_carried(s, live->carried.items[i].track);
}

isoproof_status iso_live_write_state(isoproof_live *live, iso_saver *s, isoproof_error *error) {
  *s = (iso_saver){.live = live, .pool = iso_pool_look(&live->pool)};
  gather(s);
  if (!s->failed) put_all(s);
  if (!s->failed) put_u64(s, iso_hash_bytes(s->bytes.items, s->bytes.count, ISO_SAVED_MAGIC));
  iso_vec_free(&s->txns);
  if (!s->failed) return ISOPROOF_OK;
  iso_vec_free(&s->bytes);
  return iso_fail_memory(error);
}

/* What cannot be saved: witnesses, and what is not followed. */
static const char *obstacle(const isoproof_live *live) {
  if (live->plain) return "the history is checked as a whole";
  if (live->finished) return "everything has come";
  for (size_t i = 0; i < live->levels.count; i++) {
    if (live->levels.items[i].final) return "a level is violated for good";
    if (live->levels.items[i].lost) return "a level is unknown for good";
  }
  return live->violations.count > 0 ? "a level was violated" : NULL;
}

isoproof_status isoproof_live_save(isoproof_live *live, void **bytes, size_t *size, isoproof_error *error) {
  iso_saver s;
  const char *why = obstacle(live);
  if (why != NULL) return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "cannot be saved: %s", why);
  ISO_TRY(iso_live_write_state(live, &s, error));
  *bytes = s.bytes.items;
  *size = s.bytes.count;
  return ISOPROOF_OK;
}
