/* search.h - the smallest history for every pair of levels: the first, in the order of size, that one of them allows
 * and the other forbids.
 *
 * Size is the number of transactions, then of operations, of sessions, of keys, and of pairs of transactions that
 * overlap.
 */
#ifndef DISTINGUISH_SEARCH_H
#define DISTINGUISH_SEARCH_H

#include "level/distinctions.h"
#include "tests/distinguish/small.h"

/* How many operations histories have at most, by the number of their transactions; 0: none are looked at. */
typedef struct search_bounds {
  uint8_t operations[ISO_DISTINCTION_KINDS][SMALL_TXNS + 1];
} search_bounds;

/* Minutes, and about two seconds. */
extern const search_bounds search_all, search_some;

enum { SEARCH_ROWS = 512 };

typedef struct search_row {
  iso_distinction_kind kind;
  small_history history;
  small_frame frame;
  iso_level_set asked, holds;
} search_row;

typedef struct search_outcome {
  search_row rows[SEARCH_ROWS];
  size_t count;
  uint64_t judged[ISO_DISTINCTION_KINDS][SMALL_TXNS + 1];
  iso_level_set told[ISO_LEVEL_COUNT]; /* for each level that allows: those that forbid some history it allows */
} search_outcome;

/* Histories of up to `oracles` transactions are judged by the oracles, too.  False with a reason on stderr when a level
 * was not decided, when engines and oracles differ, or when a history contradicts an implication. */
bool search_run(const search_bounds *bounds, unsigned oracles, search_outcome *outcome);

/* Writes distinctions.def. */
void search_write(const search_bounds *bounds, const search_outcome *outcome);

#endif
