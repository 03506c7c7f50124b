#include "check/order.h"

#include <stdlib.h>
#include <string.h>

void iso_edges_free(iso_edges *edges) {
  iso_vec_free(&edges->list);
  free(edges->first);
  free(edges->from);
  memset(edges, 0, sizeof *edges);
}

isolde_status iso_edges_index(iso_edges *edges, uint32_t txns, isolde_error *error) {
  edges->first = iso_alloc_zero((size_t)txns + 2, sizeof *edges->first);
  edges->from = iso_alloc(edges->list.count, sizeof *edges->from);
  if (edges->first == NULL || edges->from == NULL) return iso_fail_memory(error);
  if (edges->list.count >= UINT32_MAX) return iso_fail(error, ISOLDE_ERR_LIMIT, "more than 2^32 forced edges");
  /* Counts two places up, so that filling leaves the first places right. */
  for (size_t i = 0; i < edges->list.count; i++) edges->first[edges->list.items[i].to + 2]++;
  for (uint32_t t = 0; t <= txns; t++) edges->first[t + 1] += edges->first[t];
  for (size_t i = 0; i < edges->list.count; i++) {
    edges->from[edges->first[edges->list.items[i].to + 1]++] = edges->list.items[i].from;
  }
  return ISOLDE_OK;
}

void iso_order_free(iso_order *order) {
  free(order->sequence);
  free(order->component);
  memset(order, 0, sizeof *order);
}

uint32_t iso_next_predecessor(const iso_view *view, const iso_edges *forced, uint32_t txn, uint32_t *at) {
  if (*at == 0) {
    *at = 1;
    uint32_t previous = iso_view_previous(view, txn);
    if (previous != ISO_NO_TXN) return previous;
  }
  uint32_t reads = view->read_first[txn + 1] - view->read_first[txn];
  while (*at <= reads) {
    uint32_t from = view->reads[view->read_first[txn] + (*at)++ - 1].from;
    if (from != ISO_INITIAL) return from;
  }
  if (forced == NULL) return ISO_NO_TXN;
  uint32_t place = forced->first[txn] + (*at - reads - 1);
  if (place >= forced->first[txn + 1]) return ISO_NO_TXN;
  (*at)++;
  return forced->from[place];
}

/* The sort in progress. */
typedef struct {
  const iso_view *v;
  const iso_edges *forced;
  uint32_t *head;        /* by session: its first transaction that is not placed */
  uint32_t *cursor;      /* by session: which predecessors of the head are known to be placed */
  uint32_t *queue_first; /* by transaction: the sessions that wait for it, a linked list of session numbers + 1 */
  uint32_t *queue_next;  /* by session */
  uint32_t *ready;       /* a stack of sessions */
  uint32_t ready_count;
} sorter;

/* Moves the head over transactions that do not take part. */
static void skip(sorter *s, uint32_t session) {
  uint32_t end = s->v->h->session_first_txn[session + 1];
  while (s->head[session] < end && !s->v->counts[s->head[session]]) s->head[session]++;
  s->cursor[session] = 1; /* the predecessor in the session is placed by now */
}

static bool is_placed(const sorter *s, uint32_t txn) { return txn < s->head[s->v->h->txn_session[txn]]; }

/* Places the head of a session and all after it, until one has to wait. */
static void advance(sorter *s, uint32_t session, iso_order *order) {
  uint32_t end = s->v->h->session_first_txn[session + 1];
  while (s->head[session] < end) {
    uint32_t txn = s->head[session], missing;
    do {
      missing = iso_next_predecessor(s->v, s->forced, txn, &s->cursor[session]);
    } while (missing != ISO_NO_TXN && is_placed(s, missing));
    if (missing != ISO_NO_TXN) {
      s->queue_next[session] = s->queue_first[missing];
      s->queue_first[missing] = session + 1;
      return;
    }
    order->sequence[order->count++] = txn;
    s->head[session]++;
    skip(s, session);
    for (uint32_t waiting = s->queue_first[txn]; waiting != 0; waiting = s->queue_next[waiting - 1]) {
      s->ready[s->ready_count++] = waiting - 1;
    }
    s->queue_first[txn] = 0;
  }
}

