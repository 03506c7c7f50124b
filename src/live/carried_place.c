/* Carries arrivals out where they fit: at the end of the order, or some places before it. */
#include <string.h>

#include "live/carried.h"

/* How many places are tried before the end; how many may wait, how long, and how far back they look when they are tried
 * again. */
enum { PASSED_MOST = 256, WAITING_MOST = 128, WAITING_LONGEST = 1000, PASSED_AGAIN = 16 };

/* ---- one place after the other ---- */

/* Whether an entry may come before another one that is placed. */
static bool may_pass(const iso_carried *track, const iso_live_txn *txn, const iso_live_txn *other) {
  if (other->session == txn->session) return false;
  if (track->rule->real_time && other->real_end < txn->real_start) return false;
  return !track->rule->exclusive || !iso_txns_overwrite(txn, other);
}

/* Takes back one after the other until the entry fits; *passed says how many. */
static isoproof_status go_back(iso_carried *track, iso_carried_entry *entry, size_t most, size_t *passed, bool *fits,
                               isoproof_error *error) {
  iso_store *store = &track->store;
  bool failed = false, serial = track->rule->kind == ISO_LIVE_SERIAL;
  const iso_row_map *ignored = entry->pending ? &track->pendings : NULL;
  *fits = false;
  *passed = 0;
  /* Somebody who is placed began after it had ended. */
  if (track->rule->real_time && entry->txn->real_end < track->latest_start) return ISOPROOF_OK;
  for (;;) {
    *fits = iso_store_fits(store, entry->txn, ignored, &entry->want, &failed);
    if (failed) return iso_fail_memory(error);
    if (*fits || *passed == most || *passed == track->order.count) return ISOPROOF_OK;
    iso_carried_entry *last = track->order.items[track->order.count - 1 - *passed];
    if (!may_pass(track, entry->txn, last->txn)) return ISOPROOF_OK;
    if (!iso_store_revert(store, &last->undo)) return iso_fail_memory(error);
    ++*passed;
    /* What it writes is there for whoever it is moved before, unless it only reads there. */
    if (serial && iso_store_disturbs(store, entry->txn, last->txn)) return ISOPROOF_OK;
  }
}

