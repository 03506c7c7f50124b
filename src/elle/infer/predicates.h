/* predicates.h - item and predicate dependencies (Adya 1999, chapter 3) from rows and queries over a closed universe.
 *
 * A key is unborn, then has values, then is dead; what the initial state wrote comes before other values.  A query
 * shows the version of every key: that of a row it found, and for the others one that does not match, which may also be
 * one of a transaction of unknown outcome: who sees no row may see what such a one did.  The struct owns its columns
 * until iso_predicates_free and refers to the history and to `counts`.
 */
#ifndef ISO_ELLE_INFER_PREDICATES_H
#define ISO_ELLE_INFER_PREDICATES_H

#include "graph/dependencies.h"
#include "history/history.h"

/* Stages of the life of a key. */
typedef enum iso_stage { ISO_STAGE_UNBORN, ISO_STAGE_INITIAL, ISO_STAGE_LIVING, ISO_STAGE_DEAD } iso_stage;

/* A version of a key: the write that made it. */
typedef struct iso_row_version {
  uint32_t key, op;
  iso_stage stage;
} iso_row_version;

/* A dependency and the operations that it rests on. */
typedef struct iso_row_dependency {
  uint32_t from, to, key, from_op, to_op;
  iso_dependency_set kind;
} iso_row_dependency;

/* A query that left out a key of which every version matches. */
typedef struct iso_row_miss {
  uint32_t op, key;
} iso_row_miss;

typedef struct iso_predicates {
  const isoproof_history *h;
  const uint32_t *op_txn;
  const uint8_t *counts;
  iso_value dead;            /* the code of the deletion; ISO_VALUE_NONE when nothing is deleted */
  iso_row_version *versions; /* by key, then stage */
  uint32_t *version_first;   /* keys + 1 */
  ISO_VEC(iso_row_version)
  indeterminate;   /* by key: of transactions of unknown outcome that nobody is known to have seen */
  uint64_t *names; /* name << 32 | key, sorted */
  ISO_VEC(iso_row_dependency) dependencies;
  ISO_VEC(iso_row_miss) misses;
} iso_predicates;

/* Also adds the dependencies.  Each query looks at every key: linear in their product. */
isoproof_status iso_predicates_make(isoproof_history *history, const uint8_t *counts, isoproof_task *task,
                                    iso_predicates *predicates, iso_dependency_list *edges, isoproof_error *error);
void iso_predicates_free(iso_predicates *predicates);

/* The key with that name; false when there is none. */
bool iso_predicates_key(const iso_predicates *predicates, iso_value name, uint32_t *key);

#endif
