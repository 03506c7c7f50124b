/* carried.h - one level that is followed by carrying transactions out: for rows, of which a read by predicate shows a
 * version each.
 *
 * The order that explains everything so far is a sequence of commits, and the store has the state at its end.  What a
 * transaction overwrote is kept as long as it is in the window, so that the state can be taken back to any place of it:
 * whoever does not fit at the end is tried at earlier places.  What left the window is in the state only.  A track
 * holds references to the transactions of its window and owns everything else.
 */
#ifndef ISO_LIVE_CARRIED_H
#define ISO_LIVE_CARRIED_H

#include "live/live.h"
#include "live/store.h"

/* A transaction of the window. */
typedef struct iso_carried_entry {
  iso_live_txn *txn;
  iso_store_undo undo; /* where it is placed */
  uint64_t begin;      /* where it is placed, and has read earlier: the number of commits before that, from the start */
  uint64_t since;      /* waiting: how many had arrived when it began to */
  iso_store_want want; /* waiting: for this */
  bool pending;        /* has a read of what nobody wrote so far */
  bool placed;
} iso_carried_entry;

typedef ISO_VEC(iso_carried_entry *) iso_carried_entries;

struct iso_carried {
  const iso_live_rule *rule;
  const isoproof_level_info *level;
  iso_store store;
  iso_carried_entries order;   /* placed, by their commits */
  iso_carried_entries waiting; /* for somebody who has not arrived; in the order of arrival */
  iso_carried_entries fresh;   /* arrived after something did not fit */
  iso_carried_entries out;     /* took no effect, as far as is known */
  uint64_t gone;               /* commits before those of `order` */
  uint64_t left;               /* transactions that are in memory no more, those without effect included */
  uint64_t arrived;
  ISO_VEC(uint64_t) frozen; /* by session: all of its transactions before this one are gone, or never took effect */
  int64_t frozen_start;     /* the latest start among those that are gone */
  int64_t latest_start;     /* among those that are placed */
  uint64_t horizon;
  bool broken;             /* something does not fit: the window has to be checked */
  bool misfit;             /* it cannot fit on top of what is gone */
  bool lost;               /* it would take what left memory, and nothing was recorded */
  bool so_far;             /* violated, unless a later transaction mends it: weaker levels are followed by themselves */
  bool dropped;            /* so far, and nothing is kept: */
  bool stale;              /* somebody came since who might mend it: */
  bool mends_all;          /* whoever writes, as somebody asks for values or counts; else who removes a row */
  bool confirmed;          /* violated for good, as the level knows: what was doubted then has had its time */
  uint64_t doubted;        /* so far: since so many had been pushed */
  ISO_VEC(uint64_t) doubt; /* by session: how many of its transactions had come then; else empty */
  iso_row_map pendings;    /* (key, value) that nobody wrote so far, but somebody who is placed read */
  size_t thin_air;         /* placed entries that have such a read */
  isoproof_verdict verdict;
  const char *reason;
};

/* A track on which nothing is placed yet; the rows that were there at the start are. */
isoproof_status iso_carried_new(isoproof_live *live, const isoproof_level_info *level, uint64_t horizon,
                                iso_carried **out, isoproof_error *error);
/* The same window on the same state for another level, that the level of `track` implies; to be settled. */
isoproof_status iso_carried_fork(iso_carried *track, const isoproof_level_info *level, iso_carried **out,
                                 isoproof_error *error);
void iso_carried_free(iso_carried *track);
/* Forgets everybody, and the state; the rows that were there at the start are there again. */
isoproof_status iso_carried_reset(isoproof_live *live, iso_carried *track, isoproof_error *error);
uint64_t iso_carried_retained(const iso_carried *track);
/* What it takes in memory; of which *window are transactions, which tracks share. */
uint64_t iso_carried_bytes(const iso_carried *track, uint64_t *window);

