/* Vector clocks along session order and the reads that are certain, session by session as far as each can go. */
#include "check/duplicates/reach.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* More numbers than this are not worth their memory. */
#define MOST_NUMBERS (UINT64_C(1) << 26)

typedef struct {
  iso_reach *reach;
  const isoproof_history *h;
  const uint32_t *op_txn;
  const iso_resolution *resolution;
  const uint64_t *certain;
  uint32_t *next;  /* by session: the transaction that it has come to */
  uint32_t *begun; /* by session: the transaction that it has begun with, + 1 */
  uint32_t *op;    /* by session: the operation of that one that it has come to */
  uint32_t *last;  /* by session: the last transaction whose row is filled in, + 1 */
  uint32_t *waits; /* by transaction: a session that waits for it, + 1 */
  uint32_t *also;  /* by session: another one that waits for the same, + 1 */
  ISO_VEC(uint32_t) ready;
} walker;

static void merge(uint32_t *row, const uint32_t *from, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (from[i] > row[i]) row[i] = from[i];
  }
}

/* The transaction whose row a read has to wait for, ISO_NO_TXN for none. */
static uint32_t source_of(const walker *w, uint32_t txn, uint32_t op) {
  if ((w->certain[op / 64] >> (op % 64) & 1) == 0) return ISO_NO_TXN;
  uint32_t write = w->resolution->writer[op];
  if (write >= w->h->ops) return ISO_NO_TXN;
  uint32_t from = w->op_txn[write];
  return from != txn && w->h->txn_status[from] == ISOPROOF_TXN_COMMITTED ? from : ISO_NO_TXN;
}

/* Goes on in a session until it has to wait for somebody, or ends. */
static bool walk(walker *w, uint32_t session) {
  const isoproof_history *h = w->h;
  iso_reach *reach = w->reach;
  for (; w->next[session] < h->session_first_txn[session + 1]; w->next[session]++) {
    uint32_t txn = w->next[session], *row = reach->clock + (size_t)txn * h->sessions;
    if (h->txn_status[txn] != ISOPROOF_TXN_COMMITTED) continue;
    if (w->begun[session] != txn + 1) {
      w->begun[session] = txn + 1;
      w->op[session] = h->txn_first_op[txn];
      if (w->last[session] > 0) merge(row, reach->clock + (size_t)(w->last[session] - 1) * h->sessions, h->sessions);
    }
    for (; w->op[session] < h->txn_first_op[txn + 1]; w->op[session]++) {
      uint32_t from = source_of(w, txn, w->op[session]);
      if (from == ISO_NO_TXN) continue;
      if (!reach->known[from]) {
        w->also[session] = w->waits[from];
        w->waits[from] = session + 1;
        return true;
      }
      merge(row, reach->clock + (size_t)from * h->sessions, h->sessions);
    }
    row[session] = txn - h->session_first_txn[session] + 1;
    reach->known[txn] = 1;
    w->last[session] = txn + 1;
    for (uint32_t s = w->waits[txn]; s > 0; s = w->also[s - 1]) {
      if (!iso_vec_push(&w->ready, s - 1)) return false;
    }
  }
  return true;
}

static bool walk_all(walker *w) {
  const isoproof_history *h = w->h;
  w->next = iso_alloc(h->sessions, sizeof *w->next);
  w->begun = iso_alloc_zero(h->sessions, sizeof *w->begun);
  w->op = iso_alloc_zero(h->sessions, sizeof *w->op);
  w->last = iso_alloc_zero(h->sessions, sizeof *w->last);
  w->waits = iso_alloc_zero(h->txns, sizeof *w->waits);
  w->also = iso_alloc_zero(h->sessions, sizeof *w->also);
  if (w->next == NULL || w->begun == NULL || w->op == NULL || w->last == NULL || w->waits == NULL || w->also == NULL) {
    return false;
  }
  for (uint32_t s = 0; s < h->sessions; s++) w->next[s] = h->session_first_txn[s];
  for (uint32_t s = 0; s < h->sessions; s++) {
    if (!walk(w, s)) return false;
    while (w->ready.count > 0) {
      if (!walk(w, w->ready.items[--w->ready.count])) return false;
    }
  }
  return true;
}

isoproof_status iso_reach_make(const isoproof_history *history, const uint32_t *op_txn,
                               const iso_resolution *resolution, const uint64_t *certain, iso_reach *reach,
                               isoproof_error *error) {
  *reach = (iso_reach){.h = history};
  if ((uint64_t)history->txns * history->sessions > MOST_NUMBERS) return ISOPROOF_OK;
  reach->clock = iso_alloc_zero((size_t)history->txns * history->sessions, sizeof *reach->clock);
  reach->known = iso_alloc_zero(history->txns, 1);
  walker w = {.reach = reach, .h = history, .op_txn = op_txn, .resolution = resolution, .certain = certain};
  bool made = reach->clock != NULL && reach->known != NULL && walk_all(&w);
  free(w.next);
  free(w.begun);
  free(w.op);
  free(w.last);
  free(w.waits);
  free(w.also);
  iso_vec_free(&w.ready);
  if (made) return ISOPROOF_OK;
  iso_reach_free(reach);
  return iso_fail_memory(error);
}

void iso_reach_free(iso_reach *reach) {
  free(reach->clock);
  free(reach->known);
  *reach = (iso_reach){.h = NULL};
}
