/* pocket.h - stretches of the frozen order that may still be put into another order.
 *
 * Of writers of a key from whom nobody has read, any may have been the last.  When they are frozen, the values
 * that may have been the last stay as candidates, and whoever reads one of them later can have it: the stretch of the
 * order from its writer to the last one is put in order once more (live/cluster.h), which leaves the last versions of
 * all other keys as they are.  Stretches that overlap are one pocket, and their transactions stay, as one change of
 * order may forbid another.  The oldest of these go when they take too much room.
 */
#ifndef ISO_LIVE_POCKET_H
#define ISO_LIVE_POCKET_H

#include "live/track.h"

/* A key whose last frozen version is in doubt: it is one of those written in a stretch of the order (places in the list
 * of events). */
typedef struct iso_live_doubt {
  size_t from, to;
  size_t first; /* its candidates */
  uint32_t count, key;
} iso_live_doubt;

/* A version that may be the last frozen one of its key, too. */
typedef struct iso_live_candidate {
  uint32_t key;
  iso_value value;
} iso_live_candidate;

typedef struct iso_live_doubts {
  ISO_VEC(iso_live_candidate) candidates;
  ISO_VEC(iso_live_doubt) items;
  ISO_VEC(uint32_t) keys; /* all that were written up to the cut, each once */
} iso_live_doubts;

/* Moves a cut to before writers of a key of which one would be frozen and the other not, while either may be the last;
 * as far as that is near. */
bool iso_live_doubts_cut(iso_live_track *track, uint64_t *cut);
/* The keys and doubts of what is up to the cut; false when memory is out. */
bool iso_live_doubts_find(iso_live_track *track, uint64_t cut, iso_live_doubts *doubts);
/* After the keys were frozen, and before the entries go: keeps what the doubts need. */
bool iso_live_doubts_keep(iso_live_track *track, iso_live_doubts *doubts);
void iso_live_doubts_free(iso_live_doubts *doubts);

/* Whether the last frozen version of the key is, or may be, this one; from now on it is. */
bool iso_live_pocket_read(iso_live_track *track, uint32_t key, iso_value value);
/* The last frozen version of the key is in doubt no longer. */
void iso_live_pocket_settle(iso_live_track *track, iso_live_slot *slot);
void iso_live_pockets_free(iso_live_track *track);
uint64_t iso_live_pockets_bytes(const iso_live_track *track);

#endif
