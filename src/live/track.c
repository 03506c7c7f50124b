/* A track: making, forking and freeing it, and taking transactions. */
#include "live/track.h"

#include <stdlib.h>
#include <string.h>

#include "live/cluster.h"
#include "live/commits.h"
#include "live/place.h"
#include "live/pocket.h"

static const iso_live_rule rules[] = {
    {"read-committed", ISO_LIVE_COMMITS, ISO_LIVE_SIGHT_BEFORE, false, false},
    {"read-atomic", ISO_LIVE_COMMITS, ISO_LIVE_SIGHT_DIRECT, false, false},
    {"causal", ISO_LIVE_COMMITS, ISO_LIVE_SIGHT_PATHS, false, false},
    {"prefix", ISO_LIVE_SNAPSHOT, ISO_LIVE_SIGHT_NONE, false, false},
    {"snapshot-isolation", ISO_LIVE_SNAPSHOT, ISO_LIVE_SIGHT_NONE, true, false},
    {"serializable", ISO_LIVE_SERIAL, ISO_LIVE_SIGHT_NONE, false, false},
    {"strong-snapshot-isolation", ISO_LIVE_SNAPSHOT, ISO_LIVE_SIGHT_NONE, true, true},
    {"strict-serializable", ISO_LIVE_SERIAL, ISO_LIVE_SIGHT_NONE, false, true},
};

const iso_live_rule *iso_live_rule_of(const isoproof_level_info *level) {
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    if (strcmp(level->id, rules[i].level) == 0) return &rules[i];
  }
  return NULL;
}

isoproof_status iso_live_track_new(const isoproof_level_info *level, uint64_t horizon, iso_live_track **out,
                                   isoproof_error *error) {
  iso_live_track *track = iso_alloc_zero(1, sizeof *track);
  if (track == NULL) return iso_fail_memory(error);
  track->level = level;
  track->rule = iso_live_rule_of(level);
  track->horizon = horizon;
  track->frozen_start = track->latest_start = INT64_MIN;
  track->verdict = ISOPROOF_SATISFIED;
  *out = track;
  return ISOPROOF_OK;
}

void iso_live_track_free(iso_live_track *track) {
  if (track == NULL) return;
  iso_live_pockets_free(track);
  iso_live_sight_free(track);
  for (size_t i = 0; i < track->entries.count; i++) iso_live_txn_drop(track->entries.items[i].txn);
  iso_live_closure_free(track->closure);
  for (size_t i = 0; i < track->slots.count; i++) {
    iso_live_list *list = track->slots.items[i].list;
    if (list != NULL) iso_vec_free(&list->elements);
    free(list);
  }
  iso_vec_free(&track->entries);
  iso_vec_free(&track->slots);
  iso_vec_free(&track->versions);
  iso_vec_free(&track->free_versions);
  iso_vec_free(&track->order);
  iso_vec_free(&track->lanes);
  iso_vec_free(&track->ends);
  iso_vec_free(&track->work);
  iso_vec_free(&track->writes);
  iso_vec_free(&track->appends);
  free(track->waiters);
  iso_written_free(&track->pendings);
  iso_written_free(&track->detached);
  free(track);
}

