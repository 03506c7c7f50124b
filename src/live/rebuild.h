/* rebuild.h - a track anew from the whole history.  Everything belongs to the live checker. */
#ifndef ISO_LIVE_REBUILD_H
#define ISO_LIVE_REBUILD_H

#include "live/live.h"

/* Judges the whole: violated for good (entered), or satisfied: its order is frozen but for the horizon, which grows. */
isoproof_status iso_live_rebuild(isoproof_live *live, iso_live_track *track, isoproof_history *whole, bool *violated,
                                 isoproof_error *error);

#endif
