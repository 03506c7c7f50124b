/* Every read looked up in the table of writes, judged, and asked for what it says about the commit order. */
#include <limits.h>
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

enum { STAMP_BITS = 11, AT_ONCE = 8, MOST_READS = ISO_QUICK_MOST_OPS + AT_ONCE };

/* Reads: of which keys, from which transactions (or ISO_INITIAL), and as which operations. */
typedef struct {
  const uint32_t *key, *from, *op;
  unsigned count;
} reads;

/* Transactions [txn, end_txn) of a session, and their reads: where each looks in the table, then whom it finds there.
 */
typedef struct {
  uint32_t session, txn, end_txn;
  uint32_t read;                            /* where entries are kept: the number of the first read among all */
  uint32_t first_read[ISO_QUICK_BLOCK + 1]; /* by transaction, and one more */
  uint32_t key[ISO_QUICK_BLOCK + 1], from[ISO_QUICK_BLOCK + 1], op[ISO_QUICK_BLOCK + 1];
  uint64_t place[ISO_QUICK_BLOCK + 1];
  bool initial[ISO_QUICK_BLOCK + 1];
} block;

typedef struct {
  iso_quick *q;
  iso_quick_share *share;
  iso_quick_walk walk;
  uint32_t session, txn, end_txn; /* the transactions for the next block */
  uint32_t *seen; /* by session of the share, then by session: a transaction + 1, no later one was read from so far */
  uint32_t session_txns;            /* how many the session of the block at hand has */
  block blocks[2], *block;          /* the one at hand, and the next */
  uint32_t stamps[1 << STAMP_BITS]; /* by a hash of a key: the operation + 1 that accessed it last */
  uint32_t key[MOST_READS], from[MOST_READS], op[MOST_READS]; /* the external ones of a transaction that reads twice */
  suspicion *suspicions;
  uint32_t suspicion_count;
  uint32_t *in_order;    /* within little memory: numbers of suspicions by writer, about */
  uint32_t *next_read;   /* the same: by session, the number of its next read among all */
  iso_quick_pages pages; /* that were read */
} judge;

/* Fills a block with transactions from `txn` on.  Reads and writes alternate at random, so that nothing branches on
 * them. */
static inline __attribute__((always_inline)) void find_reads(const iso_quick *q, block *b, uint32_t txn, uint32_t end,
                                                             bool places) {
  const isoproof_history *h = q->h;
  uint32_t count = 0, first = h->txn_first_op[txn], op = first;
  b->txn = txn;
  end = end - txn > ISO_QUICK_BLOCK ? txn + ISO_QUICK_BLOCK : end;
  for (; txn < end && h->txn_first_op[txn + 1] - first <= ISO_QUICK_BLOCK; txn++) {
    b->first_read[txn - b->txn] = count;
    for (; op < h->txn_first_op[txn + 1]; op++) {
      uint32_t key = h->op_key[op], value = h->op_value[op];
      b->key[count] = key;
      b->op[count] = op;
      if (places) b->place[count] = iso_quick_place_or_none(q, key, value);
      b->initial[count] = value == ISO_VALUE_NIL;
      count += h->op_kind[op] == ISOPROOF_OP_READ;
    }
  }
  b->end_txn = txn;
  b->first_read[txn - b->txn] = count;
}

/* The same, and announces where their reads will look. */
static void find_places(judge *j, block *b, uint32_t txn, uint32_t end) {
  const iso_quick *q = j->q;
  if (q->entries == NULL) {
    find_reads(q, b, txn, end, true);
    uint32_t count = b->first_read[b->end_txn - b->txn];
    for (uint32_t i = 0; i < count; i++) __builtin_prefetch(&q->table[q->is_shared ? 2 * b->place[i] : b->place[i]]);
    return;
  }
  find_reads(q, b, txn, end, false);
  b->read = j->next_read[j->session];
  j->next_read[j->session] += b->first_read[b->end_txn - b->txn];
  iso_quick_touch(&j->pages, q->h->txn_first_op[b->end_txn] - q->h->txn_first_op[txn], b->end_txn - txn);
}

static inline uint32_t entry_at(const iso_quick *q, const block *b, uint32_t read) {
  if (q->entries != NULL) return q->entries[b->read + read];
  uint64_t place = b->place[read];
  uint32_t entry = q->table[q->is_shared ? 2 * place : place];
  return q->is_shared && entry != 0 && q->table[2 * place + 1] != b->key[read] ? 0 : entry;
}

