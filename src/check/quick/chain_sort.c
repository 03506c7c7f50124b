/* A topological sort over sessions as chains (Kahn 1962): of each only the first open transaction is looked at. */
#include <stdlib.h>
#include <string.h>

#include "check/quick/state.h"
#include "check/quick/time_order.h"

/* Where a session has come to. */
typedef struct {
  uint32_t head, end;      /* transactions */
  const uint32_t *sources; /* of its share */
  uint32_t looked;         /* at how many sources of the head */
  uint32_t edge;           /* the next one to look at */
  uint32_t next;           /* the next session that waits for the same transaction, + 1 */
  uint32_t missing;        /* that it waits for */
} chain;

typedef struct {
  iso_quick *q;
  chain *chains;
  uint64_t *placed;  /* a bit per transaction */
  uint32_t *waiting; /* by transaction: the first session that waits for it, + 1 */
  uint32_t *ready;   /* sessions, a ring */
  uint32_t ready_first, ready_count, count;
} sorter;

/* The edges by the transaction that they lead to. */
static bool index_edges(sorter *s) {
  iso_quick *q = s->q;
  uint64_t total = 0;
  for (unsigned t = 0; t < q->threads; t++) total += q->shares[t].edges.count;
  q->edge_first = iso_alloc_zero((size_t)q->h->txns + 2, sizeof *q->edge_first);
  q->edge_from = iso_alloc(total, sizeof *q->edge_from);
  if (q->edge_first == NULL || q->edge_from == NULL || total > UINT32_MAX) return false;
  /* Counts two places up, so that filling leaves the first places right. */
  for (unsigned t = 0; t < q->threads; t++) {
    const iso_quick_edge *edges = q->shares[t].edges.items;
    for (size_t i = 0; i < q->shares[t].edges.count; i++) q->edge_first[edges[i].to + 2]++;
  }
  for (uint32_t t = 0; t <= q->h->txns; t++) q->edge_first[t + 1] += q->edge_first[t];
  for (unsigned t = 0; t < q->threads; t++) {
    const iso_quick_edge *edges = q->shares[t].edges.items;
    for (size_t i = 0; i < q->shares[t].edges.count; i++)
      q->edge_from[q->edge_first[edges[i].to + 1]++] = edges[i].from;
    iso_vec_free(&q->shares[t].edges);
  }
  return true;
}

static bool make(sorter *s) {
  const isoproof_history *h = s->q->h;
  s->chains = iso_alloc(h->sessions, sizeof *s->chains);
  s->ready = iso_alloc(h->sessions, sizeof *s->ready);
  s->placed = iso_alloc_zero((size_t)h->txns / 64 + 1, sizeof *s->placed);
  s->waiting = iso_alloc_zero(h->txns, sizeof *s->waiting);
  return s->chains != NULL && s->ready != NULL && s->placed != NULL && s->waiting != NULL && index_edges(s);
}

static inline bool is_placed(const sorter *s, uint32_t txn) { return (s->placed[txn / 64] >> (txn % 64) & 1) != 0; }

/* The first of those before the head of a chain that is not placed, ISO_NO_TXN when it can be placed itself. */
static inline uint32_t missing_before(const sorter *s, chain *c) {
  const iso_quick *q = s->q;
  const uint32_t *sources = c->sources + q->source_first[c->head];
  for (uint32_t count = q->source_count[c->head]; c->looked < count; c->looked++) {
    if (!is_placed(s, sources[c->looked])) return sources[c->looked];
  }
  for (uint32_t end = q->edge_first[c->head + 1]; c->edge < end; c->edge++) {
    if (!is_placed(s, q->edge_from[c->edge])) return q->edge_from[c->edge];
  }
  return ISO_NO_TXN;
}

static inline void make_ready(sorter *s, uint32_t session) {
  uint32_t at = s->ready_first + s->ready_count++;
  s->ready[at < s->q->h->sessions ? at : at - s->q->h->sessions] = session;
}

