/* A track that carries transactions out: making, forking, freeing, and letting go what is early. */
#include "live/carried.h"

#include <stdlib.h>
#include <string.h>

/* Transactions without effect, so far, stay for that many horizons, as somebody may yet turn out to have read from
 * them. */
enum { OUT_HORIZONS = 4 };

static void free_entry(iso_carried_entry *entry) {
  iso_live_txn_drop(entry->txn);
  free(entry->undo.items);
  free(entry);
}

static void free_entries(iso_carried_entries *entries) {
  for (size_t i = 0; i < entries->count; i++) free_entry(entries->items[i]);
  entries->count = 0;
}

static void forget(iso_carried *track) {
  free_entries(&track->order);
  free_entries(&track->waiting);
  free_entries(&track->fresh);
  free_entries(&track->out);
  iso_row_map_free(&track->pendings);
}

void iso_carried_free(iso_carried *track) {
  if (track == NULL) return;
  forget(track);
  iso_vec_free(&track->order);
  iso_vec_free(&track->waiting);
  iso_vec_free(&track->fresh);
  iso_vec_free(&track->out);
  iso_vec_free(&track->frozen);
  iso_vec_free(&track->doubt);
  iso_store_free(&track->store);
  free(track);
}

isoproof_status iso_carried_reset(isoproof_live *live, iso_carried *track, isoproof_error *error) {
  forget(track);
  iso_store_free(&track->store);
  track->store = (iso_store){.names = &live->keys, .pool = &live->pool};
  for (size_t i = 0; i < live->initial_rows.count; i++) {
    const iso_row_value *row = &live->initial_rows.items[i];
    if (!iso_row_map_put(&track->store.rows, row->key, 0, row->value)) return iso_fail_memory(error);
  }
  track->frozen.count = 0;
  track->gone = track->left = track->thin_air = 0;
  track->frozen_start = track->latest_start = INT64_MIN;
  track->broken = track->misfit = track->so_far = track->dropped = track->stale = false;
  return ISOPROOF_OK;
}

isoproof_status iso_carried_new(isoproof_live *live, const isoproof_level_info *level, uint64_t horizon,
                                iso_carried **out, isoproof_error *error) {
  iso_carried *track = iso_alloc_zero(1, sizeof *track);
  if (track == NULL) return iso_fail_memory(error);
  track->level = level;
  track->rule = iso_live_rule_of(level);
  track->horizon = horizon;
  track->verdict = ISOPROOF_SATISFIED;
  isoproof_status status = iso_carried_reset(live, track, error);
  if (status != ISOPROOF_OK)
    iso_carried_free(track);
  else
    *out = track;
  return status;
}

/* ---- forking ---- */

static bool copy_entries(iso_carried_entries *to, const iso_carried_entries *from) {
  for (size_t i = 0; i < from->count; i++) {
    iso_carried_entry *entry = iso_alloc_zero(1, sizeof *entry);
    if (entry == NULL || !iso_vec_push(to, entry)) {
      free(entry);
      return false;
    }
    entry->txn = iso_live_txn_keep(from->items[i]->txn);
  }
  return true;
}

static bool copy_state(iso_carried *to, const iso_carried *from) {
  if (!iso_store_copy(&to->store, &from->store)) return false;
  for (size_t i = 0; i < from->frozen.count; i++) {
    if (!iso_vec_push(&to->frozen, from->frozen.items[i])) return false;
  }
  to->gone = from->gone;
  to->left = from->left;
  to->arrived = from->arrived;
  to->frozen_start = from->frozen_start;
  to->latest_start = from->frozen_start;
  to->broken = true; /* the order is another one now */
  to->misfit = from->misfit;
  return copy_entries(&to->fresh, &from->fresh) && copy_entries(&to->out, &from->out);
}

isoproof_status iso_carried_fork(iso_carried *track, const isoproof_level_info *level, iso_carried **out,
                                 isoproof_error *error) {
  iso_carried *fork = iso_alloc_zero(1, sizeof *fork);
  if (fork == NULL) return iso_fail_memory(error);
  fork->level = level;
  fork->rule = iso_live_rule_of(level);
  fork->horizon = track->horizon;
  fork->verdict = ISOPROOF_SATISFIED;
  isoproof_status status = iso_carried_unwind(track, error);
  if (status == ISOPROOF_OK && !copy_state(fork, track)) status = iso_fail_memory(error);
  if (status != ISOPROOF_OK)
    iso_carried_free(fork);
  else
    *out = fork;
  return status;
}

/* ---- letting go ---- */

/* How many of the first commits can go: the last `horizon` stay, and so does whoever reads what nobody wrote so far.
 * Nobody who commits later has read before that place. */
static size_t find_cut(const iso_carried *track) {
  size_t cut = track->order.count - (size_t)track->horizon, low = track->order.count;
  uint64_t first = UINT64_MAX;
  for (size_t i = 0; i < cut; i++) {
    if (track->order.items[i]->pending) cut = i;
  }
  for (;;) {
    for (; low > cut; low--) {
      if (first > track->order.items[low - 1]->begin) first = track->order.items[low - 1]->begin;
    }
    if (first >= track->gone + cut) return cut;
    cut = first > track->gone ? (size_t)(first - track->gone) : 0;
    if (cut == 0) return 0;
  }
}

/* All sessions of the window have their place there. */
static void note_frozen(iso_carried *track, const iso_live_txn *txn) {
  if (track->frozen_start < txn->real_start) track->frozen_start = txn->real_start;
  if (track->frozen.items[txn->session] <= txn->place) track->frozen.items[txn->session] = txn->place + 1;
}

void iso_carried_freeze(iso_carried *track, uint64_t pushed) {
  if (track->broken || track->order.count < 2 * track->horizon) return;
  size_t cut = find_cut(track), kept = 0;
  for (size_t i = 0; i < cut; i++) {
    note_frozen(track, track->order.items[i]->txn);
    free_entry(track->order.items[i]);
  }
  track->order.count -= cut;
  if (cut > 0) memmove(track->order.items, track->order.items + cut, track->order.count * sizeof(iso_carried_entry *));
  track->gone += cut;
  track->left += cut;
  for (size_t i = 0; cut > 0 && i < track->out.count; i++) {
    iso_carried_entry *entry = track->out.items[i];
    if (entry->txn->number + OUT_HORIZONS * track->horizon < pushed) {
      free_entry(entry);
      track->left++;
    } else {
      track->out.items[kept++] = entry;
    }
  }
  if (cut > 0) track->out.count = kept;
}

/* ---- figures ---- */

uint64_t iso_carried_retained(const iso_carried *track) {
  return track->order.count + track->waiting.count + track->fresh.count + track->out.count;
}

static uint64_t held(const iso_carried_entries *entries, uint64_t *window) {
  uint64_t bytes = entries->capacity * sizeof *entries->items;
  for (size_t i = 0; i < entries->count; i++) {
    const iso_carried_entry *entry = entries->items[i];
    *window += entry->txn->bytes;
    bytes += sizeof *entry + entry->undo.count * sizeof *entry->undo.items;
  }
  return bytes;
}

uint64_t iso_carried_bytes(const iso_carried *track, uint64_t *window) {
  *window = 0;
  return sizeof *track + held(&track->order, window) + held(&track->waiting, window) + held(&track->fresh, window) +
         held(&track->out, window) + iso_store_bytes(&track->store) + track->pendings.bytes +
         track->frozen.capacity * sizeof *track->frozen.items;
}
