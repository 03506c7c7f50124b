/* track.h - one level that is being followed: an explicit order that explains everything so far, of which the beginning
 * has left memory.
 *
 * Every transaction that took effect has a place in the order (a label, or one for its snapshot and one for its
 * commit). What is early in the order is frozen: it is gone, and of each key only the last version stays.  The rest is
 * the window. An arrival is put where it fits; who does not fit, or reads what nobody wrote so far, waits for the exact
 * check of the window (live/settle.h).  A track holds references to the transactions of its window and owns everything
 * else.
 */
#ifndef ISO_LIVE_TRACK_H
#define ISO_LIVE_TRACK_H

#include <isoproof/check.h>
#include <isoproof/level.h>

#include "base/vector.h"
#include "live/clocks.h"
#include "live/txn.h"
#include "live/written.h"

/* What an order consists of, and what it has to show. */
typedef enum iso_live_kind {
  ISO_LIVE_SERIAL,   /* transactions, each at one moment: carried out one after the other, reads return what they did */
  ISO_LIVE_SNAPSHOT, /* snapshots and commits: every transaction reads the state at its snapshot */
  ISO_LIVE_COMMITS   /* commits only: a commit order that an axiom allows */
} iso_live_kind;

/* Who is in sight of a reader: who wrote something later must not be. */
typedef enum iso_live_sight_kind {
  ISO_LIVE_SIGHT_NONE,
  ISO_LIVE_SIGHT_BEFORE, /* whom it has read from before */
  ISO_LIVE_SIGHT_DIRECT, /* whom it reads from, and its session */
  ISO_LIVE_SIGHT_PATHS   /* all that is causally before it */
} iso_live_sight_kind;

typedef struct iso_live_rule {
  const char *level;
  iso_live_kind kind;
  iso_live_sight_kind sight; /* commit orders */
  bool exclusive;            /* nobody else commits a key between a writer's snapshot and its commit */
  bool real_time;
} iso_live_rule;

/* The rule of a level; NULL where it cannot be followed, but only checked as a whole. */
const iso_live_rule *iso_live_rule_of(const isoproof_level_info *level);

enum { ISO_LIVE_GAP_BITS = 24 };
#define ISO_LIVE_GAP                                                                                                   \
  (UINT64_C(1) << ISO_LIVE_GAP_BITS) /* between the labels of neighbours, for those who come between */

#define ISO_LIVE_IS_READ UINT64_MAX

/* A version of a key in the window. */
typedef struct iso_live_version {
  uint64_t label;     /* where it was committed */
  uint64_t last_read; /* the last place where it is read; in commit orders ISO_LIVE_IS_READ, or its label */
  iso_value value;    /* of a list: its last element */
  uint32_t length;    /* of a list: how many elements there are then */
  uint32_t older;     /* the version before, + 1; 0 none in the window */
  uint32_t writer;    /* entry */
} iso_live_version;

/* The elements of a list, those that left memory in their transactions too. */
typedef struct iso_live_list {
  ISO_VEC(iso_value) elements;
  uint32_t frozen; /* how many of them are */
} iso_live_list;

/* A key.  Large blocks begin 16 bytes behind a line of the cache: what commit orders ask for is in the first line. */
typedef struct iso_live_slot {
  uint32_t newest; /* version + 1 */
  uint32_t old;    /* + 1: commit orders: the last frozen version */
  uint32_t pocket; /* + 1: the last frozen version may be another one that was written there (live/pocket.h) */
  bool has_frozen; /* a version was frozen; else the initial one is before those of the window */
  bool wrote, saw; /* by the transaction with the stamp */
  bool outside;    /* it saw what somebody else wrote, who committed at `seen_at` */
  iso_value frozen;
  uint32_t stamp;
  iso_value own, seen;
  uint32_t appended;   /* its last append, + 1 */
  bool doubted;        /* while it is frozen: another version may be the last one */
  iso_live_list *list; /* NULL for a register */
  uint64_t frozen_read, seen_at;
} iso_live_slot;

typedef enum iso_live_where {
  ISO_LIVE_NEW,     /* came after something did not fit */
  ISO_LIVE_WAITING, /* reads what nobody wrote so far, or comes after somebody who does */
  ISO_LIVE_PLACED,
  ISO_LIVE_OUT /* took no effect, as far as is known */
} iso_live_where;

