/* Vector clocks, filled in along a sequence, each thread a share of the columns. */
#include "check/quick/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock_lines.h"
#include "base/parallel.h"

void iso_quick_clocks_free(iso_quick_clocks *clocks) {
  free(clocks->allocated);
  memset(clocks, 0, sizeof *clocks);
}

/* Of every clock the bytes [first, end), whole lines. */
typedef struct {
  const iso_quick_clocks *c;
  size_t first, end;
} columns;

/* Notes a transaction itself in the clock of one that comes after it. */
static inline void note(const columns *k, uint8_t *row, uint32_t txn) {
  const iso_quick *q = k->c->q;
  uint32_t session = iso_quick_session(q, txn), number = txn - q->h->session_first_txn[session] + 1;
  iso_clock_note(row, session, number, k->first, k->end, k->c->is_short);
}

static void fill(const columns *k, uint32_t txn) {
  const iso_quick *q = k->c->q;
  uint8_t *row = k->c->rows + txn * k->c->row;
  uint32_t source, end;
  const uint32_t *sources = iso_quick_sources(q, txn, &source, &end);
  if (txn == q->h->session_first_txn[iso_quick_session(q, txn)]) {
    memset(row + k->first, 0, k->end - k->first);
  } else {
    memcpy(row + k->first, row - k->c->row + k->first, k->end - k->first);
    note(k, row, txn - 1);
  }
  for (; source < end; source++) {
    iso_clock_join(row, k->c->rows + sources[source] * k->c->row, k->first, k->end, k->c->is_short);
    note(k, row, sources[source]);
  }
}

/* Announces the clocks that a transaction further on will join. */
static void announce(const columns *k, uint32_t place) {
  enum { AHEAD = 12 };
  const iso_quick *q = k->c->q;
  if (place + AHEAD >= q->h->txns) return;
  uint32_t source, end;
  const uint32_t *sources = iso_quick_sources(q, q->sequence[place + AHEAD], &source, &end);
  for (; source < end; source++) {
    const uint8_t *row = k->c->rows + sources[source] * k->c->row;
    for (size_t at = k->first; at < k->end; at += ISO_CLOCK_LINE) __builtin_prefetch(row + at);
  }
}

static void fill_columns(void *context, unsigned thread, unsigned threads) {
  const iso_quick_clocks *c = context;
  uint64_t first, end;
  iso_parallel_range(c->row / ISO_CLOCK_LINE, thread, threads, &first, &end);
  columns k = {c, first * ISO_CLOCK_LINE, end * ISO_CLOCK_LINE};
  for (uint32_t place = 0; place < c->q->h->txns && first < end; place++) {
    if ((place & 0xffff) == 0 && iso_task_check(c->q->task, NULL) != ISOPROOF_OK) return;
    announce(&k, place);
    fill(&k, c->q->sequence[place]);
  }
}

bool iso_quick_clocks_make(const iso_quick *q, iso_quick_clocks *clocks) {
  const isoproof_history *h = q->h;
  *clocks = (iso_quick_clocks){.q = q, .is_short = true};
  for (uint32_t s = 0; s < h->sessions; s++) {
    clocks->is_short &= h->session_first_txn[s + 1] - h->session_first_txn[s] < UINT16_MAX;
  }
  clocks->row = iso_clock_row(h->sessions, clocks->is_short);
  clocks->allocated = iso_alloc((size_t)h->txns + 1, clocks->row);
  if (clocks->allocated == NULL) return false;
  clocks->rows = iso_clock_align(clocks->allocated);
  iso_parallel(q->threads, fill_columns, clocks);
  return true;
}
