/* Moves a transaction behind others that wrote the same key, or before them, where nobody in between minds: of two
 * writers that nobody has read from yet, either may be the last.  What is moved takes its snapshot where it commits. */
#include "live/track.h"

/* The last commit of those who ended before the transaction began. */
uint64_t iso_live_real_time_floor(const iso_live_track *track, const iso_live_txn *t) {
  size_t low = 0, high = track->ends.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (track->ends.items[middle].end < t->real_start)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 ? track->ends.items[low - 1].label : 0;
}

/* The first place of those who began after the transaction ended: nobody, where ends come in order and nobody waits. */
uint64_t iso_live_real_time_ceiling(const iso_live_track *track, const iso_live_txn *t) {
  uint64_t ceiling = UINT64_MAX;
  if (t->real_end >= track->latest_start) return ceiling;
  for (size_t i = 0; i < track->entries.count; i++) {
    const iso_live_entry *entry = &track->entries.items[i];
    if (entry->where != ISO_LIVE_PLACED || entry->txn->real_start <= t->real_end || entry->txn == t) continue;
    if (ceiling > entry->begin) ceiling = entry->begin;
  }
  return ceiling;
}

/* The version of a key that an entry wrote; NULL where it is none of the window. */
static iso_live_version *own_version(const iso_live_track *track, const iso_live_entry *entry, uint32_t key) {
  for (uint32_t v = track->slots.items[key].newest; v != 0; v = track->versions.items[v - 1].older) {
    if (track->versions.items[v - 1].label == entry->commit) return &track->versions.items[v - 1];
  }
  return NULL;
}

/* Where an entry reads. */
static uint64_t reads_at(const iso_live_track *track, const iso_live_entry *entry) {
  return track->rule->kind == ISO_LIVE_SERIAL ? entry->commit : entry->begin + 1;
}

/* Whether somebody else's version of the key was committed from `from` on, but not after the label. */
static bool is_overwritten(const iso_live_track *track, const iso_live_entry *entry, uint32_t key, uint64_t from,
                           uint64_t label) {
  for (uint32_t v = track->slots.items[key].newest; v != 0; v = track->versions.items[v - 1].older) {
    uint64_t other = track->versions.items[v - 1].label;
    if (other < from) return false;
    if (other <= label && other != entry->commit) return true;
  }
  return false;
}

static bool minds_op(const iso_live_track *track, const iso_live_entry *entry, const iso_live_op *op, uint32_t key,
                     uint64_t label) {
  if (iso_live_op_observes(op)) return is_overwritten(track, entry, op->key, reads_at(track, entry), label);
  const iso_live_version *own = own_version(track, entry, op->key);
  if (own == NULL || own->last_read > own->label || track->slots.items[op->key].list != NULL) return true;
  /* Whoever overwrote it later may have begun before the new place. */
  uint64_t end = track->rule->exclusive ? UINT64_MAX : label;
  return op->key != key && is_overwritten(track, entry, op->key, entry->commit, end);
}

/* The next transaction of its session must come later still. */
static bool session_minds(const iso_live_track *track, const iso_live_entry *entry, uint64_t label) {
  if (track->lanes.items[entry->txn->session].label <= entry->commit) return false;
  const iso_live_entry *end = track->entries.items + track->entries.count;
  for (const iso_live_entry *next = entry + 1; next < end; next++) {
    if (next->txn->session == entry->txn->session && next->where == ISO_LIVE_PLACED) return next->begin <= label;
  }
  return true;
}

/* ---- later ---- */

bool iso_live_can_postpone(const iso_live_track *track, const iso_live_entry *entry, uint32_t key, uint64_t after) {
  uint64_t label = after + 1;
  if (entry->where != ISO_LIVE_PLACED || entry->straddles || session_minds(track, entry, label)) return false;
  for (uint32_t i = 0; i < entry->txn->op_count; i++) {
    if (minds_op(track, entry, &entry->txn->ops[i], key, label)) return false;
  }
  return !track->rule->real_time || iso_live_real_time_ceiling(track, entry->txn) > label;
}

/* ---- earlier ---- */

