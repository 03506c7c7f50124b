/* Every read looked up in the table of writes, judged, and asked for what it says about the commit order. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "check/quick/state.h"

/* A transaction that t3 reads from may have overwritten what t3 reads of another key: to be looked at when what it
 * wrote has come from the memory. */
typedef struct {
  uint32_t writer, key;
  uint32_t version; /* that t3 saw of the key */
} suspicion;

/* An external read of the transaction at hand. */
typedef struct {
  uint32_t op, key, from; /* from a transaction, or ISO_INITIAL */
} external;

/* Transactions [txn, end_txn): places of their operations in the table, then what is there. */
typedef struct {
  uint32_t txn, end_txn, first, end;
  uint64_t place[ISO_QUICK_BLOCK];
  uint32_t entry[ISO_QUICK_BLOCK];
} block;

typedef struct {
  iso_quick *q;
  iso_quick_share *share;
  uint32_t session; /* of the transaction at hand */
  uint64_t *seen;   /* by session: the session at hand + 1, and above all of its transactions read from so far */
  /* By key: the version that the session at hand wrote last, for causal also saw last, as a transaction + 1.  What is
   * not above known_from is of a session before. */
  uint32_t *known, known_from;
  block blocks[2], *block; /* the one at hand, and the next */
  suspicion suspicions[ISO_QUICK_BLOCK];
  unsigned suspicion_count;
} judge;

/* Fills a block with transactions from `txn` on, and announces where their reads will look. */
static void find_places(const judge *j, block *b, uint32_t txn, uint32_t end) {
  const iso_quick *q = j->q;
  const isoproof_history *h = q->h;
  b->txn = b->end_txn = txn;
  b->first = h->txn_first_op[txn];
  while (b->end_txn < end && h->txn_first_op[b->end_txn + 1] - b->first <= ISO_QUICK_BLOCK) b->end_txn++;
  b->end = h->txn_first_op[b->end_txn];
  for (uint32_t op = b->first; op < b->end; op++) {
    uint64_t place = iso_quick_place_or_none(q, h->op_key[op], h->op_value[op]);
    place = h->op_kind[op] == ISOPROOF_OP_READ ? place : q->size - 1;
    b->place[op - b->first] = place;
    __builtin_prefetch(&q->table[q->is_shared ? 2 * place : place]);
  }
}

/* Fetches the entries, and announces the transactions that they name. */
static void fetch_entries(const judge *j, block *b) {
  const iso_quick *q = j->q;
  for (uint32_t i = 0; i < b->end - b->first; i++) {
    uint64_t place = b->place[i];
    uint32_t entry = q->table[q->is_shared ? 2 * place : place];
    if (q->is_shared && entry != 0 && q->table[2 * place + 1] != q->h->op_key[b->first + i]) entry = 0;
    b->entry[i] = entry;
    __builtin_prefetch(&q->txns[entry & ~ISO_QUICK_SUSPECT]);
  }
}

/* The nearest operation before `op` of its transaction with the same key; `op` itself when there is none. */
static uint32_t same_key_before(const isoproof_history *h, uint32_t first, uint32_t op) {
  for (uint32_t other = op; other-- > first;) {
    if (h->op_key[other] == h->op_key[op]) return other;
  }
  return op;
}

/* Collects the external reads of a transaction that may access keys twice.  A read must show what the access before it
 * left or showed; the first one must show somebody else's last write. */
static bool collect_repeated(const judge *j, uint32_t txn, uint32_t op, uint32_t end, external *reads,
                             unsigned *count) {
  const isoproof_history *h = j->q->h;
  uint32_t first = op;
  bool internal[ISO_QUICK_MOST_OPS];
  for (; op < end; op++) {
    internal[op - first] = true; /* what follows a write shows it */
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) continue;
    uint32_t before = same_key_before(h, first, op), entry = j->block->entry[op - j->block->first];
    if (before != op) {
      if (h->op_value[op] != h->op_value[before]) return false;
      internal[op - first] = internal[before - first];
      if (internal[op - first]) continue;
    }
    internal[op - first] = false;
    bool initial = h->op_value[op] == ISO_VALUE_NIL;
    if (!initial && (entry == 0 || entry >= ISO_QUICK_SUSPECT || entry == txn + 1)) return false;
    reads[(*count)++] = (external){op, h->op_key[op], initial ? ISO_INITIAL : entry - 1};
  }
  return true;
}

