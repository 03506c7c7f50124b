/* Puts arrivals where they fit into the order of a track: at its end, with a snapshot as late as what they read allows.
 */
#include "live/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "live/cluster.h"
#include "live/commits.h"
#include "live/order.h"
#include "live/pocket.h"

enum { MOST_ROUNDS = 4 };

/* What is asked of the place of one transaction. */
typedef struct attempt {
  iso_live_track *track;
  const iso_live_txn *txn;
  uint64_t low, high; /* its reads are right after `low` and before `high` */
  bool waits, broken, moved;
  uint32_t wait_key;
  iso_value wait_value;
} attempt;

static void bound(attempt *a, uint64_t low, uint64_t high) {
  if (a->low < low) a->low = low;
  if (a->high > high) a->high = high;
}

static void wait_for(attempt *a, uint32_t key, iso_value value) {
  if (a->waits) return;
  a->waits = true;
  a->wait_key = key;
  a->wait_value = value;
}

/* ---- what reads ask ---- */

/* Somebody reads a version that others overwrote in the order at hand: its writer may as well come after them. */
static bool reorder(attempt *a, const iso_live_slot *slot, uint32_t key, const iso_live_version *version) {
  const iso_live_version *newest = &a->track->versions.items[slot->newest - 1];
  uint64_t last = a->track->rule->kind == ISO_LIVE_COMMITS ? newest->label : newest->last_read;
  if (!iso_live_flip(a->track, key, version, last)) return false;
  a->moved = true; /* other reads may be of what was moved */
  return true;
}

/* What the read saw was committed at a label, and overwritten at another. */
static void see(attempt *a, iso_live_slot *slot, uint64_t label, uint64_t next) {
  slot->outside = true;
  slot->seen_at = label;
  bound(a, label, next);
}

static void look_at_read(attempt *a, iso_live_slot *slot, const iso_live_op *op) {
  uint64_t next = UINT64_MAX;
  for (uint32_t v = slot->newest; v != 0;) {
    const iso_live_version *version = &a->track->versions.items[v - 1];
    if (version->value == op->value) {
      if (next == UINT64_MAX || !reorder(a, slot, op->key, version)) see(a, slot, version->label, next);
      return;
    }
    next = version->label;
    v = version->older;
  }
  if (iso_live_pocket_read(a->track, op->key, op->value))
    see(a, slot, a->track->floor, next);
  else if (op->value == ISO_VALUE_NIL)
    a->broken = true; /* older than what was frozen */
  else
    wait_for(a, op->key, op->value);
}

/* Whether a list ends with what the transaction appended itself; *own: how much that is. */
static bool ends_with_own(const attempt *a, const iso_live_slot *slot, const iso_live_op *op, uint32_t *own) {
  const iso_value *end = a->txn->elements + op->first + op->count;
  *own = 0;
  for (uint32_t at = slot->appended; at != 0; at = a->track->appends.items[at - 1]) {
    if (*own == op->count || end[-1 - (int64_t)*own] != a->txn->ops[at - 1].value) return false;
    ++*own;
  }
  return true;
}

/* Notes an append: those of one key are in a chain, the last one first. */
static bool note_append(iso_live_track *track, iso_live_slot *slot, uint32_t number) {
  while (track->appends.count <= number) {
    if (!iso_vec_push(&track->appends, 0)) return false;
  }
  track->appends.items[number] = slot->appended;
  slot->appended = number + 1;
  return true;
}

/* The version that is as long as the list. */
static void look_at_length(attempt *a, iso_live_slot *slot, uint32_t length) {
  uint64_t next = UINT64_MAX;
  for (uint32_t v = slot->newest; v != 0;) {
    const iso_live_version *version = &a->track->versions.items[v - 1];
    if (version->length == length) {
      see(a, slot, version->label, next);
      return;
    }
    next = version->label;
    v = version->older;
  }
  if (length == (slot->list != NULL ? slot->list->frozen : 0))
    see(a, slot, a->track->floor, next);
  else
    a->broken = true;
}

