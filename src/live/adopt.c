/* Takes over an order that the exact checkers found for the window of a track. */
#include <stdlib.h>

#include "live/commits.h"
#include "live/settle.h"

typedef struct placed {
  uint64_t label;
  uint32_t entry;
} placed;

static int by_label(const void *a, const void *b) {
  const placed *x = a, *y = b;
  if (x->label != y->label) return x->label < y->label ? -1 : 1;
  return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Whether its snapshot is before the floor: it has read there, whatever the order says of what is left of it. */
static bool has_begun(const iso_live_track *track, const iso_live_entry *entry, uint64_t floor) {
  if (track->rule->kind != ISO_LIVE_SNAPSHOT) return false;
  return entry->straddles || (entry->where == ISO_LIVE_PLACED && entry->begin <= floor);
}

/* Gives the entries of the order their places after `floor`. */
static void set_places(iso_live_track *track, const isoproof_certificate *order, const uint32_t *entry_of,
                       uint64_t floor) {
  track->clock = floor;
  for (size_t i = 0; i < order->event_count; i++) {
    iso_live_entry *entry = &track->entries.items[entry_of[order->events[i].txn]];
    uint64_t label = floor + (i + 1) * ISO_LIVE_GAP;
    bool begins = order->events[i].kind != ISOPROOF_EVENT_COMMIT;
    if (begins && !has_begun(track, entry, floor)) entry->begin = label;
    entry->where = ISO_LIVE_PLACED;
    if (order->events[i].kind != ISOPROOF_EVENT_BEGIN) entry->commit = label;
    track->clock = label;
  }
}

/* Makes sure that every key has a slot. */
static isoproof_status make_slots(iso_live_track *track, isoproof_error *error) {
  for (size_t i = 0; i < track->entries.count; i++) {
    const iso_live_txn *t = track->entries.items[i].txn;
    for (uint32_t j = 0; j < t->op_count; j++) {
      if (iso_live_slot_of(track, t->ops[j].key) == NULL) return iso_fail_memory(error);
    }
  }
  return ISOPROOF_OK;
}

/* The next one in an order that was given; in commit orders it is looked at once more, as what it read of frozen
 * versions was left out. */
static isoproof_status apply_next(iso_live_track *track, uint32_t number, isoproof_error *error) {
  iso_live_sight sight = {0};
  bool commits = track->rule->kind == ISO_LIVE_COMMITS;
  track->replays = true;
  bool applies = commits && iso_live_sight_applies(track, track->entries.items[number].txn);
  bool looked = !applies || iso_live_sight_look(track, number, &sight), fits = !sight.broken && !sight.waits;
  track->replays = false;
  if (!looked || (commits && !iso_live_sight_commit(track, number, applies && fits))) return iso_fail_memory(error);
  if (!fits) track->broken = track->misfit = true;
  return iso_live_track_apply(track, number, error);
}

static isoproof_status apply_all(iso_live_track *track, isoproof_error *error) {
  placed *commits = iso_alloc(track->entries.count, sizeof *commits);
  size_t count = 0;
  if (commits == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < track->entries.count; i++) {
    const iso_live_entry *entry = &track->entries.items[i];
    if (entry->where == ISO_LIVE_PLACED) commits[count++] = (placed){.label = entry->commit, .entry = i};
  }
  qsort(commits, count, sizeof *commits, by_label);
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; status == ISOPROOF_OK && i < count; i++) {
    status = apply_next(track, commits[i].entry, error);
  }
  free(commits);
  return status;
}

isoproof_status iso_live_track_replay(iso_live_track *track, isoproof_error *error) {
  track->ordered = false;
  ISO_TRY(apply_all(track, error));
  return iso_live_track_restore(track, error);
}

isoproof_status iso_live_adopt(iso_live_track *track, const isoproof_certificate *order, const uint32_t *entry_of,
                               isoproof_error *error) {
  ISO_TRY(make_slots(track, error));
  iso_live_track_clear(track);
  for (size_t i = 0; i < track->entries.count; i++) {
    track->entries.items[i].where = ISO_LIVE_OUT;
    track->entries.items[i].begin = track->entries.items[i].commit = 0;
  }
  set_places(track, order, entry_of, track->floor);
  track->broken = track->misfit = false;
  return iso_live_track_replay(track, error);
}

/* ---- the end of the order only ---- */

/* Takes the versions after the cut away. */
static void unwind_key(iso_live_track *track, iso_live_slot *slot, uint64_t cut) {
  while (slot->newest != 0 && track->versions.items[slot->newest - 1].label > cut) {
    uint32_t gone = slot->newest;
    slot->newest = track->versions.items[gone - 1].older;
    iso_live_version_free(track, gone);
  }
  iso_live_version *last = slot->newest != 0 ? &track->versions.items[slot->newest - 1] : NULL;
  uint64_t *read = last != NULL ? &last->last_read : &slot->frozen_read;
  if (*read > cut && *read != ISO_LIVE_IS_READ) *read = cut;
  if (slot->list != NULL) slot->list->elements.count = last != NULL ? last->length : slot->list->frozen;
}

static void unwind(iso_live_track *track, uint64_t cut) {
  for (size_t i = 0; i < track->entries.count; i++) {
    iso_live_entry *entry = &track->entries.items[i];
    if (entry->where == ISO_LIVE_OUT || (entry->where == ISO_LIVE_PLACED && entry->commit <= cut)) continue;
    for (uint32_t j = 0; j < entry->txn->op_count; j++) {
      unwind_key(track, &track->slots.items[entry->txn->ops[j].key], cut);
    }
    if (entry->where == ISO_LIVE_PLACED) track->placed--;
    entry->next = 0;
  }
  for (size_t i = 0; i < track->lanes.count; i++) {
    iso_live_lane *lane = &track->lanes.items[i];
    *lane = (iso_live_lane){.label = lane->label < cut ? lane->label : cut, .frozen = lane->frozen};
  }
  for (size_t i = track->ends.count; i-- > 0 && track->ends.items[i].label > cut;) track->ends.items[i].label = cut;
  iso_live_forget_waiters(track);
  track->clock = cut;
}

isoproof_status iso_live_adopt_end(iso_live_track *track, const isoproof_certificate *order, const uint32_t *entry_of,
                                   uint64_t cut, isoproof_error *error) {
  ISO_TRY(make_slots(track, error));
  if (!iso_live_sight_unwind(track, cut)) return iso_fail_memory(error);
  unwind(track, cut);
  track->ordered = track->broken = track->misfit = false;
  set_places(track, order, entry_of, cut);
  for (size_t i = 0; i < order->event_count; i++) {
    uint32_t number = entry_of[order->events[i].txn];
    iso_live_entry *entry = &track->entries.items[number];
    if (order->events[i].kind == ISOPROOF_EVENT_BEGIN) continue;
    ISO_TRY(apply_next(track, number, error));
    iso_live_lane *lane = iso_live_lane_of(track, entry->txn->session);
    if (lane == NULL) return iso_fail_memory(error);
    if (lane->label < entry->commit) lane->label = entry->commit;
    if (track->rule->real_time && !iso_live_note_end(track, entry)) return iso_fail_memory(error);
    track->placed++;
  }
  return ISOPROOF_OK;
}
