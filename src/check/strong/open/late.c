/* Edges from versions to readers, entered into an order of events that moves. */
#include "check/strong/open/late.h"

#include <stdlib.h>

#include "check/order/moving_order.h"

typedef struct {
  const iso_event_graph *e;
  uint32_t *reader_first, *reader; /* by transaction: those who read from it */
  uint32_t *after_first, *after;   /* by event: where derived edges lead from it */
} graph;

static void graph_free(graph *g) {
  free(g->reader_first);
  free(g->reader);
  free(g->after_first);
  free(g->after);
}

/* From counts, two further on, to where each part begins, one further on: filling moves these to their places. */
static void add_up(uint32_t *first, uint32_t parts) {
  for (uint32_t i = 0; i < parts; i++) first[i + 2] += first[i + 1];
}

static bool graph_make(const iso_event_graph *e, graph *g) {
  const iso_view *v = e->view;
  uint32_t txns = v->h->txns, reads = v->read_first[txns];
  *g = (graph){.e = e};
  g->reader_first = iso_alloc_zero((size_t)txns + 2, sizeof *g->reader_first);
  g->reader = iso_alloc(reads, sizeof *g->reader);
  g->after_first = iso_alloc_zero((size_t)e->count + 2, sizeof *g->after_first);
  g->after = iso_alloc(e->derived.count, sizeof *g->after);
  if (g->reader_first == NULL || g->reader == NULL || g->after_first == NULL || g->after == NULL) return false;
  for (uint32_t i = 0; i < reads; i++) {
    if (v->reads[i].from != ISO_INITIAL) g->reader_first[v->reads[i].from + 2]++;
  }
  add_up(g->reader_first, txns);
  for (uint32_t txn = 0; txn < txns; txn++) {
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      if (v->reads[i].from != ISO_INITIAL) g->reader[g->reader_first[v->reads[i].from + 1]++] = txn;
    }
  }
  for (size_t i = 0; i < e->derived.count; i++) g->after_first[e->derived.items[i].from + 2]++;
  add_up(g->after_first, e->count);
  for (size_t i = 0; i < e->derived.count; i++) {
    g->after[g->after_first[e->derived.items[i].from + 1]++] = e->derived.items[i].to;
  }
  return true;
}

static bool list_before(const iso_event_graph *e, uint32_t event, iso_txn_list *list) {
  uint64_t at = 0;
  uint32_t before;
  while ((before = iso_next_before(e, event, &at)) != ISO_NO_EVENT) {
    if (!iso_vec_push(list, before)) return false;
  }
  return true;
}

/* The event right after one in its transaction or chain; ISO_NO_EVENT where there is none. */
static uint32_t next_of(const iso_event_graph *e, uint32_t event) {
  const iso_view *v = e->view;
  uint32_t txn = iso_event_txn(e, event), next = txn + 1;
  if (event != iso_event_commit(e, txn)) return event + 1;
  while (next < v->h->txns && !v->counts[next] && e->chain_of[next] == e->chain_of[txn]) next++;
  bool same = next < v->h->txns && e->chain_of[next] == e->chain_of[txn];
  return same ? iso_event_first(e, next) : ISO_NO_EVENT;
}

static bool list_after(const graph *g, uint32_t event, iso_txn_list *list) {
  const iso_event_graph *e = g->e;
  uint32_t txn = iso_event_txn(e, event), next = next_of(e, event);
  bool made = next == ISO_NO_EVENT || iso_vec_push(list, next);
  if (event == iso_event_commit(e, txn)) {
    for (uint32_t i = g->reader_first[txn]; made && i < g->reader_first[txn + 1]; i++) {
      made = iso_vec_push(list, iso_event_begin(e, g->reader[i]));
    }
  }
  for (uint32_t i = g->after_first[event]; made && i < g->after_first[event + 1]; i++) {
    made = iso_vec_push(list, g->after[i]);
  }
  return made;
}

static bool list_next(void *context, uint32_t event, bool before, iso_txn_list *list) {
  const graph *g = context;
  return before ? list_before(g->e, event, list) : list_after(g, event, list);
}

static int nearest_first(const void *a, const void *b) {
  const iso_late_read *x = a, *y = b;
  if (x->far != y->far) return x->far < y->far ? -1 : 1;
  return (x->read > y->read) - (x->read < y->read);
}

/* The events of a read's version and of its reader. */
static void ends_of(const iso_open_reads *open, const iso_event_graph *e, const iso_late_read *late, uint32_t *from,
                    uint32_t *to) {
  *from = iso_event_commit(e, open->slot_txn[late->version - 1]);
  *to = iso_event_begin(e, open->reads.items[late->read].txn);
}

static isoproof_status enter_all(const iso_open_reads *open, const iso_event_graph *e, iso_late_reads *late,
                                 iso_moving_order *order, isoproof_task *task, isoproof_error *error) {
  enum { NOW_AND_THEN = 256 };
  for (size_t i = 0; i < late->count && !order->failed; i++) {
    uint32_t from, to;
    ends_of(open, e, &late->items[i], &from, &to);
    late->items[i].fits = iso_moving_order_add(order, from, to, 0, ISO_NO_TXN);
    if (i % NOW_AND_THEN == 0) ISO_TRY(iso_task_check(task, error));
  }
  return order->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

isoproof_status iso_late_reads_fit(const iso_open_reads *open, const iso_event_graph *e, iso_late_reads *late,
                                   iso_sequence *sequence, isoproof_task *task, isoproof_error *error) {
  graph g;
  iso_moving_order order = {.s = NULL};
  for (size_t i = 0; i < late->count; i++) {
    uint32_t from, to;
    ends_of(open, e, &late->items[i], &from, &to);
    late->items[i].fits = false;
    late->items[i].far = sequence->place[from] > sequence->place[to] ? sequence->place[from] - sequence->place[to] : 0;
  }
  /* Ticks of real time have edges that are not listed here. */
  if (late->count == 0 || e->ticks > 0) return ISOPROOF_OK;
  qsort(late->items, late->count, sizeof *late->items, nearest_first);
  bool made = graph_make(e, &g) && iso_moving_order_make(sequence, e->count, &order);
  order.context = &g;
  order.list_next = list_next;
  isoproof_status status = made ? enter_all(open, e, late, &order, task, error) : iso_fail_memory(error);
  if (order.s != NULL) iso_moving_order_free(&order);
  graph_free(&g);
  return status;
}
