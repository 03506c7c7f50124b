/* Makes a track anew from the whole history, where the window did not fit on top of what was frozen. */
#include "live/rebuild.h"

#include <stdlib.h>
#include <string.h>

#include "history/real_time.h"
#include "history/resolve.h"
#include "history/subset.h"
#include "live/commits.h"
#include "live/pocket.h"
#include "live/settle.h"

enum { MOST_HORIZON = 1 << 20, GROWTH = 4 };

/* The whole history and what is known about it. */
typedef struct whole {
  isoproof_live *live;
  isoproof_history *h;
  uint32_t *keys;       /* by key of the history: its number in the live checker */
  uint32_t *sessions;   /* the same of sessions */
  uint8_t *unexplained; /* by operation: shows what nobody wrote */
  uint64_t pending;
  bool repeats; /* values: then a part says nothing for sure, as somebody may have read from who is left out */
} whole;

static void whole_free(whole *w) {
  free(w->keys);
  free(w->sessions);
  free(w->unexplained);
}

/* ---- reads of what nobody wrote so far ---- */

static bool shows_nobody(const isoproof_history *h, const iso_resolution *r, uint32_t op) {
  isoproof_op_kind kind = (isoproof_op_kind)h->op_kind[op];
  iso_value value = h->op_value[op];
  if (kind == ISOPROOF_OP_READ) return r->writer[op] == ISO_FROM_NOBODY;
  if (kind != ISOPROOF_OP_READ_LIST || value == ISO_VALUE_NIL || value == ISO_VALUE_NONE) return false;
  uint32_t count;
  iso_history_list(h, op, &count);
  const uint32_t *writers = value < ISO_VALUE_INLINE_LIMIT ? r->list_writer + h->list_first[h->op_key[op]]
                                                           : r->odd_writer + h->odd_first[value & ~ISO_VALUE_INTERNED];
  for (uint32_t i = 0; i < count; i++) {
    if (writers[i] == ISO_FROM_NOBODY) return true;
  }
  return false;
}

static isoproof_status look_at(whole *w, isoproof_error *error) {
  isoproof_history *h = w->h;
  iso_live_carrier carrier = {.from = h->pool, .to = &w->live->pool};
  const iso_resolution *resolution;
  ISO_TRY(iso_history_resolve(h, w->live->task, &resolution, error));
  w->repeats = resolution->counts.duplicate_writes > 0;
  w->keys = iso_alloc(h->keys, sizeof *w->keys);
  w->sessions = iso_alloc(h->sessions, sizeof *w->sessions);
  w->unexplained = iso_alloc(h->ops, 1);
  if (w->keys == NULL || w->sessions == NULL || w->unexplained == NULL) return iso_fail_memory(error);
  iso_value name;
  for (uint32_t i = 0; i < h->keys; i++) {
    ISO_TRY(iso_live_carry(&carrier, h->key_name[i], &name, error));
    ISO_TRY(iso_numbering_add(&w->live->keys, name, &w->keys[i], error));
  }
  for (uint32_t i = 0; i < h->sessions; i++) {
    ISO_TRY(iso_live_carry(&carrier, h->session_name[i], &name, error));
    ISO_TRY(iso_numbering_add(&w->live->sessions, name, &w->sessions[i], error));
  }
  for (uint32_t op = 0; op < h->ops; op++) {
    w->unexplained[op] = shows_nobody(h, resolution, op);
    w->pending += w->unexplained[op];
  }
  return ISOPROOF_OK;
}

/* A part of the history, without the operations marked. */
static isoproof_status cut_out(const whole *w, const uint8_t *keep_txn, const uint8_t *leave_op, isoproof_history **out,
                               isoproof_error *error) {
  uint8_t *txns = iso_alloc(w->h->txns, 1), *ops = iso_alloc(w->h->ops, 1);
  isoproof_status status = txns == NULL || ops == NULL ? iso_fail_memory(error) : ISOPROOF_OK;
  for (uint32_t i = 0; status == ISOPROOF_OK && i < w->h->txns; i++) txns[i] = keep_txn == NULL || keep_txn[i];
  for (uint32_t i = 0; status == ISOPROOF_OK && i < w->h->ops; i++) ops[i] = leave_op == NULL || !leave_op[i];
  if (status == ISOPROOF_OK) status = iso_history_subset(w->h, txns, ops, w->live->task, out, error);
  free(txns);
  free(ops);
  return status;
}

/* ---- violated ---- */