static void look_at_list(attempt *a, iso_live_slot *slot, const iso_live_op *op) {
  const iso_value *shown = a->txn->elements + op->first;
  uint32_t own;
  if (!ends_with_own(a, slot, op, &own)) {
    a->broken = true;
    return;
  }
  uint32_t base = op->count - own, known = slot->list != NULL ? (uint32_t)slot->list->elements.count : 0;
  uint32_t common = base < known ? base : known;
  /* What it appended is shown right behind this: nobody else's append may come between. */
  bool between = own > 0 && base < known;
  if (between || (common > 0 && memcmp(shown, slot->list->elements.items, common * sizeof *shown) != 0))
    a->broken = true;
  else if (base > known)
    wait_for(a, op->key, shown[base - 1]);
  else
    look_at_length(a, slot, base);
}

static bool look_at_op(attempt *a, const iso_live_op *op, uint32_t number) {
  iso_live_slot *slot = iso_live_slot_of(a->track, op->key);
  if (slot == NULL) return false;
  switch ((isoproof_op_kind)op->kind) {
  case ISOPROOF_OP_APPEND:
    if (!note_append(a->track, slot, number)) return false;
    /* fall through */
  case ISOPROOF_OP_WRITE:
    if (!slot->wrote && !iso_vec_push(&a->track->writes, op->key)) return false;
    slot->wrote = true;
    slot->own = op->value;
    return true;
  case ISOPROOF_OP_READ:
    if (op->value == ISO_VALUE_NONE) return true;
    if (slot->wrote)
      a->broken |= op->value != slot->own;
    else if (slot->saw)
      a->broken |= op->value != slot->seen;
    else
      look_at_read(a, slot, op);
    slot->saw = true;
    slot->seen = op->value;
    return true;
  case ISOPROOF_OP_READ_LIST:
    if (op->value != ISO_VALUE_NONE) look_at_list(a, slot, op);
    return true;
  default:
    a->broken = true;
    return true;
  }
}

/* ---- places ---- */

/* The end of the order. */
static uint64_t next_label(iso_live_track *track) { return track->clock += ISO_LIVE_GAP; }

/* Of what the transaction writes, the versions that are the last ones before `high` are not read after this.  A list
 * shows the order of all appends, so that one can only be the last. */
static uint64_t last_access(const iso_live_track *track, uint64_t high) {
  uint64_t last = 0;
  for (size_t i = 0; i < track->writes.count; i++) {
    const iso_live_slot *slot = &track->slots.items[track->writes.items[i]];
    uint32_t number = slot->newest;
    while (number != 0 && track->versions.items[number - 1].label >= high) {
      number = track->versions.items[number - 1].older;
    }
    if (number != slot->newest && slot->list != NULL) return UINT64_MAX;
    uint64_t label = number != 0 ? track->versions.items[number - 1].last_read : slot->frozen_read;
    if (last < label) last = label;
  }
  return last;
}

static uint64_t last_commit(const iso_live_track *track) {
  uint64_t last = 0;
  for (size_t i = 0; i < track->writes.count; i++) {
    const iso_live_slot *slot = &track->slots.items[track->writes.items[i]];
    uint64_t label = slot->newest != 0 ? track->versions.items[slot->newest - 1].label : 0;
    if (last < label) last = label;
  }
  return last;
}

/* The snapshot of whoever commits one of its keys next, from `high` on: nobody else commits the key after that. */
static uint64_t next_begin(const iso_live_track *track, uint64_t high) {
  uint64_t first = high;
  for (size_t i = 0; i < track->writes.count; i++) {
    const iso_live_slot *slot = &track->slots.items[track->writes.items[i]];
    for (uint32_t v = slot->newest; v != 0; v = track->versions.items[v - 1].older) {
      const iso_live_version *version = &track->versions.items[v - 1];
      uint64_t begin = track->entries.items[version->writer].begin;
      if (version->label < high) break;
      if (begin < first) first = begin;
    }
  }
  return first;
}

/* A snapshot and right behind it the commit, before those who overwrote what was read. */
static bool find_early(attempt *a, iso_live_entry *entry) {
  iso_live_track *track = a->track;
  if (a->high == UINT64_MAX) return false;
  for (uint64_t high = 0; track->rule->exclusive && high != a->high;) {
    high = a->high;
    a->high = next_begin(track, high);
  }
  uint64_t low = last_access(track, a->high);
  if (low < a->low) low = a->low;
  if (low >= a->high || a->high - low < 4) return false;
  entry->commit = low + (a->high - low) / 2;
  entry->begin = entry->commit - 1;
  return true;
}

