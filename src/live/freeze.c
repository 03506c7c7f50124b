/* Freezes the beginning of the order of a track: transactions leave memory, and the last version of each key stays. */
#include <stdlib.h>
#include <string.h>

#include "live/commits.h"
#include "live/order.h"
#include "live/pocket.h"

/* Transactions without effect, so far, stay for that many horizons, as somebody may yet turn out to have read from
 * them. */
enum { OUT_HORIZONS = 4 };

/* What is known of a key is fetched into the cache that many keys before it is needed, the versions that it names a
 * little later, and those that these name later still. */
enum { FAR = 24, MIDDLE = 16, NEAR = 8 };

/* The label up to which commits can go: the last `horizon` stay, and so does whoever reads what nobody wrote so far. */
static bool find_cut(iso_live_track *track, uint64_t *cut) {
  uint64_t limit = UINT64_MAX;
  if (!iso_live_order_make(track)) return false;
  for (size_t i = 0; track->thin_air > 0 && i < track->entries.count; i++) {
    const iso_live_entry *entry = &track->entries.items[i];
    if (entry->where != ISO_LIVE_PLACED || !entry->pending) continue;
    uint64_t first = track->rule->kind == ISO_LIVE_SNAPSHOT ? entry->begin : entry->commit;
    if (limit > first) limit = first;
  }
  *cut = track->floor;
  size_t stay = 0;
  for (size_t i = track->order.count; i-- > 0 && stay <= track->horizon;) {
    if (!track->order.items[i].snapshot && ++stay > track->horizon) *cut = track->order.items[i].label;
  }
  if (*cut >= limit) *cut = limit - 1;
  return *cut <= track->floor || iso_live_doubts_cut(track, cut);
}

/* The versions up to the cut go, and the last of them is what the key had when the window began. */
static void freeze_key(iso_live_track *track, uint32_t key, uint64_t cut) {
  iso_live_slot *slot = &track->slots.items[key];
  uint32_t *link = &slot->newest;
  while (*link != 0 && track->versions.items[*link - 1].label > cut) link = &track->versions.items[*link - 1].older;
  uint32_t first = *link;
  if (first == 0) return;
  const iso_live_version *kept = &track->versions.items[first - 1];
  iso_live_pocket_settle(track, slot);
  slot->has_frozen = true;
  slot->frozen = kept->value;
  slot->frozen_read = kept->last_read;
  if (slot->list != NULL) slot->list->frozen = kept->length;
  *link = 0;
  for (uint32_t v = first; v != 0; v = track->versions.items[v - 1].older) iso_live_version_free(track, v);
}

/* Inlined by force, as are others like it: some compilers take a call for nothing that does nothing but fetch. */
static inline __attribute__((always_inline)) void fetch(const iso_live_track *track, const iso_live_doubts *doubts,
                                                        size_t i) {
  const uint32_t *keys = doubts->keys.items;
  if (i + FAR >= doubts->keys.count) return;
  const iso_live_slot *near = &track->slots.items[keys[i + NEAR]], *slot = &track->slots.items[keys[i + MIDDLE]];
  uint32_t older = near->old != 0 ? track->olds.items[near->old - 1].older : 0;
  if (older != 0) __builtin_prefetch(&track->olds.items[older - 1], 1);
  if (slot->newest != 0) __builtin_prefetch(&track->versions.items[slot->newest - 1], 1);
  if (slot->old != 0) __builtin_prefetch(&track->olds.items[slot->old - 1], 1);
  __builtin_prefetch(&track->slots.items[keys[i + FAR]], 1);
}

/* False when memory is out. */
static bool freeze_keys(iso_live_track *track, const iso_live_doubts *doubts, uint64_t cut) {
  bool commits = track->rule->kind == ISO_LIVE_COMMITS;
  for (size_t i = 0; i < doubts->items.count; i++) track->slots.items[doubts->items.items[i].key].doubted = true;
  for (size_t i = 0; i < doubts->keys.count; i++) {
    fetch(track, doubts, i);
    if (commits && !iso_live_sight_freeze_key(track, doubts->keys.items[i], cut)) return false;
    freeze_key(track, doubts->keys.items[i], cut);
  }
  for (size_t i = 0; i < doubts->items.count; i++) track->slots.items[doubts->items.items[i].key].doubted = false;
  return true;
}

