/* commits.h - commit orders: places for the levels whose axioms speak of who is in sight of a reader (read committed,
 * read atomic, causal).
 *
 * An arrival commits last.  It may read any version of a key whose later versions nobody wrote who is in its sight: by
 * session or directly (read atomic), directly and before (read committed), or on any path of these (causal).  Paths are
 * told by clocks: how many transactions of each session are causally before a transaction.  So that old versions can be
 * read they stay when their transactions leave, until a later one is in the sight of every session that is still
 * active.  Everything belongs to the track.
 */
#ifndef ISO_LIVE_COMMITS_H
#define ISO_LIVE_COMMITS_H

#include "live/track.h"

/* The session of a writer that is not known any more: in the sight of everybody. */
#define ISO_LIVE_UNNAMED UINT32_MAX

/* A frozen version of a key. */
typedef struct iso_live_old {
  uint64_t tick;  /* of its writer's clock; 0: no more than everybody has seen */
  uint64_t place; /* of its writer, in its session */
  uint32_t session;
  uint32_t older; /* + 1; 0: none that stays */
  iso_value value;
  uint16_t chain; /* at most so many from this one on */
  bool last_kept; /* older ones are gone */
} iso_live_old;

/* What a transaction that is about to commit needs to know. */
typedef struct iso_live_sight {
  bool waits, broken; /* for a version that is not there so far; nothing can be said */
  uint32_t wait_key;
  iso_value wait_value;
} iso_live_sight;

/* Whether a track has such an order, and clocks. */
static inline bool iso_live_by_clock(const iso_live_track *track) { return track->rule->sight == ISO_LIVE_SIGHT_PATHS; }
/* Whether arrivals are placed by the rules here: not where sessions are so many that clocks would take too long. */
bool iso_live_is_by_sight(const iso_live_track *track);
/* Whether that goes for a transaction: not for lists, which show all of their order. */
bool iso_live_sight_applies(const iso_live_track *track, const iso_live_txn *txn);
/* Looks at what an entry reads, as the last one to commit; where all is well it gets its clock.  False when memory is
 * out. */
bool iso_live_sight_look(iso_live_track *track, uint32_t entry, iso_live_sight *sight);
/* Notes that the entry is the last one to commit.  Who was not looked at, or not with that outcome (`by_sight`), was
 * placed by other rules, and counts as having seen everything. */
bool iso_live_sight_commit(iso_live_track *track, uint32_t entry, bool by_sight);
/* Whether somebody who read another version of the key later has the writer of a version in sight, so that it cannot
 * come behind that other one. */
bool iso_live_sight_minds(const iso_live_track *track, uint32_t key, const iso_live_version *version);
/* Whether the value is a version of the key, in the window up to the cut or frozen. */
bool iso_live_sight_knows(const iso_live_track *track, uint32_t key, iso_value value, uint64_t cut);

/* ---- what stays (commits_old.c) ---- */

/* NULL when memory is out. */
iso_live_head *iso_live_head_of(iso_live_track *track, uint32_t session);
/* The next tick, for an entry; its row has anything.  False when memory is out. */
bool iso_live_sight_tick(iso_live_track *track, iso_live_entry *entry);
/* Fills a row with everybody who has committed. */
void iso_live_sight_all(const iso_live_track *track, uint32_t *seen);
/* The versions of a key up to a cut are about to be frozen; false when memory is out, here and below. */
bool iso_live_sight_freeze_key(iso_live_track *track, uint32_t key, uint64_t cut);
/* The old version with the value is the last one of its key. */
void iso_live_sight_promote(iso_live_track *track, uint32_t key, iso_value value);
/* An entry leaves. */
void iso_live_sight_leave(iso_live_track *track, iso_live_entry *entry);
/* Before versions are frozen: finds out what everybody has in sight now. */
bool iso_live_sight_tidy(iso_live_track *track, uint64_t pushed);
/* Forgets the clocks of those who commit after the label; then those of the others count. */
bool iso_live_sight_unwind(iso_live_track *track, uint64_t cut);
/* The frozen part is another one: everybody is taken to have seen all of it. */
bool iso_live_sight_reset(iso_live_track *track);
void iso_live_sight_free(iso_live_track *track);
uint64_t iso_live_sight_bytes(const iso_live_track *track);

#endif
