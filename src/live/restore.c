/* Reads a live checker that was written down: everybody in the windows has to find a place again. */
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/hash.h"
#include "live/commits.h"
#include "live/saved.h"

/* ---- numbers and scalars ---- */

static const char *take(iso_restorer *r, size_t size) {
  if (r->bad || (size_t)(r->end - r->next) < size) {
    r->bad = true;
    return NULL;
  }
  const char *bytes = r->next;
  r->next += size;
  return bytes;
}

static void get(iso_restorer *r, void *out, size_t size) {
  const char *bytes = take(r, size);
  if (bytes != NULL && size > 0) memcpy(out, bytes, size);
}

static uint64_t get_u64(iso_restorer *r) {
  uint64_t number = 0;
  get(r, &number, sizeof number);
  return number;
}

static int64_t get_i64(iso_restorer *r) {
  int64_t number = 0;
  get(r, &number, sizeof number);
  return number;
}

static uint32_t get_u32(iso_restorer *r) {
  uint32_t number = 0;
  get(r, &number, sizeof number);
  return number;
}

static unsigned get_u8(iso_restorer *r) {
  uint8_t number = 0;
  get(r, &number, 1);
  return number;
}

/* How many of something follow that take at least `least` bytes each. */
static size_t get_count(iso_restorer *r, size_t least) {
  uint64_t count = get_u64(r);
  if (!r->bad && count > (uint64_t)(r->end - r->next) / least) r->bad = true;
  return r->bad ? 0 : (size_t)count;
}

static isoproof_status get_value(iso_restorer *r, iso_value *value) {
  *value = get_u32(r);
  if (*value <= ISO_VALUE_NIL || *value >= ISO_VALUE_COUNTED) return ISOPROOF_OK;
  isoproof_scalar scalar = {.type = (isoproof_scalar_type)get_u32(r)};
  if (scalar.type == ISOPROOF_INTEGER || scalar.type == ISOPROOF_UNSIGNED) {
    scalar.integer = get_i64(r);
  } else {
    scalar.length = (uint32_t)get_count(r, 1);
    scalar.text = take(r, scalar.length);
  }
  return r->bad ? ISOPROOF_OK : iso_pool_add(&r->live->pool, scalar, value, r->error);
}

/* A name that was written with put_text; false where it does not fit. */
static bool get_text(iso_restorer *r, char *out, size_t room) {
  size_t length = get_count(r, 1);
  const char *text = take(r, length);
  if (text == NULL || length >= room) {
    r->bad = true;
    return false;
  }
  memcpy(out, text, length);
  out[length] = '\0';
  return true;
}

static isoproof_status get_names(iso_restorer *r, iso_numbering *names) {
  size_t count = get_count(r, sizeof(uint32_t));
  for (size_t i = 0; i < count && !r->bad; i++) {
    iso_value name;
    uint32_t number;
    ISO_TRY(get_value(r, &name));
    ISO_TRY(iso_numbering_add(names, name, &number, r->error));
    r->bad |= number != i;
  }
  return ISOPROOF_OK;
}

static isoproof_status get_pairs(iso_restorer *r, iso_written *set) {
  size_t count = get_count(r, 2 * sizeof(uint32_t));
  for (size_t i = 0; i < count && !r->bad; i++) {
    uint32_t key = get_u32(r);
    iso_value value;
    ISO_TRY(get_value(r, &value));
    if (!iso_written_add(set, key, value, NULL)) return iso_fail_memory(r->error);
  }
  return ISOPROOF_OK;
}

static isoproof_status get_map(iso_restorer *r, iso_row_map *map) {
  size_t count = get_count(r, 3 * sizeof(int64_t));
  for (size_t i = 0; i < count && !r->bad; i++) {
    int64_t major = get_i64(r), minor = get_i64(r), value = get_i64(r);
    if (!iso_row_map_put(map, major, minor, value)) return iso_fail_memory(r->error);
  }
  return ISOPROOF_OK;
}

/* ---- transactions ---- */

