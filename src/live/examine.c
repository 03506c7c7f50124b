/* Which levels are followed, and what their tracks say of each level that was asked for. */
#include "live/examine.h"

#include <stdlib.h>

#include "live/levels.h"
#include "live/plain.h"
#include "live/saved.h"
#include "live/settle.h"

/* Where nobody says how many transactions stay: enough that what ends while a batch is under way still finds its place,
 * little enough that a check of the window takes milliseconds; it grows when the whole history had to be asked for.
 * Where nothing is recorded, nobody can be asked, and more stays from the start. */
enum { RECORDED_HORIZON = 2000, UNRECORDED_HORIZON = 50000, LEAST_HORIZON = 100, LEAST_FRESH = 1000 };

/* ---- which levels are followed ---- */

/* A level that needs times is unknown as long as there are none. */
static bool is_decidable(const isoproof_live *live, const iso_live_level *level) {
  return !level->final && !level->lost && (live->timed || !level->info->needs_times);
}

static iso_live_track *track_of(const isoproof_live *live, const isoproof_level_info *level) {
  for (size_t i = 0; i < live->tracks.count; i++) {
    if (live->tracks.items[i].track->level == level) return live->tracks.items[i].track;
  }
  return NULL;
}

uint64_t iso_live_first_horizon(const isoproof_live *live) {
  if (live->options.horizon != 0) return live->options.horizon;
  return live->options.whole != NULL ? RECORDED_HORIZON : UNRECORDED_HORIZON;
}

/* Follows a level: from where the track of a stronger one is, or from the start. */
static isoproof_status follow(isoproof_live *live, const isoproof_level_info *level, const iso_live_track *from,
                              isoproof_error *error) {
  iso_live_track *track;
  if (from != NULL)
    ISO_TRY(iso_live_track_fork(from, level, &track, error));
  else
    ISO_TRY(iso_live_track_new(level, iso_live_first_horizon(live), &track, error));
  /* Room for the keys of the first batch at once: what grows in steps is in small pages. */
  bool made = track->slots.count > 0 || iso_vec_reserve(&track->slots, live->keys.count);
  if (made && iso_vec_push(&live->tracks, (iso_live_followed){track})) return ISOPROOF_OK;
  iso_live_track_free(track);
  return iso_fail_memory(error);
}

static isoproof_status follow_levels(isoproof_live *live, const iso_live_track *from, isoproof_error *error) {
  for (size_t i = 0; i < live->levels.count; i++) {
    const iso_live_level *level = &live->levels.items[i];
    if (!is_decidable(live, level) || iso_live_is_implied(live, level, is_decidable) ||
        track_of(live, level->info) != NULL)
      continue;
    ISO_TRY(follow(live, level->info, from, error));
  }
  return ISOPROOF_OK;
}

/* Levels that can only be checked as a whole. */
static bool asks_for_more(const isoproof_live *live) {
  for (size_t i = 0; i < live->levels.count; i++) {
    if (iso_live_rule_of(live->levels.items[i].info) == NULL) return true;
  }
  return false;
}

static isoproof_status start(isoproof_live *live, isoproof_error *error) {
  if (live->followed || live->plain) return ISOPROOF_OK;
  live->followed = true;
  live->plain = asks_for_more(live);
  return live->plain ? ISOPROOF_OK : follow_levels(live, NULL, error);
}

/* ---- taking ---- */

/* What only a check of the whole understands. */
static bool is_strange(const isoproof_live *live, const iso_live_op *op) {
  switch ((isoproof_op_kind)op->kind) {
  case ISOPROOF_OP_READ:
    return op->form != ISO_ROW_NONE;
  case ISOPROOF_OP_WRITE:
    return op->form != ISO_ROW_NONE || op->value == ISO_VALUE_NIL || op->value == ISO_VALUE_NONE ||
           (op->value == 0 && live->initial_is_zero);
  case ISOPROOF_OP_READ_LIST:
    return false;
  case ISOPROOF_OP_APPEND:
    return op->value == ISO_VALUE_NIL || op->value == ISO_VALUE_NONE;
  default:
    return true;
  }
}

bool iso_live_note_write(isoproof_live *live, iso_live_txn *txn, const iso_live_op *op, bool *blamed) {
  if (!iso_live_index_add(&live->index, &live->pool, op->key, op->value)) return false;
  txn->repeats = true;
  if (live->blamed.count > 0 && iso_written_has(&live->blamed, op->key, op->value)) *blamed = live->repeats = true;
  return true;
}

static bool appends(const iso_live_txn *t, uint32_t count, const iso_live_op *what) {
  for (uint32_t i = 0; i < count; i++) {
    const iso_live_op *op = &t->ops[i];
    if (op->kind == ISOPROOF_OP_APPEND && op->key == what->key && op->value == what->value) return true;
  }
  return false;
}

/* Whether an append is for sure one of an element that was appended before: such a history is refused as a whole.  The
 * elements of lists are all there, and so are those that were appended without effect; who took effect, but has no
 * place in an order so far, is in memory. */
