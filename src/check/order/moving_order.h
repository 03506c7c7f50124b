/* moving_order.h - an order of transactions that follows edges as they are added (Pearce and Kelly 2007).
 *
 * Every transaction has a place.  An edge against the order moves those who come after its end, and those who come
 * before its beginning, as far as they stand between the two.  Edges of the graph that exist anyway are asked for by
 * the functions that the owner gives; those that are added here are kept here.
 */
#ifndef ISO_CHECK_ORDER_MOVING_ORDER_H
#define ISO_CHECK_ORDER_MOVING_ORDER_H

#include "base/vector.h"
#include "check/order/sequence.h"

typedef struct iso_moving_edge {
  uint32_t from, to;
  uint32_t next_out, next_in; /* the next edge from and to the same, + 1 */
  uint32_t owner, reader;     /* what it is there for, whatever that means to the caller */
} iso_moving_edge;

typedef ISO_VEC(uint32_t) iso_txn_list;

typedef struct iso_moving_order {
  iso_sequence *s; /* the caller's: events are transactions */
  void *context;
  /* Appends those right after a transaction, or right before it, by edges that are not kept here; false when memory is
   * out. */
  bool (*list_next)(void *context, uint32_t txn, bool before, iso_txn_list *list);
  ISO_VEC(iso_moving_edge) edges;
  uint32_t *out, *in; /* by transaction: the first edge, + 1 */
  uint32_t *mark, stamp;
  uint32_t *by_edge, *by_txn; /* by transaction that was reached: by which edge, + 1, or 0; and from whom */
  uint32_t reached_from;      /* where an edge would have closed a cycle: the last one before its beginning, */
  uint32_t reached_by;        /* and by which edge that comes there, + 1, or 0 */
  iso_txn_list side[2];       /* those who moved last: earlier, later */
  iso_txn_list list, ways, places;
  uint64_t steps;
  bool failed; /* memory is out */
} iso_moving_order;

bool iso_moving_order_make(iso_sequence *sequence, uint32_t txns, iso_moving_order *order);
void iso_moving_order_free(iso_moving_order *order);
/* Adds an edge; false, without it, where that closes a cycle or takes too long.  Who moved is in side[0], now earlier,
 * and side[1], now later, each by place. */
bool iso_moving_order_add(iso_moving_order *order, uint32_t from, uint32_t to, uint32_t owner, uint32_t reader);
/* After an edge that would have closed a cycle: the edges on the way from its end to its beginning but the last, one
 * for each call from *txn = order->reached_from on; its number + 1, 0 for one that is not kept here, UINT32_MAX at the
 * end. */
uint32_t iso_moving_order_way(const iso_moving_order *order, uint32_t *txn);
/* Takes edges away again but for the first ones; the order stays. */
void iso_moving_order_drop(iso_moving_order *order, size_t keep);

#endif
