/* repair.h - an order of the transactions, put right where something is forced against it.
 *
 * Everybody stays in place but for those that a new edge wants earlier, so that what fitted goes on fitting.
 */
#ifndef ISO_CHECK_QUICK_REPAIR_H
#define ISO_CHECK_QUICK_REPAIR_H

#include "check/quick/state.h"

typedef ISO_VEC(iso_quick_edge) iso_quick_edges;

typedef struct iso_quick_order {
  const iso_quick *q;
  uint32_t *sequence;                     /* places to transactions */
  uint32_t *place;                        /* and back */
  uint32_t *fresh_sequence, *fresh_place; /* room for the next ones */
  /* What was found to be forced, besides q->edge_from. */
  iso_quick_edges forced;
  uint32_t *last; /* by transaction: the last of these that leads to it, + 1 */
  uint32_t *next; /* by number of these: the one before, + 1 */
  size_t next_capacity;
} iso_quick_order;

/* Starts with q->sequence, which it takes over.  False when memory is out. */
bool iso_quick_order_make(iso_quick *q, iso_quick_order *order);
void iso_quick_order_free(iso_quick_order *order);

/* Puts the order right after edges from number `first` on were added to `forced`; *cyclic where that cannot be. */
bool iso_quick_order_repair(iso_quick_order *order, size_t first, bool *cyclic);

#endif
