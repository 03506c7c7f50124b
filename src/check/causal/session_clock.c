/* Short vector clocks, filled in along a sequence, each thread a share of the columns. */
#include "check/causal/session_clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

/* A line of the cache. */
enum { LINE = 64, SHORTS = LINE / sizeof(uint16_t), LONGS = LINE / sizeof(uint32_t) };

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

static void join_lines(uint8_t *into, const uint8_t *from, size_t bytes, bool is_short) {
  for (size_t at = 0; at < bytes; at += LINE) {
    if (is_short) {
      uint16_t *restrict x = (uint16_t *)(void *)(into + at);
      const uint16_t *restrict y = (const uint16_t *)(const void *)(from + at);
      for (int i = 0; i < SHORTS; i++) x[i] = x[i] > y[i] ? x[i] : y[i];
    } else {
      uint32_t *restrict x = (uint32_t *)(void *)(into + at);
      const uint32_t *restrict y = (const uint32_t *)(const void *)(from + at);
      for (int i = 0; i < LONGS; i++) x[i] = x[i] > y[i] ? x[i] : y[i];
    }
  }
}

/* Notes a transaction itself in the clock of one that comes after it. */
static void note(const share *s, uint8_t *row, uint32_t txn) {
  const iso_session_clocks *c = s->j->c;
  uint32_t session = c->h->txn_session[txn], number = txn - c->h->session_first_txn[session] + 1;
  size_t at = session * (c->is_short ? sizeof(uint16_t) : sizeof(uint32_t));
  if (at < s->first || at >= s->end) return;
  if (c->is_short) {
    uint16_t *entry = (uint16_t *)(void *)(row + at);
    if (*entry < number) *entry = (uint16_t)number;
  } else {
    uint32_t *entry = (uint32_t *)(void *)(row + at);
    if (*entry < number) *entry = number;
  }
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
    if (from == ISO_INITIAL || from == last) continue;
    join_lines(row + s->first, c->rows + from * c->row + s->first, s->end - s->first, c->is_short);
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
    for (size_t at = s->first; at < s->end; at += LINE) __builtin_prefetch(row + at);
  }
}

static void fill_share(void *context, unsigned thread, unsigned threads) {
  const job *j = context;
  uint64_t first, end;
  iso_parallel_range(j->c->row / LINE, thread, threads, &first, &end);
  share s = {j, first * LINE, end * LINE};
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

isoproof_status iso_session_clocks_make(const iso_event_graph *events, const iso_sequence *sequence, unsigned threads,
                                        isoproof_task *task, iso_session_clocks *clocks, isoproof_error *error) {
  enum { MOST_BYTES_PER_TXN = 4 * LINE };
  const isoproof_history *h = events->view->h;
  *clocks = (iso_session_clocks){.h = h, .is_short = longest_session(h) < UINT16_MAX};
  size_t bytes = h->sessions * (clocks->is_short ? sizeof(uint16_t) : sizeof(uint32_t));
  clocks->row = (bytes + LINE - 1) / LINE * LINE;
  if (clocks->row > MOST_BYTES_PER_TXN) return ISOPROOF_OK;
  clocks->allocated = iso_alloc((size_t)h->txns + 1, clocks->row);
  if (clocks->allocated == NULL) return ISOPROOF_OK; /* it can be done without */
  clocks->rows = (uint8_t *)(((uintptr_t)clocks->allocated + LINE - 1) / LINE * LINE);
  iso_parallel(threads, fill_share, &(job){events, sequence, clocks, task});
  return iso_task_check(task, error);
}
