/* state.h - what the passes of a quick proof share.  iso_quick_prove makes it and frees it. */
#ifndef ISO_CHECK_QUICK_STATE_H
#define ISO_CHECK_QUICK_STATE_H

#include "base/task.h"
#include "base/vector.h"
#include "check/quick/pages.h"
#include "check/quick/quick.h"

/* Transactions with more operations than these are not for this room: what it does to one is quadratic. */
enum { ISO_QUICK_MOST_OPS = 128, ISO_QUICK_BLOCK = 256 };

/* Sessions that take turns; what is kept for each pair of them stays in the cache. */
enum { ISO_QUICK_MOST_TURNS = 256 };

/* An entry of the table of writes: the transaction + 1, and whether reading the write is unsound, because its own
 * transaction overwrote it or was rolled back. */
#define ISO_QUICK_SUSPECT UINT32_C(0x80000000)

/* For causal, a transaction packed as its session and its number there; and what is none. */
enum { ISO_QUICK_MOST_SESSIONS = 127, ISO_QUICK_NUMBER_BITS = 25 };
#define ISO_QUICK_NUMBER_MASK ((UINT32_C(1) << ISO_QUICK_NUMBER_BITS) - 1)
#define ISO_QUICK_WRITE UINT32_C(0xffffffff)
#define ISO_QUICK_OTHER UINT32_C(0xfffffffe)
#define ISO_QUICK_INITIAL UINT32_C(0xfffffffd)

/* t2 before t1 in every commit order. */
typedef struct iso_quick_edge {
  uint32_t from, to;
} iso_quick_edge;

/* Who is to blame where something is wrong: a transaction that reads what it must not, or one that has to come before
 * another one in vain (ISO_INITIAL: of the initial version of the key), because of somebody who is not known yet. */
typedef struct iso_quick_blame {
  uint32_t reader; /* ISO_NO_TXN: not known */
  uint32_t from, to, key;
} iso_quick_blame;

/* What one thread makes of the reads of its sessions. */
typedef struct iso_quick_share {
  uint32_t first_session, end_session;
  uint64_t writes;           /* in the table */
  uint32_t *end;             /* by key: one more than the largest value written */
  uint64_t *marks;           /* by place in the table: whether anything is written there */
  uint16_t *stamps;          /* by a hash of a key: the transaction that has just accessed it */
  ISO_VEC(uint32_t) sources; /* who has to come before a transaction, besides its session; see source_first */
  ISO_VEC(iso_quick_edge) edges;
} iso_quick_share;

typedef struct iso_quick {
  const isoproof_history *h;
  iso_axiom axiom;
  isoproof_task *task;
  unsigned threads;
  iso_quick_share *shares;

  uint32_t *first;                  /* by key, and one more: where its values are in the table */
  bool is_shared;                   /* no value is written to two keys: all begin at 0, and entries say their key */
  uint64_t size;                    /* places, one more than values need: the last is always empty */
  uint32_t *table;                  /* entries of the slice; where it is shared, each is followed by its key */
  uint64_t slice_first, slice_size; /* the places whose entries are in the table: all, but within little memory */
  uint64_t *keys;     /* by transaction + 1: iso_quick_key_mask of all that it wrote: few have to be looked for */
  uint32_t *sessions; /* by transaction >> session_shift: the session of the first of these */
  unsigned session_shift;
  uint8_t *repeats; /* by transaction: it may access a key twice */

  /* By transaction: when it ended, if that ascends along every session.  Where nobody has to come before one that ended
   * earlier, or at the same time, the order of the ends is one that respects everything, and edges are not kept. */
  const int64_t *time;
  bool misguessed; /* somebody has to; atomic */

  uint32_t *source_first; /* by transaction: where its sources begin in those of its share */
  uint8_t *source_count;  /* and how many there are */
  /* What sessions had seen of each other before every so many of their transactions: by row and session a transaction
   * + 1, as in the judge; NULL where there are too many sessions.  See iso_quick_has_seen. */
  uint32_t *seen_at;
  uint32_t *edge_first; /* by transaction, and one more: the edges that lead to it */
  uint32_t *edge_from;
  uint32_t *sequence; /* for causal: the transactions in an order that respects all of these */
  /* Not for read committed, by operation: what an external read saw, for causal packed, or one of the marks. */
  uint32_t *versions;

  /* Within little memory (frugal.h). */
  uint64_t memory;      /* bytes, besides the file */
  uint32_t most_turns;  /* sessions that take turns, at most */
  bool snapshots;       /* snapshot isolation is tried, too */
  bool may_repeat;      /* values may, when the history is carried out: see iso_quick_wish */
  uint32_t slices;      /* of the table: at least; then how many there were */
  uint32_t *first_read; /* by session, and one more: where its reads begin among all */
  uint32_t *entries;    /* by read: what the table had for it; NULL: the table has everything */
  uint64_t window;      /* bytes of a mapped file that a thread may have read before it lets go of them */
  uint64_t most_kept;   /* bytes of sources and edges of a thread */
  uint32_t most_suspicions;

  bool is_blamed; /* atomic: the first one found */
  iso_quick_blame blame;
  iso_txns *suspects;             /* see iso_quick_wish; NULL: nobody asks */
  ISO_VEC(iso_quick_edge) circle; /* each has to come before the other, and they follow each other in their sessions */

  bool given_up; /* atomic */
  bool failed;   /* memory is out; atomic */
} iso_quick;

