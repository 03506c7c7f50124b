/* Transactions that show what is wrong, found among all by what they read. */
#include <stdlib.h>

#include "check/quick/state.h"

/* More who read the same are not worth it. */
enum { MOST_SUSPECTS = 4096, MOST_PER_EDGE = 4 };

typedef struct {
  iso_quick *q;
  uint64_t *is_wanted; /* a bit per transaction: an edge leads to it */
  uint8_t *found;      /* by edge of the circle: how many who force it */
  iso_quick_pages pages;
} search;

static bool suspect(const search *s, uint32_t txn) {
  return s->q->suspects->count >= MOST_SUSPECTS || iso_vec_push(s->q->suspects, txn);
}

static inline uint32_t source_of(const iso_quick *q, uint32_t read) {
  return (q->entries[read] & ~ISO_QUICK_SUSPECT) - 1;
}

/* A transaction with everybody that it reads from; its first read has the number `read`. */
static bool suspect_with_sources(const search *s, uint32_t txn, uint32_t read) {
  const isoproof_history *h = s->q->h;
  bool good = suspect(s, txn);
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_READ) continue;
    uint32_t from = source_of(s->q, read++);
    if (h->op_value[op] != ISO_VALUE_NIL && from < h->txns) good = good && suspect(s, from);
  }
  return good;
}

/* Whether a transaction reads from another one, or comes after it in its session. */
static bool follows(const search *s, uint32_t txn, uint32_t read, uint32_t from) {
  const iso_quick *q = s->q;
  const isoproof_history *h = q->h;
  bool session = from < txn && iso_quick_session(q, from) == iso_quick_session(q, txn);
  if (session && q->axiom == ISO_AXIOM_READ_ATOMIC) return true;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_READ && source_of(q, read++) == from) return true;
  }
  return false;
}

/* Looks whether a transaction that reads from one that is wanted forces an edge to it. */
static bool look_at_reader(search *s, uint32_t txn, uint32_t read, uint32_t to) {
  iso_quick *q = s->q;
  for (size_t i = 0; i < q->circle.count; i++) {
    const iso_quick_edge *e = &q->circle.items[i];
    if (e->to != to || s->found[i] == MOST_PER_EDGE || !follows(s, txn, read, e->from)) continue;
    s->found[i]++;
    if (!suspect(s, txn)) return false;
  }
  return true;
}

/* Goes through the reads of a transaction, the first of which has the number *read. */
static bool look_at(search *s, uint32_t txn, uint32_t *read) {
  iso_quick *q = s->q;
  const isoproof_history *h = q->h;
  const iso_quick_blame *b = &q->blame;
  uint32_t first = *read;
  bool good = true, counts = h->txn_status[txn] == ISOPROOF_TXN_COMMITTED;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_READ) continue;
    uint32_t from = source_of(q, (*read)++);
    bool initial = h->op_value[op] == ISO_VALUE_NIL;
    if (!counts) continue;
    if (initial && q->is_blamed && b->to == ISO_INITIAL && h->op_key[op] == b->key && follows(s, txn, first, b->from))
      good = good && suspect(s, txn);
    if (!initial && from < h->txns && (s->is_wanted[from / 64] >> (from % 64) & 1) != 0)
      good = good && look_at_reader(s, txn, first, from);
  }
  if (q->is_blamed && b->reader == txn) good = good && suspect_with_sources(s, txn, first);
  return good;
}

static bool look_at_all(search *s) {
  const isoproof_history *h = s->q->h;
  uint32_t read = 0;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    iso_quick_touch(&s->pages, h->txn_first_op[txn + 1] - h->txn_first_op[txn], 1);
    if (!look_at(s, txn, &read)) return false;
  }
  return true;
}

bool iso_quick_find_suspects(iso_quick *q) {
  search s = {.q = q, .pages = iso_quick_pages_of(q->h, q->window)};
  if (q->entries == NULL || q->suspects == NULL || (!q->is_blamed && q->circle.count == 0)) return true;
  s.is_wanted = iso_alloc_zero((size_t)q->h->txns / 64 + 1, sizeof *s.is_wanted);
  s.found = iso_alloc_zero(q->circle.count, sizeof *s.found);
  bool good = s.is_wanted != NULL && s.found != NULL;
  for (size_t i = 0; good && i < q->circle.count; i++) {
    const iso_quick_edge *e = &q->circle.items[i];
    s.is_wanted[e->to / 64] |= UINT64_C(1) << (e->to % 64);
    good = suspect(&s, e->from) && suspect(&s, e->to);
  }
  if (good && q->is_blamed && q->blame.from < q->h->txns) good = suspect(&s, q->blame.from);
  good = good && look_at_all(&s);
  free(s.is_wanted);
  free(s.found);
  return good;
}
