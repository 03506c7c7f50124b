/* window.h - the window of a track as a history of its own, for the exact checkers.
 *
 * On top of what was frozen: every key begins with the version that the frozen part left, so that a read of it is a
 * read of the initial version.  As a part of the whole: reads of what may have left memory are left out, so that
 * whatever the part violates the whole violates.  A window owns its history and its arrays until iso_live_window_free.
 */
#ifndef ISO_LIVE_WINDOW_H
#define ISO_LIVE_WINDOW_H

#include "live/live.h"

typedef struct iso_live_window {
  isoproof_history *history;
  uint32_t *entry_of; /* by transaction of the history */
  uint64_t pending;   /* reads of what nobody wrote so far */
  bool misfit;        /* something was read that is older than what the frozen part left */
} iso_live_window;

typedef struct iso_live_window_options {
  bool part;         /* a part of the whole, else on top of the frozen part */
  bool keep_pending; /* reads of what nobody wrote so far stay */
  uint64_t cut; /* at least the floor: everything up to this label is taken as frozen, too; of a part it is left out,
                   but for those from whom the others have read */
} iso_live_window_options;

/* On top of the frozen part and without pending reads, notes in the track who has some. */
isoproof_status iso_live_window_make(isoproof_live *live, iso_live_track *track, iso_live_window_options options,
                                     iso_live_window *window, isoproof_error *error);
void iso_live_window_free(iso_live_window *window);

#endif
