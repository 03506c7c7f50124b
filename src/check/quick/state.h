/* state.h - what the passes of a quick proof share.  iso_quick_prove makes it and frees it. */
#ifndef ISO_CHECK_QUICK_STATE_H
#define ISO_CHECK_QUICK_STATE_H

#include "base/task.h"
#include "base/vector.h"
#include "history/history.h"
#include "level/method.h"

/* Transactions with more operations than these are not for this room: what it does to one is quadratic. */
enum { ISO_QUICK_MOST_OPS = 128, ISO_QUICK_BLOCK = 256 };

/* An entry of the table of writes: the transaction + 1, and whether reading the write is unsound, because its own
 * transaction overwrote it or was rolled back. */
#define ISO_QUICK_SUSPECT UINT32_C(0x80000000)

/* For causal, a transaction packed as its session and its number there; and what is none. */
enum { ISO_QUICK_MOST_SESSIONS = 127, ISO_QUICK_NUMBER_BITS = 25 };
#define ISO_QUICK_NUMBER_MASK ((UINT32_C(1) << ISO_QUICK_NUMBER_BITS) - 1)
#define ISO_QUICK_WRITE UINT32_C(0xffffffff)
#define ISO_QUICK_OTHER UINT32_C(0xfffffffe)
#define ISO_QUICK_INITIAL UINT32_C(0xfffffffd)

/* What others need to know of a transaction, in one place of the memory. */
typedef struct iso_quick_txn {
  uint64_t keys; /* iso_quick_key_mask of every key written: few have to be looked for */
  uint32_t first_op;
  uint32_t session;
} iso_quick_txn;

/* t2 before t1 in every commit order. */
typedef struct iso_quick_edge {
  uint32_t from, to;
} iso_quick_edge;

/* What one thread makes of the reads of its sessions. */
typedef struct iso_quick_share {
  uint32_t first_session, end_session;
  uint64_t writes;           /* in the table */
  uint32_t *end;             /* by key: one more than the largest value written */
  uint64_t *marks;           /* by place in the table: whether anything is written there */
  uint16_t *stamps;          /* by a hash of a key: the transaction that has just accessed it */
  ISO_VEC(uint32_t) sources; /* who has to come before a transaction, besides its session; see source_end */
  ISO_VEC(iso_quick_edge) edges;
} iso_quick_share;

typedef struct iso_quick {
  const isoproof_history *h;
  iso_axiom axiom;
  isoproof_task *task;
  unsigned threads;
  iso_quick_share *shares;

  uint32_t *first;     /* by key, and one more: where its values are in the table */
  bool is_shared;      /* no value is written to two keys: all begin at 0, and entries say their key */
  uint32_t *table;     /* entries; where it is shared, each is followed by its key */
  uint64_t size;       /* entries, one more than places: the last is always empty */
  iso_quick_txn *txns; /* by transaction + 1, and one more that ends the last */
  uint8_t *repeats;    /* by transaction: it may access a key twice */

  uint32_t *source_end; /* by transaction: where its sources end in those of its share */
  uint32_t *edge_first; /* by transaction, and one more: the edges that lead to it */
  uint32_t *edge_from;
  uint32_t *sequence; /* for causal: the transactions in an order that respects all of these */
  uint32_t *versions; /* for causal, by operation: what an external read saw, packed, or one of the marks */

  bool given_up; /* atomic */
  bool failed;   /* memory is out; atomic */
} iso_quick;

static inline void iso_quick_give_up(iso_quick *q) { __atomic_store_n(&q->given_up, true, __ATOMIC_RELAXED); }
static inline void iso_quick_fail(iso_quick *q) { __atomic_store_n(&q->failed, true, __ATOMIC_RELAXED); }
static inline bool iso_quick_is_over(const iso_quick *q) {
  return __atomic_load_n(&q->given_up, __ATOMIC_RELAXED) || __atomic_load_n(&q->failed, __ATOMIC_RELAXED);
}

/* Two bits of 64 for a key: one who wrote it has both. */
static inline uint64_t iso_quick_key_mask(uint32_t key) {
  uint32_t hash = key * UINT32_C(2654435769);
  return UINT64_C(1) << (hash >> 26) | UINT64_C(1) << (hash >> 20 & 63);
}

static inline uint32_t iso_quick_pack(const iso_quick *q, uint32_t txn) {
  uint32_t session = q->txns[txn + 1].session;
  return session << ISO_QUICK_NUMBER_BITS | (txn - q->h->session_first_txn[session]);
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
  while (q->txns[txn + 1].session >= q->shares[t].end_session) t++;
  bool none_before = txn == q->h->session_first_txn[q->shares[t].first_session];
  *first = none_before ? 0 : q->source_end[txn - 1];
  *end = q->source_end[txn];
  return q->shares[t].sources.items;
}

/* Lays the table of writes out; gives up where values are not small numbers.  This and the others return false when
 * memory is out. */
bool iso_quick_measure(iso_quick *q);
/* Gives up where two writes share key and value. */
bool iso_quick_find_repeated(iso_quick *q);
/* Puts every write into the table and fills txns; gives up where two share key and value. */
bool iso_quick_enter_writes(iso_quick *q);
/* Looks every read up, judges it, and collects sources and edges. */
bool iso_quick_judge_reads(iso_quick *q);
/* Whether everybody can come after all who have to come before. */
bool iso_quick_sort(iso_quick *q, bool *acyclic);
/* Whether the causal axiom holds, after they were sorted. */
bool iso_quick_causal(iso_quick *q, bool *proved);

#endif
