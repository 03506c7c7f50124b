/* Short vector clocks, filled in along a sequence, each thread a share of the columns. */
#include "check/causal/session_clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock_lines.h"
#include "base/parallel.h"

void iso_session_clocks_free(iso_session_clocks *clocks) {
  free(clocks->allocated);
  memset(clocks, 0, sizeof *clocks);
}

typedef struct {
  const iso_event_graph *e;
  const iso_sequence *s;
  const iso_session_clocks *c;
  isoproof_task *task;
} job;

/* Of every clock the bytes [first, end), whole lines. */
typedef struct {
  const job *j;
  size_t first, end;
} share;

/* Notes a transaction itself in the clock of one that comes after it. */
static void note(const share *s, uint8_t *row, uint32_t txn) {
  const iso_session_clocks *c = s->j->c;
  uint32_t session = c->h->txn_session[txn], number = txn - c->h->session_first_txn[session] + 1;
  iso_clock_note(row, session, number, s->first, s->end, c->is_short);
}

/* Whether a clock is known to have the other one in it, from the bytes that are this share. */
static bool has_seen(const share *s, const uint8_t *row, uint32_t txn) {
  const iso_session_clocks *c = s->j->c;
  uint32_t session = c->h->txn_session[txn], number = txn - c->h->session_first_txn[session] + 1;
  size_t at = session * (c->is_short ? sizeof(uint16_t) : sizeof(uint32_t));
  if (at < s->first || at >= s->end) return false;
  return number <=
         (c->is_short ? *(const uint16_t *)(const void *)(row + at) : *(const uint32_t *)(const void *)(row + at));
}

static void fill(const share *s, uint32_t txn) {
  const iso_view *v = s->j->e->view;
  const iso_session_clocks *c = s->j->c;
  uint8_t *row = c->rows + txn * c->row;
  uint32_t previous = iso_event_before(s->j->e, txn), last = ISO_INITIAL;
  if (previous == ISO_NO_EVENT) {
    memset(row + s->first, 0, s->end - s->first);
  } else {
    memcpy(row + s->first, c->rows + previous * c->row + s->first, s->end - s->first);
    note(s, row, previous);
  }
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
    uint32_t from = v->reads[i].from;
    if (from == ISO_INITIAL || from == last || has_seen(s, row, from)) continue;
    iso_clock_join(row, c->rows + from * c->row, s->first, s->end, c->is_short);
    note(s, row, from);
    last = from;
  }
}

/* Announces the clocks that a transaction further on will join. */
static void announce(const share *s, uint32_t place) {
  enum { AHEAD = 12 };
  if (place + AHEAD >= s->j->s->count) return;
  const iso_view *v = s->j->e->view;
  uint32_t txn = s->j->s->event[place + AHEAD];
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
    if (v->reads[i].from == ISO_INITIAL) continue;
    const uint8_t *row = s->j->c->rows + v->reads[i].from * s->j->c->row;
    for (size_t at = s->first; at < s->end; at += ISO_CLOCK_LINE) __builtin_prefetch(row + at);
  }
}

static void fill_share(void *context, unsigned thread, unsigned threads) {
  const job *j = context;
  uint64_t first, end;
  iso_parallel_range(j->c->row / ISO_CLOCK_LINE, thread, threads, &first, &end);
  share s = {j, first * ISO_CLOCK_LINE, end * ISO_CLOCK_LINE};
  for (uint32_t place = 0; place < j->s->count && first < end; place++) {
    if ((place & 0xffff) == 0 && iso_task_check(j->task, NULL) != ISOPROOF_OK) return;
    announce(&s, place);
    fill(&s, j->s->event[place]);
  }
}

static uint32_t longest_session(const isoproof_history *h) {
  uint32_t longest = 0;
  for (uint32_t session = 0; session < h->sessions; session++) {
    uint32_t txns = h->session_first_txn[session + 1] - h->session_first_txn[session];
    if (txns > longest) longest = txns;
  }
  return longest;
}

isoproof_status iso_session_clocks_make(const iso_event_graph *events, const iso_sequence *sequence, bool wide,
                                        unsigned threads, isoproof_task *task, iso_session_clocks *clocks,
                                        isoproof_error *error) {
  enum { MOST_BYTES_PER_TXN = 4 * ISO_CLOCK_LINE };
  const uint64_t most_bytes = UINT64_C(2) << 30;
  const isoproof_history *h = events->view->h;
  *clocks = (iso_session_clocks){.h = h, .is_short = longest_session(h) < UINT16_MAX};
  clocks->row = iso_clock_row(h->sessions, clocks->is_short);
  if (wide ? (uint64_t)h->txns * clocks->row > most_bytes : clocks->row > MOST_BYTES_PER_TXN) return ISOPROOF_OK;
  clocks->allocated = iso_alloc((size_t)h->txns + 1, clocks->row);
  if (clocks->allocated == NULL) return ISOPROOF_OK; /* it can be done without */
  clocks->rows = iso_clock_align(clocks->allocated);
  iso_parallel(threads, fill_share, &(job){events, sequence, clocks, task});
  return iso_task_check(task, error);
}
