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

typedef struct {
  iso_quick *q;
  iso_quick_share *share;
  uint32_t session, session_first; /* of the transaction at hand */
  uint64_t *seen;       /* by session: the session at hand + 1, and above all of its transactions read from so far */
  uint64_t *known; /* by key: the session at hand + 1, and above the version that it wrote last; for causal, or saw */
  /* Operations [first, end): places in the table, then what is there. */
  uint32_t first, end;
  uint64_t place[ISO_QUICK_BLOCK];
  uint32_t entry[ISO_QUICK_BLOCK];
  suspicion suspicions[ISO_QUICK_BLOCK];
  unsigned suspicion_count;
} judge;

/* Announces where the reads of a block will look. */
static void find_places(judge *j) {
  const iso_quick *q = j->q;
  const isoproof_history *h = q->h;
  for (uint32_t op = j->first; op < j->end; op++) {
    iso_quick_range range = q->ranges[h->op_key[op]];
    bool within = (h->op_kind[op] == ISOPROOF_OP_READ) & (h->op_value[op] < range.end);
    uint64_t place = within ? (uint64_t)range.first + h->op_value[op] : q->size - 1;
    j->place[op - j->first] = place;
    __builtin_prefetch(&q->table[q->is_shared ? 2 * place : place]);
  }
}

/* Fetches the entries, and announces the transactions that they name. */
static void fetch_entries(judge *j) {
  const iso_quick *q = j->q;
  for (uint32_t i = 0; i < j->end - j->first; i++) {
    uint64_t place = j->place[i];
    uint32_t entry = q->table[q->is_shared ? 2 * place : place];
    if (q->is_shared && entry != 0 && q->table[2 * place + 1] != q->h->op_key[j->first + i]) entry = 0;
    j->entry[i] = entry;
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
    uint32_t before = same_key_before(h, first, op), entry = j->entry[op - j->first];
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
    uint32_t entry = j->entry[op - j->first];
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
  uint64_t stamp = ((uint64_t)j->session + 1) << 32;
  for (unsigned i = 0; i < count; i++) {
    uint64_t *known = &j->known[reads[i].key];
    uint32_t last = (uint32_t)*known, from = reads[i].from;
    if (*known >= stamp && last != from) {
      if (from == ISO_INITIAL) {
        iso_quick_give_up(j->q);
      } else if (j->q->txns[from + 1].session != j->q->txns[last + 1].session) {
        add_edge(j, last, from);
      } else if (from < last) {
        iso_quick_give_up(j->q);
      }
    }
    if (j->q->axiom == ISO_AXIOM_CAUSAL && from != ISO_INITIAL) *known = stamp | from;
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
  uint64_t now = ((uint64_t)j->session + 1) << 32 | txn;
  for (; op < end; op++) {
    uint64_t *known = &j->known[h->op_key[op]];
    *known = h->op_kind[op] == ISOPROOF_OP_WRITE ? now : *known;
  }
}

/* The transactions [txn, end), of one session. */
static void judge_txns(judge *j, uint32_t txn, uint32_t end) {
  const isoproof_history *h = j->q->h;
  while (txn < end && !iso_quick_is_over(j->q)) {
    uint32_t last = txn;
    j->first = h->txn_first_op[txn];
    while (last < end && h->txn_first_op[last + 1] - j->first <= ISO_QUICK_BLOCK) last++;
    j->end = h->txn_first_op[last];
    if (!iso_vec_reserve(&j->share->sources, ISO_QUICK_BLOCK)) {
      iso_quick_fail(j->q);
      return;
    }
    find_places(j);
    fetch_entries(j);
    for (; txn < last; txn++) {
      uint32_t op = h->txn_first_op[txn], ops = h->txn_first_op[txn + 1] - op;
      if (h->txn_status[txn] == ISOPROOF_TXN_COMMITTED) {
        judge_txn(j, txn);
      } else if (j->q->versions != NULL) {
        for (uint32_t i = 0; i < ops; i++) j->q->versions[op + i] = ISO_QUICK_OTHER;
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
  uint64_t *known = iso_alloc_zero(q->h->keys, sizeof *known);
  bool made = j != NULL && seen != NULL && known != NULL;
  if (made) *j = (judge){.q = q, .share = share, .seen = seen, .known = known};
  for (uint32_t s = share->first_session; made && s < share->end_session; s++) {
    if (iso_task_check(q->task, NULL) != ISOPROOF_OK) break;
    j->session = s;
    j->session_first = first[s];
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
