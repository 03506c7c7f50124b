/* pages.h - pages of a mapped file that a pass has read, and lets go of, so that they do not count as memory.
 *
 * Passes go through a file side by side at a few places, not at random: what was read is little used again.  A history
 * that is in memory as a whole has nothing to let go of.  Nothing is owned.
 */
#ifndef ISO_CHECK_QUICK_PAGES_H
#define ISO_CHECK_QUICK_PAGES_H

#include "base/pages.h"
#include "history/history.h"

/* What a pass reads of an operation and of a transaction, at most. */
enum { ISO_QUICK_OP_BYTES = 9, ISO_QUICK_TXN_BYTES = 21 };
/* So many operations are told at once where telling takes time. */
enum { ISO_QUICK_PAGES_OPS = 1 << 16 };

typedef struct iso_quick_pages {
  const isoproof_history *h;
  uint64_t window, read; /* bytes: that may stay, and that were read since the last time */
} iso_quick_pages;

static inline iso_quick_pages iso_quick_pages_of(const isoproof_history *history, uint64_t window) {
  return (iso_quick_pages){.h = history, .window = history->frugal ? window : UINT64_MAX};
}

/* Says what is about to be read. */
static inline void iso_quick_touch(iso_quick_pages *p, uint64_t ops, uint64_t txns) {
  p->read += ops * ISO_QUICK_OP_BYTES + txns * ISO_QUICK_TXN_BYTES;
  if (p->read <= p->window) return;
  iso_pages_let_go(p->h->map, 0, p->h->map_bytes);
  p->read = 0;
}

#endif
