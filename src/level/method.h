/* method.h - the levels whose version orders have to be searched for, as one table.
 *
 * Each of them asks for a total order of events in which every read sees the last version before it.  An event is a
 * transaction, or, where a transaction reads from a snapshot that is older than its commit, its begin or its commit.
 * With b and c for these two, the dependencies become edges between events:
 *
 *   rule           SO, WR     WW         RW         what must not be
 *   SERIALIZABLE   t -> t     t -> t     t -> t     a cycle
 *   SNAPSHOT       c -> b     c -> b     b -> c     a cycle
 *   PREFIX         c -> b     c -> c     b -> c     a cycle
 *   PARALLEL       t -> t     t -> t     -          a cycle, or a path from s to r where r must come before s (RW)
 *   UPDATE_ATOMIC  t -> t     t -> t     -          a cycle, or one edge from s to r where r must come before s (RW)
 *
 * So a read of x by r from t and another writer s of x come down to a choice: s before t, or t before s and then r
 * before s.  Everything here is a constant or a function of its arguments.
 */
#ifndef ISO_LEVEL_METHOD_H
#define ISO_LEVEL_METHOD_H

#include <isoproof/level.h>

#include "history/history.h"

#define ISO_RULE_LIST(X)                                                                                               \
  X(SERIALIZABLE, "serializable", false)                                                                               \
  X(SNAPSHOT, "snapshot-isolation", true)                                                                              \
  X(PREFIX, "prefix", true)                                                                                            \
  X(PARALLEL, "parallel-snapshot-isolation", false)                                                                    \
  X(UPDATE_ATOMIC, "update-atomic", false)

typedef enum iso_rule {
#define ISO_X(name, id, split) ISO_RULE_##name,
  ISO_RULE_LIST(ISO_X)
#undef ISO_X
      ISO_RULES
} iso_rule;

/* What a level asks. */
typedef struct iso_strong_level {
  const char *id; /* canonical */
  bool is_model;  /* one of Adya's levels, without session order */
  iso_rule rule;
  bool session_order;
  bool real_time; /* needs times */
  bool single;    /* only for transactions of one operation */
} iso_strong_level;

/* Weaker ones first; NULL after the last. */
const iso_strong_level *iso_strong_level_at(size_t number);
/* NULL when the level is not one of these. */
const iso_strong_level *iso_strong_level_of(const isoproof_level_info *info);

/* Whether a transaction has a begin and a commit of its own. */
bool iso_rule_is_split(iso_rule rule);

/* Whether the history carries what the order in real time needs: times, or positions of invocation and completion.  It
 * may take a look at every transaction. */
bool iso_has_real_time(const isoproof_history *history);
/* When a transaction began and ended; INT64_MIN and INT64_MAX where that is not known.  Only for histories with columns
 * of times or positions. */
int64_t iso_real_start(const isoproof_history *history, uint32_t txn);
int64_t iso_real_end(const isoproof_history *history, uint32_t txn);

#endif