/* Takes the next transaction (keeping a reference of its own), and puts it where it fits. */
isoproof_status iso_carried_take(iso_carried *track, iso_live_txn *txn, isoproof_error *error);
/* Lets go what is early in the order, as soon as that is worth it. */
void iso_carried_freeze(iso_carried *track, uint64_t pushed);

/* ---- for those who find orders ---- */

/* Carries an entry out at the end, or as many places before it as may be passed, if it fits there. */
isoproof_status iso_carried_try(iso_carried *track, iso_carried_entry *entry, size_t most, bool *placed,
                                isoproof_error *error);
/* Carries it out at the end, whether it fits or not. */
isoproof_status iso_carried_put(iso_carried *track, iso_carried_entry *entry, isoproof_error *error);
/* Takes everybody back: the state is what those left who are gone, and all are fresh again. */
isoproof_status iso_carried_unwind(iso_carried *track, isoproof_error *error);
/* Whether the transaction that an entry is went missing behind its session. */
static inline bool iso_carried_is_late(const iso_carried *track, const iso_live_txn *txn) {
  return txn->session < track->frozen.count && txn->place < track->frozen.items[txn->session];
}

/* ---- windows (carried_window.c) ---- */

typedef struct iso_carried_window {
  isoproof_history *history;
  iso_carried_entry **entry_of; /* by transaction of the history */
  uint64_t pending;             /* reads, by those who committed, of what nobody wrote so far */
  bool misfit;                  /* something was read that is older than what those left who are gone */
} iso_carried_window;

/* The window on top of the state, which must be unwound.  Reads of what nobody wrote so far are noted, and left out
 * unless everything has come. */
isoproof_status iso_carried_window_make(isoproof_live *live, iso_carried *track, iso_carried_window *window,
                                        isoproof_error *error);
void iso_carried_window_free(iso_carried_window *window);
/* What no later transaction can explain in another way, of the window: writes, and reads of what it wrote. */
isoproof_status iso_carried_certain(isoproof_live *live, iso_carried *track, isoproof_history **history,
                                    isoproof_error *error);
/* The window without reads of those who came after the doubt began, but with what they wrote: what later transactions
 * could have mended, they had the time to. */
isoproof_status iso_carried_doubted(isoproof_live *live, iso_carried *track, isoproof_history **history,
                                    isoproof_error *error);
/* Whether somebody who waits has read what nobody wrote so far. */
isoproof_status iso_carried_waits_for_nobody(isoproof_live *live, iso_carried *track, bool *nobody,
                                             isoproof_error *error);

/* ---- verdicts (carried_settle.c, carried_levels.c) ---- */

/* Brings a track up to date; *violated says that its level is violated for good, which was entered. */
isoproof_status iso_carried_settle(isoproof_live *live, iso_carried *track, bool *violated, isoproof_error *error);

/* Whether a transaction is one for this way. */
bool iso_live_can_carry(const isoproof_live *live, const iso_live_txn *txn);
/* From now on all levels are followed this way. */
isoproof_status iso_live_go_carried(isoproof_live *live, isoproof_error *error);
/* Notes what a transaction writes; false: it has to be judged as part of the whole. */
bool iso_live_carried_note(isoproof_live *live, iso_live_txn *txn);
isoproof_status iso_live_carried_take(isoproof_live *live, iso_live_txn *txn, isoproof_error *error);
isoproof_status iso_live_carried_examine(isoproof_live *live, isoproof_error *error);
/* Ends all tracks; what they have goes to the transactions of the live checker, if it is everything. */
isoproof_status iso_live_carried_hand_over(isoproof_live *live, isoproof_error *error);
/* Lets go more than before: fewer stay, but at least so many. */
void iso_live_carried_shrink(isoproof_live *live, uint64_t least);
uint64_t iso_live_carried_retained(const isoproof_live *live);
uint64_t iso_live_carried_bytes(const isoproof_live *live);
void iso_live_carried_free(isoproof_live *live);

#endif