static bool find_place(attempt *a, uint64_t ceiling, iso_live_entry *entry) {
  iso_live_track *track = a->track;
  if (track->rule->kind == ISO_LIVE_SERIAL) {
    if (a->high > ceiling) a->high = ceiling;
    if (a->high == UINT64_MAX) {
      entry->begin = entry->commit = next_label(track);
      return true;
    }
    bound(a, last_access(track, a->high), UINT64_MAX);
    if (a->low >= a->high || a->high - a->low < 2) return false;
    entry->begin = entry->commit = a->low + (a->high - a->low) / 2;
    return true;
  }
  uint64_t low = track->rule->exclusive ? last_commit(track) : 0;
  if (low < a->low) low = a->low;
  if (ceiling != UINT64_MAX) return false;
  if (low >= a->high && track->rule->kind == ISO_LIVE_SNAPSHOT && a->low < a->high && find_early(a, entry)) return true;
  a->low = low;
  if (a->low >= a->high) return false;
  entry->begin = a->high == UINT64_MAX ? track->clock : a->high - 1;
  entry->commit = next_label(track);
  return true;
}

/* ---- waiting ---- */

static uint64_t pair_of(uint32_t key, iso_value value) { return (uint64_t)key << 32 | value; }

static iso_live_waiter *waiter_place(iso_live_waiter *waiters, size_t mask, uint64_t pair) {
  size_t at = (size_t)iso_hash_u64(pair, 0) & mask;
  while (waiters[at].used && waiters[at].pair != pair) at = (at + 1) & mask;
  return &waiters[at];
}

static bool grow_waiters(iso_live_track *track) {
  size_t room = track->waiters == NULL ? 64 : 2 * (track->waiter_mask + 1), count = 0;
  iso_live_waiter *larger = iso_alloc_zero(room, sizeof *larger);
  if (larger == NULL) return false;
  for (size_t i = 0; track->waiters != NULL && i <= track->waiter_mask; i++) {
    if (track->waiters[i].entry == 0) continue; /* nobody waits for it any more */
    *waiter_place(larger, room - 1, track->waiters[i].pair) = track->waiters[i];
    count++;
  }
  free(track->waiters);
  track->waiters = larger;
  track->waiter_mask = room - 1;
  track->waiter_count = count;
  return true;
}

static bool join_waiters(iso_live_track *track, uint64_t pair, uint32_t at) {
  if ((track->waiters == NULL || 2 * track->waiter_count >= track->waiter_mask) && !grow_waiters(track)) return false;
  iso_live_waiter *waiter = waiter_place(track->waiters, track->waiter_mask, pair);
  if (!waiter->used) *waiter = (iso_live_waiter){.pair = pair, .used = true}, track->waiter_count++;
  track->entries.items[at].next = waiter->entry;
  waiter->entry = at + 1;
  return true;
}

static bool join_lane(iso_live_track *track, iso_live_lane *lane, uint32_t at) {
  track->entries.items[at].next = 0;
  if (lane->last != 0)
    track->entries.items[lane->last - 1].next = at + 1;
  else
    lane->first = at + 1;
  lane->last = at + 1;
  return true;
}

static void set_where(iso_live_track *track, iso_live_entry *entry, iso_live_where where) {
  if (entry->where == ISO_LIVE_WAITING) track->waiting--;
  if (where == ISO_LIVE_WAITING) track->waiting++;
  if (where == ISO_LIVE_PLACED) track->placed++;
  entry->where = (uint8_t)where;
}

/* Whoever waited for what a transaction wrote, and the next of its session, can be tried again. */
static bool wake(iso_live_track *track, const iso_live_entry *entry) {
  for (size_t i = 0; track->waiter_count > 0 && i < track->writes.count; i++) {
    uint32_t key = track->writes.items[i];
    iso_live_waiter *waiter =
        waiter_place(track->waiters, track->waiter_mask, pair_of(key, track->slots.items[key].own));
    for (uint32_t at = waiter->used ? waiter->entry : 0; at != 0; at = track->entries.items[at - 1].next) {
      if (!iso_vec_push(&track->work, at - 1)) return false;
    }
    if (waiter->used) waiter->entry = 0;
  }
  iso_live_lane *lane = &track->lanes.items[entry->txn->session];
  lane->waits = lane->first != 0;
  if (lane->first == 0) return true;
  uint32_t first = lane->first;
  lane->first = track->entries.items[first - 1].next;
  if (lane->first == 0) lane->last = 0;
  return iso_vec_push(&track->work, first - 1);
}