static isoproof_status get_ops(iso_restorer *r, iso_live_txn *t, const iso_live_shape *shape) {
  for (uint32_t i = 0; i < shape->ops && !r->bad; i++) {
    iso_live_op *op = &t->ops[i];
    get(r, op, sizeof *op);
    ISO_TRY(get_value(r, &op->value));
    t->op_count++;
    bool statement = op->form == ISO_ROW_PREDICATE || op->form == ISO_ROW_COUNT;
    r->bad |= !statement && op->key >= r->live->keys.count;
    r->bad |= statement ? op->first >= shape->statements : (uint64_t)op->first + op->count > shape->elements;
  }
  get(r, t->statements, shape->statements * sizeof *t->statements);
  get(r, t->rows, shape->rows * sizeof *t->rows);
  for (uint32_t i = 0; i < shape->statements && !r->bad; i++)
    r->bad |= (uint64_t)t->statements[i].first_row + t->statements[i].row_count > shape->rows;
  for (uint32_t i = 0; i < shape->elements && !r->bad; i++) ISO_TRY(get_value(r, &t->elements[i]));
  return ISOPROOF_OK;
}

static isoproof_status get_txn(iso_restorer *r, iso_live_txn **out) {
  uint32_t counts[4] = {0};
  get(r, counts, sizeof counts);
  iso_live_shape shape = {.ops = counts[0], .elements = counts[1], .statements = counts[2], .rows = counts[3]};
  uint64_t least = (uint64_t)shape.ops + shape.elements + shape.statements + shape.rows;
  if (r->bad || least > (uint64_t)(r->end - r->next)) {
    r->bad = true;
    return ISOPROOF_OK;
  }
  iso_live_txn *t = iso_live_txn_allocate(&shape);
  if (t == NULL) return iso_fail_memory(r->error);
  *out = t;
  t->session = get_u32(r);
  t->place = get_u64(r);
  t->number = get_u64(r);
  get(r, &t->info, sizeof t->info);
  ISO_TRY(get_value(r, &t->info.node));
  ISO_TRY(get_value(r, &t->info.error));
  ISO_TRY(get_value(r, &t->info.name));
  t->real_start = get_i64(r);
  t->real_end = get_i64(r);
  r->bad |= t->session >= r->live->sessions.count;
  return get_ops(r, t, &shape);
}

static isoproof_status get_txns(iso_restorer *r) {
  size_t count = get_count(r, 4 * sizeof(uint32_t));
  r->txns = iso_alloc_zero(count + 1, sizeof(iso_live_txn *));
  if (r->txns == NULL) return iso_fail_memory(r->error);
  for (; r->txn_count < count && !r->bad; r->txn_count++) ISO_TRY(get_txn(r, &r->txns[r->txn_count]));
  return ISOPROOF_OK;
}

static iso_live_txn *get_held(iso_restorer *r) {
  uint64_t number = get_u64(r);
  if (r->bad || number >= r->txn_count) {
    r->bad = true;
    return NULL;
  }
  return iso_live_txn_keep(r->txns[number]);
}

/* ---- tracks ---- */

static const isoproof_level_info *get_level(iso_restorer *r) {
  char id[128];
  const isoproof_level_info *level = get_text(r, id, sizeof id) ? isoproof_level_find(id) : NULL;
  if (level == NULL) r->bad = true;
  return level;
}

static isoproof_status get_slot(iso_restorer *r, iso_live_track *track) {
  unsigned flags = get_u8(r);
  iso_live_slot slot = {.frozen = ISO_VALUE_NIL, .has_frozen = (flags & 1) != 0};
  if (slot.has_frozen) ISO_TRY(get_value(r, &slot.frozen));
  if ((flags & 2) != 0) {
    slot.list = iso_alloc_zero(1, sizeof *slot.list);
    if (slot.list == NULL) return iso_fail_memory(r->error);
  }
  if (!iso_vec_push(&track->slots, slot)) {
    free(slot.list);
    return iso_fail_memory(r->error);
  }
  if (slot.list == NULL) return ISOPROOF_OK;
  slot.list->frozen = get_u32(r);
  for (uint32_t i = 0; i < slot.list->frozen && !r->bad; i++) {
    iso_value element;
    ISO_TRY(get_value(r, &element));
    if (!iso_live_append(track, &slot, element)) return iso_fail_memory(r->error);
  }
  return ISOPROOF_OK;
}

static isoproof_status get_entries(iso_restorer *r, iso_live_track *track) {
  size_t count = get_count(r, sizeof(uint64_t) + 1);
  for (size_t i = 0; i < count; i++) {
    iso_live_entry entry = {.txn = get_held(r)};
    unsigned flags = get_u8(r);
    entry.where = (flags & 1) != 0 ? ISO_LIVE_OUT : ISO_LIVE_NEW;
    entry.straddles = (flags & 2) != 0;
    if (r->bad || entry.txn == NULL) {
      iso_live_txn_drop(entry.txn);
      return ISOPROOF_OK;
    }
    entry.session = entry.txn->session;
    entry.place = entry.txn->place;
    if (!iso_vec_push(&track->entries, entry)) {
      iso_live_txn_drop(entry.txn);
      return iso_fail_memory(r->error);
    }
    track->fresh += entry.where == ISO_LIVE_NEW;
    track->held += entry.txn->bytes;
  }
  return ISOPROOF_OK;
}