static inline uint32_t take_ready(sorter *s) {
  uint32_t session = s->ready[s->ready_first++];
  if (s->ready_first == s->q->h->sessions) s->ready_first = 0;
  s->ready_count--;
  return session;
}

/* Places the head of a session and those after it, until one has to wait or its turn is over. */
static void advance(sorter *s, uint32_t session, uint32_t turn) {
  chain *c = &s->chains[session];
  for (; c->head < c->end; c->head++) {
    if (turn-- == 0) {
      make_ready(s, session);
      return;
    }
    uint32_t missing = missing_before(s, c);
    if (missing != ISO_NO_TXN) {
      c->missing = missing;
      c->next = s->waiting[missing];
      s->waiting[missing] = session + 1;
      return;
    }
    c->looked = 0;
    s->placed[c->head / 64] |= UINT64_C(1) << (c->head % 64);
    if (s->q->sequence != NULL) s->q->sequence[s->count] = c->head;
    s->count++;
    for (uint32_t waiting = s->waiting[c->head]; waiting != 0; waiting = s->chains[waiting - 1].next) {
      make_ready(s, waiting - 1);
    }
  }
}

static void sort(sorter *s) {
  const isoproof_history *h = s->q->h;
  for (unsigned t = 0; t < s->q->threads; t++) {
    const iso_quick_share *share = &s->q->shares[t];
    for (uint32_t session = share->first_session; session < share->end_session; session++) {
      uint32_t head = h->session_first_txn[session];
      s->chains[session] =
          (chain){head, h->session_first_txn[session + 1], share->sources.items, 0, s->q->edge_first[head], 0, 0};
    }
  }
  /* Sessions ran side by side, and so did what they saw of each other: where the order matters, one transaction each.
   */
  uint32_t turn = s->q->sequence != NULL ? 1 : UINT32_MAX;
  for (uint32_t session = 0; session < h->sessions; session++) make_ready(s, session);
  while (s->ready_count > 0) advance(s, take_ready(s), turn);
}

/* Sessions that wait for each other in a circle: going from one to that which it waits for ends up there. */
static bool find_circle(sorter *s) {
  iso_quick *q = s->q;
  uint32_t session = 0;
  while (s->chains[session].head == s->chains[session].end) session++;
  for (uint32_t i = 0; i < q->h->sessions; i++) session = iso_quick_session(q, s->chains[session].missing);
  uint32_t first = session;
  do {
    const chain *c = &s->chains[session];
    if (!iso_vec_push(&q->circle, ((iso_quick_edge){c->missing, c->head}))) return false;
    session = iso_quick_session(q, c->missing);
  } while (session != first);
  return true;
}

bool iso_quick_sort(iso_quick *q, bool *acyclic) {
  sorter s = {.q = q};
  if (q->axiom == ISO_AXIOM_CAUSAL) q->sequence = iso_alloc(q->h->txns, sizeof *q->sequence);
  bool made = make(&s) && (q->axiom != ISO_AXIOM_CAUSAL || q->sequence != NULL);
  if (made) sort(&s);
  *acyclic = s.count == q->h->txns;
  if (made && !*acyclic && q->suspects != NULL) made = find_circle(&s);
  free(s.chains);
  free(s.ready);
  free(s.placed);
  free(s.waiting);
  return made;
}

bool iso_quick_sort_by_time(iso_quick *q) {
  const uint32_t *first = q->h->session_first_txn;
  iso_quick_times times = {q->h, q->time, first, first + 1};
  size_t count;
  if (!iso_quick_time_order(&times, &q->sequence, &count)) return false;
  if (q->sequence == NULL) return true;
  q->edge_first = iso_alloc_zero((size_t)q->h->txns + 2, sizeof *q->edge_first);
  q->edge_from = iso_alloc(0, sizeof *q->edge_from);
  return q->edge_first != NULL && q->edge_from != NULL;
}