/* Fetches the entries, and announces what the transactions that they name wrote. */
static void fetch_entries(const judge *j, block *b) {
  const iso_quick *q = j->q;
  uint32_t count = b->first_read[b->end_txn - b->txn];
  for (uint32_t i = 0; i < count; i++) {
    uint32_t entry = entry_at(q, b, i);
    b->from[i] = b->initial[i] ? ISO_INITIAL : entry - 1;
    __builtin_prefetch(&q->keys[entry & ~ISO_QUICK_SUSPECT]);
  }
}

/* Whether whoever a transaction read from can be read from. */
static inline bool is_readable(uint32_t from, uint32_t txn) {
  return (from == ISO_INITIAL) | ((from < ISO_QUICK_SUSPECT - 1) & (from != txn));
}

/* The access of the same key before `op` in its transaction, + 1; 0 when there is none. */
static uint32_t same_key_before(judge *j, uint32_t first, uint32_t op) {
  const isoproof_history *h = j->q->h;
  uint32_t key = h->op_key[op], *stamp = &j->stamps[key * UINT32_C(2654435769) >> (32 - STAMP_BITS)], before = *stamp;
  *stamp = op + 1;
  if (before <= first || before > op) return 0;
  if (h->op_key[before - 1] == key) return before;
  for (uint32_t other = op; other-- > first;) {
    if (h->op_key[other] == key) return other + 1;
  }
  return 0;
}

/* Collects the external reads of a transaction that may access keys twice.  A read must show what the access before it
 * left or showed; the first one must show somebody else's last write. */
static bool collect_repeated(judge *j, uint32_t txn, reads *r) {
  const isoproof_history *h = j->q->h;
  uint32_t first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1], count = 0, all = 0;
  bool internal[ISO_QUICK_MOST_OPS];
  for (uint32_t op = first; op < end; op++) {
    uint32_t before = same_key_before(j, first, op);
    internal[op - first] = true; /* what follows a write shows it */
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) continue;
    uint32_t from = r->from[all++];
    if (before != 0 && h->op_value[op] != h->op_value[before - 1]) return false;
    internal[op - first] = before != 0 && internal[before - 1 - first];
    if (internal[op - first]) continue;
    if (!is_readable(from, txn)) return false;
    j->key[count] = h->op_key[op];
    j->from[count] = from;
    j->op[count++] = op;
  }
  *r = (reads){j->key, j->from, j->op, count};
  return true;
}

/* The external reads of a transaction; false where one of them is wrong. */
static bool collect(judge *j, uint32_t txn, reads *r) {
  const block *b = j->block;
  uint32_t first = b->first_read[txn - b->txn];
  *r = (reads){b->key + first, b->from + first, b->op + first, b->first_read[txn + 1 - b->txn] - first};
  if (j->q->repeats[txn]) return collect_repeated(j, txn, r);
  bool good = true;
  for (unsigned i = 0; i < r->count; i++) good &= is_readable(r->from[i], txn);
  return good;
}

/* Looks at what the suspicious wrote.  Overwriting the initial version cannot be put right by any order. */
static void settle_suspicion(judge *j, const suspicion *s) {
  const isoproof_history *h = j->q->h;
  uint32_t op = h->txn_first_op[s->writer], end = h->txn_first_op[s->writer + 1];
  bool wrote = false;
  for (; op < end; op++) wrote |= (h->op_key[op] == s->key) & (h->op_kind[op] == ISOPROOF_OP_WRITE);
  if (!wrote) return;
  if (s->version == ISO_INITIAL) {
    iso_quick_accuse(j->q, (iso_quick_blame){ISO_NO_TXN, s->writer, ISO_INITIAL, s->key});
  } else {
    iso_quick_add_edge(j->q, j->share, s->writer, s->version);
  }
}

/* Within little memory: in about the order of the file, so that it is read once, not at random.  They are sorted by
 * pieces of the file. */