static inline void iso_quick_give_up(iso_quick *q) { __atomic_store_n(&q->given_up, true, __ATOMIC_RELAXED); }
/* The same with somebody to blame. */
static inline void iso_quick_accuse(iso_quick *q, iso_quick_blame blame) {
  if (!__atomic_exchange_n(&q->is_blamed, true, __ATOMIC_RELAXED)) q->blame = blame;
  iso_quick_give_up(q);
}
static inline void iso_quick_fail(iso_quick *q) { __atomic_store_n(&q->failed, true, __ATOMIC_RELAXED); }
static inline bool iso_quick_is_over(const iso_quick *q) {
  return __atomic_load_n(&q->given_up, __ATOMIC_RELAXED) || __atomic_load_n(&q->failed, __ATOMIC_RELAXED) ||
         __atomic_load_n(&q->misguessed, __ATOMIC_RELAXED);
}

/* Whether sources and edges of a share may grow, by half of what they are; edges are indexed later. */
static inline bool iso_quick_may_grow(const iso_quick *q, const iso_quick_share *share) {
  enum { PER_EDGE = sizeof(iso_quick_edge) + sizeof(uint32_t) };
  uint64_t kept = share->sources.capacity * sizeof(uint32_t) + share->edges.capacity * PER_EDGE;
  return kept < q->most_kept / 3 * 2;
}

/* Notes that one has to come before the other, of another session or earlier in the same. */
static inline void iso_quick_add_edge(iso_quick *q, iso_quick_share *share, uint32_t from, uint32_t to) {
  if (q->time == NULL) {
    bool full = share->edges.count == share->edges.capacity;
    if (full && !iso_quick_may_grow(q, share)) {
      iso_quick_give_up(q);
    } else if (!iso_vec_push(&share->edges, ((iso_quick_edge){from, to}))) {
      iso_quick_fail(q);
    }
  } else if (q->time[from] >= q->time[to]) {
    __atomic_store_n(&q->misguessed, true, __ATOMIC_RELAXED);
  }
}

/* Two bits of 64 for a key: one who wrote it has both. */
static inline uint64_t iso_quick_key_mask(uint32_t key) {
  uint32_t hash = key * UINT32_C(2654435769);
  return UINT64_C(1) << (hash >> 26) | UINT64_C(1) << (hash >> 20 & 63);
}

/* The session of a transaction, without a place per transaction in the memory. */
static inline uint32_t iso_quick_session(const iso_quick *q, uint32_t txn) {
  uint32_t session = q->sessions[txn >> q->session_shift];
  while (txn >= q->h->session_first_txn[session + 1]) session++;
  return session;
}

static inline uint32_t iso_quick_pack(const iso_quick *q, uint32_t txn) {
  uint32_t session = iso_quick_session(q, txn);
  return session << ISO_QUICK_NUMBER_BITS | (txn - q->h->session_first_txn[session]);
}

/* What a session had seen before a transaction, or some time earlier; there is a row for as many transactions as there
 * are sessions, so that all of them take 4 bytes per transaction. */