/* The transactions of the witnesses, as a history. */
static isoproof_status cut_witnesses(const whole *w, const isoproof_result *result, isoproof_history **out,
                                     isoproof_error *error) {
  uint8_t *keep = iso_alloc_zero(w->h->txns, 1);
  if (keep == NULL) return iso_fail_memory(error);
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  for (size_t i = 0; i < isoproof_result_anomaly_count(result) && i < 64; i++) {
    if (!isoproof_result_anomaly_at(result, i, &anomaly)) continue;
    for (size_t j = 0; j < anomaly.txn_count; j++) {
      if (anomaly.txns[j] < w->h->txns) keep[anomaly.txns[j]] = 1;
    }
  }
  isoproof_status status = cut_out(w, keep, w->live->finished ? NULL : w->unexplained, out, error);
  free(keep);
  return status;
}

/* Whether both results say the same of all levels that are not violated for good. */
static bool shows_as_much(const isoproof_live *live, const isoproof_result *large, const isoproof_result *small) {
  for (size_t i = 0; i < live->levels.count; i++) {
    const char *id = live->levels.items[i].info->id;
    if (live->levels.items[i].final) continue;
    bool violated = isoproof_result_verdict_of(large, id) == ISOPROOF_VIOLATED;
    if ((isoproof_result_verdict_of(small, id) == ISOPROOF_VIOLATED) != violated) return false;
  }
  return true;
}

/* Enters what the whole violates; by its witnesses alone where they show it all. */
static isoproof_status blame_whole(whole *w, isoproof_history *judged, isoproof_result *result, isoproof_error *error) {
  isoproof_history *small = NULL;
  isoproof_result *small_result = NULL;
  isoproof_status status = w->repeats ? ISOPROOF_OK : cut_witnesses(w, result, &small, error);
  if (status == ISOPROOF_OK && small != NULL)
    status = iso_live_check(w->live, small, NULL, false, &small_result, error);
  if (status == ISOPROOF_OK && small_result != NULL && shows_as_much(w->live, result, small_result)) {
    isoproof_result_free(result);
    if (judged != w->h) isoproof_history_free(judged);
    return iso_live_blame(w->live, small, small_result, error);
  }
  isoproof_result_free(small_result);
  isoproof_history_free(small);
  if (status != ISOPROOF_OK) {
    isoproof_result_free(result);
    if (judged != w->h) isoproof_history_free(judged);
    return status;
  }
  if (judged == w->live->whole) w->live->whole = NULL; /* it goes with the violation */
  return iso_live_blame(w->live, judged, result, error);
}

/* ---- satisfied ---- */

static void reset(iso_live_track *track) {
  iso_live_track_clear(track);
  iso_live_pockets_free(track);
  for (size_t i = 0; i < track->slots.count; i++) {
    iso_live_slot *slot = &track->slots.items[i];
    slot->newest = 0;
    slot->has_frozen = false;
    slot->frozen = ISO_VALUE_NIL;
    slot->frozen_read = 0;
    if (slot->list != NULL) slot->list->elements.count = slot->list->frozen = 0;
  }
  for (size_t i = 0; i < track->lanes.count; i++) track->lanes.items[i] = (iso_live_lane){0};
  iso_written_clear(&track->pendings);
  iso_written_clear(&track->detached);
  track->floor = track->clock = track->frozen = 0;
  track->frozen_start = track->latest_start = INT64_MIN;
  track->broken = track->misfit = false;
}

/* Notes what nobody wrote so far of what the transaction reads, in the set. */
static isoproof_status note_unexplained(const whole *w, uint32_t txn, iso_written *set, bool *any,
                                        isoproof_error *error) {
  const isoproof_history *h = w->h;
  iso_live_carrier carrier = {.from = h->pool, .to = &w->live->pool};
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (!w->unexplained[op]) continue;
    uint32_t count = 1;
    const iso_value *shown = &h->op_value[op];
    if (iso_kind_is_list((isoproof_op_kind)h->op_kind[op])) shown = iso_history_list(h, op, &count);
    for (uint32_t i = 0; i < count; i++) {
      iso_value value;
      ISO_TRY(iso_live_carry(&carrier, shown[i], &value, error));
      if (!iso_written_add(set, w->keys[h->op_key[op]], value, NULL)) return iso_fail_memory(error);
    }
    *any = true;
  }
  return ISOPROOF_OK;
}

