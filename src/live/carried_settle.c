/* Settles a track that carries transactions out: the window on top of the state, what is certain of it, or the whole.
 */
#include <stdlib.h>

#include "live/carried.h"
#include "live/settle.h"

static const char nothing_recorded[] = "it takes what has left memory, and nothing was recorded";

enum { MOST_HORIZON = 1 << 20, GROWTH = 4 };

/* A doubt takes so many transactions, and so many for each session: whoever was on the way when it began has ended. */
enum { DOUBT_LEAST = 1000, DOUBT_PER_SESSION = 20 };

/* ---- taking over an order ---- */

/* Whether somebody took effect, as it turns out, whose session has gone on among those who are gone. */
static bool comes_too_late(const iso_carried *track, const isoproof_certificate *order,
                           iso_carried_entry *const *entry_of) {
  for (size_t i = 0; i < order->event_count; i++) {
    if (iso_carried_is_late(track, entry_of[order->events[i].txn]->txn)) return true;
  }
  return false;
}

/* Carries out somebody whose commit is next; reads are as late as they can be. */
static isoproof_status place_next(iso_carried *track, iso_carried_entry *entry, isoproof_error *error) {
  uint64_t begin = entry->begin;
  bool placed = false;
  if (track->rule->kind == ISO_LIVE_SERIAL) return iso_carried_put(track, entry, error);
  ISO_TRY(iso_carried_try(track, entry, SIZE_MAX, &placed, error));
  if (placed) return ISOPROOF_OK;
  ISO_TRY(iso_carried_put(track, entry, error)); /* a commit order of a weak level: others saw it in another way */
  if (track->rule->kind == ISO_LIVE_SNAPSHOT) entry->begin = begin;
  return ISOPROOF_OK;
}

/* Who is not in the order took no effect. */
static isoproof_status sort_out(iso_carried *track, isoproof_error *error) {
  for (int list = 0; list < 2; list++) {
    iso_carried_entries *entries = list == 0 ? &track->fresh : &track->out;
    size_t kept = 0;
    for (size_t i = 0; i < entries->count; i++) {
      iso_carried_entry *entry = entries->items[i];
      if (entry->placed) continue;
      if (list == 1)
        entries->items[kept++] = entry;
      else if (!iso_vec_push(&track->out, entry))
        return iso_fail_memory(error);
    }
    entries->count = kept;
  }
  return ISOPROOF_OK;
}

static isoproof_status adopt(isoproof_live *live, iso_carried *track, const isoproof_certificate *order,
                             iso_carried_entry *const *entry_of, isoproof_error *error) {
  for (size_t i = 0; i < order->event_count; i++) {
    iso_carried_entry *entry = entry_of[order->events[i].txn];
    if (order->events[i].kind != ISOPROOF_EVENT_COMMIT) entry->begin = track->gone + track->order.count;
    if (order->events[i].kind != ISOPROOF_EVENT_BEGIN) ISO_TRY(place_next(track, entry, error));
  }
  track->broken = track->misfit = track->so_far = false;
  track->doubt.count = 0;
  live->mended |= track->confirmed;
  return sort_out(track, error);
}

/* ---- violated ---- */

/* Checks what is certain, which no later transaction mends. */
static isoproof_status blame_certain(isoproof_live *live, iso_carried *track, bool *violated, isoproof_error *error) {
  isoproof_history *history;
  ISO_TRY(iso_carried_certain(live, track, &history, error));
  return iso_live_blame_by(live, track->level, history, violated, error);
}

