/* scenario.h - why no version orders save a history: the fewest transactions and dependencies, and every case of them.
 *
 * A level of the engine STRONG is violated when every choice of version orders closes a cycle that its rule
 * forbids. A scenario is a small part of the history for which that can be followed by hand: dependencies of which none
 * can be left out, and a tree of cases over the orders that nobody knows, with a forbidden cycle at each leaf.  It
 * names operations and transactions only, so that it can be checked against the history by somebody who knows nothing
 * of how it was found (verify/scenario.h).  It owns its arrays until iso_scenario_free.
 */
#ifndef ISO_RESULT_SCENARIO_H
#define ISO_RESULT_SCENARIO_H

#include "base/vector.h"
#include "graph/edge.h"
#include "history/history.h"
#include "level/method.h"

#define ISO_NO_KEY UINT32_C(0xffffffff)

/* Why a version comes before another one: C name, number.  Two transactions that both write several keys are ordered
 * alike on all of them: WW both ways is a cycle, and every rule forbids it.  For the same reason a dependency from one
 * writer to another orders their versions. */
typedef enum iso_order_reason {
  ISO_ORDER_NONE,    /* the link speaks of no order */
  ISO_ORDER_INITIAL, /* every version comes after the initial one */
  ISO_ORDER_ASSUMED, /* assumed in this case */
  ISO_ORDER_LIST,    /* the list read `order_op` shows it */
  ISO_ORDER_SO,      /* one is before the other in their session */
  ISO_ORDER_RT,      /* one ended before the other began */
  ISO_ORDER_WR       /* one read (`order_op`) what the other wrote */
} iso_order_reason;

/* A dependency, or a step of a cycle.  A dependency of kind WW is what list reads show; one of kind WR may come from
 * ISO_INITIAL.  RW is never a dependency by itself: `version` is the transaction whose version `from` read. */
typedef struct iso_link {
  iso_edge_kind kind;
  uint32_t from, to;
  uint32_t key;            /* ISO_NO_KEY for SO and RT */
  uint32_t version;        /* RW: a transaction or ISO_INITIAL; else ISO_NO_TXN */
  uint32_t read_op;        /* WR: of `to`; RW: of `from`; else ISO_NO_OP */
  iso_order_reason reason; /* WW: from before to; RW: version before to */
  uint32_t order_op;
} iso_link;

/* A place in the tree of cases.  An inner one asks in which order `before` and `after` wrote `key`: then[0] is the case
 * of that order, then[1] that of the other; both come later in the array.  A leaf has the cycle
 * [first_link, first_link + links). */
typedef struct iso_branch {
  bool is_leaf;
  uint32_t before, after, key;
  uint32_t then[2];
  uint32_t first_link, links;
} iso_branch;

typedef struct iso_scenario {
  const iso_strong_level *level;
  bool refuted;              /* false: the transactions given do not violate the level, and the rest is empty */
  ISO_VEC(uint32_t) txns;    /* ascending; none can be left out */
  ISO_VEC(iso_link) known;   /* SO, RT, WR and, from lists, WW; none can be left out */
  ISO_VEC(iso_branch) cases; /* the first one is the root */
  ISO_VEC(iso_link) links;   /* the cycles */
} iso_scenario;

void iso_scenario_free(iso_scenario *scenario);

#endif