/* Carries out a transaction that is frozen. */
static isoproof_status freeze_txn(const whole *w, iso_live_track *track, uint32_t txn, isoproof_error *error) {
  const isoproof_history *h = w->h;
  iso_live_carrier carrier = {.from = h->pool, .to = &w->live->pool};
  bool any;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (isoproof_op_kind_observes((isoproof_op_kind)h->op_kind[op])) continue;
    iso_live_slot *slot = iso_live_slot_of(track, w->keys[h->op_key[op]]);
    if (slot == NULL) return iso_fail_memory(error);
    ISO_TRY(iso_live_carry(&carrier, h->op_value[op], &slot->frozen, error));
    slot->has_frozen = true;
    if (h->op_kind[op] != ISOPROOF_OP_APPEND) continue;
    if (!iso_live_append(track, slot, slot->frozen)) return iso_fail_memory(error);
    slot->list->frozen++;
  }
  track->frozen++;
  iso_live_txn shown = {.session = w->sessions[h->txn_session[txn]], .real_start = INT64_MIN};
  shown.place = txn - h->session_first_txn[h->txn_session[txn]];
  if (h->txn_start_opt != NULL || h->txn_start_index_opt != NULL) shown.real_start = iso_real_start(h, txn);
  if (!iso_live_track_note_frozen(track, &shown)) return iso_fail_memory(error);
  return note_unexplained(w, txn, &track->detached, &any, error);
}

static isoproof_status copy_txn(const whole *w, uint32_t txn, iso_live_txn **out, isoproof_error *error) {
  ISO_TRY(iso_live_txn_copy(w->h, txn, &w->live->pool, w->keys, out, error));
  (*out)->session = w->sessions[w->h->txn_session[txn]];
  (*out)->place = txn - w->h->session_first_txn[w->h->txn_session[txn]];
  (*out)->number = w->live->pushed;
  return ISOPROOF_OK;
}

static isoproof_status keep_txn(const whole *w, iso_live_track *track, uint32_t txn, uint32_t *entry_of,
                                isoproof_error *error) {
  iso_live_entry entry = {.where = ISO_LIVE_PLACED};
  ISO_TRY(copy_txn(w, txn, &entry.txn, error));
  entry.session = entry.txn->session;
  entry.place = entry.txn->place;
  entry_of[txn] = (uint32_t)track->entries.count;
  if (!iso_vec_push(&track->entries, entry)) {
    iso_live_txn_drop(entry.txn);
    return iso_fail_memory(error);
  }
  track->held += entry.txn->bytes;
  return note_unexplained(w, txn, &track->pendings, &track->entries.items[track->entries.count - 1].pending, error);
}

/* Where a transaction that the track holds stands in the whole history; UINT32_MAX where it does not. */
static uint32_t place_in(const whole *w, const iso_live_txn *t) {
  for (uint32_t s = 0; s < w->h->sessions; s++) {
    if (w->sessions[s] != t->session) continue;
    uint64_t place = w->h->session_first_txn[s] + t->place;
    return place < w->h->session_first_txn[s + 1] ? (uint32_t)place : UINT32_MAX;
  }
  return UINT32_MAX;
}

/* Of the old entries those stay that took no effect; everybody else comes from the whole. */
static void drop_entries(const whole *w, iso_live_track *track, const uint8_t *ordered) {
  size_t kept = 0;
  for (size_t i = 0; i < track->entries.count; i++) {
    iso_live_entry *entry = &track->entries.items[i];
    uint32_t at = entry->txn->info.status != ISOPROOF_TXN_COMMITTED ? place_in(w, entry->txn) : UINT32_MAX;
    entry->tick = 0;
    if (at == UINT32_MAX || ordered[at]) {
      track->held -= entry->txn->bytes;
      iso_live_txn_drop(entry->txn);
      continue;
    }
    entry->where = ISO_LIVE_OUT;
    entry->pending = entry->straddles = false;
    track->entries.items[kept++] = *entry;
  }
  track->entries.count = kept;
}

static bool ends_txn(const isoproof_certificate_event *event) { return event->kind != ISOPROOF_EVENT_BEGIN; }

typedef struct marks {
  uint8_t *ordered, *frozen; /* by transaction */
  uint32_t *entry_of;
} marks;

/* Freezes all but the last `horizon` commits, and keeps the others. */
static isoproof_status divide(const whole *w, iso_live_track *track, const isoproof_certificate *order, marks *m,
                              isoproof_error *error) {
  size_t commits = 0, seen = 0;
  for (size_t i = 0; i < order->event_count; i++) {
    m->ordered[order->events[i].txn] = 1;
    commits += ends_txn(&order->events[i]);
  }
  drop_entries(w, track, m->ordered);
  reset(track);
  size_t frozen = commits > track->horizon ? commits - track->horizon : 0;
  for (size_t i = 0; i < order->event_count; i++) {
    uint32_t txn = (uint32_t)order->events[i].txn;
    if (!ends_txn(&order->events[i])) continue;
    if (seen++ >= frozen) {
      ISO_TRY(keep_txn(w, track, txn, m->entry_of, error));
      continue;
    }
    m->frozen[txn] = 1;
    track->stamp++;
    ISO_TRY(freeze_txn(w, track, txn, error));
    track->floor = (i + 1) * ISO_LIVE_GAP;
  }
  return ISOPROOF_OK;
}

