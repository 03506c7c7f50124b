/* An online topological order. */
#include "check/order/moving_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/task.h"

/* Who would have to move is looked for among so many neighbours at most. */
enum { MOST_STEPS = 1 << 15 };

bool iso_moving_order_make(iso_sequence *s, uint32_t txns, iso_moving_order *o) {
  memset(o, 0, sizeof *o);
  o->s = s;
  o->out = iso_alloc_zero(txns, sizeof *o->out);
  o->in = iso_alloc_zero(txns, sizeof *o->in);
  o->mark = iso_alloc_zero(txns, sizeof *o->mark);
  o->by_edge = iso_alloc(txns, sizeof *o->by_edge);
  o->by_txn = iso_alloc(txns, sizeof *o->by_txn);
  o->reached_from = ISO_NO_TXN;
  return o->out != NULL && o->in != NULL && o->mark != NULL && o->by_edge != NULL && o->by_txn != NULL;
}

void iso_moving_order_free(iso_moving_order *o) {
  iso_vec_free(&o->edges);
  iso_vec_free(&o->side[0]);
  iso_vec_free(&o->side[1]);
  iso_vec_free(&o->list);
  iso_vec_free(&o->ways);
  iso_vec_free(&o->places);
  free(o->out);
  free(o->in);
  free(o->mark);
  free(o->by_edge);
  free(o->by_txn);
}

/* The neighbours of a transaction to one side: *own of them by edges that are not kept here, then those by the edges of
 * o->ways. */
static void list_neighbours(iso_moving_order *o, uint32_t txn, bool before, size_t *own) {
  o->list.count = o->ways.count = 0;
  o->failed = !o->list_next(o->context, txn, before, &o->list) || o->failed;
  *own = o->list.count;
  for (uint32_t i = before ? o->in[txn] : o->out[txn]; i > 0 && !o->failed;) {
    const iso_moving_edge *e = &o->edges.items[i - 1];
    o->failed = !iso_vec_push(&o->list, before ? e->from : e->to) || !iso_vec_push(&o->ways, i);
    i = before ? e->next_in : e->next_out;
  }
}

/* Collects `first` and who comes before it, or after it, up to a place; false where that reaches `stop` or takes too
 * long. */
static bool collect(iso_moving_order *o, uint32_t first, bool before, uint32_t bound, uint32_t stop) {
  iso_txn_list *side = &o->side[before ? 0 : 1];
  const uint32_t *place = o->s->place;
  uint64_t most = o->steps + MOST_STEPS;
  side->count = 0;
  o->stamp++;
  o->mark[first] = o->stamp;
  o->by_txn[first] = ISO_NO_TXN;
  if (!iso_vec_push(side, first)) o->failed = true;
  for (size_t i = 0; i < side->count && !o->failed; i++) {
    size_t own;
    list_neighbours(o, side->items[i], before, &own);
    o->steps += o->list.count + 1;
    if (o->steps > most) return false;
    for (size_t k = 0; k < o->list.count; k++) {
      uint32_t other = o->list.items[k];
      uint32_t way = k < own ? 0 : o->ways.items[k - own];
      if (other == stop) {
        o->reached_from = side->items[i];
        o->reached_by = way;
        return false;
      }
      if (o->mark[other] == o->stamp || (before ? place[other] < bound : place[other] > bound)) continue;
      o->mark[other] = o->stamp;
      o->by_edge[other] = way;
      o->by_txn[other] = side->items[i];
      if (!iso_vec_push(side, other)) o->failed = true;
    }
  }
  return !o->failed;
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* The transactions of a side by place. */
static void sort_side(iso_moving_order *o, iso_txn_list *side) {
  for (size_t i = 0; i < side->count; i++) side->items[i] = o->s->place[side->items[i]];
  if (side->count > 1) qsort(side->items, side->count, sizeof *side->items, ascending);
  for (size_t i = 0; i < side->count; i++) {
    if (!iso_vec_push(&o->places, side->items[i])) o->failed = true;
    side->items[i] = o->s->event[side->items[i]];
  }
}

/* Deals the places of both sides out anew, those before first. */
static void deal(iso_moving_order *o) {
  size_t next = 0;
  o->places.count = 0;
  sort_side(o, &o->side[0]);
  sort_side(o, &o->side[1]);
  if (o->failed) return;
  qsort(o->places.items, o->places.count, sizeof *o->places.items, ascending);
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < o->side[side].count; i++, next++) {
      o->s->place[o->side[side].items[i]] = o->places.items[next];
      o->s->event[o->places.items[next]] = o->side[side].items[i];
    }
  }
}

uint32_t iso_moving_order_way(const iso_moving_order *o, uint32_t *txn) {
  if (*txn == ISO_NO_TXN) return UINT32_MAX;
  uint32_t way = o->by_txn[*txn] == ISO_NO_TXN ? 0 : o->by_edge[*txn];
  *txn = o->by_txn[*txn];
  return way;
}

bool iso_moving_order_add(iso_moving_order *o, uint32_t from, uint32_t to, uint32_t owner, uint32_t reader) {
  const uint32_t *place = o->s->place;
  o->side[0].count = o->side[1].count = 0;
  o->reached_from = ISO_NO_TXN;
  if (from == to) return false;
  if (place[from] > place[to]) {
    bool good = collect(o, to, false, place[from], from) && collect(o, from, true, place[to], to);
    if (good) deal(o);
    if (!good || o->failed) {
      o->side[0].count = o->side[1].count = 0;
      return false;
    }
  }
  iso_moving_edge edge = {from, to, o->out[from], o->in[to], owner, reader};
  if (!iso_vec_push(&o->edges, edge)) o->failed = true;
  if (o->failed) return false;
  o->out[from] = o->in[to] = (uint32_t)o->edges.count;
  return true;
}

void iso_moving_order_drop(iso_moving_order *o, size_t keep) {
  while (o->edges.count > keep) {
    const iso_moving_edge *e = &o->edges.items[--o->edges.count];
    o->out[e->from] = e->next_out;
    o->in[e->to] = e->next_in;
  }
}
