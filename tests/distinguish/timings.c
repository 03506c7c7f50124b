/* Every real-time order of a few transactions: beginnings and ends in every order, and of those with the same
 * real-time order the first. */
#include <stdlib.h>
#include <string.h>

#include "tests/distinguish/enumerate.h"

/* The times that a sequence of 2n events says: the first event of a transaction is its beginning. */
static small_timing timing_of(unsigned txns, const uint8_t *events) {
  small_timing timing = {.overlaps = 0};
  bool begun[SMALL_TXNS] = {false};
  for (unsigned e = 0; e < 2 * txns; e++) {
    uint8_t *at = begun[events[e]] ? timing.end : timing.start;
    at[events[e]] = (uint8_t)e;
    begun[events[e]] = true;
  }
  for (unsigned t = 0; t < txns; t++) {
    for (unsigned s = 0; s < txns; s++) {
      if (timing.end[s] < timing.start[t]) timing.before[t] |= (uint8_t)(1u << s);
      if (s < t && timing.end[s] > timing.start[t] && timing.end[t] > timing.start[s]) timing.overlaps++;
    }
  }
  return timing;
}

static int by_overlaps(const void *a, const void *b) {
  const small_timing *x = a, *y = b;
  if (x->overlaps != y->overlaps) return x->overlaps < y->overlaps ? -1 : 1;
  return memcmp(x->before, y->before, sizeof x->before);
}

size_t small_timings(unsigned txns, small_timing timings[SMALL_TIMINGS]) {
  uint8_t events[2 * SMALL_TXNS];
  size_t count = 0;
  for (unsigned e = 0; e < 2 * txns; e++) events[e] = (uint8_t)(e / 2);
  do {
    small_timing timing = timing_of(txns, events);
    size_t same = 0;
    while (same < count && memcmp(timings[same].before, timing.before, sizeof timing.before) != 0) same++;
    if (same == count) timings[count++] = timing;
  } while (small_next_permutation(events, 2 * txns));
  qsort(timings, count, sizeof *timings, by_overlaps);
  return count;
}

bool small_timing_suits(const small_timing *timing, const small_history *history) {
  uint8_t needed[SMALL_TXNS], before[SMALL_TXNS];
  small_order(history, needed);
  for (unsigned t = 0; t < history->txns; t++) {
    before[t] = needed[t] | timing->before[t];
    for (unsigned s = 0; s < t; s++) {
      if (history->session[s] == history->session[t] && (timing->before[t] >> s & 1) == 0) return false;
    }
  }
  for (unsigned via = 0; via < history->txns; via++) {
    for (unsigned t = 0; t < history->txns; t++) {
      if ((before[t] >> via & 1) != 0) before[t] |= before[via];
    }
  }
  for (unsigned t = 0; t < history->txns; t++) {
    if ((before[t] >> t & 1) != 0) return false;
  }
  return true;
}