static isoproof_status fork_slot(iso_live_track *to, const iso_live_slot *from, isoproof_error *error) {
  iso_live_slot slot = {.has_frozen = from->has_frozen, .frozen = from->frozen};
  if (from->list != NULL) {
    slot.list = iso_alloc_zero(1, sizeof *slot.list);
    if (slot.list == NULL) return iso_fail_memory(error);
    slot.list->frozen = from->list->frozen;
  }
  if (!iso_vec_push(&to->slots, slot)) {
    free(slot.list);
    return iso_fail_memory(error);
  }
  for (uint32_t i = 0; from->list != NULL && i < from->list->frozen; i++) {
    if (!iso_live_append(to, &slot, from->list->elements.items[i])) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

static isoproof_status copy_state(iso_live_track *to, const iso_live_track *from, isoproof_error *error) {
  for (size_t i = 0; i < from->slots.count; i++) ISO_TRY(fork_slot(to, &from->slots.items[i], error));
  for (size_t i = 0; i < from->entries.count; i++) {
    iso_live_entry entry = from->entries.items[i];
    if (entry.where != ISO_LIVE_OUT) entry.where = ISO_LIVE_NEW; /* its place was one in another order */
    entry.tick = 0;
    if (!iso_vec_push(&to->entries, entry)) return iso_fail_memory(error);
    iso_live_txn_keep(entry.txn);
    to->held += entry.txn->bytes;
  }
  for (size_t i = 0; i < from->lanes.count; i++) {
    iso_live_lane lane = {.label = from->floor, .frozen = from->lanes.items[i].frozen};
    if (!iso_vec_push(&to->lanes, lane)) return iso_fail_memory(error);
  }
  to->clock = from->clock;
  to->floor = from->floor;
  to->frozen = from->frozen;
  to->frozen_start = from->frozen_start;
  to->latest_start = from->latest_start;
  to->broken = true; /* the order is another one now */
  to->misfit = from->misfit || from->detached.count > 0;
  return iso_live_sight_reset(to) ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_live_track_fork(const iso_live_track *track, const isoproof_level_info *level, iso_live_track **out,
                                    isoproof_error *error) {
  ISO_TRY(iso_live_track_new(level, track->horizon, out, error));
  isoproof_status status = copy_state(*out, track, error);
  if (status == ISOPROOF_OK) return ISOPROOF_OK;
  iso_live_track_free(*out);
  *out = NULL;
  return status;
}

/* Whether somebody writes what is in the set. */
static bool writes_any(const iso_written *set, const iso_live_txn *t) {
  for (uint32_t i = 0; set->count > 0 && i < t->op_count; i++) {
    const iso_live_op *op = &t->ops[i];
    if (!iso_live_op_observes(op) && iso_written_has(set, op->key, op->value)) return true;
  }
  return false;
}

isoproof_status iso_live_track_take(iso_live_track *track, iso_live_txn *txn, isoproof_error *error) {
  iso_live_entry entry = {.txn = txn, .where = ISO_LIVE_NEW, .session = txn->session, .place = txn->place};
  if (track->lost) return ISOPROOF_OK;
  if (track->entries.count >= UINT32_MAX - 1) return iso_fail(error, ISOPROOF_ERR_LIMIT, "the window is too large");
  if (txn->info.status != ISOPROOF_TXN_COMMITTED) entry.where = ISO_LIVE_OUT;
  if (!iso_vec_push(&track->entries, entry)) return iso_fail_memory(error);
  iso_live_txn_keep(txn);
  track->held += txn->bytes;
  /* Reads that nobody's write explained so far may be explained now. */
  if (writes_any(&track->pendings, txn)) track->broken = true;
  if (writes_any(&track->detached, txn)) track->broken = track->misfit = true;
  if (entry.where == ISO_LIVE_OUT) return ISOPROOF_OK;
  /* Whoever ended before something frozen began has no place on top of it. */
  if (track->rule->real_time && txn->real_end < track->frozen_start) track->broken = track->misfit = true;
  if (!track->broken) return iso_live_place(track, (uint32_t)track->entries.count - 1, error);
  track->fresh++;
  return ISOPROOF_OK;
}

uint64_t iso_live_track_bytes(const iso_live_track *track) {
  uint64_t bytes =
      sizeof *track + track->entries.capacity * sizeof *track->entries.items +
      track->slots.capacity * sizeof *track->slots.items + track->versions.capacity * sizeof *track->versions.items +
      track->lanes.capacity * sizeof *track->lanes.items + track->ends.capacity * sizeof *track->ends.items;
  bytes +=
      track->order.capacity * sizeof *track->order.items + iso_live_pockets_bytes(track) + iso_live_sight_bytes(track);
  bytes += track->list_bytes + track->free_versions.capacity * sizeof *track->free_versions.items;
  if (track->waiters != NULL) bytes += (track->waiter_mask + 1) * sizeof *track->waiters;
  return bytes;
}