static int by_session(const void *a, const void *b) {
  const iso_live_entry *x = a, *y = b;
  if (x->txn->session != y->txn->session) return x->txn->session < y->txn->session ? -1 : 1;
  return (x->txn->place > y->txn->place) - (x->txn->place < y->txn->place);
}

/* The reads of somebody whose snapshot is frozen are settled, but for those that nobody explained so far. */
static isoproof_status detach(const whole *w, iso_live_track *track, uint32_t txn, iso_live_entry *entry,
                              isoproof_error *error) {
  bool any;
  if (!iso_live_track_note_frozen(track, entry->txn)) return iso_fail_memory(error);
  entry->pending = false;
  return note_unexplained(w, txn, &track->detached, &any, error);
}

/* Gives those who stay their places; whose snapshot was frozen straddles. */
static isoproof_status place_kept(const whole *w, iso_live_track *track, const isoproof_certificate *order,
                                  const marks *m, isoproof_error *error) {
  track->clock = track->floor;
  if (!iso_live_sight_reset(track)) return iso_fail_memory(error);
  for (size_t i = 0; i < track->entries.count; i++) {
    const iso_live_txn *t = track->entries.items[i].txn;
    for (uint32_t j = 0; j < t->op_count; j++) {
      if (iso_live_slot_of(track, t->ops[j].key) == NULL) return iso_fail_memory(error);
    }
  }
  for (size_t i = 0; i < order->event_count; i++) {
    uint32_t txn = (uint32_t)order->events[i].txn;
    uint64_t label = (i + 1) * ISO_LIVE_GAP;
    if (m->frozen[txn]) continue;
    iso_live_entry *entry = &track->entries.items[m->entry_of[txn]];
    if (order->events[i].kind != ISOPROOF_EVENT_COMMIT) entry->begin = label;
    if (!ends_txn(&order->events[i])) continue;
    entry->commit = label;
    entry->straddles = track->rule->kind == ISO_LIVE_SNAPSHOT && entry->begin <= track->floor;
    if (entry->straddles) ISO_TRY(detach(w, track, txn, entry, error));
    track->clock = label;
  }
  qsort(track->entries.items, track->entries.count, sizeof *track->entries.items, by_session);
  track->trusts = true;
  isoproof_status status = iso_live_track_replay(track, error);
  track->trusts = false;
  return status;
}

static isoproof_status take_order(const whole *w, iso_live_track *track, const isoproof_certificate *order,
                                  isoproof_error *error) {
  marks m = {.ordered = iso_alloc_zero(w->h->txns, 1),
             .frozen = iso_alloc_zero(w->h->txns, 1),
             .entry_of = iso_alloc(w->h->txns, sizeof *m.entry_of)};
  /* So that it does not happen again and again; as far as the memory that is allowed goes. */
  if (w->live->options.horizon == 0 && !w->live->tight && track->horizon < MOST_HORIZON) track->horizon *= GROWTH;
  bool made = m.ordered != NULL && m.frozen != NULL && m.entry_of != NULL;
  isoproof_status status = made ? divide(w, track, order, &m, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = place_kept(w, track, order, &m, error);
  free(m.ordered);
  free(m.frozen);
  free(m.entry_of);
  return status;
}

/* ---- both ---- */

static isoproof_status judge(whole *w, iso_live_track *track, bool *violated, isoproof_error *error) {
  isoproof_history *judged = w->h;
  isoproof_result *result;
  isoproof_certificate order = {.struct_size = sizeof order};
  if (w->pending > 0 && !w->live->finished) ISO_TRY(cut_out(w, NULL, w->unexplained, &judged, error));
  isoproof_status status = iso_live_check(w->live, judged, NULL, true, &result, error);
  if (status != ISOPROOF_OK) {
    if (judged != w->h) isoproof_history_free(judged);
    return status;
  }
  isoproof_verdict verdict = isoproof_result_verdict_of(result, track->level->id);
  *violated = verdict == ISOPROOF_VIOLATED;
  if (*violated) return blame_whole(w, judged, result, error);
  track->verdict = verdict;
  track->reason = isoproof_result_unknown_reason(result);
  if (verdict == ISOPROOF_SATISFIED && isoproof_result_certificate_of(result, track->level->id, &order))
    status = take_order(w, track, &order, error);
  isoproof_result_free(result);
  if (judged != w->h) isoproof_history_free(judged);
  return status;
}

isoproof_status iso_live_rebuild(isoproof_live *live, iso_live_track *track, isoproof_history *history, bool *violated,
                                 isoproof_error *error) {
  whole w = {.live = live, .h = history};
  isoproof_status status = look_at(&w, error);
  if (status == ISOPROOF_OK) status = judge(&w, track, violated, error);
  whole_free(&w);
  return status;
}
