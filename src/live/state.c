/* What a track knows of keys and sessions: the versions of the window on top of what was frozen. */
#include <stdlib.h>
#include <string.h>

#include "live/commits.h"

bool iso_live_make_slots(iso_live_track *track, uint32_t key) {
  while (key >= track->slots.count) {
    iso_live_slot empty = {.frozen = ISO_VALUE_NIL};
    if (!iso_vec_push(&track->slots, empty)) return false;
  }
  return true;
}

iso_live_lane *iso_live_lane_of(iso_live_track *track, uint32_t session) {
  while (session >= track->lanes.count) {
    iso_live_lane empty = {0};
    if (!iso_vec_push(&track->lanes, empty)) return NULL;
  }
  return &track->lanes.items[session];
}

bool iso_live_track_note_frozen(iso_live_track *track, const iso_live_txn *txn) {
  iso_live_lane *lane = iso_live_lane_of(track, txn->session);
  if (lane == NULL) return false;
  if (track->frozen_start < txn->real_start) track->frozen_start = txn->real_start;
  if (lane->frozen <= txn->place) lane->frozen = txn->place + 1;
  return true;
}

/* ---- versions ---- */

static bool new_version(iso_live_track *track, uint32_t *number) {
  if (track->free_versions.count > 0) {
    *number = track->free_versions.items[--track->free_versions.count];
    return true;
  }
  iso_live_version empty = {0};
  if (!iso_vec_reserve(&track->free_versions, track->versions.count + 1)) return false;
  if (!iso_vec_push(&track->versions, empty)) return false;
  *number = (uint32_t)track->versions.count;
  return true;
}

void iso_live_version_free(iso_live_track *track, uint32_t version) {
  track->free_versions.items[track->free_versions.count++] = version;
}

static bool add_version(iso_live_track *track, iso_live_slot *slot, iso_value value, uint32_t writer, uint64_t label) {
  uint32_t number, older = slot->newest, newer = 0;
  uint32_t length = slot->list != NULL ? (uint32_t)slot->list->elements.count : 0;
  while (older != 0 && track->versions.items[older - 1].label > label) {
    newer = older;
    older = track->versions.items[older - 1].older;
  }
  if (older != 0 && track->versions.items[older - 1].label == label) { /* the same transaction once more */
    track->versions.items[older - 1].value = value;
    track->versions.items[older - 1].length = length;
    return true;
  }
  if (!new_version(track, &number)) return false;
  track->versions.items[number - 1] = (iso_live_version){
      .label = label, .last_read = label, .value = value, .length = length, .older = older, .writer = writer};
  *(newer != 0 ? &track->versions.items[newer - 1].older : &slot->newest) = number;
  return true;
}

bool iso_live_append(iso_live_track *track, iso_live_slot *slot, iso_value element) {
  if (slot->list == NULL) slot->list = iso_alloc_zero(1, sizeof *slot->list);
  if (slot->list == NULL) return false;
  size_t room = slot->list->elements.capacity;
  bool good = iso_vec_push(&slot->list->elements, element);
  track->list_bytes += (slot->list->elements.capacity - room) * sizeof element;
  return good;
}

void iso_live_note_read(iso_live_track *track, iso_live_slot *slot, uint64_t label) {
  uint32_t number = slot->newest;
  while (number != 0 && track->versions.items[number - 1].label >= label) {
    number = track->versions.items[number - 1].older;
  }
  uint64_t *last = number != 0 ? &track->versions.items[number - 1].last_read : &slot->frozen_read;
  if (*last < label) *last = label;
}

isoproof_status iso_live_track_apply(iso_live_track *track, uint32_t number, isoproof_error *error) {
  const iso_live_entry *entry = &track->entries.items[number];
  const iso_live_txn *t = entry->txn;
  uint64_t read = track->rule->kind == ISO_LIVE_SERIAL ? entry->commit : entry->begin + 1;
  for (uint32_t i = 0; track->rule->kind != ISO_LIVE_COMMITS && i < t->op_count; i++) {
    if (iso_live_op_observes(&t->ops[i])) iso_live_note_read(track, &track->slots.items[t->ops[i].key], read);
  }
  for (uint32_t i = 0; i < t->op_count; i++) {
    const iso_live_op *op = &t->ops[i];
    if (iso_live_op_observes(op)) continue;
    iso_live_slot *slot = &track->slots.items[op->key];
    if (op->kind == ISOPROOF_OP_APPEND && !iso_live_append(track, slot, op->value)) return iso_fail_memory(error);
    if (!add_version(track, slot, op->value, number, entry->commit)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

static void clear_key(iso_live_track *track, uint32_t key) {
  iso_live_slot *slot = &track->slots.items[key];
  slot->newest = 0;
  slot->frozen_read = 0;
  if (slot->list != NULL) slot->list->elements.count = slot->list->frozen;
}

void iso_live_forget_waiters(iso_live_track *track) {
  if (track->waiters != NULL) memset(track->waiters, 0, (track->waiter_mask + 1) * sizeof *track->waiters);
  track->waiter_count = track->waiting = track->fresh = 0;
}

void iso_live_track_clear(iso_live_track *track) {
  iso_live_sight_unwind(track, track->floor); /* every session of the window is known */
  for (size_t i = 0; i < track->entries.count; i++) {
    iso_live_txn *t = track->entries.items[i].txn;
    for (uint32_t j = 0; j < t->op_count; j++) {
      if (t->ops[j].key < track->slots.count) clear_key(track, t->ops[j].key);
    }
    iso_live_lane *lane = t->session < track->lanes.count ? &track->lanes.items[t->session] : NULL;
    if (lane != NULL) *lane = (iso_live_lane){.label = track->floor, .frozen = lane->frozen};
    track->entries.items[i].next = 0;
  }
  track->versions.count = 0;
  track->free_versions.count = 0;
  track->ends.count = 0;
  track->placed = track->thin_air = 0;
  iso_live_forget_waiters(track);
}

/* ---- ends ---- */

static int by_end(const void *a, const void *b) {
  const iso_live_ended *x = a, *y = b;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  return (x->label > y->label) - (x->label < y->label);
}

isoproof_status iso_live_track_restore(iso_live_track *track, isoproof_error *error) {
  for (size_t i = 0; i < track->entries.count; i++) {
    const iso_live_entry *entry = &track->entries.items[i];
    track->placed += entry->where == ISO_LIVE_PLACED;
    if (entry->where != ISO_LIVE_PLACED) continue;
    track->thin_air += entry->pending;
    if (track->latest_start < entry->txn->real_start) track->latest_start = entry->txn->real_start;
    iso_live_lane *lane = iso_live_lane_of(track, entry->txn->session);
    if (lane == NULL) return iso_fail_memory(error);
    if (lane->label < entry->commit) lane->label = entry->commit;
    iso_live_ended ended = {.end = entry->txn->real_end, .label = entry->commit};
    if (track->rule->real_time && !iso_vec_push(&track->ends, ended)) return iso_fail_memory(error);
  }
  if (track->ends.count > 0) qsort(track->ends.items, track->ends.count, sizeof *track->ends.items, by_end);
  for (size_t i = 1; i < track->ends.count; i++) {
    iso_live_ended *ended = track->ends.items;
    if (ended[i].label < ended[i - 1].label) ended[i].label = ended[i - 1].label;
  }
  return ISOPROOF_OK;
}
