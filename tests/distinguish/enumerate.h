/* enumerate.h - every small history once, up to the names of transactions, sessions and keys.
 *
 * Only histories in which every operation can matter: every key is written by somebody and read by somebody (but for
 * thin air, which is read in the history of one operation), and sessions and reads form no cycle, but for one history.
 * Of lists, reads may go in cycles, and every key has every order; some of these differ in names only.
 */
#ifndef DISTINGUISH_ENUMERATE_H
#define DISTINGUISH_ENUMERATE_H

#include "tests/distinguish/small.h"

typedef struct small_list {
  small_history *histories; /* by number of sessions, then of keys, then in a fixed order */
  size_t count, room;
} small_list;

/* All with that many transactions and operations, of registers or of lists.  The caller frees the histories.  False
 * when memory runs out. */
bool small_enumerate(unsigned txns, unsigned ops, bool lists, small_list *list);

/* The next permutation in lexicographic order, numbers that are equal not told apart; false after the last. */
bool small_next_permutation(uint8_t *numbers, unsigned count);

/* Times under which n transactions stand in every real-time order that there is, those with fewer overlaps first. */
enum { SMALL_TIMINGS = 207 }; /* of four transactions */

typedef struct small_timing {
  uint8_t start[SMALL_TXNS], end[SMALL_TXNS];
  uint8_t before[SMALL_TXNS]; /* bits: which transactions had ended before it began */
  unsigned overlaps;
} small_timing;

size_t small_timings(unsigned txns, small_timing timings[SMALL_TIMINGS]);
/* The same history and times with the transactions, sessions and keys numbered in the order of time. */
void small_in_order_of_time(small_history *history, small_frame *frame);
/* Whether sessions are in order and, of registers, nobody reads what was written, in real time, afterwards. */
bool small_timing_suits(const small_timing *timing, const small_history *history);

#endif
