/* Pulls forward whatever an edge that was added wants earlier, with all that has to come before it. */
#include "check/quick/repair.h"

#include <stdlib.h>
#include <string.h>

bool iso_quick_order_make(iso_quick *q, iso_quick_order *order) {
  uint32_t txns = q->h->txns;
  *order = (iso_quick_order){.q = q, .sequence = q->sequence};
  q->sequence = NULL;
  order->place = iso_alloc(txns, sizeof *order->place);
  order->fresh_sequence = iso_alloc(txns, sizeof *order->fresh_sequence);
  order->fresh_place = iso_alloc(txns, sizeof *order->fresh_place);
  order->last = iso_alloc_zero(txns, sizeof *order->last);
  bool made = order->fresh_sequence != NULL && order->fresh_place != NULL;
  if (!made || order->place == NULL || order->last == NULL) return false;
  for (uint32_t i = 0; i < txns; i++) order->place[order->sequence[i]] = i;
  return true;
}

void iso_quick_order_free(iso_quick_order *order) {
  free(order->sequence);
  free(order->place);
  free(order->fresh_sequence);
  free(order->fresh_place);
  free(order->last);
  free(order->next);
  iso_vec_free(&order->forced);
}

/* A transaction on the way to its place, and which of those before it were looked at. */
typedef struct {
  uint32_t txn, source, edge, forced;
  bool begun; /* its predecessor in the session was looked at */
} step;

typedef struct {
  iso_quick_order *o;
  uint32_t *sequence, *place; /* fresh ones */
  uint32_t count;
  uint64_t *open; /* a bit per transaction: it is on the path */
  ISO_VEC(step) path;
  bool cyclic, failed;
} repairer;

static inline bool is_placed(const repairer *r, uint32_t txn) { return r->place[txn] != ISO_NO_TXN; }

static inline void put(repairer *r, uint32_t txn) {
  r->place[txn] = r->count;
  r->sequence[r->count++] = txn;
}

static bool enter(repairer *r, uint32_t txn) {
  const iso_quick *q = r->o->q;
  uint32_t source, end;
  (void)iso_quick_sources(q, txn, &source, &end);
  step at = {.txn = txn, .source = source, .edge = q->edge_first[txn], .forced = r->o->last[txn]};
  r->open[txn / 64] |= UINT64_C(1) << (txn % 64);
  r->failed = !iso_vec_push(&r->path, at);
  return !r->failed;
}

/* The next of those before a transaction that is not placed, ISO_NO_TXN after the last. */
static uint32_t next_missing(const repairer *r, step *at) {
  const iso_quick *q = r->o->q;
  uint32_t first, end;
  const uint32_t *sources = iso_quick_sources(q, at->txn, &first, &end);
  if (!at->begun) {
    at->begun = true;
    bool is_first = at->txn == q->h->session_first_txn[iso_quick_session(q, at->txn)];
    if (!is_first && !is_placed(r, at->txn - 1)) return at->txn - 1;
  }
  while (at->source < end) {
    uint32_t before = sources[at->source++];
    if (!is_placed(r, before)) return before;
  }
  while (at->edge < q->edge_first[at->txn + 1]) {
    uint32_t before = q->edge_from[at->edge++];
    if (!is_placed(r, before)) return before;
  }
  while (at->forced > 0) {
    uint32_t before = r->o->forced.items[at->forced - 1].from;
    at->forced = r->o->next[at->forced - 1];
    if (!is_placed(r, before)) return before;
  }
  return ISO_NO_TXN;
}

/* Places a transaction after everything that must come before it and is not there yet. */
static void pull(repairer *r, uint32_t txn) {
  if (!enter(r, txn)) return;
  while (r->path.count > 0 && !r->cyclic && !r->failed) {
    step *top = &r->path.items[r->path.count - 1];
    uint32_t before = next_missing(r, top);
    if (before == ISO_NO_TXN) {
      put(r, top->txn);
      r->open[top->txn / 64] &= ~(UINT64_C(1) << (top->txn % 64));
      r->path.count--;
    } else if ((r->open[before / 64] >> (before % 64) & 1) != 0) {
      r->cyclic = true;
    } else {
      (void)enter(r, before);
    }
  }
}

/* Whether an edge that is new wants something before the transaction that is not placed yet. */
static bool is_pushed(const repairer *r, uint32_t txn, size_t first) {
  for (uint32_t edge = r->o->last[txn]; edge > first; edge = r->o->next[edge - 1]) {
    if (!is_placed(r, r->o->forced.items[edge - 1].from)) return true;
  }
  return false;
}

/* Enters the new edges by the transaction that they lead to. */
static bool link_edges(iso_quick_order *o, size_t first) {
  if (o->forced.count >= UINT32_MAX) return false;
  if (o->forced.count > o->next_capacity) {
    uint32_t *grown = iso_realloc(o->next, o->forced.capacity, sizeof *grown);
    if (grown == NULL) return false;
    o->next = grown;
    o->next_capacity = o->forced.capacity;
  }
  for (size_t i = first; i < o->forced.count; i++) {
    uint32_t *last = &o->last[o->forced.items[i].to];
    o->next[i] = *last;
    *last = (uint32_t)i + 1;
  }
  return true;
}

bool iso_quick_order_repair(iso_quick_order *o, size_t first, bool *cyclic) {
  uint32_t txns = o->q->h->txns;
  repairer r = {.o = o, .sequence = o->fresh_sequence, .place = o->fresh_place};
  if (!link_edges(o, first)) return false;
  r.open = iso_alloc_zero((size_t)txns / 64 + 1, sizeof *r.open);
  r.failed = r.open == NULL;
  memset(r.place, 0xff, txns * sizeof *r.place);
  for (uint32_t i = 0; i < txns && !r.failed && !r.cyclic; i++) {
    uint32_t txn = o->sequence[i];
    if (is_placed(&r, txn)) continue;
    if (is_pushed(&r, txn, first)) {
      pull(&r, txn);
    } else {
      put(&r, txn);
    }
  }
  free(r.open);
  iso_vec_free(&r.path);
  *cyclic = r.cyclic;
  o->fresh_sequence = o->sequence;
  o->fresh_place = o->place;
  o->sequence = r.sequence;
  o->place = r.place;
  return !r.failed;
}
