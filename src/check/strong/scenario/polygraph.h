/* polygraph.h - the dependencies among a few transactions, and the pairs of writers without an order (Papadimitriou
 * 1979).
 *
 * Transactions are numbered 0, 1, ... in the order of their numbers in the history, so that a session's are a range.
 * Links between them use these numbers; ISO_INITIAL stays itself.  A polygraph owns its arrays until
 * iso_polygraph_free and refers to the view, the versions and the level.
 */
#ifndef ISO_CHECK_STRONG_SCENARIO_POLYGRAPH_H
#define ISO_CHECK_STRONG_SCENARIO_POLYGRAPH_H

#include "check/view/versions.h"
#include "check/view/view.h"
#include "result/scenario.h"

typedef struct iso_polygraph_write {
  uint32_t key, txn;
} iso_polygraph_write;

/* Two transactions that write a key: a < b.  One entry for them, whatever the number of such keys. */
typedef struct iso_polygraph_pair {
  uint32_t a, b, key;
} iso_polygraph_pair;

typedef struct iso_polygraph {
  const iso_view *view;
  const iso_strong_level *level;
  const iso_versions *versions;
  uint32_t count;
  uint32_t *txn;                       /* numbers in the history, ascending */
  ISO_VEC(iso_polygraph_write) writes; /* by key, then transaction */
  ISO_VEC(iso_polygraph_pair) pairs;   /* by a, then b */
  ISO_VEC(iso_link) links;             /* WR and WW (lists); with `spelled_out` SO and RT, every pair */
} iso_polygraph;

/* `txns` may be in any order and may repeat. */
isoproof_status iso_polygraph_make(const iso_view *view, const iso_strong_level *level, const iso_versions *versions,
                                   const uint32_t *txns, size_t count, bool spelled_out, iso_polygraph *out,
                                   isoproof_error *error);
void iso_polygraph_free(iso_polygraph *problem);

/* The writers of a key: [*first, *end) of writes. */
void iso_polygraph_writers(const iso_polygraph *problem, uint32_t key, size_t *first, size_t *end);
/* The pair of two transactions in either order; pairs.count when they share no key. */
size_t iso_polygraph_find_pair(const iso_polygraph *problem, uint32_t x, uint32_t y);
bool iso_polygraph_is_writer(const iso_polygraph *problem, uint32_t txn, uint32_t key);
/* Whether a is before b in their session, whatever the level says of sessions. */
bool iso_polygraph_so(const iso_polygraph *problem, uint32_t a, uint32_t b);
/* Whether a link from a writer to a reader shows the one to the other, for a read of `key` by `read_op`, as read
 * committed or read atomic, the reader's own level, says. */
bool iso_shows_directly(const isoproof_history *history, iso_txn_isolation level, const iso_link *by, uint32_t key,
                        uint32_t read_op);
/* Whether link `by`, from the writer to whoever did `read`, shows it to the reader as a level of read committed or read
 * atomic says: the reader may then not have missed what the writer wrote of what it reads. */
bool iso_polygraph_shows(const iso_polygraph *problem, iso_txn_isolation level, size_t by, size_t read,
                         uint32_t writer);
/* Whether a ended before b began. */
bool iso_polygraph_rt(const iso_polygraph *problem, uint32_t a, uint32_t b);

#endif