static isoproof_status get_track(iso_restorer *r) {
  iso_live_track *track;
  const isoproof_level_info *level = get_level(r);
  if (r->bad || iso_live_rule_of(level) == NULL) {
    r->bad = true;
    return ISOPROOF_OK;
  }
  ISO_TRY(iso_live_track_new(level, get_u64(r), &track, r->error));
  if (!iso_vec_push(&r->live->tracks, (iso_live_followed){track})) {
    iso_live_track_free(track);
    return iso_fail_memory(r->error);
  }
  track->floor = track->clock = get_u64(r);
  track->frozen = get_u64(r);
  track->frozen_start = track->latest_start = get_i64(r);
  track->misfit = get_u8(r) != 0;
  ISO_TRY(get_pairs(r, &track->detached));
  size_t slots = get_count(r, 1);
  for (size_t i = 0; i < slots && !r->bad; i++) ISO_TRY(get_slot(r, track));
  size_t lanes = get_count(r, sizeof(uint64_t));
  for (size_t i = 0; i < lanes && !r->bad; i++) {
    iso_live_lane lane = {.label = track->floor, .frozen = get_u64(r)};
    if (!iso_vec_push(&track->lanes, lane)) return iso_fail_memory(r->error);
  }
  ISO_TRY(get_entries(r, track));
  if (!iso_live_sight_reset(track)) return iso_fail_memory(r->error);
  track->broken = track->fresh > 0 || track->misfit; /* those who come have to wait for these */
  return ISOPROOF_OK;
}

static isoproof_status get_carried_entries(iso_restorer *r, iso_carried *track) {
  size_t count = get_count(r, sizeof(uint64_t) + 1);
  for (size_t i = 0; i < count; i++) {
    iso_carried_entry *entry = iso_alloc_zero(1, sizeof *entry);
    if (entry == NULL) return iso_fail_memory(r->error);
    entry->txn = get_held(r);
    bool out = get_u8(r) != 0, bad = r->bad || entry->txn == NULL;
    if (!bad && iso_vec_push(out ? &track->out : &track->fresh, entry)) continue;
    iso_live_txn_drop(entry->txn);
    free(entry);
    return bad ? ISOPROOF_OK : iso_fail_memory(r->error);
  }
  return ISOPROOF_OK;
}

static isoproof_status get_carried(iso_restorer *r) {
  iso_carried *track;
  const isoproof_level_info *level = get_level(r);
  if (r->bad || iso_live_rule_of(level) == NULL) {
    r->bad = true;
    return ISOPROOF_OK;
  }
  ISO_TRY(iso_carried_new(r->live, level, get_u64(r), &track, r->error));
  if (!iso_vec_push(&r->live->carried, (iso_live_carrying){track})) {
    iso_carried_free(track);
    return iso_fail_memory(r->error);
  }
  track->gone = get_u64(r);
  track->left = get_u64(r);
  track->frozen_start = track->latest_start = get_i64(r);
  unsigned flags = get_u8(r);
  track->misfit = (flags & 1) != 0;
  track->so_far = (flags & 2) != 0;
  track->dropped = (flags & 4) != 0;
  track->stale = (flags & 8) != 0;
  track->mends_all = (flags & 16) != 0;
  track->confirmed = (flags & 32) != 0;
  track->doubted = get_u64(r);
  size_t doubts = get_count(r, sizeof(uint64_t));
  for (size_t i = 0; i < doubts && !r->bad; i++) {
    if (!iso_vec_push(&track->doubt, get_u64(r))) return iso_fail_memory(r->error);
  }
  if (track->so_far) track->verdict = ISOPROOF_VIOLATED;
  ISO_TRY(get_map(r, &track->pendings));
  iso_row_map_free(&track->store.rows);
  ISO_TRY(get_map(r, &track->store.rows));
  size_t sessions = get_count(r, sizeof(uint64_t));
  for (size_t i = 0; i < sessions && !r->bad; i++) {
    if (!iso_vec_push(&track->frozen, get_u64(r))) return iso_fail_memory(r->error);
  }
  ISO_TRY(get_carried_entries(r, track));
  track->broken = track->fresh.count > 0 || track->misfit;
  return ISOPROOF_OK;
}

