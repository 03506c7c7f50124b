/* Follows levels by carrying transactions out: which of them, and what their tracks say of each that was asked for. */
#include <stdlib.h>

#include "live/carried.h"
#include "live/examine.h"
#include "live/levels.h"
#include "live/plain.h"
#include "live/settle.h"

enum { LEAST_FRESH = 1000 };

/* ---- which transactions ---- */

bool iso_live_can_carry(const isoproof_live *live, const iso_live_txn *txn) {
  const iso_store store = {.names = &live->keys, .pool = &live->pool};
  for (uint32_t i = 0; i < txn->op_count; i++) {
    const iso_live_op *op = &txn->ops[i];
    if (!iso_store_knows(&store, op)) return false;
    if (op->kind == ISOPROOF_OP_WRITE && op->value == 0 && live->initial_is_zero) return false;
  }
  return true;
}

/* ---- which levels ---- */

static iso_carried *track_of(const isoproof_live *live, const isoproof_level_info *level) {
  for (size_t i = 0; i < live->carried.count; i++) {
    if (live->carried.items[i].track->level == level) return live->carried.items[i].track;
  }
  return NULL;
}

/* Whether it can be satisfied, as far as is known; what is violated so far says nothing of weaker levels. */
static bool is_open(const isoproof_live *live, const iso_live_level *level) {
  const iso_carried *track = track_of(live, level->info);
  return !level->final && !level->lost && (live->timed || !level->info->needs_times) &&
         (track == NULL || !track->so_far);
}

static isoproof_status add_track(isoproof_live *live, iso_carried *track, isoproof_error *error) {
  if (iso_vec_push(&live->carried, (iso_live_carrying){track})) return ISOPROOF_OK;
  iso_carried_free(track);
  return iso_fail_memory(error);
}

/* Follows the strongest levels that are open: from where the track of a stronger one is, or from the start. */
static isoproof_status follow_levels(isoproof_live *live, iso_carried *from, isoproof_error *error) {
  for (size_t i = 0; i < live->levels.count; i++) {
    const iso_live_level *level = &live->levels.items[i];
    iso_carried *track;
    if (!is_open(live, level) || iso_live_is_implied(live, level, is_open) || track_of(live, level->info) != NULL)
      continue;
    if (from != NULL)
      ISO_TRY(iso_carried_fork(from, level->info, &track, error));
    else
      ISO_TRY(iso_carried_new(live, level->info, iso_live_first_horizon(live), &track, error));
    ISO_TRY(add_track(live, track, error));
  }
  return ISOPROOF_OK;
}

/* Levels that follow again from a stronger one need no track. */
static void drop_implied(isoproof_live *live) {
  for (size_t i = 0; i < live->levels.count; i++) {
    const iso_live_level *level = &live->levels.items[i];
    iso_carried *track = track_of(live, level->info);
    if (track == NULL || !iso_live_is_implied(live, level, is_open)) continue;
    for (size_t j = 0; j < live->carried.count; j++) {
      if (live->carried.items[j].track == track) live->carried.items[j--] = live->carried.items[--live->carried.count];
    }
    iso_carried_free(track);
  }
}

/* ---- beginning ---- */

/* What was there at the start counts as written. */
static isoproof_status index_initial(isoproof_live *live, isoproof_error *error) {
  for (size_t i = 0; i < live->initial_rows.count; i++) {
    iso_value name, value;
    uint32_t key;
    ISO_TRY(iso_pool_add_i64(&live->pool, live->initial_rows.items[i].key, &name, error));
    ISO_TRY(iso_numbering_add(&live->keys, name, &key, error));
    ISO_TRY(iso_pool_add_i64(&live->pool, live->initial_rows.items[i].value, &value, error));
    iso_live_index_add(&live->index, &live->pool, key, value);
  }
  return ISOPROOF_OK;
}

static isoproof_status take_all(isoproof_live *live, iso_live_txn *txn, isoproof_error *error) {
  for (size_t i = 0; i < live->carried.count; i++) ISO_TRY(iso_carried_take(live->carried.items[i].track, txn, error));
  return ISOPROOF_OK;
}