/* The same where no key is accessed twice, without a branch on what cannot be guessed. */
static bool collect_plain(const judge *j, uint32_t txn, uint32_t op, uint32_t end, external *reads, unsigned *count) {
  const isoproof_history *h = j->q->h;
  unsigned n = 0;
  bool good = true;
  for (; op < end; op++) {
    uint32_t entry = j->block->entry[op - j->block->first];
    bool read = h->op_kind[op] == ISOPROOF_OP_READ, initial = h->op_value[op] == ISO_VALUE_NIL;
    good &= !read | initial | ((entry - 1 < ISO_QUICK_SUSPECT - 1) & (entry != txn + 1));
    reads[n] = (external){op, h->op_key[op], initial ? ISO_INITIAL : entry - 1};
    n += read;
  }
  *count = n;
  return good;
}

static void add_edge(judge *j, uint32_t from, uint32_t to) {
  if (!iso_vec_push(&j->share->edges, ((iso_quick_edge){from, to}))) iso_quick_fail(j->q);
}

/* Looks at what the suspicious wrote.  Overwriting the initial version cannot be put right by any order. */
static void settle_suspicions(judge *j) {
  const isoproof_history *h = j->q->h;
  for (unsigned i = 0; i < j->suspicion_count; i++) {
    const suspicion *s = &j->suspicions[i];
    uint32_t op = j->q->txns[s->writer + 1].first_op, end = j->q->txns[s->writer + 2].first_op;
    bool wrote = false;
    for (; op < end; op++) wrote |= (h->op_key[op] == s->key) & (h->op_kind[op] == ISOPROOF_OP_WRITE);
    if (!wrote) continue;
    if (s->version == ISO_INITIAL) {
      iso_quick_give_up(j->q);
    } else {
      add_edge(j, s->writer, s->version);
    }
  }
  j->suspicion_count = 0;
}

/* Whom a read saw must come before: noted unless the session has seen as much of that one's session already. */
static void add_source(judge *j, uint32_t txn, uint32_t from) {
  uint32_t session = j->q->txns[from + 1].session;
  uint64_t now = ((uint64_t)j->session + 1) << 32 | from;
  if (session == j->session) {
    if (from > txn) iso_quick_give_up(j->q);
  } else if (j->seen[session] < now) {
    j->seen[session] = now;
    j->share->sources.items[j->share->sources.count++] = from;
  }
}

/* Of the transactions that `txn` reads from, those that may have overwritten what else it reads: for read committed
 * only what it reads later. */
static void suspect_sources(judge *j, const external *reads, unsigned count) {
  const iso_quick *q = j->q;
  uint64_t mask[ISO_QUICK_MOST_OPS];
  for (unsigned i = 0; i < count; i++) mask[i] = iso_quick_key_mask(reads[i].key);
  for (unsigned k = 0; k < count; k++) {
    uint32_t writer = reads[k].from;
    if (writer == ISO_INITIAL) continue;
    uint64_t keys = q->txns[writer + 1].keys;
    for (unsigned i = q->axiom == ISO_AXIOM_READ_COMMITTED ? k + 1 : 0; i < count; i++) {
      if ((keys & mask[i]) != mask[i] || reads[i].from == writer) continue;
      if (j->suspicion_count == ISO_QUICK_BLOCK) settle_suspicions(j);
      j->suspicions[j->suspicion_count++] = (suspicion){writer, reads[i].key, reads[i].from};
      __builtin_prefetch(&q->h->op_key[q->txns[writer + 1].first_op]);
      __builtin_prefetch(&q->h->op_kind[q->txns[writer + 1].first_op]);
    }
  }
}

/* The version of a key that the session wrote last must come before any other that is read of it; for causal also what
 * it saw last. */
static void suspect_own_session(judge *j, const external *reads, unsigned count) {
  bool causal = j->q->axiom == ISO_AXIOM_CAUSAL;
  for (unsigned i = 0; i < count; i++) {
    uint32_t *known = &j->known[reads[i].key], last = *known, from = reads[i].from;
    if (causal && from != ISO_INITIAL) *known = from + 1;
    if (last <= j->known_from || last == from + 1) continue;
    if (from == ISO_INITIAL) {
      iso_quick_give_up(j->q);
    } else {
      add_edge(j, last - 1, from);
    }
  }
}

/* Keeps what the reads saw for the search of a causal order. */
static void keep_versions(const judge *j, uint32_t op, uint32_t end, const external *reads, unsigned count) {
  const iso_quick *q = j->q;
  for (; op < end; op++) q->versions[op] = q->h->op_kind[op] == ISOPROOF_OP_WRITE ? ISO_QUICK_WRITE : ISO_QUICK_OTHER;
  for (unsigned i = 0; i < count; i++) {
    uint32_t from = reads[i].from;
    q->versions[reads[i].op] = from == ISO_INITIAL ? ISO_QUICK_INITIAL : iso_quick_pack(q, from);
  }
}