static void settle_in_order(judge *j) {
  enum { PIECES = 4096 };
  uint32_t ends[PIECES + 1] = {0}, txns = j->q->h->txns, each = txns / PIECES + 1, last = 0;
  for (uint32_t i = 0; i < j->suspicion_count; i++) ends[j->suspicions[i].writer / each + 1]++;
  for (uint32_t i = 1; i <= PIECES; i++) ends[i] += ends[i - 1];
  for (uint32_t i = 0; i < j->suspicion_count; i++) j->in_order[ends[j->suspicions[i].writer / each]++] = i;
  for (uint32_t i = 0; i < j->suspicion_count; i++) {
    const suspicion *s = &j->suspicions[j->in_order[i]];
    const uint32_t *first = &j->q->h->txn_first_op[s->writer / each * each];
    if (s->writer / each != last) iso_quick_touch(&j->pages, j->q->h->txn_first_op[s->writer] - first[0], each);
    last = s->writer / each;
    settle_suspicion(j, s);
  }
}

static void settle_suspicions(judge *j) {
  const isoproof_history *h = j->q->h;
  for (uint32_t i = 0; j->in_order == NULL && i < j->suspicion_count; i++) {
    uint32_t op = h->txn_first_op[j->suspicions[i].writer];
    __builtin_prefetch(&h->op_key[op]);
    __builtin_prefetch(&h->op_kind[op]);
  }
  for (uint32_t i = 0; j->in_order == NULL && i < j->suspicion_count; i++) settle_suspicion(j, &j->suspicions[i]);
  if (j->in_order != NULL) settle_in_order(j);
  j->suspicion_count = 0;
}

/* Whoever reads what it must not. */
static void accuse_reader(iso_quick *q, uint32_t txn) {
  iso_quick_accuse(q, (iso_quick_blame){txn, ISO_NO_TXN, ISO_NO_TXN, 0});
}

/* Whom the reads saw must come before: noted unless the session has seen as much of that one's session already. */
static void add_sources(judge *j, uint32_t txn, const reads *r) {
  uint32_t *sources = j->share->sources.items, own = j->block->session;
  uint32_t *seen_by = j->seen + (size_t)(own - j->walk.share->first_session) * j->q->h->sessions;
  size_t count = j->share->sources.count;
  bool late = false;
  if (j->walk.turns == 1) seen_by = j->seen;
  for (unsigned i = 0; i < r->count; i++) {
    uint32_t from = r->from[i] == ISO_INITIAL ? txn : r->from[i], session = iso_quick_session(j->q, from);
    bool other = session != own, fresh = other & (seen_by[session] <= from);
    late |= !other & (from > txn);
    sources[count] = from;
    count += fresh;
    seen_by[session] = fresh ? from + 1 : seen_by[session];
  }
  j->share->sources.count = count;
  if (late) accuse_reader(j->q, txn);
}

/* Keeps what a session has seen before some of its transactions, for what is judged session by session. */
static void keep_seen(const judge *j, uint32_t txn) {
  const iso_quick *q = j->q;
  uint32_t own = j->block->session, sessions = q->h->sessions;
  if ((txn - q->h->session_first_txn[own]) % sessions != 0) return;
  const uint32_t *seen_by = j->seen + (size_t)(own - j->walk.share->first_session) * sessions;
  if (j->walk.turns == 1) seen_by = j->seen;
  memcpy(iso_quick_seen_row(q, own, txn), seen_by, sessions * sizeof *seen_by);
}

/* Where the order of the ends is the guess, they must have ended before. */
static void compare_ends(judge *j, uint32_t txn, const reads *r) {
  iso_quick *q = j->q;
  bool late = false, wrong = false;
  for (unsigned i = 0; i < r->count; i++) {
    uint32_t from = r->from[i] == ISO_INITIAL ? txn : r->from[i];
    bool own = from - q->h->session_first_txn[j->block->session] < j->session_txns;
    late |= own & (from > txn);
    wrong |= !own & (q->time[from] >= q->time[txn]);
  }
  if (late) accuse_reader(q, txn);
  if (wrong) __atomic_store_n(&q->misguessed, true, __ATOMIC_RELAXED);
}

static void add_suspicion(judge *j, uint32_t writer, uint32_t key, uint32_t version) {
  const isoproof_history *h = j->q->h;
  if (j->suspicion_count == j->q->most_suspicions) settle_suspicions(j);
  j->suspicions[j->suspicion_count++] = (suspicion){writer, key, version};
  if (j->in_order == NULL) __builtin_prefetch(&h->txn_first_op[writer]);
}

