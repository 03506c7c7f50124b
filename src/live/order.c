/* The events of a window in the order of their labels. */
#include "live/order.h"

#include <stdlib.h>
#include <string.h>

/* A snapshot with the label of a commit is taken right behind it. */
static int by_label(const void *a, const void *b) {
  const iso_live_event *x = a, *y = b;
  if (x->label != y->label) return x->label < y->label ? -1 : 1;
  if (x->snapshot != y->snapshot) return x->snapshot ? 1 : -1;
  return (x->entry > y->entry) - (x->entry < y->entry);
}

static bool has_snapshot(const iso_live_track *track, const iso_live_entry *entry) {
  return track->rule->kind == ISO_LIVE_SNAPSHOT && !entry->straddles;
}

bool iso_live_order_make(iso_live_track *track) {
  if (track->ordered) return true;
  track->order.count = 0;
  for (uint32_t i = 0; i < track->entries.count; i++) {
    const iso_live_entry *entry = &track->entries.items[i];
    if (entry->where != ISO_LIVE_PLACED) continue;
    iso_live_event commit = {.label = entry->commit, .entry = i},
                   snapshot = {.label = entry->begin, .entry = i, .snapshot = true};
    if (!iso_vec_push(&track->order, commit)) return false;
    if (has_snapshot(track, entry) && !iso_vec_push(&track->order, snapshot)) return false;
  }
  bool sorted = true; /* as it is where everybody was placed last */
  for (size_t i = 1; sorted && i < track->order.count; i++) {
    sorted = by_label(&track->order.items[i - 1], &track->order.items[i]) < 0;
  }
  if (!sorted) qsort(track->order.items, track->order.count, sizeof *track->order.items, by_label);
  track->ordered = true;
  return true;
}

size_t iso_live_order_from(const iso_live_track *track, uint64_t label) {
  size_t low = 0, high = track->order.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (track->order.items[middle].label < label)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

size_t iso_live_order_behind(const iso_live_track *track, uint64_t label) {
  size_t count = track->order.count;
  if (count == 0 || track->order.items[count - 1].label <= label) return count;
  return iso_live_order_from(track, label + 1);
}

static bool insert(iso_live_track *track, iso_live_event event) {
  if (!iso_vec_reserve(&track->order, 1)) return false;
  size_t at = iso_live_order_behind(track, event.label);
  iso_live_event *items = track->order.items;
  memmove(items + at + 1, items + at, (track->order.count - at) * sizeof *items);
  items[at] = event;
  track->order.count++;
  return true;
}

bool iso_live_order_add(iso_live_track *track, uint32_t number) {
  if (!track->ordered) return true;
  const iso_live_entry *entry = &track->entries.items[number];
  iso_live_event snapshot = {.label = entry->begin, .entry = number, .snapshot = true};
  if (has_snapshot(track, entry) && !insert(track, snapshot)) return false;
  return insert(track, (iso_live_event){.label = entry->commit, .entry = number});
}

/* ---- room ---- */

/* What a label becomes: the place of the last event up to it, in even steps. */
static uint64_t spread(const iso_live_track *track, uint64_t label) {
  if (label <= track->floor) return label;
  return track->floor + iso_live_order_behind(track, label) * ISO_LIVE_GAP;
}

static void spread_rest(iso_live_track *track) {
  for (size_t i = 0; i < track->slots.count; i++) {
    iso_live_slot *slot = &track->slots.items[i];
    slot->frozen_read = spread(track, slot->frozen_read);
    for (uint32_t v = slot->newest; v != 0; v = track->versions.items[v - 1].older) {
      iso_live_version *version = &track->versions.items[v - 1];
      uint64_t label = spread(track, version->label), last = version->last_read;
      if (last != ISO_LIVE_IS_READ) last = spread(track, last);
      version->last_read = version->last_read > version->label && last == label ? label + 1 : last;
      version->label = label;
    }
  }
  for (size_t i = 0; i < track->lanes.count; i++) {
    track->lanes.items[i].label = spread(track, track->lanes.items[i].label);
  }
  for (size_t i = 0; i < track->ends.count; i++) {
    track->ends.items[i].label = spread(track, track->ends.items[i].label);
  }
}

void iso_live_order_spread(iso_live_track *track) {
  spread_rest(track);
  track->clock = track->floor + track->order.count * ISO_LIVE_GAP;
  for (size_t i = track->order.count; i-- > 0;) {
    const iso_live_event *event = &track->order.items[i];
    iso_live_entry *entry = &track->entries.items[event->entry];
    *(event->snapshot ? &entry->begin : &entry->commit) = spread(track, event->label);
    if (track->rule->kind == ISO_LIVE_SERIAL) entry->begin = entry->commit;
  }
  for (size_t i = 0; i < track->order.count; i++) {
    iso_live_event *event = &track->order.items[i];
    const iso_live_entry *entry = &track->entries.items[event->entry];
    event->label = event->snapshot ? entry->begin : entry->commit;
  }
}