/* ---- one at a time ---- */

static bool look(attempt *a) {
  for (unsigned round = 0; round == 0 || a->moved; round++) {
    *a = (attempt){.track = a->track, .txn = a->txn, .low = a->track->floor, .high = UINT64_MAX};
    a->broken = round > a->txn->op_count;
    a->track->stamp++;
    a->track->writes.count = 0;
    for (uint32_t i = 0; i < a->txn->op_count && !a->broken; i++) {
      if (!look_at_op(a, &a->txn->ops[i], i)) return false;
    }
  }
  return true;
}

/* Looks for a place, and makes room where there is none: what is in the way moves behind those that come before. */
static bool find(attempt *a, const iso_live_lane *lane, iso_live_entry *entry, bool *found) {
  const iso_live_track *track = a->track;
  *found = false;
  for (uint32_t round = 0; round <= MOST_ROUNDS; round++) {
    if (!look(a)) return false;
    if (a->broken || a->waits) return true;
    bound(a, lane->label, UINT64_MAX);
    uint64_t ceiling = UINT64_MAX;
    if (track->rule->real_time) {
      bound(a, iso_live_real_time_floor(track, a->txn), UINT64_MAX);
      ceiling = iso_live_real_time_ceiling(track, a->txn);
    }
    *found = find_place(a, ceiling, entry);
    if (*found || ceiling != UINT64_MAX) return true;
    if (round == MOST_ROUNDS || !iso_live_make_room(a->track, a->txn, a->low, a->high)) return true;
  }
  return true;
}

/* The same in a commit order. */
static bool find_by_sight(attempt *a, uint32_t at, bool *found) {
  iso_live_sight sight;
  iso_live_entry *entry = &a->track->entries.items[at];
  if (!iso_live_sight_look(a->track, at, &sight)) return false;
  a->broken = sight.broken;
  if (sight.waits) wait_for(a, sight.wait_key, sight.wait_value);
  *found = !sight.broken && !sight.waits;
  if (*found) entry->begin = entry->commit = next_label(a->track);
  return true;
}

static isoproof_status place_one(iso_live_track *track, uint32_t at, isoproof_error *error) {
  iso_live_entry *entry = &track->entries.items[at];
  attempt a = {.track = track, .txn = entry->txn};
  iso_live_lane *lane = iso_live_lane_of(track, entry->txn->session);
  bool found = false, commits = track->rule->kind == ISO_LIVE_COMMITS;
  bool by_sight = commits && iso_live_sight_applies(track, entry->txn);
  if (lane == NULL || !(by_sight ? find_by_sight(&a, at, &found) : find(&a, lane, entry, &found)))
    return iso_fail_memory(error);
  if (!a.broken && a.waits) {
    set_where(track, entry, ISO_LIVE_WAITING);
    lane->waits = true;
    return join_waiters(track, pair_of(a.wait_key, a.wait_value), at) ? ISOPROOF_OK : iso_fail_memory(error);
  }
  if (!found) {
    if (entry->where == ISO_LIVE_WAITING) track->waiting--;
    entry->where = ISO_LIVE_NEW;
    track->fresh++;
    track->broken = true;
    return ISOPROOF_OK;
  }
  set_where(track, entry, ISO_LIVE_PLACED);
  lane->label = entry->commit;
  if (!iso_live_order_add(track, at) || (commits && !iso_live_sight_commit(track, at, by_sight)))
    return iso_fail_memory(error);
  if (track->rule->real_time && !iso_live_note_end(track, entry)) return iso_fail_memory(error);
  ISO_TRY(iso_live_track_apply(track, at, error));
  return wake(track, entry) ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_live_place(iso_live_track *track, uint32_t at, isoproof_error *error) {
  iso_live_lane *lane = iso_live_lane_of(track, track->entries.items[at].txn->session);
  if (lane == NULL) return iso_fail_memory(error);
  if (lane->waits) {
    set_where(track, &track->entries.items[at], ISO_LIVE_WAITING);
    return join_lane(track, lane, at) ? ISOPROOF_OK : iso_fail_memory(error);
  }
  ISO_TRY(place_one(track, at, error));
  while (track->work.count > 0 && !track->broken) {
    ISO_TRY(place_one(track, track->work.items[--track->work.count], error));
  }
  track->work.count = 0;
  return ISOPROOF_OK;
}