static bool sort(sorter *s, iso_order *order) {
  const isolde_history *h = s->v->h;
  s->head = iso_alloc(h->sessions, sizeof *s->head);
  s->cursor = iso_alloc(h->sessions, sizeof *s->cursor);
  s->queue_next = iso_alloc(h->sessions, sizeof *s->queue_next);
  s->ready = iso_alloc(h->sessions, sizeof *s->ready);
  s->queue_first = iso_alloc_zero(h->txns, sizeof *s->queue_first);
  if (s->head == NULL || s->cursor == NULL || s->queue_next == NULL || s->ready == NULL || s->queue_first == NULL) {
    return false;
  }
  for (uint32_t session = 0; session < h->sessions; session++) {
    s->head[session] = h->session_first_txn[session];
    skip(s, session);
  }
  for (uint32_t session = h->sessions; session-- > 0;) s->ready[s->ready_count++] = session;
  while (s->ready_count > 0) advance(s, s->ready[--s->ready_count], order);
  return true;
}

/* Tarjan's algorithm over predecessors, without recursion.  Its low links live in `component` until a component is
 * complete. */
typedef struct {
  uint32_t *index; /* 0 while unvisited */
  uint32_t *low;
  uint32_t *at; /* where the visit of a transaction goes on */
  uint32_t *path, *stack;
  uint32_t path_count, stack_count, visited, closed;
} tarjan;

static void visit(tarjan *t, uint32_t txn) {
  t->index[txn] = t->low[txn] = ++t->visited;
  t->at[txn] = 0;
  t->path[t->path_count++] = txn;
  t->stack[t->stack_count++] = txn;
}

/* Takes a complete component off the stack; one of a single transaction is no cycle. */
static void close_component(tarjan *t, uint32_t root, iso_order *order) {
  bool single = t->stack[t->stack_count - 1] == root;
  uint32_t member;
  do {
    member = t->stack[--t->stack_count];
    t->low[member] = UINT32_MAX; /* no longer on the stack */
    order->sequence[order->count + t->closed++] = member;
    if (!single) order->component[member] = order->components;
  } while (member != root);
  order->components += !single;
}

static void explore(tarjan *t, const sorter *s, uint32_t root, iso_order *order) {
  visit(t, root);
  while (t->path_count > 0) {
    uint32_t txn = t->path[t->path_count - 1];
    uint32_t next = iso_next_predecessor(s->v, s->forced, txn, &t->at[txn]);
    if (next == ISO_NO_TXN) {
      t->path_count--;
      if (t->path_count > 0) {
        uint32_t parent = t->path[t->path_count - 1];
        if (t->low[txn] < t->low[parent]) t->low[parent] = t->low[txn];
      }
      if (t->low[txn] == t->index[txn]) close_component(t, txn, order);
    } else if (is_placed(s, next)) {
      continue; /* before every cycle */
    } else if (t->index[next] == 0) {
      visit(t, next);
    } else if (t->low[next] != UINT32_MAX && t->index[next] < t->low[txn]) {
      t->low[txn] = t->index[next];
    }
  }
}

static bool find_components(const sorter *s, iso_order *order) {
  uint32_t txns = s->v->h->txns;
  tarjan t = {.index = iso_alloc_zero(txns, sizeof *t.index),
              .low = iso_alloc(txns, sizeof *t.low),
              .at = iso_alloc(txns, sizeof *t.at),
              .path = iso_alloc(txns, sizeof *t.path),
              .stack = iso_alloc(txns, sizeof *t.stack)};
  order->component = iso_alloc(txns, sizeof *order->component);
  bool made =
      t.index != NULL && t.low != NULL && t.at != NULL && t.path != NULL && t.stack != NULL && order->component != NULL;
  if (made) {
    memset(order->component, 0xff, txns * sizeof *order->component);
    for (uint32_t txn = 0; txn < txns; txn++) {
      if (s->v->counts[txn] && !is_placed(s, txn) && t.index[txn] == 0) explore(&t, s, txn, order);
    }
  }
  free(t.index);
  free(t.low);
  free(t.at);
  free(t.path);
  free(t.stack);
  return made;
}

isolde_status iso_order_make(const iso_view *view, const iso_edges *forced, bool find_cycles, isolde_task *task,
                             iso_order *order, isolde_error *error) {
  memset(order, 0, sizeof *order);
  sorter s = {.v = view, .forced = forced};
  order->sequence = iso_alloc(view->taking_part, sizeof *order->sequence);
  bool made = order->sequence != NULL && sort(&s, order);
  if (made && find_cycles && !iso_order_is_acyclic(view, order)) made = find_components(&s, order);
  free(s.head);
  free(s.cursor);
  free(s.queue_first);
  free(s.queue_next);
  free(s.ready);
  isolde_status status = made ? iso_task_check(task, error) : iso_fail_memory(error);
  if (status != ISOLDE_OK) iso_order_free(order);
  return status;
}
