/* Passes against the order of the ends, which lower labels. */
#include "check/quick/snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "check/quick/frugal.h"
#include "check/quick/time_order.h"

/* Labels between two neighbours by their ends; and passes, of which a few are enough where any number is. */
enum { GAP_BITS = 32, MOST_PASSES = 24 };

/* A version by its place in the table: the transaction that wrote it, and that which wrote the next one of the key,
 * both
 * + 1; 0: none.  What its own transaction overwrote, or was rolled back, is none. */
typedef struct {
  uint32_t txn, next;
} version;

typedef struct {
  int64_t begin, commit;
} label;

typedef struct {
  const iso_quick *q;
  version *versions;
  uint32_t *first_writer; /* by key: who wrote its first version, + 1 */
  label *labels;          /* by transaction */
  int64_t *after;         /* by session: when the next one that counts begins */
  uint32_t *order;        /* by their ends */
  size_t count;
  iso_quick_pages pages;
  uint64_t lowered; /* labels in this pass */
  bool circular;    /* in the first pass: two of them ask each other to be earlier */
  bool blurred;     /* somebody read from one that ended later, so that ends are not commits */
} snapshots;

static inline bool counts(const snapshots *s, uint32_t txn) {
  return s->q->h->txn_status[txn] == ISOPROOF_TXN_COMMITTED;
}

/* ---- versions ---- */

/* From the last one to the first: the writer seen before writes the next version. */
static void link_versions(snapshots *s) {
  const isoproof_history *h = s->q->h;
  for (size_t i = s->count; i-- > 0;) {
    uint32_t txn = s->order[i], first = h->txn_first_op[txn];
    s->labels[txn] = (label){INT64_MAX, (int64_t)(i + 1) << GAP_BITS};
    iso_quick_touch(&s->pages, h->txn_first_op[txn + 1] - first, 1);
    for (uint32_t op = h->txn_first_op[txn + 1]; counts(s, txn) && op-- > first;) {
      uint32_t *writer = &s->first_writer[h->op_key[op]];
      if (h->op_kind[op] != ISOPROOF_OP_WRITE || *writer == txn + 1) continue;
      s->versions[iso_quick_place(s->q, h->op_key[op], h->op_value[op])] = (version){txn + 1, *writer};
      *writer = txn + 1;
    }
  }
}

/* ---- labels ---- */

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* What a read saw: a version of the initial transaction has no writer. */
static inline version seen_by(const snapshots *s, uint32_t op) {
  const isoproof_history *h = s->q->h;
  uint32_t key = h->op_key[op], value = h->op_value[op];
  if (value == ISO_VALUE_NIL) return (version){0, s->first_writer[key]};
  return s->versions[iso_quick_place_or_none(s->q, key, value)];
}

/* Before whoever comes next: in the session, and as writer of a key. */
static int64_t commit_of(snapshots *s, uint32_t txn, uint32_t session) {
  const isoproof_history *h = s->q->h;
  int64_t commit = least(s->labels[txn].commit, s->after[session] - 1);
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
    const version *v = &s->versions[iso_quick_place(s->q, h->op_key[op], h->op_value[op])];
    if (v->txn != txn + 1 || v->next == 0) continue;
    int64_t next = s->labels[v->next - 1].begin;
    /* It saw what was before: labels lie so far apart at first that nothing else puts it right before this one. */
    s->circular |= next == s->labels[txn].commit - 1;
    commit = least(commit, next - 1);
  }
  return commit;
}

/* Lowers the labels of a transaction as far as those of others want it, and those of whom it read from. */
static void lower(snapshots *s, uint32_t txn) {
  const isoproof_history *h = s->q->h;
  uint32_t session = iso_quick_session(s->q, txn), first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  label *own = &s->labels[txn];
  int64_t commit = commit_of(s, txn, session), begin = least(own->begin, commit - 1);
  for (uint32_t op = first; op < end; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_READ) continue;
    version v = seen_by(s, op);
    if (v.txn != txn + 1 && v.next != txn + 1 && v.next != 0) begin = least(begin, s->labels[v.next - 1].commit - 1);
  }
  for (uint32_t op = first; op < end; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_READ) continue;
    version v = seen_by(s, op);
    if (v.txn == 0 || v.txn == txn + 1 || s->labels[v.txn - 1].commit < begin) continue;
    s->blurred |= s->labels[v.txn - 1].commit > own->commit;
    s->labels[v.txn - 1].commit = begin - 1;
    s->lowered++;
  }
  s->lowered += begin != own->begin || commit != own->commit;
  *own = (label){begin, commit};
  s->after[session] = begin;
}

