/* What stays of a commit order when its transactions leave: versions that may still be read, and clocks of sessions. */
#include <stdlib.h>
#include <string.h>

#include "live/commits.h"

/* Old versions of a key that stay; sessions that are idle for so many horizons are not waited for, and clocks stay for
 * so many. */
enum { MOST_OLD = 8, MOST_OLD_UNCLOCKED = 4, SPARE_OLD = 4, IDLE_HORIZONS = 8, CLOCK_HORIZONS = 4 };

/* ---- clocks ---- */

iso_live_head *iso_live_head_of(iso_live_track *track, uint32_t session) {
  while (session >= track->heads.count) {
    if (!iso_vec_push(&track->heads, ((iso_live_head){0}))) return NULL;
  }
  return &track->heads.items[session];
}

void iso_live_sight_all(const iso_live_track *track, uint32_t *seen) {
  memset(seen, 0, track->clocks.width * sizeof *seen);
  for (size_t i = 0; i < track->clocks.width; i++) {
    if (i < track->heads.count) seen[i] = (uint32_t)track->heads.items[i].place;
    if (i < track->everybody.count && seen[i] < track->everybody.items[i]) seen[i] = track->everybody.items[i];
  }
}

static void make_bound(iso_live_track *track) { iso_live_sight_all(track, iso_live_clocks_bound(&track->clocks)); }

bool iso_live_sight_tick(iso_live_track *track, iso_live_entry *entry) {
  iso_live_clocks *clocks = &track->clocks;
  size_t rows = 2 * track->entries.count;
  if (rows / CLOCK_HORIZONS > track->horizon) rows = (size_t)(CLOCK_HORIZONS * track->horizon);
  size_t sessions = track->heads.count > track->everybody.count ? track->heads.count : track->everybody.count;
  if (entry->tick != 0 && entry->tick == clocks->tick) return true;
  if (!iso_live_clocks_fit(clocks, sessions, rows)) {
    if (clocks->room > 0) make_bound(track);
    if (!iso_live_clocks_resize(clocks, sessions, rows)) return false;
  }
  if (iso_live_clocks_want_bound(clocks)) make_bound(track);
  entry->tick = ++clocks->tick;
  return true;
}

/* ---- old versions ---- */

static bool new_old(iso_live_track *track, iso_live_old old, uint32_t *number) {
  if (track->free_olds.count > 0) {
    *number = track->free_olds.items[--track->free_olds.count];
    track->olds.items[*number - 1] = old;
    return true;
  }
  size_t room = track->slots.count / 4 + 1; /* most keys will have some: not in small steps */
  if (track->olds.count == track->olds.capacity && !iso_vec_reserve(&track->olds, room)) return false;
  if (!iso_vec_reserve(&track->free_olds, track->olds.capacity)) return false;
  track->olds.items[track->olds.count++] = old;
  *number = (uint32_t)track->olds.count;
  return true;
}

/* Frees a chain of old versions. */
static void drop_olds(iso_live_track *track, uint32_t first) {
  while (first != 0) {
    track->free_olds.items[track->free_olds.count++] = first;
    first = track->olds.items[first - 1].older;
  }
}

/* Lets go what is older than the version. */
static void cut_off(iso_live_track *track, uint32_t last) {
  iso_live_old *old = &track->olds.items[last - 1];
  drop_olds(track, old->older);
  old->older = 0;
  old->chain = 1;
  old->last_kept = true;
}

/* Keeps the first ones of a chain. */
static void shorten(iso_live_track *track, uint32_t first, uint32_t most) {
  uint32_t last = first;
  for (uint32_t count = most; last != 0 && count > 0; count--) {
    track->olds.items[last - 1].chain = (uint16_t)count;
    if (count == 1 || track->olds.items[last - 1].older == 0) break;
    last = track->olds.items[last - 1].older;
  }
  if (track->olds.items[last - 1].older != 0) cut_off(track, last);
}

/* ---- what everybody has seen ---- */

