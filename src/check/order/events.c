/* The events of transactions and of real time, and the edges between them that were derived. */
#include "check/order/events.h"

#include <stdlib.h>
#include <string.h>

#include "history/real_time.h"

void iso_event_graph_free(iso_event_graph *e) {
  free(e->chain_of);
  free(e->chain_start);
  free(e->tick_before);
  free(e->ended_first);
  free(e->ended);
  free(e->in);
  for (size_t i = 0; i < sizeof e->own_groups / sizeof e->own_groups[0]; i++) free(e->own_groups[i]);
  iso_vec_free(&e->derived);
  memset(e, 0, sizeof *e);
}

static bool make_chains(iso_event_graph *e, const uint8_t *cut) {
  const isoproof_history *h = e->view->h;
  e->chain_of = iso_alloc(h->txns, sizeof *e->chain_of);
  e->chain_start = iso_alloc((size_t)h->txns + 1, sizeof *e->chain_start);
  if (e->chain_of == NULL || e->chain_start == NULL) return false;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    bool starts = txn == 0 || h->txn_session[txn] != h->txn_session[txn - 1] || (cut != NULL && cut[txn]);
    if (starts) e->chain_start[e->chains++] = txn;
    e->chain_of[txn] = e->chains - 1;
  }
  e->chain_start[e->chains] = h->txns;
  return true;
}

/* ---- real time ---- */

typedef struct {
  int64_t time;
  uint32_t txn;
  bool is_end;
} moment;

/* By time; a start before an end of the same moment, as such two are concurrent. */
static int by_time(const void *a, const void *b) {
  const moment *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  if (x->is_end != y->is_end) return x->is_end ? 1 : -1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

/* Ends that no start separates share a tick. */
static void place_ticks(iso_event_graph *e, const moment *moments, size_t count) {
  bool open = false;
  uint32_t ended = 0;
  for (size_t i = 0; i < count; i++) {
    if (moments[i].is_end) {
      if (!open) e->ended_first[e->ticks++] = ended;
      open = true;
      e->ended[ended++] = moments[i].txn;
    } else {
      open = false;
      e->tick_before[moments[i].txn] = e->ticks;
    }
  }
  e->ended_first[e->ticks] = ended;
}

static bool make_ticks(iso_event_graph *e) {
  const isoproof_history *h = e->view->h;
  moment *moments = iso_alloc(2 * (size_t)h->txns, sizeof *moments);
  e->tick_before = iso_alloc_zero(h->txns, sizeof *e->tick_before);
  e->ended_first = iso_alloc((size_t)h->txns + 1, sizeof *e->ended_first);
  e->ended = iso_alloc(h->txns, sizeof *e->ended);
  bool made = moments != NULL && e->tick_before != NULL && e->ended_first != NULL && e->ended != NULL;
  size_t count = 0;
  for (uint32_t txn = 0; made && txn < h->txns; txn++) {
    if (!e->view->counts[txn]) continue;
    int64_t start = iso_real_start(h, txn), end = iso_real_end(h, txn);
    if (start != INT64_MIN) moments[count++] = (moment){start, txn, false};
    if (end != INT64_MAX) moments[count++] = (moment){end, txn, true};
  }
  if (made) {
    qsort(moments, count, sizeof *moments, by_time);
    place_ticks(e, moments, count);
    e->chains++;
  }
  free(moments);
  return made;
}

/* ---- writers by chain ---- */

static bool make_groups(iso_event_graph *e) {
  const iso_view *v = e->view;
  const isoproof_history *h = v->h;
  uint32_t total = v->writer_first[h->keys], groups = 0;
  uint32_t *first = iso_alloc((size_t)h->keys + 1, sizeof *first);
  uint32_t *chain = iso_alloc(total, sizeof *chain);
  uint32_t *start = iso_alloc((size_t)total + 1, sizeof *start);
  e->own_groups[0] = first;
  e->own_groups[1] = chain;
  e->own_groups[2] = start;
  if (first == NULL || chain == NULL || start == NULL) return false;
  for (uint32_t key = 0; key < h->keys; key++) {
    first[key] = groups;
    for (uint32_t i = v->writer_first[key]; i < v->writer_first[key + 1]; i++) {
      uint32_t of = e->chain_of[v->writer[i]];
      if (groups > first[key] && chain[groups - 1] == of) continue;
      chain[groups] = of;
      start[groups++] = i;
    }
  }
  first[h->keys] = groups;
  start[groups] = total;
  e->group_first = first;
  e->group_chain = chain;
  e->group_start = start;
  return true;
}

isoproof_status iso_event_graph_make(iso_view *view, iso_event_shape shape, const uint8_t *cut, iso_event_graph *e,
                                     isoproof_error *error) {
  memset(e, 0, sizeof *e);
  e->view = view;
  e->shape = shape;
  e->split = shape.split;
  e->timed = iso_has_real_time(view->h);
  if (!shape.ungrouped) ISO_TRY(iso_view_need_writers(view, error));
  uint64_t events = (uint64_t)view->h->txns * (e->split ? 2 : 1);
  if (events + view->h->txns >= ISO_NO_EVENT) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "%u transactions are too many for this level", view->h->txns);
  }
  e->txn_events = (uint32_t)events;
  bool made = make_chains(e, cut) && (!shape.real_time || make_ticks(e));
  e->count = e->txn_events + e->ticks;
  if (made && !shape.ungrouped) made = make_groups(e);
  if (made) e->in = iso_alloc_zero(e->count, sizeof *e->in);
  if (made && e->in != NULL) return ISOPROOF_OK;
  iso_event_graph_free(e);
  return iso_fail_memory(error);
}