/* Announces what transactions further on are, then their operations, then what these are about. */
static inline __attribute__((always_inline)) void announce(const snapshots *s, size_t i) {
  enum { NEAR = 4, FAR = 12, FARTHEST = 24, OPS = 16 };
  const isoproof_history *h = s->q->h;
  if (i < FARTHEST) return;
  __builtin_prefetch(&h->txn_first_op[s->order[i - FARTHEST]]);
  __builtin_prefetch(&s->labels[s->order[i - FARTHEST]]);
  uint32_t op = h->txn_first_op[s->order[i - FAR]], other = op + OPS < h->ops ? op + OPS : op;
  __builtin_prefetch(&h->op_kind[op]);
  __builtin_prefetch(&h->op_key[op]);
  __builtin_prefetch(&h->op_key[other]);
  __builtin_prefetch(&h->op_value[op]);
  __builtin_prefetch(&h->op_value[other]);
  uint32_t near = s->order[i - NEAR];
  for (op = h->txn_first_op[near]; op < h->txn_first_op[near + 1]; op++)
    __builtin_prefetch(&s->versions[iso_quick_place_or_none(s->q, h->op_key[op], h->op_value[op])]);
}

/* One pass over all transactions, from the last one to the first; the first pass ends where two contradict each other.
 */
static void lower_all(snapshots *s, bool is_first) {
  const isoproof_history *h = s->q->h;
  s->lowered = 0;
  s->circular = false;
  for (uint32_t session = 0; session < h->sessions; session++) s->after[session] = INT64_MAX;
  for (size_t i = s->count; i-- > 0 && !(is_first && s->circular);) {
    uint32_t txn = s->order[i];
    announce(s, i);
    iso_quick_touch(&s->pages, h->txn_first_op[txn + 1] - h->txn_first_op[txn], 1);
    if (counts(s, txn)) lower(s, txn);
  }
}

/* Whether there are labels for the versions in the order at hand. */
static bool find_labels(snapshots *s) {
  uint64_t before = UINT64_MAX;
  memset(s->first_writer, 0, s->q->h->keys * sizeof *s->first_writer);
  link_versions(s);
  for (int pass = 0; pass < MOST_PASSES && iso_task_check(s->q->task, NULL) == ISOPROOF_OK; pass++) {
    lower_all(s, pass == 0);
    if (pass == 0 && s->circular) return false;
    if (s->lowered == 0) return true;
    if (s->lowered > before / 2) return false; /* they chase each other */
    before = s->lowered;
  }
  return false;
}

/* ---- the order of the versions ---- */

/* A transaction that ended too late for its place: whoever read from it, or follows it in its session, ended earlier.
 */
typedef struct {
  int64_t commit;
  uint32_t txn, place; /* before */
} late;

typedef struct {
  snapshots *s;
  iso_txns todo; /* whose own sources may have to move, too */
  uint64_t moves;
  bool failed;
} mender;

static void put_before(mender *m, uint32_t txn, uint32_t other) {
  int64_t commit = m->s->labels[other].commit;
  if (m->s->labels[txn].commit < commit) return;
  m->s->labels[txn].commit = commit - 1;
  m->moves++;
  if (!iso_vec_push(&m->todo, txn)) m->failed = true;
}

/* Puts those whom a transaction read from before it. */
static void put_sources_before(mender *m, uint32_t txn) {
  const snapshots *s = m->s;
  const isoproof_history *h = s->q->h;
  for (uint32_t op = h->txn_first_op[txn]; counts(s, txn) && op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_READ) continue;
    uint32_t from = seen_by(s, op).txn;
    if (from != 0 && from != txn + 1) put_before(m, from - 1, txn);
  }
}

/* Lowers commits until everybody comes after those read from; false where they go round in circles, or memory is out.
 */