static void judge_txn(judge *j, uint32_t txn) {
  const isoproof_history *h = j->q->h;
  uint32_t op = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  external reads[ISO_QUICK_MOST_OPS + 1];
  unsigned count = 0;
  bool good = j->q->repeats[txn] ? collect_repeated(j, txn, op, end, reads, &count)
                                 : collect_plain(j, txn, op, end, reads, &count);
  if (!good) {
    iso_quick_give_up(j->q);
    return;
  }
  for (unsigned i = 0; i < count; i++) {
    if (reads[i].from != ISO_INITIAL) add_source(j, txn, reads[i].from);
  }
  suspect_sources(j, reads, count);
  if (j->q->axiom == ISO_AXIOM_READ_COMMITTED) return;
  if (j->q->versions != NULL) keep_versions(j, op, end, reads, count);
  suspect_own_session(j, reads, count);
  for (; op < end; op++) {
    uint32_t *known = &j->known[h->op_key[op]];
    *known = h->op_kind[op] == ISOPROOF_OP_WRITE ? txn + 1 : *known;
  }
}

/* What is read of a transaction that does not count says nothing. */
static void leave_txn(const judge *j, uint32_t txn) {
  const isoproof_history *h = j->q->h;
  for (uint32_t op = h->txn_first_op[txn]; j->q->versions != NULL && op < h->txn_first_op[txn + 1]; op++) {
    j->q->versions[op] = ISO_QUICK_OTHER;
  }
}

/* The transactions [txn, end), of one session. */
static void judge_txns(judge *j, uint32_t txn, uint32_t end) {
  const isoproof_history *h = j->q->h;
  if (txn < end) find_places(j, &j->blocks[0], txn, end);
  for (unsigned number = 0; txn < end && !iso_quick_is_over(j->q); number++) {
    block *next = &j->blocks[(number + 1) % 2];
    j->block = &j->blocks[number % 2];
    if (!iso_vec_reserve(&j->share->sources, ISO_QUICK_BLOCK)) {
      iso_quick_fail(j->q);
      return;
    }
    fetch_entries(j, j->block);
    if (j->block->end_txn < end) find_places(j, next, j->block->end_txn, end);
    for (; txn < j->block->end_txn; txn++) {
      if (h->txn_status[txn] == ISOPROOF_TXN_COMMITTED) {
        judge_txn(j, txn);
      } else {
        leave_txn(j, txn);
      }
      j->q->source_end[txn] = (uint32_t)j->share->sources.count;
    }
  }
}

static void judge_share(void *context, unsigned thread, unsigned threads) {
  (void)threads;
  iso_quick *q = context;
  iso_quick_share *share = &q->shares[thread];
  const uint32_t *first = q->h->session_first_txn;
  judge *j = calloc(1, sizeof *j);
  uint64_t *seen = iso_alloc_zero(q->h->sessions, sizeof *seen);
  uint32_t *known = iso_alloc_zero(q->h->keys, sizeof *known);
  bool made = j != NULL && seen != NULL && known != NULL;
  if (made) *j = (judge){.q = q, .share = share, .seen = seen, .known = known};
  for (uint32_t s = share->first_session; made && s < share->end_session; s++) {
    if (iso_task_check(q->task, NULL) != ISOPROOF_OK) break;
    j->session = s;
    /* What was seen may be of any session: then everything is forgotten; there are few sessions. */
    j->known_from = q->axiom == ISO_AXIOM_CAUSAL ? 0 : first[s];
    if (q->axiom == ISO_AXIOM_CAUSAL) memset(known, 0, q->h->keys * sizeof *known);
    judge_txns(j, first[s], first[s + 1]);
  }
  if (made) settle_suspicions(j);
  if (!made) iso_quick_fail(q);
  free(j);
  free(seen);
  free(known);
}

bool iso_quick_judge_reads(iso_quick *q) {
  q->source_end = iso_alloc(q->h->txns, sizeof *q->source_end);
  if (q->axiom == ISO_AXIOM_CAUSAL) q->versions = iso_alloc(q->h->ops, sizeof *q->versions);
  if (q->source_end == NULL || (q->axiom == ISO_AXIOM_CAUSAL && q->versions == NULL)) return false;
  iso_parallel(q->threads, judge_share, q);
  return !q->failed;
}
