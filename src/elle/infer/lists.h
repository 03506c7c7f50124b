/* lists.h - versions of lists from what was read of them.
 *
 * Lists are traceable (Elle, sections 2.1 and 3.1.6): a read shows its whole past, so the longest read of a key by
 * anybody who counts is its version order; what it does not show comes after.  Where reads of a key are of incompatible
 * orders and several of them are the longest, any of them may be taken: the one that makes the writes run in a cycle,
 * if there is one (lists_choice.c).  Where elements are unique they are recoverable, too (section 3.2.3): each leads
 * back to the one append that made it.  Version v of a key is the state after the first v elements of that order that
 * count; elements of aborted transactions, of nobody, and repeated ones do not.  The struct owns its columns until
 * iso_lists_free and refers to the history and to `counts`.
 */
#ifndef ISO_ELLE_INFER_LISTS_H
#define ISO_ELLE_INFER_LISTS_H

#include "graph/dependencies.h"
#include "history/history.h"

/* What the first elements of an order are. */
typedef struct iso_list_prefix {
  uint32_t counted; /* of transactions that count */
  uint32_t aborted; /* of aborted transactions */
  uint32_t garbage; /* of nobody */
  uint32_t repeated;
} iso_list_prefix;

typedef struct iso_lists {
  const isoproof_history *h;
  const iso_resolution *resolution;
  const uint32_t *op_txn;
  const uint8_t *counts;

  uint32_t *length;    /* by key: elements of its order, those that do not count included */
  uint32_t *odd_order; /* by key: the odd list that is the order, ISO_NO_OP for the list of the key; NULL: all those */
  uint32_t *agreement; /* by key, where odd_order is there: how far the list of the key agrees with the order */

  uint64_t *order_first; /* keys + 1 */
  uint32_t *order;       /* the appends that count, in order */
  uint32_t *place;       /* by operation: its place in the order + 1; 0 not shown; ISO_NOT_COUNTED shown, no place */

  uint64_t *prefix_first; /* by key: where its prefixes begin; ISO_ALL_COUNTED where every element counts */
  ISO_VEC(iso_list_prefix) prefix;
} iso_lists;

#define ISO_NOT_COUNTED UINT32_MAX
#define ISO_ALL_COUNTED UINT64_MAX

/* `orders` are the edges of sessions and real time, which the choice between longest reads looks at, too. */
isoproof_status iso_lists_make(isoproof_history *history, const uint8_t *counts, const iso_dependency_list *orders,
                               isoproof_task *task, iso_lists *lists, isoproof_error *error);
void iso_lists_free(iso_lists *lists);

/* The elements of the order of a key and who appended them. */
const uint32_t *iso_lists_order(const iso_lists *lists, uint32_t key, const iso_value **values);
/* How many elements of the order the read shows; false when it shows another order, or nothing was recorded. */
bool iso_lists_read(const iso_lists *lists, uint32_t op, uint32_t *elements);
/* What the first `elements` of the order of a key are. */
iso_list_prefix iso_lists_prefix(const iso_lists *lists, uint32_t key, uint32_t elements);
/* The version that a read shows once the reader's own appends at its end are taken away; false as above. */
bool iso_lists_version(const iso_lists *lists, uint32_t op, uint32_t *version);
/* The version that a read ends in, when it shows nothing of what comes after it: that was missed. */
bool iso_lists_missed_after(const iso_lists *lists, uint32_t op, uint32_t *version);
/* The appends behind the elements of a read; NULL when nothing was recorded. */
const uint32_t *iso_lists_appends(const iso_lists *lists, uint32_t op, uint32_t *count);
/* Versions of a key: its last version. */
static inline uint32_t iso_lists_last_version(const iso_lists *lists, uint32_t key) {
  return (uint32_t)(lists->order_first[key + 1] - lists->order_first[key]);
}
/* The transaction that made version v, v at least 1. */
static inline uint32_t iso_lists_writer(const iso_lists *lists, uint32_t key, uint32_t version) {
  return lists->op_txn[lists->order[lists->order_first[key] + version - 1]];
}

/* Part of making them: chooses between several longest reads of a key.  Lengths and first choices are there. */
isoproof_status iso_lists_choose(iso_lists *lists, const iso_dependency_list *orders, isoproof_task *task,
                                 isoproof_error *error);

/* Adds WW, WR and RW (section 3.3.2). */
isoproof_status iso_lists_edges(const iso_lists *lists, isoproof_task *task, iso_dependency_list *edges,
                                isoproof_error *error);

#endif