/* Per session, how many of its transactions all others have in sight, those that are idle for long apart. */
static bool find_everybody(iso_live_track *track, uint64_t pushed) {
  size_t sessions = track->heads.count;
  while (track->everybody.count < sessions) {
    if (!iso_vec_push(&track->everybody, 0)) return false;
  }
  for (size_t s = 0; s < sessions && s < track->clocks.width; s++) {
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < sessions && least > track->everybody.items[s]; i++) {
      const iso_live_head *head = &track->heads.items[i];
      if (head->place == 0 || head->number + IDLE_HORIZONS * track->horizon < pushed) continue;
      uint32_t seen = head->clocked ? iso_live_clocks_head(&track->clocks, i, false)[s] : track->everybody.items[s];
      if (least > seen) least = seen;
    }
    if (least != UINT32_MAX && track->everybody.items[s] < least) track->everybody.items[s] = least;
  }
  return true;
}

static bool is_seen(const iso_live_track *track, uint32_t session, uint64_t place) {
  if (session == ISO_LIVE_UNNAMED) return true;
  return session < track->everybody.count && place < track->everybody.items[session];
}

/* Forgets what is older than the last version that everybody has in sight. */
static void tidy_key(iso_live_track *track, iso_live_slot *slot) {
  for (uint32_t o = slot->old; o != 0; o = track->olds.items[o - 1].older) {
    if (!is_seen(track, track->olds.items[o - 1].session, track->olds.items[o - 1].place)) continue;
    track->olds.items[o - 1].tick = 0;
    if (slot->pocket != 0) continue; /* another one may be the last */
    if (track->olds.items[o - 1].older != 0) cut_off(track, o);
    return;
  }
}

/* ---- freezing ---- */

/* Puts a version in front of a chain. */
static bool put_old(iso_live_track *track, const iso_live_version *version, uint32_t *first) {
  const iso_live_entry *entry = &track->entries.items[version->writer];
  uint32_t chain = *first != 0 ? track->olds.items[*first - 1].chain : 0;
  iso_live_old old = {.tick = entry->tick,
                      .place = entry->place,
                      .session = entry->session,
                      .older = *first,
                      .value = version->value,
                      .chain = (uint16_t)(chain + 1)};
  return new_old(track, old, first);
}

/* Whether everybody has the version in sight, so that nobody reads an older one, and it is for sure the last of those.
 */
static bool is_enough(const iso_live_track *track, const iso_live_slot *slot, uint32_t version) {
  if (slot->doubted || !iso_live_by_clock(track)) return false;
  const iso_live_entry *writer = &track->entries.items[track->versions.items[version - 1].writer];
  return is_seen(track, writer->session, writer->place);
}

bool iso_live_sight_freeze_key(iso_live_track *track, uint32_t key, uint64_t cut) {
  iso_live_slot *slot = &track->slots.items[key];
  uint32_t few[MOST_OLD] = {0}, count = 0, v = slot->newest;
  uint32_t most = slot->list != NULL ? 1 : iso_live_by_clock(track) ? MOST_OLD : MOST_OLD_UNCLOCKED;
  bool enough = false;
  while (v != 0 && track->versions.items[v - 1].label > cut) v = track->versions.items[v - 1].older;
  for (; v != 0 && count < most && !enough; v = track->versions.items[v - 1].older) {
    few[count++] = v;
    enough = is_enough(track, slot, v);
  }
  bool gone = v != 0 || (enough && slot->old != 0); /* more than stay */
  if (gone && slot->old != 0) {
    drop_olds(track, slot->old);
    slot->old = 0;
  }
  if (!gone && iso_live_by_clock(track)) tidy_key(track, slot);
  for (uint32_t i = count; i-- > 0;) {
    if (!put_old(track, &track->versions.items[few[i] - 1], &slot->old)) return false;
    if (gone) track->olds.items[slot->old - 1].last_kept = true;
    gone = false;
  }
  if (slot->old != 0 && track->olds.items[slot->old - 1].chain > most + SPARE_OLD) shorten(track, slot->old, most);
  return true;
}

void iso_live_sight_promote(iso_live_track *track, uint32_t key, iso_value value) {
  iso_live_slot *slot = &track->slots.items[key];
  uint32_t *link = &slot->old, last = 0;
  while (*link != 0 && track->olds.items[*link - 1].value != value) {
    last = *link;
    link = &track->olds.items[*link - 1].older;
  }
  uint32_t found = *link;
  if (found == 0 || last == 0) return;
  iso_live_old *moved = &track->olds.items[found - 1];
  if (moved->older == 0) track->olds.items[last - 1].last_kept = moved->last_kept;
  moved->last_kept = false;
  *link = moved->older;
  moved->older = slot->old;
  moved->chain = track->olds.items[slot->old - 1].chain;
  slot->old = found;
}