static inline uint32_t *iso_quick_seen_row(const iso_quick *q, uint32_t session, uint32_t txn) {
  uint32_t first = q->h->session_first_txn[session], sessions = q->h->sessions;
  size_t row = (size_t)first / sessions + session + (txn - first) / sessions;
  return q->seen_at + row * sessions;
}

/* Whether one comes before the other for what reads say: the session of the other had read from it or a later one of
 * its session. */
static inline bool iso_quick_has_seen(const iso_quick *q, uint32_t from, uint32_t to) {
  if (q->seen_at == NULL || q->time != NULL) return false;
  return iso_quick_seen_row(q, iso_quick_session(q, to), to)[iso_quick_session(q, from)] > from;
}

/* The place of a value that was written to the key. */
static inline uint64_t iso_quick_place(const iso_quick *q, uint32_t key, iso_value value) {
  return (uint64_t)q->first[key] + value;
}

/* The same for any value: one that nobody wrote has a place that is empty, the last one perhaps. */
static inline uint64_t iso_quick_place_or_none(const iso_quick *q, uint32_t key, iso_value value) {
  bool within = q->is_shared ? value < q->size - 1 : value < q->first[key + 1] - q->first[key];
  return within ? (uint64_t)q->first[key] + value : q->size - 1;
}

static inline uint32_t iso_quick_unpack(const iso_quick *q, uint32_t packed) {
  return q->h->session_first_txn[packed >> ISO_QUICK_NUMBER_BITS] + (packed & ISO_QUICK_NUMBER_MASK);
}

/* The sources of a transaction: *end of them, from *first on. */
static inline const uint32_t *iso_quick_sources(const iso_quick *q, uint32_t txn, uint32_t *first, uint32_t *end) {
  unsigned t = 0;
  while (txn >= q->h->session_first_txn[q->shares[t].end_session]) t++;
  *first = q->source_first[txn];
  *end = *first + q->source_count[txn];
  return q->shares[t].sources.items;
}

/* A walk through the transactions of a share: a few of each session in turn, at about the same part of each.  Sessions
 * that ran at the same time wrote and read neighbours in the table, which are still in the cache then. */
typedef struct iso_quick_walk {
  const iso_quick *q;
  const iso_quick_share *share;
  uint32_t turn, turns;
  uint32_t session; /* the next one */
} iso_quick_walk;

iso_quick_walk iso_quick_walk_begin(const iso_quick *q, const iso_quick_share *share);
/* The next transactions [*txn, *end), some, all of one session; false after the last. */
bool iso_quick_walk_next(iso_quick_walk *walk, uint32_t *session, uint32_t *txn, uint32_t *end);

/* Lays the table of writes out; gives up where values are not small numbers.  This and the others return false when
 * memory is out. */
bool iso_quick_measure(iso_quick *q);
/* Gives up where two writes share key and value. */
bool iso_quick_find_repeated(iso_quick *q);
/* Puts every write into the table and fills keys; gives up where two share key and value. */
bool iso_quick_enter_writes(iso_quick *q);
/* The same slice after slice, and what the table has for every read is kept in entries. */
bool iso_quick_enter_slices(iso_quick *q);
/* Makes a table for slices of so many places, and what is known by transaction; empties it, and enters the writes of a
 * slice; tells whether all writes have been entered, each at a place of its own. */
bool iso_quick_make_table(iso_quick *q, uint64_t places);
void iso_quick_enter_slice(iso_quick *q, uint64_t first);
bool iso_quick_all_entered(const iso_quick *q);
/* Looks every read up, judges it, and collects sources and edges. */
bool iso_quick_judge_reads(iso_quick *q);
/* Adds the edges that follow from what a session did itself to a key that it reads. */
bool iso_quick_judge_sessions(iso_quick *q);
/* Whether everybody can come after all who have to come before. */
bool iso_quick_sort(iso_quick *q, bool *acyclic);
/* For causal, where the order of the ends is such a one; no sequence where too many ended at the same time. */
bool iso_quick_sort_by_time(iso_quick *q);
/* Where something is wrong: transactions that show it, with whom they read from, if they can be found. */
bool iso_quick_find_suspects(iso_quick *q);
/* Whether the causal axiom holds, after they were sorted. */
bool iso_quick_causal(iso_quick *q, bool *proved);

#endif
