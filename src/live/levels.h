/* levels.h - what is known of the levels that were asked for, whichever way they are followed.  Everything belongs to
 * the live checker. */
#ifndef ISO_LIVE_LEVELS_H
#define ISO_LIVE_LEVELS_H

#include "live/live.h"

/* The level that was asked for; NULL where it was not. */
iso_live_level *iso_live_level_of(isoproof_live *live, const isoproof_level_info *info);
/* Whether the level follows from another one that is open. */
bool iso_live_is_implied(const isoproof_live *live, const iso_live_level *level,
                         bool (*is_open)(const isoproof_live *live, const iso_live_level *level));
/* What is known of a level so far. */
void iso_live_enter_verdict(isoproof_live *live, iso_live_level *level, isoproof_verdict verdict, const char *reason);
/* A level that nothing more will be known of, unless it is violated for good. */
void iso_live_enter_lost(iso_live_level *level, isoproof_verdict verdict, const char *reason);
/* Asks what the tracks say of every level that nothing is known of for good. */
void iso_live_derive_all(isoproof_live *live, void (*derive)(isoproof_live *live, iso_live_level *level));

#endif