/* The version before the one that the entry wrote, or before the entry; NULL where it is frozen. */
static const iso_live_version *version_before(const iso_live_track *track, uint32_t key, uint64_t label) {
  uint32_t v = track->slots.items[key].newest;
  while (v != 0 && track->versions.items[v - 1].label >= label) v = track->versions.items[v - 1].older;
  return v != 0 ? &track->versions.items[v - 1] : NULL;
}

/* The last place that the operation has to come after. */
static uint64_t floor_of_op(const iso_live_track *track, const iso_live_entry *entry, const iso_live_op *op,
                            uint32_t key, uint64_t before) {
  const iso_live_slot *slot = &track->slots.items[op->key];
  if (iso_live_op_observes(op)) {
    const iso_live_version *seen = version_before(track, op->key, reads_at(track, entry));
    return seen != NULL ? seen->label : 0;
  }
  const iso_live_version *own = own_version(track, entry, op->key);
  if (own == NULL || own->last_read > own->label || slot->list != NULL) return UINT64_MAX;
  const iso_live_version *older = version_before(track, op->key, op->key == key ? before : entry->commit);
  return older != NULL ? older->last_read : slot->frozen_read;
}

/* The transaction before it in its session; 0 where that is frozen. */
static uint64_t session_floor(const iso_live_track *track, const iso_live_entry *entry) {
  for (const iso_live_entry *last = entry; last-- > track->entries.items;) {
    if (last->txn->session == entry->txn->session && last->where == ISO_LIVE_PLACED) return last->commit;
  }
  return 0;
}

bool iso_live_can_prepone(const iso_live_track *track, const iso_live_entry *entry, uint32_t key, uint64_t before,
                          uint64_t *label) {
  if (entry->where != ISO_LIVE_PLACED || entry->straddles || entry->commit <= before) return false;
  uint64_t low = session_floor(track, entry);
  if (low < track->floor) low = track->floor;
  if (track->rule->real_time) {
    uint64_t ended = iso_live_real_time_floor(track, entry->txn);
    if (low < ended) low = ended;
  }
  for (uint32_t i = 0; i < entry->txn->op_count; i++) {
    uint64_t floor = floor_of_op(track, entry, &entry->txn->ops[i], key, before);
    if (low < floor) low = floor;
  }
  if (low >= before || before - low < 2) return false;
  *label = low + (before - low) / 2;
  return true;
}

/* ---- moving ---- */

/* Takes the version out of its chain and puts it where its new label belongs. */
static void move_version(iso_live_track *track, iso_live_slot *slot, uint64_t from, uint64_t to) {
  uint32_t *link = &slot->newest;
  while (*link != 0 && track->versions.items[*link - 1].label != from) link = &track->versions.items[*link - 1].older;
  uint32_t moved = *link;
  if (moved == 0) return; /* moved already, for an earlier write of the key */
  *link = track->versions.items[moved - 1].older;
  link = &slot->newest;
  while (*link != 0 && track->versions.items[*link - 1].label > to) link = &track->versions.items[*link - 1].older;
  iso_live_version *version = &track->versions.items[moved - 1];
  if (version->last_read == version->label || version->last_read < to) version->last_read = to;
  version->label = to;
  version->older = *link;
  *link = moved;
}

void iso_live_move(iso_live_track *track, iso_live_entry *entry, uint64_t label) {
  uint64_t before = entry->commit;
  for (uint32_t i = 0; i < entry->txn->op_count; i++) {
    const iso_live_op *op = &entry->txn->ops[i];
    iso_live_slot *slot = &track->slots.items[op->key];
    if (iso_live_op_observes(op))
      iso_live_note_read(track, slot, label);
    else
      move_version(track, slot, before, label);
  }
  entry->begin = track->rule->kind == ISO_LIVE_SERIAL ? label : label - 1;
  entry->commit = label;
  iso_live_lane *lane = &track->lanes.items[entry->txn->session];
  if (lane->label < label) lane->label = label;
  if (track->clock < label) track->clock = label;
  for (size_t i = track->ends.count; i-- > 0 && track->ends.items[i].end >= entry->txn->real_end;) {
    if (track->ends.items[i].label < label) track->ends.items[i].label = label;
  }
}