static isoproof_status go_on(iso_carried *track, size_t passed, isoproof_error *error) {
  for (size_t i = track->order.count - passed; i < track->order.count; i++) {
    iso_carried_entry *entry = track->order.items[i];
    if (!iso_store_apply(&track->store, entry->txn, &entry->undo)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

static isoproof_status insert(iso_carried *track, iso_carried_entry *entry, size_t passed, isoproof_error *error) {
  if (!iso_vec_push(&track->order, entry)) return iso_fail_memory(error);
  size_t at = track->order.count - 1 - passed;
  memmove(track->order.items + at + 1, track->order.items + at, passed * sizeof(iso_carried_entry *));
  track->order.items[at] = entry;
  entry->placed = true;
  track->thin_air += entry->pending;
  if (track->latest_start < entry->txn->real_start) track->latest_start = entry->txn->real_start;
  while (entry->txn->session >= track->frozen.count) {
    if (!iso_vec_push(&track->frozen, 0)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_carried_put(iso_carried *track, iso_carried_entry *entry, isoproof_error *error) {
  entry->begin = UINT64_MAX;
  if (!iso_store_apply(&track->store, entry->txn, &entry->undo)) return iso_fail_memory(error);
  return insert(track, entry, 0, error);
}

isoproof_status iso_carried_try(iso_carried *track, iso_carried_entry *entry, size_t most, bool *placed,
                                isoproof_error *error) {
  size_t passed;
  ISO_TRY(go_back(track, entry, most, &passed, placed, error));
  if (!*placed) return go_on(track, passed, error);
  if (track->rule->kind == ISO_LIVE_SERIAL) { /* it takes effect here */
    entry->begin = UINT64_MAX;
    if (!iso_store_apply(&track->store, entry->txn, &entry->undo)) return iso_fail_memory(error);
    ISO_TRY(go_on(track, passed, error));
    return insert(track, entry, passed, error);
  }
  ISO_TRY(go_on(track, passed, error)); /* it reads here, and commits at the end */
  uint64_t begin = track->gone + track->order.count - passed;
  ISO_TRY(iso_carried_put(track, entry, error));
  entry->begin = begin;
  return ISOPROOF_OK;
}

/* ---- waiting ---- */

/* Whether an entry of the same session waits, before entry number `before`. */
static bool session_waits(const iso_carried *track, uint32_t session, size_t before) {
  for (size_t i = 0; i < before; i++) {
    if (track->waiting.items[i]->txn->session == session) return true;
  }
  return false;
}

/* Whether what an entry waits for may be there now. */
static bool may_go_on(const iso_carried *track, size_t number) {
  const iso_carried_entry *entry = track->waiting.items[number];
  if (session_waits(track, entry->txn->session, number)) return false;
  if (!entry->want.known) return true;
  const iso_row_node *row = iso_row_map_find(&track->store.rows, entry->want.key, 0);
  return row != NULL && row->value == entry->want.value;
}

/* Somebody took effect: whoever waits is tried again. */
static isoproof_status wake(iso_carried *track, isoproof_error *error) {
  for (size_t i = 0; i < track->waiting.count;) {
    bool placed = false;
    if (may_go_on(track, i)) ISO_TRY(iso_carried_try(track, track->waiting.items[i], PASSED_AGAIN, &placed, error));
    if (!placed) {
      i++;
      continue;
    }
    track->waiting.count--;
    memmove(track->waiting.items + i, track->waiting.items + i + 1,
            (track->waiting.count - i) * sizeof(iso_carried_entry *));
    i = 0;
  }
  return ISOPROOF_OK;
}

/* ---- arrivals ---- */

static isoproof_status place(iso_carried *track, iso_carried_entry *entry, isoproof_error *error) {
  bool placed = false;
  if (!session_waits(track, entry->txn->session, track->waiting.count))
    ISO_TRY(iso_carried_try(track, entry, PASSED_MOST, &placed, error));
  if (placed) {
    if (track->waiting.count > 0) ISO_TRY(wake(track, error));
  } else {
    entry->since = track->arrived;
    if (!iso_vec_push(&track->waiting, entry)) return iso_fail_memory(error);
  }
  if (track->waiting.count == 0) return ISOPROOF_OK;
  track->broken |=
      track->waiting.count > WAITING_MOST || track->arrived - track->waiting.items[0]->since > WAITING_LONGEST;
  return ISOPROOF_OK;
}

static bool writes_pending(const iso_carried *track, const iso_live_txn *txn) {
  for (uint32_t i = 0; track->pendings.count > 0 && i < txn->op_count; i++) {
    const iso_live_op *op = &txn->ops[i];
    if (iso_live_op_observes(op) || op->value == ISO_VALUE_NIL) continue;
    int64_t key = iso_store_key(&track->store, op), value = iso_store_value(&track->store, op);
    if (iso_row_map_find(&track->pendings, key, value) != NULL) return true;
  }
  return false;
}

/* Whether a transaction might explain what is violated so far: by a version that there was not, and that a read may
 * have seen that does not say what it saw. */
static bool may_mend(const iso_carried *track, const iso_live_txn *txn) {
  if (txn->repeats) return true;
  for (uint32_t i = 0; i < txn->op_count; i++) {
    const iso_live_op *op = &txn->ops[i];
    if (iso_live_op_observes(op)) continue;
    if (track->mends_all || op->value == ISO_VALUE_NIL) return true;
  }
  return writes_pending(track, txn);
}

isoproof_status iso_carried_take(iso_carried *track, iso_live_txn *txn, isoproof_error *error) {
  track->arrived++;
  if (track->lost) return ISOPROOF_OK;
  if (track->dropped) {
    track->stale = track->stale || may_mend(track, txn);
    return ISOPROOF_OK;
  }
  iso_carried_entry *entry = iso_alloc_zero(1, sizeof *entry);
  if (entry == NULL) return iso_fail_memory(error);
  entry->txn = txn;
  bool takes_effect = txn->info.status == ISOPROOF_TXN_COMMITTED;
  if (writes_pending(track, txn)) track->broken = true;
  if (takes_effect && track->rule->real_time) { /* it came out of the order of ends */
    if (txn->real_end < track->latest_start) track->broken = true;
    if (txn->real_end < track->frozen_start) track->misfit = true;
  }
  iso_live_txn_keep(txn);
  if (takes_effect && !track->broken) return place(track, entry, error);
  if (iso_vec_push(takes_effect ? &track->fresh : &track->out, entry)) return ISOPROOF_OK;
  iso_live_txn_drop(txn);
  free(entry);
  return iso_fail_memory(error);
}

/* ---- back to the beginning ---- */

static bool move_all(iso_carried_entries *from, iso_carried_entries *to) {
  if (!iso_vec_reserve(to, from->count)) return false;
  for (size_t i = 0; i < from->count; i++) {
    from->items[i]->placed = false;
    to->items[to->count++] = from->items[i];
  }
  from->count = 0;
  return true;
}

isoproof_status iso_carried_unwind(iso_carried *track, isoproof_error *error) {
  for (size_t i = track->order.count; i-- > 0;) {
    if (!iso_store_revert(&track->store, &track->order.items[i]->undo)) return iso_fail_memory(error);
  }
  if (!move_all(&track->order, &track->fresh) || !move_all(&track->waiting, &track->fresh))
    return iso_fail_memory(error);
  track->thin_air = 0;
  track->latest_start = track->frozen_start;
  return ISOPROOF_OK;
}
