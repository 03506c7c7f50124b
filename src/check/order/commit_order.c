/* Topological sort over sessions as chains (Kahn 1962), and the components of what is left. */
#include "check/order/commit_order.h"

#include <stdlib.h>
#include <string.h>

#include "graph/components.h"

void iso_edges_free(iso_edges *edges) {
  iso_vec_free(&edges->list);
  free(edges->first);
  free(edges->from);
  memset(edges, 0, sizeof *edges);
}

isoproof_status iso_edges_index(iso_edges *edges, uint32_t txns, isoproof_error *error) {
  edges->first = iso_alloc_zero((size_t)txns + 2, sizeof *edges->first);
  edges->from = iso_alloc(edges->list.count, sizeof *edges->from);
  if (edges->first == NULL || edges->from == NULL) return iso_fail_memory(error);
  if (edges->list.count >= UINT32_MAX) return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than 2^32 forced edges");
  /* Counts two places up, so that filling leaves the first places right. */
  for (size_t i = 0; i < edges->list.count; i++) edges->first[edges->list.items[i].to + 2]++;
  for (uint32_t t = 0; t <= txns; t++) edges->first[t + 1] += edges->first[t];
  for (size_t i = 0; i < edges->list.count; i++) {
    edges->from[edges->first[edges->list.items[i].to + 1]++] = edges->list.items[i].from;
  }
  return ISOPROOF_OK;
}

void iso_order_free(iso_order *order) {
  free(order->sequence);
  free(order->component);
  memset(order, 0, sizeof *order);
}

/* How many known WW edges lead to a transaction. */
static uint32_t known_count(const iso_edges *edges, uint32_t txn) {
  const iso_versions *known = edges != NULL ? edges->known : NULL;
  return known != NULL && known->ww_first != NULL ? known->ww_first[txn + 1] - known->ww_first[txn] : 0;
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
  uint32_t place = *at - reads - 1, known = known_count(forced, txn);
  if (place < known) {
    (*at)++;
    return forced->known->ww[forced->known->ww_first[txn] + place].from;
  }
  if (forced->first == NULL || place - known >= forced->first[txn + 1] - forced->first[txn]) return ISO_NO_TXN;
  (*at)++;
  return forced->from[forced->first[txn] + place - known];
}

bool iso_next_of_kinds(const iso_view *view, const iso_edges *forced, iso_edge_set kinds, uint32_t txn, uint32_t *at,
                       iso_predecessor *out) {
  uint32_t reads = view->read_first[txn + 1] - view->read_first[txn], known = known_count(forced, txn);
  for (;;) {
    uint32_t before = *at, from = iso_next_predecessor(view, forced, txn, at);
    if (from == ISO_NO_TXN) return false;
    uint32_t place = *at - 2; /* counted without the predecessor in the session */
    if (before == 0 && *at == 1) {
      *out = (iso_predecessor){from, ISO_EDGE_SO, 0};
    } else if (place < reads) {
      *out = (iso_predecessor){from, ISO_EDGE_WR, view->read_first[txn] + place};
    } else if (place - reads < known) {
      *out = (iso_predecessor){from, ISO_EDGE_WW, forced->known->ww_first[txn] + place - reads};
    } else {
      *out = (iso_predecessor){from, ISO_EDGE_CM, forced->first[txn] + place - reads - known};
    }
    if ((ISO_EDGE_BIT(out->kind) & kinds) != 0) return true;
  }
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
  const isoproof_history *h = s->v->h;
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

/* Predecessors that are placed come before every cycle. */
static uint32_t next_unplaced(const void *graph, uint32_t txn, uint64_t *cursor) {
  const sorter *s = graph;
  uint32_t next, at = (uint32_t)*cursor;
  do {
    next = iso_next_predecessor(s->v, s->forced, txn, &at);
  } while (next != ISO_NO_TXN && is_placed(s, next));
  *cursor = at;
  return next;
}

static isoproof_status find_components(const sorter *s, isoproof_task *task, iso_order *order, isoproof_error *error) {
  uint32_t txns = s->v->h->txns, count = 0;
  uint32_t *members = iso_alloc(s->v->taking_part - order->count, sizeof *members);
  order->component = iso_alloc(txns, sizeof *order->component);
  iso_components found = {.of = order->component, .sequence = order->sequence + order->count};
  isoproof_status status = members != NULL && order->component != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    for (uint32_t txn = 0; txn < txns; txn++) {
      if (s->v->counts[txn] && !is_placed(s, txn)) members[count++] = txn;
    }
    status = iso_components_of_members(&(iso_neighbours){s, next_unplaced}, txns, members, count, task, &found, error);
  }
  order->components = found.count;
  free(members);
  return status;
}

isoproof_status iso_order_make(const iso_view *view, const iso_edges *forced, bool find_cycles, isoproof_task *task,
                               iso_order *order, isoproof_error *error) {
  memset(order, 0, sizeof *order);
  sorter s = {.v = view, .forced = forced};
  order->sequence = iso_alloc(view->taking_part, sizeof *order->sequence);
  bool made = order->sequence != NULL && sort(&s, order);
  isoproof_status status = made ? ISOPROOF_OK : iso_fail_memory(error);
  if (made && find_cycles && !iso_order_is_acyclic(view, order)) status = find_components(&s, task, order, error);
  free(s.head);
  free(s.cursor);
  free(s.queue_first);
  free(s.queue_next);
  free(s.ready);
  if (status == ISOPROOF_OK) status = iso_task_check(task, error);
  if (status != ISOPROOF_OK) iso_order_free(order);
  return status;
}
