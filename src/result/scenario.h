/* scenario.h - why no version orders save a history: the fewest transactions and dependencies, and every case of them.
 *
 * A level of level/method.h is violated when every choice of version orders closes a cycle that its rule
 * forbids. A scenario is a small part of the history for which that can be followed by hand: dependencies of which none
 * can be left out, and a tree of cases over the orders that nobody knows, with a forbidden cycle at each leaf.  It
 * names operations and transactions only, so that it can be checked against the history by somebody who knows nothing
 * of how it was found (verify/scenario.c).  It owns its arrays until iso_scenario_free.
 */
#ifndef ISO_RESULT_SCENARIO_H
#define ISO_RESULT_SCENARIO_H

#include <isoproof/check.h>

#include "base/arena.h"
#include "base/vector.h"
#include "check/versions.h"
#include "check/view.h"
#include "level/anomalies.h"
#include "level/method.h"

#define ISO_NO_KEY UINT32_C(0xffffffff)

/* Dependencies: C name, name in witnesses. */
#define ISO_LINK_LIST(X)                                                                                               \
  X(SO, "SO") /* from is before to in their session */                                                                 \
  X(RT, "RT") /* from ended before to began */                                                                         \
  X(WR, "WR") /* to read the version of key that from wrote */                                                         \
  X(WW, "WW") /* the version of key that from wrote comes before that of to */                                         \
  X(RW, "RW") /* from read a version of key that comes before that of to */

typedef enum iso_link_kind {
#define ISO_X(name, id) ISO_LINK_##name,
  ISO_LINK_LIST(ISO_X)
#undef ISO_X
      ISO_LINKS
} iso_link_kind;

const char *iso_link_name(iso_link_kind kind);

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
  iso_link_kind kind;
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

/* Makes the scenario of a level that the given transactions (which all take part, in any order) violate by themselves.
 * Only their reads and the keys they wrote are looked at.
 * `versions` may be NULL where the history has no lists.  ISOPROOF_ERR_LIMIT when the cases are too many to show. */
isoproof_status iso_scenario_make(const iso_view *view, const iso_strong_level *level, const iso_versions *versions,
                                  const uint32_t *txns, size_t count, isoproof_task *task, iso_scenario *out,
                                  isoproof_error *error);
void iso_scenario_free(iso_scenario *scenario);

/* Whether the history bears the scenario out: every link, every case, every cycle.  `counts` says which transactions of
 * unknown outcome committed in effect (history/effect.h). */
bool iso_verify_scenario(const isoproof_history *history, const uint8_t *counts, const iso_scenario *scenario);

/* What people call it. */
iso_anomaly iso_scenario_name(const iso_scenario *scenario);

/* Fills everything of *out but code, name, level and count. */
isoproof_status iso_scenario_tell(const isoproof_history *history, const iso_scenario *scenario, iso_arena *arena,
                                  isoproof_anomaly *out, isoproof_error *error);

#endif