/* Takes over from tracks of registers: all that they have, or the whole will have to be asked for. */
static isoproof_status take_over(isoproof_live *live, isoproof_error *error) {
  const iso_live_track *all = NULL;
  for (size_t i = 0; i < live->tracks.count; i++) {
    const iso_live_track *track = live->tracks.items[i].track;
    if (track->frozen == 0 && !track->lost) all = track;
  }
  for (size_t i = 0; all != NULL && i < all->entries.count; i++)
    ISO_TRY(take_all(live, all->entries.items[i].txn, error));
  for (size_t i = 0; all == NULL && live->pushed > 0 && i < live->carried.count; i++) {
    iso_carried *track = live->carried.items[i].track;
    track->left = live->pushed;
    track->broken = track->misfit = true;
  }
  for (size_t i = 0; i < live->tracks.count; i++) iso_live_track_free(live->tracks.items[i].track);
  live->tracks.count = 0;
  return ISOPROOF_OK;
}

/* Whether what came so far can be carried out, too. */
static bool can_carry_all(const isoproof_live *live) {
  for (size_t i = 0; i < live->tracks.count; i++) {
    const iso_live_track *track = live->tracks.items[i].track;
    for (size_t j = 0; j < track->entries.count; j++) {
      if (!iso_live_can_carry(live, track->entries.items[j].txn)) return false;
    }
  }
  return true;
}

isoproof_status iso_live_go_carried(isoproof_live *live, isoproof_error *error) {
  if (!can_carry_all(live)) return iso_live_go_plain(live, error);
  live->carries = true;
  ISO_TRY(index_initial(live, error));
  ISO_TRY(follow_levels(live, NULL, error));
  return take_over(live, error);
}

/* ---- verdicts ---- */

/* A track that has come to its end: the levels below its own are followed from where it is. */
static isoproof_status end_track(isoproof_live *live, size_t number, isoproof_error *error) {
  iso_carried *track = live->carried.items[number].track;
  live->carried.items[number] = live->carried.items[--live->carried.count];
  if (track->lost) iso_live_enter_lost(iso_live_level_of(live, track->level), track->verdict, track->reason);
  isoproof_status status = follow_levels(live, track, error);
  iso_carried_free(track);
  return status;
}

/* What is violated so far is recorded, and asked again when somebody comes who might mend it. */
static isoproof_status drop(isoproof_live *live, iso_carried *track, isoproof_error *error) {
  if (track->dropped || live->options.whole == NULL) return ISOPROOF_OK;
  bool mends_all = false;
  const iso_carried_entries *lists[] = {&track->fresh, &track->out};
  for (size_t i = 0; i < 2; i++) {
    for (size_t j = 0; j < lists[i]->count; j++) {
      const iso_live_txn *t = lists[i]->items[j]->txn;
      for (uint32_t k = 0; k < t->op_count; k++) {
        const iso_live_op *op = &t->ops[k];
        if (op->form == ISO_ROW_COUNT)
          mends_all = true;
        else if (op->form == ISO_ROW_PREDICATE)
          mends_all |= iso_predicate_has_values(&t->statements[op->first].predicate);
      }
    }
  }
  iso_row_map pendings = track->pendings;
  track->pendings = (iso_row_map){0};
  isoproof_status status = iso_carried_reset(live, track, error);
  track->pendings = pendings;
  track->so_far = track->dropped = true;
  track->mends_all = mends_all;
  return status;
}

static isoproof_status settle_all(isoproof_live *live, isoproof_error *error) {
  for (size_t i = 0; i < live->carried.count;) {
    iso_carried *track = live->carried.items[i].track;
    bool violated = iso_live_level_of(live, track->level)->final && !track->confirmed, was_so_far = track->so_far;
    if (!violated) ISO_TRY(iso_carried_settle(live, track, &violated, error));
    if (violated || track->lost) {
      ISO_TRY(end_track(live, i, error));
      i = 0;
      continue;
    }
    if (track->so_far && !track->dropped) {
      if (!was_so_far) ISO_TRY(follow_levels(live, track, error));
      ISO_TRY(drop(live, track, error));
    }
    iso_carried_freeze(track, live->pushed);
    i++;
  }
  drop_implied(live);
  return ISOPROOF_OK;
}

/* What the tracks say of a level that is not violated for good: its own, or one from which it follows. */
static void derive(isoproof_live *live, iso_live_level *level) {
  const iso_carried *track = track_of(live, level->info);
  for (size_t i = 0; track == NULL && i < live->carried.count; i++) {
    const iso_carried *other = live->carried.items[i].track;
    if (!other->so_far && isoproof_level_implies(other->level, level->info)) track = other;
  }
  if (track != NULL)
    iso_live_enter_verdict(live, level, track->verdict, track->reason);
  else
    iso_live_enter_verdict(live, level, ISOPROOF_UNDECIDED, "the history has no times");
}