static bool is_repeated_append(const isoproof_live *live, const iso_live_txn *txn, uint32_t number) {
  const iso_live_op *op = &txn->ops[number];
  if (appends(txn, number, op) || iso_written_has(&live->undone, op->key, op->value)) return true;
  for (size_t i = 0; i < live->tracks.count; i++) {
    const iso_live_track *track = live->tracks.items[i].track;
    const iso_live_list *list = op->key < track->slots.count ? track->slots.items[op->key].list : NULL;
    for (size_t j = 0; list != NULL && j < list->elements.count; j++) {
      if (list->elements.items[j] == op->value) return true;
    }
    for (size_t j = 0; j < track->entries.count; j++) {
      const iso_live_entry *entry = &track->entries.items[j];
      if (entry->where != ISO_LIVE_PLACED && appends(entry->txn, entry->txn->op_count, op)) return true;
    }
  }
  return false;
}

/* Notes what a transaction writes; *strange: it has to be judged as part of the whole.  False when memory is out. */
static bool note(isoproof_live *live, iso_live_txn *txn, bool *strange) {
  bool undone = txn->info.status != ISOPROOF_TXN_COMMITTED;
  *strange = live->has_rows;
  for (uint32_t i = 0; i < txn->op_count; i++) {
    const iso_live_op *op = &txn->ops[i];
    live->has_rows |= op->form != ISO_ROW_NONE;
    *strange |= is_strange(live, op);
    if (*strange || iso_live_op_observes(op)) continue;
    bool repeated = iso_live_note_write(live, txn, op, strange);
    if (op->kind != ISOPROOF_OP_APPEND) continue;
    if (repeated) *strange |= is_repeated_append(live, txn, i);
    if (undone && !iso_written_add(&live->undone, op->key, op->value, NULL)) return false;
  }
  return true;
}

/* Whether the moments of a transaction are of another kind than those before. */
static bool changes_times(isoproof_live *live, const iso_live_txn *txn) {
  bool timed = txn->real_start != INT64_MIN;
  bool indexed = txn->info.start_index >= 0 || txn->info.end_index >= 0;
  if (live->pushed == 0) live->timed = timed, live->indexed = indexed;
  return (timed && !live->timed) || indexed != live->indexed;
}

/* Freezes between polls, so that the window stays in the cache.  What cannot be frozen now is not tried again at every
 * arrival. */
static isoproof_status freeze_in_time(iso_live_track *track, uint64_t pushed, isoproof_error *error) {
  uint64_t most = 2 * track->horizon;
  if (track->placed < most + track->postponed) return ISOPROOF_OK;
  ISO_TRY(iso_live_track_freeze(track, pushed, error));
  track->postponed = track->placed >= most ? track->placed - most + track->horizon / 4 + 1 : 0;
  return ISOPROOF_OK;
}

/* Follows the levels by their tracks. */
static isoproof_status take_on_tracks(isoproof_live *live, iso_live_txn *txn, isoproof_error *error) {
  bool behind = false;
  for (size_t i = 0; i < live->tracks.count; i++) {
    iso_live_track *track = live->tracks.items[i].track;
    ISO_TRY(iso_live_track_take(track, txn, error));
    if (track->broken) ISO_TRY(iso_live_settle_early(live, track, error));
    ISO_TRY(freeze_in_time(track, live->pushed + 1, error));
    behind |= track->broken && !track->misfit && track->fresh >= 2 * track->horizon && track->fresh >= LEAST_FRESH;
  }
  return behind ? iso_live_settle_all(live, error) : ISOPROOF_OK;
}

isoproof_status iso_live_take(isoproof_live *live, iso_live_txn *txn, isoproof_error *error) {
  bool strange = changes_times(live, txn), odd = false;
  ISO_TRY(start(live, error));
  if (!live->plain && !live->carries) {
    if (!note(live, txn, &odd)) return iso_fail_memory(error);
    if (odd && !strange && !live->repeats && iso_live_can_carry(live, txn)) ISO_TRY(iso_live_go_carried(live, error));
  }
  if (live->carries) odd = !iso_live_carried_note(live, txn);
  if (!live->plain && (strange || odd)) ISO_TRY(iso_live_go_plain(live, error));
  if (live->plain) return iso_live_plain_take(live, txn, error);
  if (live->carries) return iso_live_carried_take(live, txn, error);
  ISO_TRY(take_on_tracks(live, txn, error));
  iso_live_txn_drop(txn); /* the tracks have references of their own */
  return ISOPROOF_OK;
}

/* ---- examining ---- */

/* A track that has come to its end: the levels below its own are followed from where it is. */
static isoproof_status end_track(isoproof_live *live, size_t number, isoproof_error *error) {
  iso_live_track *track = live->tracks.items[number].track;
  live->tracks.items[number] = live->tracks.items[--live->tracks.count];
  if (track->lost) iso_live_enter_lost(iso_live_level_of(live, track->level), track->verdict, track->reason);
  isoproof_status status = follow_levels(live, track, error);
  iso_live_track_free(track);
  return status;
}