bool iso_live_sight_tidy(iso_live_track *track, uint64_t pushed) {
  if (!iso_live_by_clock(track) || !iso_live_is_by_sight(track)) return true;
  return find_everybody(track, pushed);
}

/* ---- leaving, and starting again ---- */

/* Takes over the clock of an entry for its session. */
static void note_clock(iso_live_track *track, iso_live_head *head, const iso_live_entry *entry, bool frozen) {
  const iso_live_clocks *clocks = &track->clocks;
  bool clocked = entry->tick != 0;
  *(frozen ? &head->frozen_clocked : &head->clocked) = clocked;
  *(frozen ? &head->frozen_place : &head->place) = entry->place + 1;
  if (!clocked) return;
  memcpy(iso_live_clocks_head(clocks, entry->session, frozen), iso_live_clocks_at(clocks, entry->tick),
         clocks->width * sizeof *clocks->heads);
}

void iso_live_sight_leave(iso_live_track *track, iso_live_entry *entry) {
  iso_live_head *head = entry->where == ISO_LIVE_PLACED ? iso_live_head_of(track, entry->session) : NULL;
  if (head != NULL && head->frozen_place <= entry->place) note_clock(track, head, entry, true);
  entry->tick = 0;
}

bool iso_live_sight_unwind(iso_live_track *track, uint64_t cut) {
  const iso_live_clocks *clocks = &track->clocks;
  for (size_t i = 0; i < track->heads.count; i++) {
    iso_live_head *head = &track->heads.items[i];
    head->clocked = head->frozen_clocked;
    head->place = head->frozen_place;
    if (head->clocked)
      memcpy(iso_live_clocks_head(clocks, i, false), iso_live_clocks_head(clocks, i, true),
             clocks->width * sizeof *clocks->heads);
  }
  for (size_t i = 0; i < track->entries.count; i++) {
    iso_live_entry *entry = &track->entries.items[i];
    if (entry->where != ISO_LIVE_PLACED || entry->commit > cut) {
      entry->tick = 0;
      continue;
    }
    iso_live_head *head = iso_live_head_of(track, entry->session);
    if (head == NULL) return false;
    if (head->place <= entry->place) note_clock(track, head, entry, false);
  }
  return true;
}

static void forget(iso_live_track *track) {
  for (size_t i = 0; i < track->slots.count; i++) track->slots.items[i].old = 0;
  for (size_t i = 0; i < track->entries.count; i++) track->entries.items[i].tick = 0;
  iso_live_clocks_free(&track->clocks);
  track->heads.count = track->olds.count = track->everybody.count = 0;
  track->free_olds.count = 0;
}

bool iso_live_sight_reset(iso_live_track *track) {
  forget(track);
  if (track->rule->kind != ISO_LIVE_COMMITS) return true;
  for (uint32_t i = 0; i < track->lanes.count; i++) {
    uint64_t frozen = track->lanes.items[i].frozen;
    if (!iso_vec_push(&track->heads, ((iso_live_head){.place = frozen, .frozen_place = frozen}))) return false;
    if (!iso_vec_push(&track->everybody, (uint32_t)frozen)) return false;
  }
  for (size_t i = 0; i < track->slots.count; i++) {
    iso_live_slot *slot = &track->slots.items[i];
    iso_live_old old = {.session = ISO_LIVE_UNNAMED, .value = slot->frozen, .chain = 1, .last_kept = true};
    if (slot->has_frozen && !new_old(track, old, &slot->old)) return false;
  }
  return true;
}

void iso_live_sight_free(iso_live_track *track) {
  forget(track);
  iso_vec_free(&track->heads);
  iso_vec_free(&track->olds);
  iso_vec_free(&track->free_olds);
  iso_vec_free(&track->everybody);
  iso_vec_free(&track->met);
  iso_vec_free(&track->saws);
}

uint64_t iso_live_sight_bytes(const iso_live_track *track) {
  uint64_t bytes = iso_live_clocks_bytes(&track->clocks);
  bytes += track->free_olds.capacity * sizeof *track->free_olds.items;
  return bytes + track->olds.capacity * sizeof *track->olds.items + track->heads.capacity * sizeof *track->heads.items;
}