static bool leaves(const iso_live_track *track, const iso_live_entry *entry, uint64_t cut, uint64_t pushed) {
  if (entry->where == ISO_LIVE_PLACED) return entry->commit <= cut;
  return entry->where == ISO_LIVE_OUT && entry->txn->number + OUT_HORIZONS * track->horizon < pushed;
}

/* Moves the entries that stay together; `moved` gets where each went, + 1. */
static void compact(iso_live_track *track, uint64_t cut, uint64_t pushed, uint32_t *moved) {
  size_t kept = 0;
  for (size_t i = 0; i < track->entries.count; i++) {
    iso_live_entry *entry = &track->entries.items[i];
    moved[i] = 0;
    if (leaves(track, entry, cut, pushed)) {
      if (entry->where == ISO_LIVE_PLACED) {
        track->placed--;
        iso_live_track_note_frozen(track, entry->txn); /* its lane is there */
      }
      track->frozen++;
      iso_live_sight_leave(track, entry);
      track->held -= entry->txn->bytes;
      iso_live_txn_drop(entry->txn);
      continue;
    }
    if (entry->where == ISO_LIVE_PLACED && track->rule->kind == ISO_LIVE_SNAPSHOT && entry->begin <= cut) {
      entry->straddles = true;
      iso_live_track_note_frozen(track, entry->txn);
    }
    moved[i] = (uint32_t)kept + 1;
    track->entries.items[kept++] = *entry;
  }
  track->entries.count = kept;
  track->ordered = false;
}

static uint32_t renumber(const uint32_t *moved, uint32_t entry) { return entry != 0 ? moved[entry - 1] : 0; }

/* Writers, and whoever waits, are found under new numbers; versions that are gone have any. */
static void renumber_all(iso_live_track *track, const uint32_t *moved, size_t entries) {
  for (size_t i = 0; i < track->versions.count; i++) {
    uint32_t *writer = &track->versions.items[i].writer;
    *writer = *writer < entries && moved[*writer] != 0 ? moved[*writer] - 1 : 0;
  }
  for (size_t i = 0; i < track->entries.count; i++) {
    iso_live_entry *entry = &track->entries.items[i];
    entry->next = entry->where == ISO_LIVE_WAITING ? renumber(moved, entry->next) : 0;
  }
  for (size_t i = 0; track->waiters != NULL && i <= track->waiter_mask; i++) {
    track->waiters[i].entry = renumber(moved, track->waiters[i].entry);
  }
  for (size_t i = 0; i < track->lanes.count; i++) {
    track->lanes.items[i].first = renumber(moved, track->lanes.items[i].first);
    track->lanes.items[i].last = renumber(moved, track->lanes.items[i].last);
  }
}

static void forget_ends(iso_live_track *track, uint64_t cut) {
  size_t gone = 0;
  while (gone < track->ends.count && track->ends.items[gone].label <= cut) gone++;
  if (gone == 0) return;
  memmove(track->ends.items, track->ends.items + gone, (track->ends.count - gone) * sizeof *track->ends.items);
  track->ends.count -= gone;
}

static isoproof_status freeze(iso_live_track *track, uint64_t cut, uint64_t pushed, isoproof_error *error) {
  iso_live_doubts doubts;
  size_t entries = track->entries.count;
  uint32_t *moved = iso_alloc(entries, sizeof *moved);
  bool known = moved != NULL && iso_live_doubts_find(track, cut, &doubts);
  known = known && iso_live_sight_tidy(track, pushed);
  bool kept = known && freeze_keys(track, &doubts, cut) && iso_live_doubts_keep(track, &doubts);
  if (kept) {
    compact(track, cut, pushed, moved);
    renumber_all(track, moved, entries);
    forget_ends(track, cut);
    track->floor = cut;
  }
  if (moved != NULL) iso_live_doubts_free(&doubts);
  free(moved);
  return kept ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_live_track_freeze(iso_live_track *track, uint64_t pushed, isoproof_error *error) {
  uint64_t cut = 0;
  if (track->broken || track->placed < 2 * track->horizon) return ISOPROOF_OK;
  if (!find_cut(track, &cut)) return iso_fail_memory(error);
  return cut > track->floor ? freeze(track, cut, pushed, error) : ISOPROOF_OK;
}
