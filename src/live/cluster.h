/* cluster.h - what has to move later together with a transaction, and moving it.
 *
 * In a stretch of an order, those that depend on what is moved go with it, and everybody else stays: whoever accesses
 * the same keys keeps its order to the others, so that every read shows what it showed before.  Only two writers of a
 * key may change places, and only if nobody has to come between.  Steps refer to transactions of their owner.
 *
 * Why that is right.  A step is an event: a snapshot, which reads what its transaction reads, and, where writers
 * exclude each other, what it writes; a commit, which writes; or, in a serial order, a transaction, which does both.
 * The new order changes the places of pairs (m, s) only, m before s, of which m moves and s stays.  As s does not
 * depend on m, they are of two sessions, real time does not order them, and they access no key together of which one of
 * them writes it.  So such neighbours can be exchanged, one pair after the other, and no read shows anything else, no
 * snapshot gets behind its own commit, and between the snapshot of a writer and its commit there is no more than
 * before.
 *
 * Of the key of the first one, when it moves behind other writers: those that move with it have read its version, or
 * have nothing to do with the key, else the stretch is left as it is (comes_before_first).  All who have read its
 * version in the stretch do move, and nobody reads it later, since it was overwritten.  So what stays of the accesses
 * to the key are those of versions before and after it, in their old order, and behind them come its snapshot, its
 * commit and its readers.  Where writers exclude each other, the snapshot is moved, too, so that nobody commits the key
 * in between; and nobody who commits it behind the stretch has a snapshot in it (is_left_open).
 */
#ifndef ISO_LIVE_CLUSTER_H
#define ISO_LIVE_CLUSTER_H

#include "live/track.h"

/* Which part of a transaction a step is. */
typedef enum iso_live_part { ISO_LIVE_WHOLE, ISO_LIVE_SNAPSHOT_ONLY, ISO_LIVE_COMMIT_ONLY } iso_live_part;

typedef struct iso_live_step {
  iso_live_txn *txn;
  uint8_t part; /* iso_live_part */
  bool moves;
} iso_live_step;

struct iso_live_closure {
  const iso_live_rule *rule;
  ISO_VEC(iso_live_step) steps;
  /* Who is to come behind all others that wrote `key`, with the value that it wrote there; or NULL. */
  const iso_live_txn *first;
  uint32_t key;
  iso_value value;
  /* Or for whom there has to be room behind those that it comes after; the slots of the track say what it accesses. */
  const iso_live_txn *arrival;
  const iso_live_track *track;
  size_t sessions;         /* how many there are */
  size_t moved;            /* steps */
  iso_written wrote, read; /* keys, by those that move */
  iso_written moved_sessions;
  int64_t earliest_end;          /* of the commits that move */
  ISO_VEC(iso_live_event) aside; /* scratch */
};

/* The scratch of the track, empty; NULL when memory is out. */
iso_live_closure *iso_live_closure_of(iso_live_track *track);
void iso_live_closure_free(iso_live_closure *closure);
/* Whether the steps from the one of `first` to the last one who wrote its key, or read that, can be put into an order
 * in which it is the last writer: `moves` says who comes behind the others then. */
bool iso_live_closure_flip(iso_live_closure *closure, const iso_live_txn *first, uint32_t key);

/* The most steps that are worth looking at: those who are under way at the same time are not further apart. */
size_t iso_live_reach(const iso_live_track *track);
/* Whether the writer of a version of a key could as well be behind the label; the closure of the track has the steps
 * then, from *from on. */
bool iso_live_can_flip(iso_live_track *track, uint32_t key, const iso_live_version *version, uint64_t behind,
                       size_t *from);
/* Moves it there with all that depend on it; false, and nothing is changed, where that cannot be. */
bool iso_live_flip(iso_live_track *track, uint32_t key, const iso_live_version *version, uint64_t behind);
/* Makes room for an arrival whose reads are right before `high`, but who has to come after `low`, which is not before
 * that.  False where that cannot be.  The slots have what it accesses. */
bool iso_live_make_room(iso_live_track *track, const iso_live_txn *arrival, uint64_t low, uint64_t high);

#endif