/* Of the transactions that a transaction reads from, those that may have overwritten what else it reads: for read
 * committed only what it reads later. */
static void suspect_sources(judge *j, const reads *r) {
  const iso_quick *q = j->q;
  bool later_only = q->axiom == ISO_AXIOM_READ_COMMITTED;
  uint64_t mask[MOST_READS];
  for (unsigned i = 0; i < r->count; i++) mask[i] = iso_quick_key_mask(r->key[i]);
  for (unsigned i = 0; i < AT_ONCE; i++) mask[r->count + i] = UINT64_MAX; /* nobody wrote all of these */
  for (unsigned k = 0; k < r->count; k++) {
    uint32_t writer = r->from[k];
    uint64_t keys = q->keys[writer == ISO_INITIAL ? 0 : writer + 1];
    for (unsigned i = later_only ? (k + 1) / AT_ONCE * AT_ONCE : 0; i < r->count; i += AT_ONCE) {
      unsigned hits = 0;
      for (unsigned n = 0; n < AT_ONCE; n++) hits |= (unsigned)((keys & mask[i + n]) == mask[i + n]) << n;
      if (later_only) hits &= i > k ? UINT_MAX : UINT_MAX << (k + 1 - i);
      for (; hits != 0; hits &= hits - 1) {
        unsigned hit = i + (unsigned)__builtin_ctz(hits);
        if (hit < r->count && r->from[hit] != writer) add_suspicion(j, writer, r->key[hit], r->from[hit]);
      }
    }
  }
}

/* Keeps what the reads saw for what is judged session by session. */
static void keep_versions(const judge *j, uint32_t op, uint32_t end, const reads *r) {
  const iso_quick *q = j->q;
  for (; op < end; op++) q->versions[op] = q->h->op_kind[op] == ISOPROOF_OP_WRITE ? ISO_QUICK_WRITE : ISO_QUICK_OTHER;
  for (unsigned i = 0; i < r->count; i++) {
    uint32_t from = r->from[i];
    bool packed = q->axiom == ISO_AXIOM_CAUSAL && from != ISO_INITIAL;
    q->versions[r->op[i]] = packed ? iso_quick_pack(q, from) : from == ISO_INITIAL ? ISO_QUICK_INITIAL : from;
  }
}

static void judge_txn(judge *j, uint32_t txn) {
  const isoproof_history *h = j->q->h;
  reads r;
  if (!collect(j, txn, &r)) {
    accuse_reader(j->q, txn);
    return;
  }
  if (j->q->source_first != NULL) add_sources(j, txn, &r);
  if (j->q->time != NULL) compare_ends(j, txn, &r);
  suspect_sources(j, &r);
  if (j->q->versions != NULL) keep_versions(j, h->txn_first_op[txn], h->txn_first_op[txn + 1], &r);
}

/* What is read of a transaction that does not count says nothing. */
static void leave_txn(const judge *j, uint32_t txn) {
  const isoproof_history *h = j->q->h;
  for (uint32_t op = h->txn_first_op[txn]; j->q->versions != NULL && op < h->txn_first_op[txn + 1]; op++) {
    j->q->versions[op] = ISO_QUICK_OTHER;
  }
}

/* Fills the next block; false when all transactions have been in one. */
static bool next_block(judge *j, block *b) {
  if (j->txn == j->end_txn && !iso_quick_walk_next(&j->walk, &j->session, &j->txn, &j->end_txn)) return false;
  find_places(j, b, j->txn, j->end_txn);
  b->session = j->session;
  j->txn = b->end_txn;
  return true;
}

static void judge_block(judge *j) {
  iso_quick *q = j->q;
  const block *b = j->block;
  /* Sessions one after the other have what they saw in one place. */
  const uint32_t *first = &q->h->session_first_txn[b->session];
  bool is_first = b->txn == first[0];
  j->session_txns = first[1] - first[0];
  if (j->walk.turns == 1 && is_first) memset(j->seen, 0, q->h->sessions * sizeof *j->seen);
  for (uint32_t txn = b->txn; txn < b->end_txn; txn++) {
    size_t before = j->share->sources.count;
    if (q->seen_at != NULL) keep_seen(j, txn);
    if (q->h->txn_status[txn] == ISOPROOF_TXN_COMMITTED) {
      judge_txn(j, txn);
    } else {
      leave_txn(j, txn);
    }
    if (q->source_first == NULL) continue;
    q->source_first[txn] = (uint32_t)before;
    q->source_count[txn] = (uint8_t)(j->share->sources.count - before);
  }
}

