/* order.h - the events of a window in the order of their labels, for whoever looks at a stretch of it.
 *
 * A serial or commit order has one event per transaction; an order of snapshots has two, but only the commit of
 * somebody whose snapshot is frozen.  The track owns the list; it is made when it is first asked for, and kept up to
 * date by those who add and move events.
 */
#ifndef ISO_LIVE_ORDER_H
#define ISO_LIVE_ORDER_H

#include "live/track.h"

/* Makes sure that the list is there; false when memory is out. */
bool iso_live_order_make(iso_live_track *track);
/* Adds the events of an entry that got its place; false when memory is out. */
bool iso_live_order_add(iso_live_track *track, uint32_t entry);
/* The place of the first event with that label or a later one; of the first one with a later label. */
size_t iso_live_order_from(const iso_live_track *track, uint64_t label);
size_t iso_live_order_behind(const iso_live_track *track, uint64_t label);
/* Spreads the labels of the window evenly, when there is no room between two of them; the list has to be there. */
void iso_live_order_spread(iso_live_track *track);

#endif
