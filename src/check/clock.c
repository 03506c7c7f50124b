#include "check/clock.h"

#include <stdlib.h>
#include <string.h>

void iso_clocks_free(iso_clocks *clocks) {
  free(clocks->rows);
  *clocks = (iso_clocks){0, 0, NULL};
}

static void join_rows(uint32_t *restrict into, const uint32_t *restrict from, uint32_t width) {
  for (uint32_t i = 0; i < width; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
}

/* Joins what `txn` saw, and `txn` itself. */
static void join_txn(const iso_clocks *c, const isolde_history *h, uint32_t *row, uint32_t txn) {
  join_rows(row, iso_clock(c, txn), c->width);
  uint32_t column = h->txn_session[txn] - c->first_session;
  if (column < c->width && row[column] <= txn) row[column] = txn + 1;
}

/* Joins all direct predecessors of `txn` into the row. */
static void join_predecessors(const iso_view *v, const iso_clocks *c, uint32_t *row, uint32_t txn) {
  uint32_t at = 0, last = ISO_NO_TXN, from;
  while ((from = iso_next_predecessor(v, NULL, txn, &at)) != ISO_NO_TXN) {
    if (from != last) join_txn(c, v->h, row, from);
    last = from;
  }
}

/* The members of a cycle have all seen what any of them saw, and each other. */
static void fill_cycle(const iso_view *v, const iso_clocks *c, const uint32_t *members, uint32_t count) {
  uint32_t *row = c->rows + (size_t)members[0] * c->width;
  for (uint32_t i = 0; i < count; i++) join_predecessors(v, c, row, members[i]);
  for (uint32_t i = 1; i < count; i++) {
    memcpy(c->rows + (size_t)members[i] * c->width, row, c->width * sizeof *row);
  }
}

isolde_status iso_clocks_make(const iso_view *view, const iso_order *order, uint32_t first_session, uint32_t width,
                              isolde_task *task, iso_clocks *clocks, isolde_error *error) {
  *clocks = (iso_clocks){first_session, width, NULL};
  clocks->rows = iso_alloc_zero((size_t)view->h->txns * width, sizeof *clocks->rows);
  if (clocks->rows == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < view->taking_part;) {
    uint32_t txn = order->sequence[i], end = i + 1;
    if (i >= order->count && order->component[txn] != ISO_NO_TXN) {
      while (end < view->taking_part && order->component[order->sequence[end]] == order->component[txn]) end++;
      fill_cycle(view, clocks, order->sequence + i, end - i);
    } else {
      join_predecessors(view, clocks, clocks->rows + (size_t)txn * width, txn);
    }
    i = end;
    if ((i & 65535) == 0 && iso_task_check(task, NULL) != ISOLDE_OK) break;
  }
  isolde_status status = iso_task_check(task, error);
  if (status != ISOLDE_OK) iso_clocks_free(clocks);
  return status;
}
