/* Takes over an order that the exact checkers found for the window of a track. */
#include <stdlib.h>

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

/* Gives every entry its places; who is not in the order took no effect. */
static void set_places(iso_live_track *track, const isoproof_certificate *order, const uint32_t *entry_of) {
  for (size_t i = 0; i < track->entries.count; i++) {
    track->entries.items[i].where = ISO_LIVE_OUT;
    track->entries.items[i].begin = track->entries.items[i].commit = 0;
  }
  for (size_t i = 0; i < order->event_count; i++) {
    iso_live_entry *entry = &track->entries.items[entry_of[order->events[i].txn]];
    uint64_t label = track->floor + (i + 1) * ISO_LIVE_GAP;
    entry->where = ISO_LIVE_PLACED;
    if (order->events[i].kind != ISOPROOF_EVENT_COMMIT) entry->begin = label;
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
    status = iso_live_track_apply(track, commits[i].entry, error);
  }
  free(commits);
  return status;
}

isoproof_status iso_live_track_replay(iso_live_track *track, isoproof_error *error) {
  ISO_TRY(apply_all(track, error));
  return iso_live_track_restore(track, error);
}

isoproof_status iso_live_adopt(iso_live_track *track, const isoproof_certificate *order, const uint32_t *entry_of,
                               isoproof_error *error) {
  ISO_TRY(make_slots(track, error));
  iso_live_track_clear(track);
  track->clock = track->floor;
  set_places(track, order, entry_of);
  ISO_TRY(iso_live_track_replay(track, error));
  track->broken = track->misfit = false;
  return ISOPROOF_OK;
}
