/* cluster.h - moving a transaction of a serial order together with all that depend on it.  Nothing is owned. */
#ifndef ISO_LIVE_CLUSTER_H
#define ISO_LIVE_CLUSTER_H

#include "live/track.h"

/* Moves entry `first`, which wrote `key`, right behind the label `behind`, where the last one stands who overwrote that
 * or read it from them; with it go those in between that depend on it.  False, and nothing is changed, where that
 * cannot be. */
bool iso_live_move_cluster(iso_live_track *track, uint32_t first, uint32_t key, uint64_t behind);
/* Whether it could be moved, and nobody from its place to that label takes part in another such doubt; they do then. */
bool iso_live_doubt_cluster(iso_live_track *track, uint32_t first, uint32_t key, uint64_t behind);

#endif
