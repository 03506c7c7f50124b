/* place.h - finding a place for an arrival in the order of a track.  Nothing is owned. */
#ifndef ISO_LIVE_PLACE_H
#define ISO_LIVE_PLACE_H

#include "live/track.h"

/* Tries to place entry `at`, and whoever waited for it; who does not fit breaks the track. */
isoproof_status iso_live_place(iso_live_track *track, uint32_t at, isoproof_error *error);

#endif