isoproof_status iso_live_carried_examine(isoproof_live *live, isoproof_error *error) {
  ISO_TRY(settle_all(live, error));
  if (live->mended) { /* everything is open again, and stays so to the end */
    live->repeats = true;
    ISO_TRY(iso_live_go_plain(live, error));
    return iso_live_plain_examine(live, error);
  }
  iso_live_derive_all(live, derive);
  live->pending_reads = 0;
  for (size_t i = 0; i < live->carried.count; i++) {
    const iso_carried *track = live->carried.items[i].track;
    uint64_t pending = track->pendings.count + track->waiting.count;
    if (pending > live->pending_reads) live->pending_reads = pending;
  }
  return ISOPROOF_OK;
}

/* ---- arrivals ---- */

bool iso_live_carried_note(isoproof_live *live, iso_live_txn *txn) {
  if (!iso_live_can_carry(live, txn)) return false;
  bool blamed = false;
  for (uint32_t i = 0; i < txn->op_count; i++) {
    const iso_live_op *op = &txn->ops[i];
    if (iso_live_op_observes(op) || op->value == ISO_VALUE_NIL) continue;
    iso_live_note_write(live, txn, op, &blamed);
  }
  return !live->repeats;
}

isoproof_status iso_live_carried_take(isoproof_live *live, iso_live_txn *txn, isoproof_error *error) {
  bool behind = false;
  ISO_TRY(take_all(live, txn, error));
  iso_live_txn_drop(txn); /* the tracks have references of their own */
  for (size_t i = 0; i < live->carried.count; i++) {
    iso_carried *track = live->carried.items[i].track;
    if (track->order.count >= 4 * track->horizon) iso_carried_freeze(track, live->pushed + 1);
    behind |= track->broken && !track->misfit && !track->so_far && track->fresh.count >= LEAST_FRESH &&
              track->fresh.count >= 2 * track->horizon;
  }
  return behind ? settle_all(live, error) : ISOPROOF_OK;
}

/* ---- the end, and figures ---- */

void iso_live_carried_free(isoproof_live *live) {
  for (size_t i = 0; i < live->carried.count; i++) iso_carried_free(live->carried.items[i].track);
  live->carried.count = 0;
}

static int by_session(const void *a, const void *b) {
  const iso_live_txn *x = ((const iso_live_held *)a)->txn, *y = ((const iso_live_held *)b)->txn;
  if (x->session != y->session) return x->session < y->session ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

isoproof_status iso_live_carried_hand_over(isoproof_live *live, isoproof_error *error) {
  const iso_carried *all = NULL;
  for (size_t i = 0; i < live->carried.count; i++) {
    const iso_carried *track = live->carried.items[i].track;
    if (track->left == 0 && !track->lost && !track->dropped) all = track;
  }
  live->lost = all == NULL && live->pushed > 0;
  for (int list = 0; all != NULL && list < 4; list++) {
    const iso_carried_entries *lists[] = {&all->order, &all->waiting, &all->fresh, &all->out};
    for (size_t i = 0; i < lists[list]->count; i++) {
      iso_live_txn *txn = lists[list]->items[i]->txn;
      if (!iso_vec_push(&live->txns, (iso_live_held){txn})) return iso_fail_memory(error);
      iso_live_txn_keep(txn);
    }
  }
  if (live->txns.count > 1) qsort(live->txns.items, live->txns.count, sizeof *live->txns.items, by_session);
  iso_live_carried_free(live);
  live->carries = false;
  return ISOPROOF_OK;
}

void iso_live_carried_shrink(isoproof_live *live, uint64_t least) {
  for (size_t i = 0; i < live->carried.count; i++) {
    iso_carried *track = live->carried.items[i].track;
    if (track->horizon > least) track->horizon /= 2;
    iso_carried_freeze(track, live->pushed);
  }
}

uint64_t iso_live_carried_retained(const isoproof_live *live) {
  uint64_t most = 0;
  for (size_t i = 0; i < live->carried.count; i++) {
    uint64_t retained = iso_carried_retained(live->carried.items[i].track);
    if (most < retained) most = retained;
  }
  return most;
}

uint64_t iso_live_carried_bytes(const isoproof_live *live) {
  uint64_t bytes = 0, most = 0, window;
  for (size_t i = 0; i < live->carried.count; i++) {
    bytes += iso_carried_bytes(live->carried.items[i].track, &window);
    if (most < window) most = window;
  }
  return bytes + most;
}
