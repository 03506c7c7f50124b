/* Vector clocks, filled in along a sequence, each thread a share of the columns. */
#include "check/quick/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

/* A line of the cache. */
enum { LINE = 64, SHORTS = LINE / sizeof(uint16_t), LONGS = LINE / sizeof(uint32_t) };

void iso_quick_clocks_free(iso_quick_clocks *clocks) {
  free(clocks->allocated);
  memset(clocks, 0, sizeof *clocks);
}

/* Of every clock the bytes [first, end), whole lines. */
typedef struct {
  const iso_quick_clocks *c;
  size_t first, end;
} columns;

static inline void join(const columns *k, uint8_t *into, const uint8_t *from) {
  for (size_t at = k->first; at < k->end; at += LINE) {
    if (k->c->is_short) {
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
static inline void note(const columns *k, uint8_t *row, uint32_t txn) {
  const iso_quick *q = k->c->q;
  uint32_t session = q->txns[txn + 1].session, number = txn - q->h->session_first_txn[session] + 1;
  size_t at = session * (k->c->is_short ? sizeof(uint16_t) : sizeof(uint32_t));
  if (at < k->first || at >= k->end) return;
  if (k->c->is_short) {
    uint16_t *entry = (uint16_t *)(void *)(row + at);
    if (*entry < number) *entry = (uint16_t)number;
  } else {
    uint32_t *entry = (uint32_t *)(void *)(row + at);
    if (*entry < number) *entry = number;
  }
}

static void fill(const columns *k, uint32_t txn) {
  const iso_quick *q = k->c->q;
  uint8_t *row = k->c->rows + txn * k->c->row;
  uint32_t source, end;
  const uint32_t *sources = iso_quick_sources(q, txn, &source, &end);
  if (txn == q->h->session_first_txn[q->txns[txn + 1].session]) {
    memset(row + k->first, 0, k->end - k->first);
  } else {
    memcpy(row + k->first, row - k->c->row + k->first, k->end - k->first);
    note(k, row, txn - 1);
  }
  for (; source < end; source++) {
    join(k, row, k->c->rows + sources[source] * k->c->row);
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
    for (size_t at = k->first; at < k->end; at += LINE) __builtin_prefetch(row + at);
    __builtin_prefetch(&q->txns[sources[source] + 1]);
  }
}

static void fill_columns(void *context, unsigned thread, unsigned threads) {
  const iso_quick_clocks *c = context;
  uint64_t first, end;
  iso_parallel_range(c->row / LINE, thread, threads, &first, &end);
  columns k = {c, first * LINE, end * LINE};
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
  size_t bytes = h->sessions * (clocks->is_short ? sizeof(uint16_t) : sizeof(uint32_t));
  clocks->row = (bytes + LINE - 1) / LINE * LINE;
  clocks->allocated = iso_alloc((size_t)h->txns + 1, clocks->row);
  if (clocks->allocated == NULL) return false;
  clocks->rows = (uint8_t *)(((uintptr_t)clocks->allocated + LINE - 1) / LINE * LINE);
  iso_parallel(q->threads, fill_columns, clocks);
  return true;
}
