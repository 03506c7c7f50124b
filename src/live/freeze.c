/* Freezes the beginning of the order of a track: transactions leave memory, and the last version of each key stays. */
#include <stdlib.h>
#include <string.h>

#include "live/cluster.h"

/* Transactions without effect, so far, stay for that many horizons, as somebody may yet turn out to have read from
 * them. */
enum { OUT_HORIZONS = 4 };

static int by_label(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* The label up to which commits can go: the last `horizon` stay, and so does whoever reads what nobody wrote so far. */
static isoproof_status find_cut(const iso_live_track *track, uint64_t *cut, isoproof_error *error) {
  uint64_t *labels = iso_alloc(track->placed, sizeof *labels), limit = UINT64_MAX;
  size_t count = 0;
  if (labels == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < track->entries.count; i++) {
    const iso_live_entry *entry = &track->entries.items[i];
    if (entry->where != ISO_LIVE_PLACED) continue;
    labels[count++] = entry->commit;
    uint64_t first = track->rule->kind == ISO_LIVE_SNAPSHOT ? entry->begin : entry->commit;
    if (entry->pending && limit > first) limit = first;
  }
  qsort(labels, count, sizeof *labels, by_label);
  *cut = count > track->horizon ? labels[count - track->horizon - 1] : track->floor;
  free(labels);
  if (*cut >= limit) *cut = limit - 1;
  return ISOPROOF_OK;
}

/* Of the last two frozen versions the earlier one may have been the last, too, if its writer could as well come after
 * the other one, or that one before it, and nobody has read that.  Nobody takes part in two such doubts, so that each
 * can be resolved either way without regard to the others. */
static void note_other(iso_live_track *track, uint32_t entry, uint32_t key, uint64_t cut) {
  iso_live_slot *slot = &track->slots.items[key];
  uint32_t last = slot->newest;
  while (last != 0 && track->versions.items[last - 1].label > cut) last = track->versions.items[last - 1].older;
  if (last == 0 || track->versions.items[last - 1].writer != entry) return;
  const iso_live_version *kept = &track->versions.items[last - 1];
  slot->has_other = false;
  if (track->rule->kind == ISO_LIVE_COMMITS || slot->list != NULL || kept->older == 0) return;
  const iso_live_version *other = &track->versions.items[kept->older - 1];
  iso_live_entry *winner = &track->entries.items[kept->writer], *loser = &track->entries.items[other->writer];
  if (kept->last_read > kept->label || winner->swaps || loser->swaps) return;
  uint64_t before;
  bool doubtful = iso_live_can_postpone(track, loser, key, kept->label) ||
                  iso_live_can_prepone(track, winner, key, loser->begin, &before);
  if (!doubtful && !iso_live_doubt_cluster(track, other->writer, key, kept->label)) return;
  winner->swaps = loser->swaps = true;
  slot->has_other = true;
  slot->other = other->value;
}

/* The versions up to the cut go, and the last of them is what the key had when the window began. */
static void freeze_key(iso_live_track *track, uint32_t key, uint64_t cut) {
  iso_live_slot *slot = &track->slots.items[key];
  uint32_t *link = &slot->newest;
  while (*link != 0 && track->versions.items[*link - 1].label > cut) link = &track->versions.items[*link - 1].older;
  uint32_t first = *link, last = first;
  if (first == 0) return;
  const iso_live_version *kept = &track->versions.items[first - 1];
  slot->has_frozen = true;
  slot->frozen = kept->value;
  slot->frozen_read = kept->last_read;
  if (slot->list != NULL) slot->list->frozen = kept->length;
  *link = 0;
  while (track->versions.items[last - 1].older != 0) last = track->versions.items[last - 1].older;
  track->versions.items[last - 1].older = track->free_version;
  track->free_version = first;
}

/* All keys that frozen entries wrote; the doubts first, as they need to see everything. */
static void freeze_keys(iso_live_track *track, uint64_t cut) {
  for (int doubts = 1; doubts >= 0; doubts--) {
    for (uint32_t i = 0; i < track->entries.count; i++) {
      const iso_live_entry *entry = &track->entries.items[i];
      if (entry->where != ISO_LIVE_PLACED || entry->commit > cut) continue;
      for (uint32_t j = 0; j < entry->txn->op_count; j++) {
        const iso_live_op *op = &entry->txn->ops[j];
        if (iso_live_op_observes(op)) continue;
        if (doubts)
          note_other(track, i, op->key, cut);
        else
          freeze_key(track, op->key, cut);
      }
    }
  }
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

isoproof_status iso_live_track_freeze(iso_live_track *track, uint64_t pushed, isoproof_error *error) {
  uint64_t cut = 0;
  if (track->broken || track->placed < 2 * track->horizon) return ISOPROOF_OK;
  ISO_TRY(find_cut(track, &cut, error));
  if (cut <= track->floor) return ISOPROOF_OK;
  size_t entries = track->entries.count;
  uint32_t *moved = iso_alloc(entries, sizeof *moved);
  if (moved == NULL) return iso_fail_memory(error);
  freeze_keys(track, cut);
  compact(track, cut, pushed, moved);
  renumber_all(track, moved, entries);
  forget_ends(track, cut);
  track->floor = cut;
  free(moved);
  return ISOPROOF_OK;
}