isoproof_status iso_event_graph_add(iso_event_graph *e, iso_derived edge, isoproof_error *error) {
  if (e->derived.count >= UINT32_MAX - 1) return iso_fail(error, ISOPROOF_ERR_LIMIT, "too many orders follow");
  edge.next_in = e->in[edge.to];
  if (!iso_vec_push(&e->derived, edge)) return iso_fail_memory(error);
  e->in[edge.to] = (uint32_t)e->derived.count;
  return ISOPROOF_OK;
}

void iso_event_graph_drop(iso_event_graph *e, uint32_t first) {
  while (e->derived.count > first) {
    const iso_derived *edge = &e->derived.items[--e->derived.count];
    e->in[edge->to] = edge->next_in;
  }
}

uint32_t iso_event_before(const iso_event_graph *e, uint32_t event) {
  if (event >= e->txn_events) return event > e->txn_events ? event - 1 : ISO_NO_EVENT;
  uint32_t txn = e->split ? event / 2 : event;
  if (e->split && event % 2 == 1) return event - 1;
  for (uint32_t first = e->chain_start[e->chain_of[txn]]; txn > first;) {
    if (e->view->counts[--txn]) return iso_event_commit(e, txn);
  }
  return ISO_NO_EVENT;
}

/* The cursor: 0 chain, 1 tick, from 2 on the reads (or the ends before a tick), then 1 << 32 | derived edge + 1. */
uint32_t iso_next_before(const iso_event_graph *e, uint32_t event, uint64_t *at) {
  const uint64_t derived_part = UINT64_C(1) << 32;
  const iso_view *v = e->view;
  if (*at == 0) {
    *at = 1;
    uint32_t before = iso_event_before(e, event);
    if (before != ISO_NO_EVENT) return before;
  }
  bool is_tick = event >= e->txn_events;
  uint32_t txn = iso_event_txn(e, event);
  bool is_first = !is_tick && event == iso_event_first(e, txn), reads = !is_tick && event == iso_event_begin(e, txn);
  if (*at == 1) {
    *at = 2;
    if (is_first && e->tick_before != NULL && e->tick_before[txn] > 0) return e->txn_events + e->tick_before[txn] - 1;
  }
  if (*at < derived_part && reads) {
    for (uint32_t i = v->read_first[txn] + (uint32_t)(*at - 2); i < v->read_first[txn + 1]; i++) {
      *at += 1;
      if (v->reads[i].from != ISO_INITIAL) return iso_event_commit(e, v->reads[i].from);
    }
  } else if (*at < derived_part && is_tick) {
    uint32_t tick = event - e->txn_events, i = e->ended_first[tick] + (uint32_t)(*at - 2);
    *at += 1;
    if (i < e->ended_first[tick + 1]) return iso_event_commit(e, e->ended[i]);
  }
  if (*at < derived_part) *at = derived_part | e->in[event];
  uint32_t edge = (uint32_t)*at;
  if (edge == 0) return ISO_NO_EVENT;
  *at = derived_part | e->derived.items[edge - 1].next_in;
  return e->derived.items[edge - 1].from;
}