static void judge_blocks(judge *j) {
  bool more = next_block(j, &j->blocks[0]);
  for (unsigned number = 0; more && !iso_quick_is_over(j->q); number++) {
    const iso_quick_share *share = j->share;
    j->block = &j->blocks[number % 2];
    bool full = share->sources.capacity - share->sources.count <= ISO_QUICK_BLOCK;
    if (full && j->q->source_first != NULL && !iso_quick_may_grow(j->q, share)) iso_quick_give_up(j->q);
    if (!iso_vec_reserve(&j->share->sources, ISO_QUICK_BLOCK + 1)) {
      iso_quick_fail(j->q);
      return;
    }
    if (number % 1024 == 0 && iso_task_check(j->q->task, NULL) != ISOPROOF_OK) return;
    fetch_entries(j, j->block);
    more = next_block(j, &j->blocks[(number + 1) % 2]);
    judge_block(j);
  }
}

static bool make_judge(judge *j, iso_quick *q, iso_quick_share *share) {
  *j = (judge){.q = q, .share = share, .walk = iso_quick_walk_begin(q, share)};
  j->pages = iso_quick_pages_of(q->h, q->window);
  size_t rows = j->walk.turns == 1 ? 1 : share->end_session - share->first_session;
  j->seen = iso_alloc_zero(rows * q->h->sessions, sizeof *j->seen);
  j->suspicions = iso_alloc(q->most_suspicions, sizeof *j->suspicions);
  if (j->seen == NULL || j->suspicions == NULL) return false;
  if (q->entries == NULL) return true;
  j->in_order = iso_alloc(q->most_suspicions, sizeof *j->in_order);
  j->next_read = iso_alloc(q->h->sessions, sizeof *j->next_read);
  if (j->in_order == NULL || j->next_read == NULL) return false;
  memcpy(j->next_read, q->first_read, q->h->sessions * sizeof *j->next_read);
  return true;
}

static void judge_share(void *context, unsigned thread, unsigned threads) {
  (void)threads;
  iso_quick *q = context;
  judge *j = calloc(1, sizeof *j);
  if (j != NULL && make_judge(j, q, &q->shares[thread])) {
    judge_blocks(j);
    settle_suspicions(j);
  } else {
    iso_quick_fail(q);
  }
  if (j == NULL) return;
  free(j->seen);
  free(j->suspicions);
  free(j->in_order);
  free(j->next_read);
  free(j);
}

/* Room for what sessions are told of each other; false when memory is out. */
static bool make_room(iso_quick *q) {
  size_t txns = q->h->txns, sessions = q->h->sessions;
  bool later = q->axiom != ISO_AXIOM_READ_COMMITTED, sources = q->time == NULL || q->axiom == ISO_AXIOM_CAUSAL;
  bool versions = later && q->entries == NULL;
  bool seen = q->axiom == ISO_AXIOM_READ_ATOMIC && q->time == NULL && sessions > 0 && sessions <= ISO_QUICK_MOST_TURNS;
  if (sources && q->source_first == NULL) q->source_first = iso_alloc(txns, sizeof *q->source_first);
  if (sources && q->source_count == NULL) q->source_count = iso_alloc(txns, sizeof *q->source_count);
  if (seen && q->seen_at == NULL)
    q->seen_at = iso_alloc((txns / sessions + sessions + 1) * sessions, sizeof *q->seen_at);
  if (versions && q->versions == NULL) q->versions = iso_alloc(q->h->ops, sizeof *q->versions);
  if (sources && (q->source_first == NULL || q->source_count == NULL)) return false;
  return (!seen || q->seen_at != NULL) && (!versions || q->versions != NULL);
}

bool iso_quick_judge_reads(iso_quick *q) {
  if (q->time == NULL && q->most_kept == 0) {
    iso_quick_give_up(q);
    return true;
  }
  if (!make_room(q)) return false;
  iso_parallel(q->threads, judge_share, q);
  return !q->failed;
}
