/* Settles a track: the window on top of what was frozen, the window as a part of the whole, or the whole itself. */
#include "live/settle.h"

#include <stdlib.h>

#include "live/rebuild.h"
#include "live/window.h"

static const char nothing_recorded[] = "it takes what has left memory, and nothing was recorded";

/* ---- checks ---- */

isoproof_status iso_live_check(isoproof_live *live, isoproof_history *history, const isoproof_level_info *only,
                               bool certificate, isoproof_result **result, isoproof_error *error) {
  isoproof_check_options options = {.struct_size = sizeof options, .certificate = certificate};
  const char *one[1] = {only != NULL ? only->id : NULL};
  const char **open = iso_alloc(live->levels.count, sizeof *open);
  if (open == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < live->levels.count; i++) {
    if (!live->levels.items[i].final) open[options.level_count++] = live->levels.items[i].info->id;
  }
  options.levels = open;
  if (only != NULL) options.levels = one, options.level_count = 1;
  isoproof_status status = isoproof_check(history, &options, live->task, result, error);
  free(open);
  return status;
}

/* ---- violations for good ---- */

/* What the history reads: a later write of one of these may explain it in another way. */
static isoproof_status note_blamed(isoproof_live *live, const isoproof_history *h, isoproof_error *error) {
  iso_live_carrier carrier = {.from = h->pool, .to = &live->pool};
  for (uint32_t op = 0; op < h->ops; op++) {
    iso_value name, value;
    uint32_t key;
    if (h->op_kind[op] != ISOPROOF_OP_READ || h->op_value[op] == ISO_VALUE_NIL) continue;
    ISO_TRY(iso_live_carry(&carrier, h->key_name[h->op_key[op]], &name, error));
    ISO_TRY(iso_live_carry(&carrier, h->op_value[op], &value, error));
    ISO_TRY(iso_numbering_add(&live->keys, name, &key, error));
    if (!iso_written_add(&live->blamed, key, value, NULL)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_live_blame(isoproof_live *live, isoproof_history *history, isoproof_result *result,
                               isoproof_error *error) {
  iso_live_violation violation = {.history = history, .result = result};
  isoproof_status status = note_blamed(live, history, error);
  if (status == ISOPROOF_OK && !iso_vec_push(&live->violations, violation)) status = iso_fail_memory(error);
  if (status != ISOPROOF_OK) {
    isoproof_result_free(result);
    isoproof_history_free(history);
    return status;
  }
  for (size_t i = 0; i < live->levels.count; i++) {
    iso_live_level *level = &live->levels.items[i];
    if (level->final || isoproof_result_verdict_of(result, level->info->id) != ISOPROOF_VIOLATED) continue;
    if (level->verdict != ISOPROOF_VIOLATED) level->since = live->pushed;
    level->verdict = ISOPROOF_VIOLATED;
    level->final = true;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_live_blame_by(isoproof_live *live, const isoproof_level_info *level, isoproof_history *history,
                                  bool *violated, isoproof_error *error) {
  isoproof_result *result;
  isoproof_status status = iso_live_check(live, history, NULL, false, &result, error);
  if (status != ISOPROOF_OK) {
    isoproof_history_free(history);
    return status;
  }
  *violated = isoproof_result_verdict_of(result, level->id) == ISOPROOF_VIOLATED;
  if (*violated) return iso_live_blame(live, history, result, error);
  isoproof_result_free(result);
  isoproof_history_free(history);
  return ISOPROOF_OK;
}

/* ---- the window ---- */

/* Whether somebody took effect, as it turns out, whose session has gone on in the frozen part. */
static bool comes_too_late(const iso_live_track *track, const isoproof_certificate *order, const uint32_t *entry_of) {
  for (size_t i = 0; i < order->event_count; i++) {
    const iso_live_entry *entry = &track->entries.items[entry_of[order->events[i].txn]];
    bool frozen =
        entry->txn->session < track->lanes.count && entry->txn->place < track->lanes.items[entry->txn->session].frozen;
    if (frozen && !entry->straddles) return true;
  }
  return false;
}

/* The verdict on the window on top of what was frozen; *decided: it is satisfied, and the order was taken over, or not
 * known.  Otherwise it does not fit, which says nothing where something was frozen. */
static isoproof_status try_window(isoproof_live *live, iso_live_track *track, iso_live_window *window, bool *decided,
                                  isoproof_error *error) {
  isoproof_result *result;
  isoproof_certificate order = {.struct_size = sizeof order};
  *decided = false;
  ISO_TRY(iso_live_check(live, window->history, track->level, true, &result, error));
  isoproof_verdict verdict = isoproof_result_verdict_of(result, track->level->id);
  isoproof_status status = ISOPROOF_OK;
  if (verdict == ISOPROOF_SATISFIED) {
    bool ordered = isoproof_result_certificate_of(result, track->level->id, &order);
    *decided = ordered ? !comes_too_late(track, &order, window->entry_of) : track->frozen == 0;
    if (*decided) track->verdict = verdict, track->reason = NULL;
    /* Without an order nothing can be frozen, and the window is checked again next time. */
    if (*decided && ordered) status = iso_live_adopt(track, &order, window->entry_of, error);
    *decided = *decided && !track->misfit;
  } else if (verdict == ISOPROOF_UNDECIDED) {
    *decided = true;
    track->verdict = verdict;
    track->reason = isoproof_result_unknown_reason(result);
  }
  isoproof_result_free(result);
  return status;
}

/* ---- the whole ---- */

isoproof_status iso_live_ask_whole(isoproof_live *live, isoproof_history **whole, isoproof_error *error) {
  *whole = live->whole;
  if (live->whole != NULL || live->options.whole == NULL) return ISOPROOF_OK;
  ISO_TRY(live->options.whole(live->options.whole_user, live->task, &live->whole, error));
  live->whole_checks++;
  *whole = live->whole;
  return ISOPROOF_OK;
}

static isoproof_status consult_whole(isoproof_live *live, iso_live_track *track, bool *violated,
                                     isoproof_error *error) {
  isoproof_history *whole;
  if (!live->polling) { /* what is recorded may be ahead of what was pushed: later */
    track->misfit = true;
    return ISOPROOF_OK;
  }
  ISO_TRY(iso_live_ask_whole(live, &whole, error));
  if (whole == NULL) {
    track->verdict = track->detached.count > 0 ? ISOPROOF_VIOLATED : ISOPROOF_UNDECIDED;
    track->reason = nothing_recorded;
    track->lost = true;
    return ISOPROOF_OK;
  }
  return iso_live_rebuild(live, track, whole, violated, error);
}

/* ---- all together ---- */

/* What is after the cut as a part of the whole: *violated says that it violates the level by itself. */
static isoproof_status blame_part(isoproof_live *live, iso_live_track *track, uint64_t cut, bool *violated,
                                  isoproof_error *error) {
  iso_live_window part;
  iso_live_window_options options = {.part = true, .keep_pending = live->finished, .cut = cut};
  ISO_TRY(iso_live_window_make(live, track, options, &part, error));
  isoproof_history *history = part.history;
  part.history = NULL;
  iso_live_window_free(&part);
  return iso_live_blame_by(live, track->level, history, violated, error);
}

static isoproof_status settle_misfit(isoproof_live *live, iso_live_track *track, bool *violated,
                                     isoproof_error *error) {
  ISO_TRY(blame_part(live, track, track->floor, violated, error));
  return *violated ? ISOPROOF_OK : consult_whole(live, track, violated, error);
}

/* ---- the end of the window ---- */

/* How many of those who are placed already are looked at again together with the new ones: first few, then more. */
static const size_t again[] = {ISO_LIVE_FIRST_END, 1000, 16000};
enum { TRIES = sizeof again / sizeof again[0], EARLY_TRIES = 2, EARLY = 64 };

/* The label after which the last ones are placed; the floor where it is not worth it. */
static uint64_t find_end(const iso_live_track *track, size_t most) {
  size_t seen = 0, wanted = iso_live_end(track, most);
  if (track->thin_air > 0 || wanted == 0) return track->floor;
  for (size_t i = track->entries.count; i-- > 0;) {
    const iso_live_entry *entry = &track->entries.items[i];
    if (entry->where == ISO_LIVE_PLACED && ++seen > wanted) return entry->commit;
  }
  return track->floor;
}

/* Whether the order has somebody who, so far, seemed to have had no effect. */
static bool has_revenant(const iso_live_track *track, const isoproof_certificate *order, const uint32_t *entry_of) {
  for (size_t i = 0; i < order->event_count; i++) {
    if (track->entries.items[entry_of[order->events[i].txn]].where == ISO_LIVE_OUT) return true;
  }
  return false;
}

/* Tries to find places for the new ones by looking at the last part of the order only; *fits: that went well. */
static isoproof_status try_end(isoproof_live *live, iso_live_track *track, size_t most, bool *fits,
                               isoproof_error *error) {
  iso_live_window window;
  isoproof_result *result = NULL;
  isoproof_certificate order = {.struct_size = sizeof order};
  iso_live_window_options options = {.cut = find_end(track, most)};
  *fits = false;
  if (options.cut <= track->floor || live->finished) return ISOPROOF_OK;
  ISO_TRY(iso_live_window_make(live, track, options, &window, error));
  isoproof_status status = ISOPROOF_OK;
  if (!window.misfit && window.pending == 0) {
    status = iso_live_check(live, window.history, track->level, true, &result, error);
    if (status == ISOPROOF_OK && isoproof_result_certificate_of(result, track->level->id, &order) &&
        !has_revenant(track, &order, window.entry_of)) {
      *fits = true;
      track->verdict = ISOPROOF_SATISFIED;
      status = iso_live_adopt_end(track, &order, window.entry_of, options.cut, error);
      *fits = !track->misfit;
    }
  }
  isoproof_result_free(result);
  iso_live_window_free(&window);
  return status;
}

isoproof_status iso_live_settle_early(isoproof_live *live, iso_live_track *track, isoproof_error *error) {
  bool fits = false;
  if (!track->broken || track->misfit || track->waiting > 0) return ISOPROOF_OK;
  if (track->fresh < EARLY || track->fresh < track->patience) return ISOPROOF_OK;
  for (size_t i = 0; i < EARLY_TRIES && !fits; i++) ISO_TRY(try_end(live, track, again[i], &fits, error));
  track->patience = fits ? 0 : 2 * track->fresh;
  return ISOPROOF_OK;
}

/* Whether the window is all there is: nobody left, not even a snapshot, instead of which a window has a read that
 * nobody made. */
static bool is_everything(const iso_live_track *track) {
  for (size_t i = 0; i < track->entries.count; i++) {
    if (track->entries.items[i].straddles) return false;
  }
  return track->frozen == 0;
}

static isoproof_status settle_window(isoproof_live *live, iso_live_track *track, bool *violated,
                                     isoproof_error *error) {
  iso_live_window window;
  bool decided = false;
  iso_live_window_options options = {.keep_pending = live->finished};
  ISO_TRY(iso_live_window_make(live, track, options, &window, error));
  isoproof_status status = ISOPROOF_OK;
  if (!window.misfit) status = try_window(live, track, &window, &decided, error);
  if (status == ISOPROOF_OK && !decided && is_everything(track) && !window.misfit) {
    isoproof_history *history = window.history;
    window.history = NULL;
    iso_live_window_free(&window);
    return iso_live_blame_by(live, track->level, history, violated, error);
  }
  iso_live_window_free(&window);
  ISO_TRY(status);
  return decided ? ISOPROOF_OK : settle_misfit(live, track, violated, error);
}

/* Whether somebody who committed, not long ago, read what nobody wrote so far: then everything is violated, for now. */
static bool waits_for_nobody(const isoproof_live *live, const iso_live_track *track) {
  bool found = false;
  for (size_t i = 0; track->waiters != NULL && i <= track->waiter_mask; i++) {
    const iso_live_waiter *waiter = &track->waiters[i];
    if (waiter->entry == 0) continue;
    const iso_live_txn *t = track->entries.items[waiter->entry - 1].txn;
    if (live->pushed - t->number > track->horizon) return false;
    found |= !iso_live_index_has(&live->index, &live->pool, (uint32_t)(waiter->pair >> 32), (iso_value)waiter->pair);
  }
  return found;
}

/* Reads of what nobody wrote so far, by somebody who took effect. */
static bool shows_thin_air(const iso_live_track *track) { return track->thin_air > 0 || track->detached.count > 0; }

isoproof_status iso_live_settle(isoproof_live *live, iso_live_track *track, bool *violated, isoproof_error *error) {
  *violated = false;
  if (track->lost) return ISOPROOF_OK;
  bool unexplained = shows_thin_air(track);
  if (!track->broken && track->waiting == 0 && !(unexplained && live->finished)) {
    track->verdict = unexplained ? ISOPROOF_VIOLATED : ISOPROOF_SATISFIED;
    return ISOPROOF_OK;
  }
  if (!track->broken && !live->finished && waits_for_nobody(live, track)) {
    track->verdict = ISOPROOF_VIOLATED;
    return ISOPROOF_OK;
  }
  bool misfit = track->misfit || (live->finished && track->detached.count > 0), fits = false;
  track->patience = 0;
  for (size_t i = 0; i < TRIES && !misfit && !fits && (i == 0 || track->horizon > again[i]); i++) {
    ISO_TRY(try_end(live, track, again[i], &fits, error));
    /* Most violations are among the last ones. */
    uint64_t cut = fits || live->finished ? track->floor : find_end(track, again[i]);
    if (cut > track->floor) ISO_TRY(blame_part(live, track, cut, violated, error));
    if (*violated) return ISOPROOF_OK;
  }
  if (!fits) ISO_TRY((misfit ? settle_misfit : settle_window)(live, track, violated, error));
  if (!*violated && track->verdict == ISOPROOF_SATISFIED && shows_thin_air(track)) track->verdict = ISOPROOF_VIOLATED;
  return ISOPROOF_OK;
}
