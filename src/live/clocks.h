/* clocks.h - the clocks of a commit order: how many transactions of each session are causally before a transaction, or
 * are that one.
 *
 * They stand in a ring, a row for each transaction that is placed, under a number that grows (its tick), so that to
 * keep a clock is to keep a number.  Of clocks that were overwritten a bound stays: how many transactions of each
 * session were placed some time later.  Who is in sight by a bound may not be so by the clock, which may ask for an
 * exact check too many, never for one too few.  The clocks belong to their track.
 */
#ifndef ISO_LIVE_CLOCKS_H
#define ISO_LIVE_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ISO_LIVE_BOUNDS = 32 };

typedef struct iso_live_clocks {
  void *allocated; /* what is freed: all of the rows below, in this order */
  uint32_t *rows;  /* the ring */
  uint32_t *bounds, *heads;
  size_t room;                     /* rows of the ring, a power of two; 0 before the first clock */
  size_t width;                    /* sessions of a row, those without a transaction are 0; whole lines of the cache */
  size_t sessions;                 /* that have rows in `heads`, two each */
  uint64_t tick;                   /* the last one that was given; the first is 1 */
  uint64_t lost;                   /* up to this one all were overwritten */
  uint64_t until[ISO_LIVE_BOUNDS]; /* the last tick that a bound is good for; they are a ring, too */
  uint64_t bound_count;            /* that were ever made */
} iso_live_clocks;

/* Whether there is room for so many sessions, and for the clocks of so many transactions, and not for far more. */
bool iso_live_clocks_fit(const iso_live_clocks *clocks, size_t sessions, size_t rows);
/* Makes it so; false when memory is out.  The last ticks stay; where there were any, a bound has been made just before.
 */
bool iso_live_clocks_resize(iso_live_clocks *clocks, size_t sessions, size_t rows);
void iso_live_clocks_free(iso_live_clocks *clocks);
uint64_t iso_live_clocks_bytes(const iso_live_clocks *clocks);

/* Whether a bound has to be made before the next tick: every tick has one before it is overwritten. */
static inline bool iso_live_clocks_want_bound(const iso_live_clocks *clocks) {
  return (clocks->tick & (clocks->room / 8 - 1)) == 0;
}
/* A row for a bound on all clocks so far; the caller fills it, it is 0. */
uint32_t *iso_live_clocks_bound(iso_live_clocks *clocks);

/* The row of a tick for whoever fills it: one of the last `room` ticks. */
static inline uint32_t *iso_live_clocks_row(const iso_live_clocks *clocks, uint64_t tick) {
  return clocks->rows + (tick & (clocks->room - 1)) * clocks->width;
}
/* The bound on a clock that has been overwritten. */
const uint32_t *iso_live_clocks_bound_of(const iso_live_clocks *clocks, uint64_t tick);
/* The clock with the tick, or a bound on it. */
static inline const uint32_t *iso_live_clocks_at(const iso_live_clocks *clocks, uint64_t tick) {
  if (clocks->tick - tick < clocks->room && tick > clocks->lost) return iso_live_clocks_row(clocks, tick);
  return iso_live_clocks_bound_of(clocks, tick);
}

/* The clock of the last transaction of a session, or of its last frozen one. */
static inline uint32_t *iso_live_clocks_head(const iso_live_clocks *clocks, size_t session, bool frozen) {
  return clocks->heads + (2 * session + frozen) * clocks->width;
}

/* Each entry becomes the larger one of the two. */
static inline void iso_live_clocks_join(const iso_live_clocks *clocks, uint32_t *into, const uint32_t *from) {
  enum { AT_ONCE = 16 };
  for (size_t at = 0; at < clocks->width; at += AT_ONCE) {
    uint32_t *restrict x = into + at;
    const uint32_t *restrict y = from + at;
    for (int i = 0; i < AT_ONCE; i++) x[i] = x[i] > y[i] ? x[i] : y[i];
  }
}

#endif