isoproof_status iso_live_settle_all(isoproof_live *live, isoproof_error *error) {
  for (size_t i = 0; i < live->tracks.count;) {
    iso_live_track *track = live->tracks.items[i].track;
    bool violated = iso_live_level_of(live, track->level)->final;
    if (!violated) ISO_TRY(iso_live_settle(live, track, &violated, error));
    if (violated || track->lost) {
      ISO_TRY(end_track(live, i, error));
      i = 0;
      continue;
    }
    ISO_TRY(iso_live_track_freeze(track, live->pushed, error));
    i++;
  }
  return ISOPROOF_OK;
}

/* What the tracks say of a level that is not violated for good. */
static void derive(isoproof_live *live, iso_live_level *level) {
  for (size_t i = 0; i < live->tracks.count; i++) {
    const iso_live_track *track = live->tracks.items[i].track;
    if (!isoproof_level_implies(track->level, level->info)) continue;
    iso_live_enter_verdict(live, level, track->verdict, track->reason);
    return;
  }
  iso_live_enter_verdict(live, level, ISOPROOF_UNDECIDED, "the history has no times");
}

/* Keeps to the memory that is allowed: first the index goes, then the window becomes smaller. */
static isoproof_status keep_to_limit(isoproof_live *live, isoproof_error *error) {
  uint64_t limit = live->options.memory_limit;
  if (limit == 0) return ISOPROOF_OK;
  live->tight = iso_live_bytes(live) > limit / 2;
  if (iso_live_bytes(live) <= limit) return ISOPROOF_OK;
  iso_live_index_give_up(&live->index);
  for (unsigned round = 0; round < 32 && iso_live_bytes(live) > limit; round++) {
    for (size_t i = 0; i < live->tracks.count; i++) {
      iso_live_track *track = live->tracks.items[i].track;
      if (track->horizon > LEAST_HORIZON) track->horizon /= 2;
      ISO_TRY(iso_live_track_freeze(track, live->pushed, error));
    }
    iso_live_carried_shrink(live, LEAST_HORIZON);
  }
  if (iso_live_bytes(live) > limit) ISO_TRY(iso_live_renew(live, true, error));
  if (iso_live_bytes(live) <= limit) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_MEMORY, "the live check needs more than the %llu MB that it may use",
                  (unsigned long long)(limit >> 20));
}

/* What the tracks say of all levels. */
static void derive_all(isoproof_live *live) {
  iso_live_derive_all(live, derive);
  live->pending_reads = 0;
  for (size_t i = 0; i < live->tracks.count; i++) {
    const iso_live_track *track = live->tracks.items[i].track;
    uint64_t pending = track->pendings.count + track->detached.count + track->waiting;
    if (pending > live->pending_reads) live->pending_reads = pending;
  }
}

isoproof_status iso_live_examine(isoproof_live *live, isoproof_error *error) {
  ISO_TRY(start(live, error));
  isoproof_status (*examine)(isoproof_live *, isoproof_error *) = iso_live_settle_all;
  if (live->plain) examine = iso_live_plain_examine;
  if (live->carries) examine = iso_live_carried_examine;
  isoproof_status status = examine(live, error);
  isoproof_history_free(live->whole);
  live->whole = NULL;
  ISO_TRY(status);
  if (!live->plain && !live->carries) derive_all(live);
  ISO_TRY(keep_to_limit(live, error));
  return iso_live_renew(live, false, error);
}

/* ---- figures ---- */

uint64_t iso_live_retained(const isoproof_live *live) {
  uint64_t most = live->carries ? iso_live_carried_retained(live) : live->txns.count;
  for (size_t i = 0; i < live->tracks.count; i++) {
    if (live->tracks.items[i].track->entries.count > most) most = live->tracks.items[i].track->entries.count;
  }
  return most;
}

static uint64_t numbering_bytes(const iso_numbering *n) {
  return (n->direct_count + n->interned_count + (n->slots != NULL ? n->slot_mask + 1 : 0)) * sizeof *n->direct +
         n->capacity * sizeof *n->names;
}

uint64_t iso_live_bytes(const isoproof_live *live) {
  uint64_t bytes = live->index.bytes + live->txns.capacity * sizeof *live->txns.items +
                   live->pool.capacity * sizeof *live->pool.entries + live->pool.text_capacity,
           window = 0;
  bytes += numbering_bytes(&live->keys) + numbering_bytes(&live->sessions);
  if (live->undone.slots != NULL) bytes += (live->undone.mask + 1) * sizeof *live->undone.slots;
  if (live->carries) bytes += iso_live_carried_bytes(live);
  for (size_t i = 0; i < live->txns.count; i++) bytes += live->txns.items[i].txn->bytes;
  for (size_t i = 0; i < live->tracks.count; i++) {
    const iso_live_track *track = live->tracks.items[i].track;
    if (window < track->held) window = track->held;
    bytes += iso_live_track_bytes(track);
  }
  return bytes + window;
}