/* ---- the index ---- */

static isoproof_status get_filter(iso_restorer *r, iso_live_filter *filter) {
  *filter = (iso_live_filter){.blocks = get_u64(r), .count = get_u64(r), .most = get_u64(r)};
  bool possible = filter->blocks > 0 && (filter->blocks & (filter->blocks - 1)) == 0 && filter->blocks < 1u << 24;
  if (!possible) r->bad = true;
  size_t words = possible ? (size_t)filter->blocks * ISO_LIVE_BLOCK_WORDS : 0;
  const char *bytes = take(r, words * sizeof *filter->words);
  if (bytes == NULL) return ISOPROOF_OK;
  filter->words = iso_alloc(words, sizeof *filter->words);
  if (filter->words == NULL) return iso_fail_memory(r->error);
  memcpy(filter->words, bytes, words * sizeof *filter->words);
  r->live->index.bytes += words * sizeof *filter->words;
  return ISOPROOF_OK;
}

static isoproof_status get_filters(iso_restorer *r, iso_live_filters *filters) {
  size_t count = get_count(r, 3 * sizeof(uint64_t));
  if (count > ISO_LIVE_FILTERS) r->bad = true;
  for (; filters->count < count && !r->bad; filters->count++) ISO_TRY(get_filter(r, &filters->items[filters->count]));
  return ISOPROOF_OK;
}

static isoproof_status get_runs(iso_restorer *r) {
  iso_live_index *index = &r->live->index;
  size_t count = get_count(r, sizeof *index->runs);
  const char *bytes = take(r, count * sizeof *index->runs);
  if (bytes == NULL || count == 0) return ISOPROOF_OK;
  index->runs = iso_alloc(count, sizeof *index->runs);
  if (index->runs == NULL) return iso_fail_memory(r->error);
  memcpy(index->runs, bytes, count * sizeof *index->runs);
  index->run_count = count;
  index->bytes += count * sizeof *index->runs;
  return ISOPROOF_OK;
}

static isoproof_status get_index(iso_restorer *r) {
  iso_live_index *index = &r->live->index;
  unsigned flags = get_u8(r);
  index->pairs = (flags & 1) != 0;
  index->given_up = (flags & 2) != 0;
  index->seed = get_u64(r);
  size_t pages = get_count(r, 1);
  index->pages = iso_alloc_zero(pages, sizeof *index->pages);
  if (index->pages == NULL) return iso_fail_memory(r->error);
  index->bytes += pages * sizeof *index->pages;
  for (index->page_count = 0; index->page_count < pages && !r->bad; index->page_count++) {
    if (get_u8(r) == 0) continue;
    const char *bytes = take(r, ISO_LIVE_PAGE_WORDS * sizeof **index->pages);
    uint64_t *page = bytes != NULL ? iso_alloc(ISO_LIVE_PAGE_WORDS, sizeof *page) : NULL;
    if (bytes != NULL && page == NULL) return iso_fail_memory(r->error);
    if (bytes != NULL) memcpy(page, bytes, ISO_LIVE_PAGE_WORDS * sizeof *page);
    index->pages[index->page_count] = page;
    index->bytes += ISO_LIVE_PAGE_WORDS * sizeof *page;
  }
  ISO_TRY(get_runs(r));
  ISO_TRY(get_filters(r, &index->once));
  return get_filters(r, &index->twice);
}

/* ---- all together ---- */

/* The levels that were asked for must be those that were saved. */
static isoproof_status get_levels(iso_restorer *r) {
  isoproof_live *live = r->live;
  size_t count = get_count(r, sizeof(uint64_t));
  bool asked = live->levels.count > 0;
  for (size_t i = 0; i < count && !r->bad; i++) {
    iso_live_level level = {.info = get_level(r)};
    level.verdict = (isoproof_verdict)get_u8(r);
    level.since = get_u64(r);
    if (r->bad) return ISOPROOF_OK;
    if (!asked && !iso_vec_push(&live->levels, level)) return iso_fail_memory(r->error);
    if (i >= live->levels.count || live->levels.items[i].info != level.info)
      return iso_fail(r->error, ISOPROOF_ERR_USAGE, "it was saved for other levels");
    live->levels.items[i] = level;
  }
  if (count != live->levels.count) return iso_fail(r->error, ISOPROOF_ERR_USAGE, "it was saved for other levels");
  return asked ? ISOPROOF_OK : iso_live_sort_levels(live, r->error);
}

