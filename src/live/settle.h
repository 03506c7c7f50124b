/* settle.h - the exact check of a track whose arrivals did not all find a place.  Everything belongs to the live
 * checker. */
#ifndef ISO_LIVE_SETTLE_H
#define ISO_LIVE_SETTLE_H

#include "live/live.h"

/* Brings a track up to date: its verdict is that of everything pushed so far.  *violated says that its level is
 * violated for good, which was entered; the track is of no use then. */
isoproof_status iso_live_settle(isoproof_live *live, iso_live_track *track, bool *violated, isoproof_error *error);

/* Before a poll: looks at the last part of the order only, so that those who come after one who did not fit are placed
 * again; as often as it is likely to help. */
isoproof_status iso_live_settle_early(isoproof_live *live, iso_live_track *track, isoproof_error *error);

/* Where something does not fit, so many of the last ones that are placed are looked at again first. */
enum { ISO_LIVE_FIRST_END = 200 };
/* How many of the last ones are looked at again, of at most so many: small horizons have small ends. */
static inline size_t iso_live_end(const iso_live_track *track, size_t most) {
  return track->horizon / 2 < most ? (size_t)track->horizon / 2 : most;
}

/* Takes over the order that proves the level of the track, of a history whose transactions are the entries named. */
isoproof_status iso_live_adopt(iso_live_track *track, const isoproof_certificate *order, const uint32_t *entry_of,
                               isoproof_error *error);

/* The same of an order of those after a label only. */
isoproof_status iso_live_adopt_end(iso_live_track *track, const isoproof_certificate *order, const uint32_t *entry_of,
                                   uint64_t cut, isoproof_error *error);
/* Enters what the entries wrote and read, as they are placed. */
isoproof_status iso_live_track_replay(iso_live_track *track, isoproof_error *error);

/* ---- shared with the plain way ---- */

/* Checks the levels that are not violated for good. */
isoproof_status iso_live_check(isoproof_live *live, isoproof_history *history, const isoproof_level_info *only,
                               bool certificate, isoproof_result **result, isoproof_error *error);
/* Enters the levels that the result says are violated, for good; takes over history and result. */
isoproof_status iso_live_blame(isoproof_live *live, isoproof_history *history, isoproof_result *result,
                               isoproof_error *error);
/* Checks all levels on a history that proves what it violates, and enters that; *violated: this level is.  Takes over
 * the history. */
isoproof_status iso_live_blame_by(isoproof_live *live, const isoproof_level_info *level, isoproof_history *history,
                                  bool *violated, isoproof_error *error);
/* The whole history so far, for the rest of this poll; NULL when nothing is recorded. */
isoproof_status iso_live_ask_whole(isoproof_live *live, isoproof_history **whole, isoproof_error *error);

#endif