typedef struct iso_live_entry {
  iso_live_txn *txn;
  uint64_t tick;          /* commit orders: of its clock; 0: none */
  uint64_t begin, commit; /* labels, where it is placed */
  uint64_t place;         /* in its session, as the transaction says */
  uint32_t session;       /* the same */
  uint32_t next;          /* who waits for the same, + 1 */
  uint8_t where;
  bool straddles; /* its snapshot is in the frozen part */
  bool pending;   /* has a read of what nobody wrote so far */
} iso_live_entry;

typedef struct iso_live_lane {
  uint64_t label;       /* of the last commit of the session */
  uint32_t first, last; /* entries, + 1, that wait for an earlier one of their session; in order */
  bool waits;           /* one of its transactions waits */
  uint64_t frozen;      /* all of its transactions before this one are earlier than what is frozen, or never */
} iso_live_lane;

/* Everything that ended up to a moment is committed up to a label. */
typedef struct iso_live_ended {
  int64_t end;
  uint64_t label;
} iso_live_ended;

/* What stands at a label: the commit of an entry, or its snapshot where that is an event of its own. */
typedef struct iso_live_event {
  uint64_t label;
  uint32_t entry;
  bool snapshot;
} iso_live_event;

typedef struct iso_live_waiter {
  uint64_t pair;  /* key and value */
  uint32_t entry; /* + 1; 0 for nobody any more */
  bool used;
} iso_live_waiter;

/* A session in a commit order. */
typedef struct iso_live_head {
  bool clocked, frozen_clocked; /* there is a clock of its last transaction, and of the last one that is frozen */
  uint64_t place, frozen_place; /* of that in the session, + 1 */
  uint64_t number;              /* of its last transaction */
} iso_live_head;

typedef struct iso_live_old iso_live_old;

/* What a transaction read, and from whom. */
typedef struct iso_live_saw {
  uint32_t key;
  iso_value value;
  uint32_t version, old; /* + 1, one of them; neither: the initial version */
} iso_live_saw;

typedef struct iso_live_met {
  uint32_t session;
  uint64_t place;
} iso_live_met;

typedef struct iso_live_pockets iso_live_pockets;
typedef struct iso_live_closure iso_live_closure;

typedef struct iso_live_track {
  const iso_live_rule *rule;
  const isoproof_level_info *level;
  ISO_VEC(iso_live_entry) entries; /* in the order of arrival, at least within sessions */
  ISO_VEC(iso_live_slot) slots;    /* by key */
  ISO_VEC(iso_live_version) versions;
  /* Versions that are free, with room for all of them; a list through them would be read where memory is slow. */
  ISO_VEC(uint32_t) free_versions;
  ISO_VEC(iso_live_event) order; /* live/order.h */
  bool ordered;                  /* that it is up to date */
  ISO_VEC(iso_live_head) heads;  /* by session, in commit orders (live/commits.h); these, too: */
  ISO_VEC(iso_live_old) olds;    /* frozen versions */
  ISO_VEC(uint32_t) everybody;   /* by session: how many of its transactions every session has in sight */
  ISO_VEC(iso_live_saw) saws;    /* scratch */
  ISO_VEC(iso_live_met) met;     /* scratch */
  bool replays;                  /* the order is given and does not change */
  bool trusts;                   /* and it is right */
  iso_live_clocks clocks;
  ISO_VEC(uint32_t) free_olds;  /* those that are free; room for all */
  iso_live_pockets *pockets;    /* NULL: none so far */
  iso_live_closure *closure;    /* scratch, NULL until it is needed (live/cluster.h) */
  ISO_VEC(iso_live_lane) lanes; /* by session */
  ISO_VEC(iso_live_ended) ends;
  iso_live_waiter *waiters;
  size_t waiter_mask, waiter_count;
  ISO_VEC(uint32_t) work;        /* scratch: entries to try */
  ISO_VEC(uint32_t) writes;      /* scratch: keys that a transaction writes */
  ISO_VEC(uint32_t) appends;     /* scratch: by operation: the append to the same key before it, + 1 */
  size_t placed, waiting, fresh; /* entries of each kind */
  uint64_t held;                 /* bytes of their transactions */
  size_t patience;               /* how many have to be new before the next early look at them */
  uint64_t clock, floor;         /* the last label, and that of the last frozen event */
  uint64_t frozen;               /* how many transactions left */
  int64_t frozen_start;          /* the latest start among them */
  int64_t latest_start;          /* among those that are placed */
  uint32_t stamp;
  uint64_t horizon;
  uint64_t postponed;       /* how many more than twice the horizon are placed when freezing is tried again */
  bool broken;              /* something does not fit: the window has to be checked */
  bool misfit;              /* it cannot fit on top of what was frozen */
  bool lost;                /* it would take what left memory, and nothing was recorded */
  iso_written pendings;     /* what nobody wrote so far, but somebody in the window read */
  iso_written detached;     /* the same of those who left */
  size_t thin_air;          /* entries that took effect and have such a read */
  isoproof_verdict verdict; /* so far */
  const char *reason;       /* why it is unknown */
  uint64_t list_bytes;      /* of the elements of lists */
} iso_live_track;

