/* Vector clocks of transactions over sessions, filled in along a commit order. */
#include "check/order/clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

void iso_clocks_free(iso_clocks *clocks) {
  free(clocks->rows);
  *clocks = (iso_clocks){0, 0, NULL};
}

static void join_rows(uint32_t *restrict into, const uint32_t *restrict from, uint32_t width) {
  for (uint32_t i = 0; i < width; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
}

/* A share of the columns: those of different shares do not depend on each other. */
typedef struct {
  const iso_view *v;
  const iso_order *order;
  const iso_clocks *c;
  isoproof_task *task;
} job;

typedef struct {
  const job *j;
  uint32_t first, width; /* columns of the clocks */
} share;

static uint32_t *row_of(const share *s, uint32_t txn) {
  return s->j->c->rows + (size_t)txn * s->j->c->width + s->first;
}

/* Joins what `txn` saw, and `txn` itself. */
static void join_txn(const share *s, uint32_t *row, uint32_t txn) {
  join_rows(row, row_of(s, txn), s->width);
  uint32_t column = s->j->v->h->txn_session[txn] - s->j->c->first_session - s->first;
  if (column < s->width && row[column] <= txn) row[column] = txn + 1;
}

/* Joins all direct predecessors of `txn` into the row. */
static void join_predecessors(const share *s, uint32_t *row, uint32_t txn) {
  uint32_t at = 0, last = ISO_NO_TXN, from;
  while ((from = iso_next_predecessor(s->j->v, NULL, txn, &at)) != ISO_NO_TXN) {
    if (from != last) join_txn(s, row, from);
    last = from;
  }
}

/* The members of a cycle have all seen what any of them saw, and each other. */
static void fill_cycle(const share *s, const uint32_t *members, uint32_t count) {
  uint32_t *row = row_of(s, members[0]);
  for (uint32_t i = 0; i < count; i++) join_predecessors(s, row, members[i]);
  for (uint32_t i = 1; i < count; i++) memcpy(row_of(s, members[i]), row, s->width * sizeof *row);
}

static void fill_share(void *context, unsigned thread, unsigned threads) {
  const job *j = context;
  const iso_order *order = j->order;
  uint64_t first, last;
  iso_parallel_range(j->c->width, thread, threads, &first, &last);
  share s = {j, (uint32_t)first, (uint32_t)(last - first)};
  for (uint32_t i = 0; i < j->v->taking_part;) {
    uint32_t txn = order->sequence[i], end = i + 1;
    if (i >= order->count && order->component[txn] != ISO_NO_TXN) {
      while (end < j->v->taking_part && order->component[order->sequence[end]] == order->component[txn]) end++;
      fill_cycle(&s, order->sequence + i, end - i);
    } else {
      join_predecessors(&s, row_of(&s, txn), txn);
    }
    if ((i >> 16) != (end >> 16) && iso_task_check(j->task, NULL) != ISOPROOF_OK) break;
    i = end;
  }
}

isoproof_status iso_clocks_make(const iso_view *view, const iso_order *order, uint32_t first_session, uint32_t width,
                                isoproof_task *task, iso_clocks *clocks, isoproof_error *error) {
  enum { FEW_COLUMNS = 32, SMALL = 16384 };
  *clocks = (iso_clocks){first_session, width, NULL};
  clocks->rows = iso_alloc_zero((size_t)view->h->txns * width, sizeof *clocks->rows);
  if (clocks->rows == NULL) return iso_fail_memory(error);
  bool small = width < FEW_COLUMNS || view->h->txns < SMALL;
  iso_parallel(small ? 1 : iso_task_threads(task), fill_share, &(job){view, order, clocks, task});
  isoproof_status status = iso_task_check(task, error);
  if (status != ISOPROOF_OK) iso_clocks_free(clocks);
  return status;
}
