/* A topological sort that takes, of all transactions that may come next, the one that ended first. */
#include "check/count/sequence.h"

#include <string.h>

#include "history/real_time.h"

typedef struct {
  int64_t when;
  uint32_t session;
} waiting;

typedef struct {
  const iso_view *v;
  const iso_edges *known;
  bool timed;
  uint32_t *head;        /* by session: its first transaction that is not placed */
  uint32_t *cursor;      /* by session: how far the predecessors of the head were looked at */
  uint32_t *queue_first; /* by transaction: the sessions that wait for it, a linked list of session numbers + 1 */
  uint32_t *queue_next;  /* by session */
  waiting *heap;         /* the sessions whose heads may come next */
  uint32_t ready;
  iso_run_sequence *out;
} sorter;

void iso_run_sequence_free(iso_run_sequence *sequence) {
  free(sequence->txn);
  free(sequence->place);
  memset(sequence, 0, sizeof *sequence);
}

/* ---- a heap of sessions ---- */

static bool is_before(const waiting *a, const waiting *b) {
  return a->when != b->when ? a->when < b->when : a->session < b->session;
}

static void push(sorter *s, waiting one) {
  uint32_t at = s->ready++;
  for (; at > 0 && is_before(&one, &s->heap[(at - 1) / 2]); at = (at - 1) / 2) s->heap[at] = s->heap[(at - 1) / 2];
  s->heap[at] = one;
}

static waiting pop(sorter *s) {
  waiting top = s->heap[0], last = s->heap[--s->ready];
  uint32_t at = 0;
  for (uint32_t child; (child = 2 * at + 1) < s->ready; at = child) {
    if (child + 1 < s->ready && is_before(&s->heap[child + 1], &s->heap[child])) child++;
    if (!is_before(&s->heap[child], &last)) break;
    s->heap[at] = s->heap[child];
  }
  s->heap[at] = last;
  return top;
}

/* ---- the sort ---- */

/* When a transaction is taken to have run: where there are no times, sessions are taken to have gone on evenly. */
static int64_t when(const sorter *s, uint32_t txn) {
  const isoproof_history *h = s->v->h;
  if (s->timed) return iso_real_end(h, txn);
  uint32_t session = h->txn_session[txn], first = h->session_first_txn[session];
  return (int64_t)((uint64_t)(txn - first) * (1u << 30) / (h->session_first_txn[session + 1] - first));
}

static bool is_placed(const sorter *s, uint32_t txn) { return s->out->place[txn] != UINT32_MAX; }

/* Has the head of a session come next, or wait for somebody. */
static void consider(sorter *s, uint32_t session) {
  uint32_t end = s->v->h->session_first_txn[session + 1], txn = s->head[session], missing;
  if (txn == end) return;
  do {
    missing = iso_next_predecessor(s->v, s->known, txn, &s->cursor[session]);
  } while (missing != ISO_NO_TXN && is_placed(s, missing));
  if (missing == ISO_NO_TXN) {
    push(s, (waiting){when(s, txn), session});
    return;
  }
  s->queue_next[session] = s->queue_first[missing];
  s->queue_first[missing] = session + 1;
}

static void place(sorter *s, uint32_t txn) {
  s->out->place[txn] = s->out->count;
  s->out->txn[s->out->count++] = txn;
}

/* Moves the head on to the next transaction that takes part. */
static void move_on(sorter *s, uint32_t session) {
  uint32_t end = s->v->h->session_first_txn[session + 1];
  while (s->head[session] < end && (!s->v->counts[s->head[session]] || is_placed(s, s->head[session]))) {
    s->head[session]++;
  }
  s->cursor[session] = 1; /* the predecessor in the session is placed by now */
}

static void sort(sorter *s) {
  const isoproof_history *h = s->v->h;
  for (uint32_t session = 0; session < h->sessions; session++) {
    s->head[session] = h->session_first_txn[session];
    move_on(s, session);
    consider(s, session);
  }
  while (s->ready > 0) {
    uint32_t session = pop(s).session, txn = s->head[session];
    place(s, txn);
    move_on(s, session);
    consider(s, session);
    for (uint32_t next, waits = s->queue_first[txn]; waits != 0; waits = next) {
      next = s->queue_next[waits - 1];
      consider(s, waits - 1);
    }
  }
  s->out->is_respectful = s->out->count == s->v->taking_part;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    if (s->v->counts[txn] && !is_placed(s, txn)) place(s, txn);
  }
}

isoproof_status iso_run_sequence_make(const iso_view *view, const iso_versions *versions, iso_run_sequence *out,
                                      isoproof_error *error) {
  const isoproof_history *h = view->h;
  const iso_edges known = {.known = versions->ww_first != NULL ? versions : NULL};
  sorter s = {.v = view, .known = &known, .timed = iso_has_real_time(h), .out = out};
  *out = (iso_run_sequence){.txn = iso_alloc(view->taking_part, sizeof *out->txn),
                            .place = iso_alloc(h->txns, sizeof *out->place)};
  s.head = iso_alloc(h->sessions, sizeof *s.head);
  s.cursor = iso_alloc(h->sessions, sizeof *s.cursor);
  s.queue_next = iso_alloc(h->sessions, sizeof *s.queue_next);
  s.heap = iso_alloc(h->sessions, sizeof *s.heap);
  s.queue_first = iso_alloc_zero(h->txns, sizeof *s.queue_first);
  bool made = out->txn != NULL && out->place != NULL && s.head != NULL && s.cursor != NULL && s.queue_next != NULL &&
              s.heap != NULL && s.queue_first != NULL;
  if (made) {
    memset(out->place, 0xff, h->txns * sizeof *out->place);
    sort(&s);
  }
  free(s.head);
  free(s.cursor);
  free(s.queue_next);
  free(s.heap);
  free(s.queue_first);
  if (made) return ISOPROOF_OK;
  iso_run_sequence_free(out);
  return iso_fail_memory(error);
}