static isoproof_status get_rest(iso_restorer *r) {
  isoproof_live *live = r->live;
  unsigned flags = get_u8(r);
  live->initial_is_zero = (flags & 1) != 0;
  live->has_batch = (flags & 2) != 0;
  live->has_rows = (flags & 4) != 0;
  live->carries = (flags & 8) != 0;
  live->followed = (flags & 16) != 0;
  live->timed = (flags & 32) != 0;
  live->indexed = (flags & 64) != 0;
  live->format = (isoproof_format)get_u8(r);
  live->pushed = get_u64(r);
  live->whole_checks = get_u64(r);
  ISO_TRY(get_names(r, &live->sessions));
  ISO_TRY(get_names(r, &live->keys));
  size_t sessions = get_count(r, sizeof(uint64_t));
  for (size_t i = 0; i < sessions && !r->bad; i++) {
    if (!iso_vec_push(&live->session_counts, get_u64(r))) return iso_fail_memory(r->error);
  }
  size_t rows = get_count(r, sizeof(iso_row_value));
  for (size_t i = 0; i < rows && !r->bad; i++) {
    iso_row_value row = {0};
    get(r, &row, sizeof row);
    if (!iso_row_map_put(&live->initial_seen, row.key, 0, row.value) || !iso_vec_push(&live->initial_rows, row))
      return iso_fail_memory(r->error);
  }
  ISO_TRY(get_index(r));
  ISO_TRY(get_pairs(r, &live->undone));
  return get_pairs(r, &live->blamed);
}

static isoproof_status get_tracks(iso_restorer *r) {
  ISO_TRY(get_txns(r));
  size_t tracks = get_count(r, sizeof(uint64_t));
  for (size_t i = 0; i < tracks && !r->bad; i++) ISO_TRY(get_track(r));
  size_t carried = get_count(r, sizeof(uint64_t));
  for (size_t i = 0; i < carried && !r->bad; i++) ISO_TRY(get_carried(r));
  r->bad |= r->next != r->end;
  return ISOPROOF_OK;
}

static isoproof_status get_all(iso_restorer *r, size_t size) {
  char version[64] = "";
  uint64_t sum = 0;
  r->bad = size < 2 * sizeof sum;
  if (!r->bad) {
    memcpy(&sum, r->next + size - sizeof sum, sizeof sum);
    r->end = r->next + size - sizeof sum;
    r->bad = sum != iso_hash_bytes(r->next, size - sizeof sum, ISO_SAVED_MAGIC);
  }
  if (get_u64(r) != ISO_SAVED_MAGIC || !get_text(r, version, sizeof version)) r->bad = true;
  if (!r->bad && strcmp(version, isoproof_version()) != 0)
    return iso_fail(r->error, ISOPROOF_ERR_FORMAT, "another version saved it");
  if (!r->bad) ISO_TRY(get_levels(r));
  if (!r->bad) ISO_TRY(get_rest(r));
  return r->bad ? ISOPROOF_OK : get_tracks(r);
}

isoproof_status iso_live_read_state(isoproof_live *live, const char *bytes, size_t size, isoproof_error *error) {
  iso_restorer r = {.live = live, .next = bytes, .end = bytes + size, .error = error};
  isoproof_status status = get_all(&r, size);
  for (size_t i = 0; i < r.txn_count; i++) iso_live_txn_drop(r.txns[i]);
  /* The one that could not be read to its end. */
  if (r.txns != NULL && status != ISOPROOF_OK && r.txns[r.txn_count] != NULL) iso_live_txn_drop(r.txns[r.txn_count]);
  free(r.txns);
  if (status == ISOPROOF_OK && r.bad) status = iso_fail(error, ISOPROOF_ERR_FORMAT, "what was saved is damaged");
  return status;
}

isoproof_status isoproof_live_restore(const isoproof_live_options *options, isoproof_task *task, const void *bytes,
                                      size_t size, isoproof_live **out, isoproof_error *error) {
  isoproof_live *live;
  ISO_TRY(isoproof_live_new(options, task, &live, error));
  isoproof_status status = iso_live_read_state(live, bytes, size, error);
  if (status != ISOPROOF_OK)
    isoproof_live_free(live);
  else
    *out = live;
  return status;
}
