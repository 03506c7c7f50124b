/* isolation.h - the isolation level that a transaction of a history carries as its own.
 *
 * A code is a byte of a column, 0 for none; it is what the binary form stores, so that numbers never change.  The codes
 * are in order of strength: each level implies those before it.  Nothing is owned.
 */
#ifndef ISO_HISTORY_ISOLATION_H
#define ISO_HISTORY_ISOLATION_H

#include "base/error.h"
#include "level/levels.h"

/* C name (that of the level, too), code. */
#define ISO_ISOLATION_LIST(X)                                                                                          \
  X(READ_COMMITTED, 1)                                                                                                 \
  X(READ_ATOMIC, 2)                                                                                                    \
  X(CAUSAL, 3)                                                                                                         \
  X(PREFIX, 4)                                                                                                         \
  X(SNAPSHOT_ISOLATION, 5)                                                                                             \
  X(SERIALIZABLE, 6)

typedef enum iso_txn_isolation {
  ISO_ISOLATION_NONE,
#define ISO_X(name, code) ISO_ISOLATION_##name = (code),
  ISO_ISOLATION_LIST(ISO_X)
#undef ISO_X
      ISO_ISOLATIONS /* one more than the highest code */
} iso_txn_isolation;

/* The canonical id of the level, NULL for none. */
const char *iso_txn_isolation_id(iso_txn_isolation isolation);
/* The code of a level by its number in the table of levels; none where transactions cannot carry it. */
iso_txn_isolation iso_txn_isolation_of_level(uint32_t level);
/* The code of a name (id or alias); false when it is not that of a level that a transaction can carry. */
bool iso_txn_isolation_find(const char *name, size_t length, iso_txn_isolation *isolation);
/* Every name that is the id of such a level, "read-committed, ..., serializable", for errors. */
#define ISO_ISOLATION_NAMES "read-committed, read-atomic, causal, prefix, snapshot-isolation or serializable"

#endif