static isoproof_status begin_doubt(const isoproof_live *live, iso_carried *track, isoproof_error *error) {
  track->doubted = live->pushed;
  track->doubt.count = 0;
  for (size_t i = 0; i < live->session_counts.count; i++) {
    if (!iso_vec_push(&track->doubt, live->session_counts.items[i])) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

/* A read that shows that a row is absent, or not what was asked for, can be explained by whoever removes or changes the
 * row, and may be on the way still.  What nobody has explained for a while is violated for good, unless somebody does
 * after all. */
static isoproof_status doubt(isoproof_live *live, iso_carried *track, isoproof_error *error) {
  isoproof_history *history;
  isoproof_result *result;
  if (track->doubt.count == 0) return begin_doubt(live, track, error);
  uint64_t least = DOUBT_LEAST + DOUBT_PER_SESSION * live->sessions.count;
  if (live->options.horizon > 0 && live->options.horizon < least) least = live->options.horizon;
  if (live->pushed - track->doubted < least) return ISOPROOF_OK;
  ISO_TRY(iso_carried_doubted(live, track, &history, error));
  isoproof_status status = iso_live_check(live, history, track->level, false, &result, error);
  if (status != ISOPROOF_OK) {
    isoproof_history_free(history);
    return status;
  }
  track->confirmed = isoproof_result_verdict_of(result, track->level->id) == ISOPROOF_VIOLATED;
  if (track->confirmed) return iso_live_blame(live, history, result, error);
  isoproof_result_free(result);
  isoproof_history_free(history);
  return begin_doubt(live, track, error); /* that was explained; what is violated now is something else */
}

/* The window is everything, and violated: for good, or so far. */
static isoproof_status blame_window(isoproof_live *live, iso_carried *track, iso_carried_window *window, bool *violated,
                                    isoproof_error *error) {
  track->verdict = ISOPROOF_VIOLATED;
  track->so_far = true;
  if (track->confirmed) return ISOPROOF_OK; /* that is known */
  if (!live->finished) {
    ISO_TRY(blame_certain(live, track, violated, error));
    return *violated ? ISOPROOF_OK : doubt(live, track, error);
  }
  isoproof_result *result;
  ISO_TRY(iso_live_check(live, window->history, NULL, false, &result, error));
  *violated = true;
  isoproof_history *history = window->history;
  window->history = NULL;
  return iso_live_blame(live, history, result, error);
}

/* ---- the whole ---- */

static isoproof_status read_whole(isoproof_live *live, iso_carried *track, isoproof_history *whole, uint32_t *keys,
                                  isoproof_error *error) {
  iso_live_carrier carrier = {.from = whole->pool, .to = &live->pool};
  iso_value name;
  ISO_TRY(iso_carried_reset(live, track, error));
  track->broken = true;
  for (uint32_t i = 0; i < whole->keys; i++) {
    ISO_TRY(iso_live_carry(&carrier, whole->key_name[i], &name, error));
    ISO_TRY(iso_numbering_add(&live->keys, name, &keys[i], error));
  }
  for (uint32_t i = 0; i < whole->txns; i++) {
    iso_live_txn *t;
    uint32_t session = whole->txn_session[i];
    ISO_TRY(iso_live_carry(&carrier, whole->session_name[session], &name, error));
    ISO_TRY(iso_live_txn_copy(whole, i, &live->pool, keys, &t, error));
    t->number = live->pushed;
    t->place = i - whole->session_first_txn[session];
    isoproof_status status = iso_numbering_add(&live->sessions, name, &t->session, error);
    if (status == ISOPROOF_OK) status = iso_carried_take(track, t, error);
    iso_live_txn_drop(t);
    ISO_TRY(status);
  }
  return ISOPROOF_OK;
}

/* Everything that was pushed becomes the window; *asked: nobody could be asked, or not now. */
static isoproof_status become_whole(isoproof_live *live, iso_carried *track, bool *became, isoproof_error *error) {
  isoproof_history *whole;
  *became = false;
  track->misfit = true;
  if (!live->polling) return ISOPROOF_OK; /* what is recorded may be ahead of what was pushed: later */
  ISO_TRY(iso_live_ask_whole(live, &whole, error));
  if (whole == NULL) {
    track->verdict = ISOPROOF_UNDECIDED;
    track->reason = nothing_recorded;
    track->lost = true;
    return ISOPROOF_OK;
  }
  uint32_t *keys = iso_alloc(whole->keys, sizeof *keys);
  isoproof_status status = keys != NULL ? read_whole(live, track, whole, keys, error) : iso_fail_memory(error);
  free(keys);
  /* So that it does not happen again and again; as far as the memory that is allowed goes. */
  if (live->options.horizon == 0 && !live->tight && track->horizon < MOST_HORIZON) track->horizon *= GROWTH;
  *became = true;
  return status;
}

/* ---- all together ---- */

/* Whether the window satisfies even prefix consistency: then the order that shows it is one of states, on which
 * arrivals find their places better than on any commit order; adopts it. */
static isoproof_status try_prefix(isoproof_live *live, iso_carried *track, iso_carried_window *window, bool *decided,
                                  isoproof_error *error) {
  const isoproof_level_info *prefix = isoproof_level_find("prefix");
  isoproof_result *result;
  isoproof_certificate order = {.struct_size = sizeof order};
  if (track->rule->kind != ISO_LIVE_COMMITS || prefix == NULL) return ISOPROOF_OK;
  ISO_TRY(iso_live_check(live, window->history, prefix, true, &result, error));
  isoproof_status status = ISOPROOF_OK;
  *decided = isoproof_result_verdict_of(result, prefix->id) == ISOPROOF_SATISFIED &&
             isoproof_result_certificate_of(result, prefix->id, &order) &&
             !comes_too_late(track, &order, window->entry_of);
  if (*decided) {
    status = adopt(live, track, &order, window->entry_of, error);
    track->verdict = window->pending > 0 || track->thin_air > 0 ? ISOPROOF_VIOLATED : ISOPROOF_SATISFIED;
  }
  isoproof_result_free(result);
  return status;
}

/* The verdict on the window on top of the state; *decided: nothing more is to be asked. */
static isoproof_status judge(isoproof_live *live, iso_carried *track, iso_carried_window *window, bool *decided,
                             bool *violated, isoproof_error *error) {
  isoproof_result *result;
  isoproof_certificate order = {.struct_size = sizeof order};
  ISO_TRY(try_prefix(live, track, window, decided, error));
  if (*decided) return ISOPROOF_OK;
  ISO_TRY(iso_live_check(live, window->history, track->level, true, &result, error));
  isoproof_verdict verdict = isoproof_result_verdict_of(result, track->level->id);
  isoproof_status status = ISOPROOF_OK;
  track->reason = isoproof_result_unknown_reason(result);
  if (verdict == ISOPROOF_SATISFIED) {
    bool ordered = isoproof_result_certificate_of(result, track->level->id, &order);
    *decided = ordered ? !comes_too_late(track, &order, window->entry_of) : track->left == 0;
    if (*decided && ordered) status = adopt(live, track, &order, window->entry_of, error);
    if (*decided) track->verdict = window->pending > 0 || track->thin_air > 0 ? ISOPROOF_VIOLATED : verdict;
  } else if (verdict == ISOPROOF_UNDECIDED) {
    *decided = true;
    track->verdict = verdict;
  } else if (track->left == 0) {
    *decided = true;
    status = blame_window(live, track, window, violated, error);
  }
  isoproof_result_free(result);
  return status;
}

/* Whether somebody ended before one of those began who are gone, and so has no place after them. */
static bool ended_before(const iso_carried *track) {
  for (size_t i = 0; track->rule->real_time && i < track->fresh.count; i++) {
    if (track->fresh.items[i]->txn->real_end < track->frozen_start) return true;
  }
  return false;
}

static isoproof_status settle_window(isoproof_live *live, iso_carried *track, bool *decided, bool *violated,
                                     isoproof_error *error) {
  iso_carried_window window;
  *decided = false;
  track->broken = true;
  ISO_TRY(iso_carried_unwind(track, error));
  track->misfit |= ended_before(track);
  if (track->misfit) return ISOPROOF_OK;
  ISO_TRY(iso_carried_window_make(live, track, &window, error));
  isoproof_status status = ISOPROOF_OK;
  if (!window.misfit) status = judge(live, track, &window, decided, violated, error);
  iso_carried_window_free(&window);
  return status;
}

isoproof_status iso_carried_settle(isoproof_live *live, iso_carried *track, bool *violated, isoproof_error *error) {
  bool decided = true, nobody = false, became = false;
  *violated = false;
  bool known = track->dropped && !track->stale && (track->confirmed || !live->finished);
  if (track->lost || known) return ISOPROOF_OK;
  bool settled = !track->dropped && !track->broken && track->waiting.count == 0;
  if (settled && !(track->thin_air > 0 && live->finished)) {
    track->verdict = track->thin_air > 0 ? ISOPROOF_VIOLATED : ISOPROOF_SATISFIED;
    return ISOPROOF_OK;
  }
  if (!track->broken && !track->dropped && !live->finished)
    ISO_TRY(iso_carried_waits_for_nobody(live, track, &nobody, error));
  if (nobody) {
    track->verdict = ISOPROOF_VIOLATED;
    return ISOPROOF_OK;
  }
  if (!track->dropped) ISO_TRY(settle_window(live, track, &decided, violated, error));
  if (!track->dropped && !decided) ISO_TRY(blame_certain(live, track, violated, error));
  if (*violated || (decided && !track->dropped)) return ISOPROOF_OK;
  ISO_TRY(become_whole(live, track, &became, error));
  return became ? settle_window(live, track, &decided, violated, error) : ISOPROOF_OK;
}
