/* direct.h - contradictions between reads that follow at once.
 *
 * Who read a version comes before whoever is known to have replaced it: an initial version everybody who wrote the key;
 * another one who read it and wrote the key as well, or wrote the key next in the session of its writer.  Together with
 * session order and what was read these are a few edges for each read, and a cycle of them violates serializability,
 * or, with begins and commits apart, prefix and snapshot isolation.  It takes time linear in the operations, where a
 * guess or saturation may take minutes, and misses what follows only by way of others.
 */
#ifndef ISO_CHECK_STRONG_DIRECT_H
#define ISO_CHECK_STRONG_DIRECT_H

#include "base/task.h"
#include "check/strong/blame.h"
#include "level/method.h"

/* Looks for a short cycle; *found when there is one.  `suspects`, where it is not NULL, gets transactions that violate
 * the level by themselves then.  Nothing is found at levels that say something else, and without session order. */
isoproof_status iso_direct_cycle(const iso_view *view, const iso_strong_level *level, isoproof_task *task,
                                 iso_txn_set *suspects, bool *found, isoproof_error *error);

#endif