static bool lower_commits(mender *m) {
  snapshots *s = m->s;
  const isoproof_history *h = s->q->h;
  uint64_t most = s->count / 8 + 64;
  for (size_t i = 0; i < s->count; i++) s->labels[s->order[i]].commit = (int64_t)(i + 1) << GAP_BITS;
  for (size_t i = s->count; i-- > 0 && m->moves < most && !m->failed;) {
    announce(s, i);
    iso_quick_touch(&s->pages, h->txn_first_op[s->order[i] + 1] - h->txn_first_op[s->order[i]], 1);
    put_sources_before(m, s->order[i]);
    while (m->todo.count > 0 && m->moves < most && !m->failed) {
      uint32_t txn = m->todo.items[--m->todo.count];
      put_sources_before(m, txn);
      if (txn > h->session_first_txn[iso_quick_session(s->q, txn)]) put_before(m, txn - 1, txn);
    }
  }
  return m->moves < most && !m->failed;
}

static int by_commit(const void *a, const void *b) {
  const late *x = a, *y = b;
  if (x->commit != y->commit) return x->commit < y->commit ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

/* Puts those that were lowered where they belong; false when memory is out. */
static bool reorder(snapshots *s) {
  ISO_VEC(late) moved = {.items = NULL};
  bool good = true;
  size_t kept = 0;
  for (size_t i = 0; i < s->count && good; i++) {
    uint32_t txn = s->order[i];
    int64_t commit = s->labels[txn].commit;
    bool stays = commit == (int64_t)(i + 1) << GAP_BITS;
    if (!stays) good = iso_vec_push(&moved, ((late){commit, txn, (uint32_t)i}));
    if (stays) s->order[kept++] = txn;
  }
  if (good && moved.count > 0) qsort(moved.items, moved.count, sizeof *moved.items, by_commit);
  for (size_t i = s->count, left = moved.count; good && left > 0;) {
    bool last = kept == 0 || moved.items[left - 1].commit > s->labels[s->order[kept - 1]].commit;
    s->order[--i] = last ? moved.items[--left].txn : s->order[--kept];
  }
  iso_vec_free(&moved);
  return good;
}

/* Moves those that cannot have ended as late as it seems, because somebody had read from them before: versions in the
 * new order may have labels.  False when memory is out. */
static bool mend_order(snapshots *s, bool *mended) {
  mender m = {.s = s};
  *mended = lower_commits(&m) && m.moves > 0;
  iso_vec_free(&m.todo);
  return !m.failed && (!*mended || reorder(s));
}

static bool make(snapshots *s, const int64_t *time) {
  const isoproof_history *h = s->q->h;
  iso_quick_times times = {h, time, h->session_first_txn, h->session_first_txn + 1};
  if (!iso_quick_time_order(&times, &s->order, &s->count)) return false;
  if (s->order == NULL) return true;
  s->versions = iso_alloc_zero(s->q->size, sizeof *s->versions);
  s->first_writer = iso_alloc(h->keys, sizeof *s->first_writer);
  s->labels = iso_alloc(h->txns, sizeof *s->labels);
  s->after = iso_alloc(h->sessions, sizeof *s->after);
  return s->versions != NULL && s->first_writer != NULL && s->labels != NULL && s->after != NULL;
}

bool iso_quick_snapshots(iso_quick *q, bool *proved) {
  const int64_t *times[ISO_QUICK_TIMES];
  *proved = false;
  iso_quick_find_times(q->h, times);
  if (times[ISO_QUICK_ENDS] == NULL) return true;
  free(q->entries);
  free(q->table);
  free(q->versions);
  q->entries = q->table = q->versions = NULL;
  if (q->memory != ISO_QUICK_ALL_MEMORY) {
    iso_quick_release(q);
    if (!iso_quick_measure(q)) return false;
  }
  if (q->given_up || !iso_quick_plan_snapshots(q, sizeof(version), sizeof(label))) return true;
  snapshots s = {.q = q, .pages = iso_quick_pages_of(q->h, q->window)};
  bool made = make(&s, times[ISO_QUICK_ENDS]);
  bool ordered = made && s.order != NULL;
  *proved = ordered && find_labels(&s);
  if (ordered && !*proved && s.blurred) {
    bool mended;
    made = mend_order(&s, &mended);
    *proved = made && mended && find_labels(&s);
  }
  free(s.versions);
  free(s.first_writer);
  free(s.labels);
  free(s.after);
  free(s.order);
  return made;
}