isoproof_status iso_live_track_new(const isoproof_level_info *level, uint64_t horizon, iso_live_track **out,
                                   isoproof_error *error);
/* The same window and frozen part for another level, that the level of `track` implies. */
isoproof_status iso_live_track_fork(const iso_live_track *track, const isoproof_level_info *level, iso_live_track **out,
                                    isoproof_error *error);
void iso_live_track_free(iso_live_track *track);

/* Takes the next transaction (keeping a reference of its own), and puts it where it fits. */
isoproof_status iso_live_track_take(iso_live_track *track, iso_live_txn *txn, isoproof_error *error);
/* Notes that (the snapshot of) a transaction is frozen; false when memory is out. */
bool iso_live_track_note_frozen(iso_live_track *track, const iso_live_txn *txn);
/* Freezes what is early in the order, as soon as that is worth it. */
isoproof_status iso_live_track_freeze(iso_live_track *track, uint64_t pushed, isoproof_error *error);
/* What the track takes in memory, the transactions apart. */
uint64_t iso_live_track_bytes(const iso_live_track *track);

/* ---- for those who find orders ---- */

/* Makes slots up to that of a key; false when memory is out. */
bool iso_live_make_slots(iso_live_track *track, uint32_t key);
/* The slot of a key, reset for the transaction with the stamp at hand; NULL when memory is out. */
static inline iso_live_slot *iso_live_slot_of(iso_live_track *track, uint32_t key) {
  if (key >= track->slots.count && !iso_live_make_slots(track, key)) return NULL;
  iso_live_slot *slot = &track->slots.items[key];
  if (slot->stamp != track->stamp) {
    slot->stamp = track->stamp;
    slot->wrote = slot->saw = slot->outside = false;
    slot->appended = 0;
  }
  return slot;
}
iso_live_lane *iso_live_lane_of(iso_live_track *track, uint32_t session);
/* A version is not needed any more. */
void iso_live_version_free(iso_live_track *track, uint32_t version);
/* Adds an element to the list of a key; false when memory is out. */
bool iso_live_append(iso_live_track *track, iso_live_slot *slot, iso_value element);
/* Serial orders: notes that the version before the label is read there. */
void iso_live_note_read(iso_live_track *track, iso_live_slot *slot, uint64_t label);
/* The last commit of those who ended before the transaction began. */
uint64_t iso_live_real_time_floor(const iso_live_track *track, const iso_live_txn *txn);
/* The first place of those who began after the transaction ended: none (UINT64_MAX), where ends come in order. */
uint64_t iso_live_real_time_ceiling(const iso_live_track *track, const iso_live_txn *txn);
/* Enters what a placed transaction wrote and read; later labels come later. */
isoproof_status iso_live_track_apply(iso_live_track *track, uint32_t entry, isoproof_error *error);
/* Nobody waits any more, and nobody is new. */
void iso_live_forget_waiters(iso_live_track *track);
/* Notes when somebody who is placed ended; false when memory is out. */
bool iso_live_note_end(iso_live_track *track, const iso_live_entry *entry);
/* Forgets all places of the window: no versions, nobody waits. */
void iso_live_track_clear(iso_live_track *track);
/* After the places of all entries were set and applied: sessions, ends, counts. */
isoproof_status iso_live_track_restore(iso_live_track *track, isoproof_error *error);

#endif
