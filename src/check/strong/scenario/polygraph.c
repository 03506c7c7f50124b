/* The polygraph of a few transactions: their dependencies, and the pairs of writers without an order. */
#include "check/strong/scenario/polygraph.h"

#include <stdlib.h>
#include <string.h>

#include "history/real_time.h"

void iso_polygraph_free(iso_polygraph *problem) {
  free(problem->txn);
  iso_vec_free(&problem->writes);
  iso_vec_free(&problem->pairs);
  iso_vec_free(&problem->links);
  memset(problem, 0, sizeof *problem);
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static int by_key(const void *a, const void *b) {
  const iso_polygraph_write *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

static int by_pair(const void *a, const void *b) {
  const iso_polygraph_pair *x = a, *y = b;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  if (x->b != y->b) return x->b < y->b ? -1 : 1;
  return (x->key > y->key) - (x->key < y->key);
}

/* The number of a transaction of the history, ISO_NO_TXN when it is not among these. */
static uint32_t find(const iso_polygraph *s, uint32_t txn) {
  uint32_t low = 0, high = s->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->txn[middle] == txn) return middle;
    if (s->txn[middle] < txn) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return ISO_NO_TXN;
}

static bool take_txns(iso_polygraph *s, const uint32_t *txns, size_t count) {
  s->txn = iso_alloc(count, sizeof *s->txn);
  if (s->txn == NULL) return false;
  if (count > 0) memcpy(s->txn, txns, count * sizeof *txns);
  qsort(s->txn, count, sizeof *s->txn, by_number);
  for (size_t i = 0; i < count; i++) {
    if (s->count == 0 || s->txn[s->count - 1] != s->txn[i]) s->txn[s->count++] = s->txn[i];
  }
  return true;
}

static bool take_writes(iso_polygraph *s) {
  const iso_view *v = s->view;
  for (uint32_t i = 0; i < s->count; i++) {
    for (uint32_t k = v->write_first[s->txn[i]]; k < v->write_first[s->txn[i] + 1]; k++) {
      if (!iso_vec_push(&s->writes, ((iso_polygraph_write){v->write_key[k], i}))) return false;
    }
  }
  if (s->writes.count > 0) qsort(s->writes.items, s->writes.count, sizeof *s->writes.items, by_key);
  return true;
}

/* Every two writers of a key, once. */
static bool take_pairs(iso_polygraph *s) {
  const iso_polygraph_write *w = s->writes.items;
  for (size_t i = 0; i < s->writes.count; i++) {
    for (size_t k = i + 1; k < s->writes.count && w[k].key == w[i].key; k++) {
      if (!iso_vec_push(&s->pairs, ((iso_polygraph_pair){w[i].txn, w[k].txn, w[i].key}))) return false;
    }
  }
  if (s->pairs.count > 0) qsort(s->pairs.items, s->pairs.count, sizeof *s->pairs.items, by_pair);
  size_t kept = 0;
  for (size_t i = 0; i < s->pairs.count; i++) {
    const iso_polygraph_pair *p = &s->pairs.items[i], *last = kept > 0 ? &s->pairs.items[kept - 1] : NULL;
    if (last == NULL || last->a != p->a || last->b != p->b) s->pairs.items[kept++] = *p;
  }
  s->pairs.count = kept;
  return true;
}

void iso_polygraph_writers(const iso_polygraph *s, uint32_t key, size_t *first, size_t *end) {
  size_t low = 0, high = s->writes.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (s->writes.items[middle].key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *first = low;
  while (low < s->writes.count && s->writes.items[low].key == key) low++;
  *end = low;
}

size_t iso_polygraph_find_pair(const iso_polygraph *s, uint32_t x, uint32_t y) {
  uint32_t a = x < y ? x : y, b = x < y ? y : x;
  size_t low = 0, high = s->pairs.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const iso_polygraph_pair *p = &s->pairs.items[middle];
    if (p->a == a && p->b == b) return middle;
    if (p->a < a || (p->a == a && p->b < b)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return s->pairs.count;
}

bool iso_polygraph_is_writer(const iso_polygraph *s, uint32_t txn, uint32_t key) {
  return iso_view_writes(s->view, s->txn[txn], key);
}

bool iso_polygraph_so(const iso_polygraph *s, uint32_t a, uint32_t b) {
  const isoproof_history *h = s->view->h;
  return s->txn[a] < s->txn[b] && h->txn_session[s->txn[a]] == h->txn_session[s->txn[b]];
}

bool iso_polygraph_rt(const iso_polygraph *s, uint32_t a, uint32_t b) {
  const isoproof_history *h = s->view->h;
  return iso_has_real_time(h) && iso_real_end(h, s->txn[a]) < iso_real_start(h, s->txn[b]);
}

bool iso_shows_directly(const isoproof_history *h, iso_txn_isolation level, const iso_link *by, uint32_t key,
                        uint32_t read_op) {
  if (level == ISO_ISOLATION_READ_ATOMIC) return by->kind == ISO_EDGE_SO || by->kind == ISO_EDGE_WR;
  if (level != ISO_ISOLATION_READ_COMMITTED || by->kind != ISO_EDGE_WR || by->key == key) return false;
  return by->read_op < read_op && !iso_history_same_statement(h, by->read_op, read_op);
}

bool iso_polygraph_shows(const iso_polygraph *s, iso_txn_isolation level, size_t by, size_t read, uint32_t writer) {
  const iso_link *b = &s->links.items[by], *l = &s->links.items[read];
  if (b->from != writer || b->to != l->to) return false;
  return iso_shows_directly(s->view->h, level, b, l->key, l->read_op);
}

static iso_link link_of(iso_edge_kind kind, uint32_t from, uint32_t to, uint32_t key, uint32_t op) {
  return (iso_link){.kind = kind,
                    .from = from,
                    .to = to,
                    .key = key,
                    .version = ISO_NO_TXN,
                    .read_op = kind == ISO_EDGE_WR ? op : ISO_NO_OP,
                    .reason = kind == ISO_EDGE_WW ? ISO_ORDER_LIST : ISO_ORDER_NONE,
                    .order_op = kind == ISO_EDGE_WW ? op : ISO_NO_OP};
}

/* Whether somebody else among these writes the key: a read of a key that nobody else writes forces nothing. */
static bool has_rival(const iso_polygraph *s, uint32_t reader, uint32_t key) {
  size_t first, end;
  iso_polygraph_writers(s, key, &first, &end);
  for (size_t i = first; i < end; i++) {
    if (s->writes.items[i].txn != reader) return true;
  }
  return false;
}

static bool is_read_committed(const iso_polygraph *s, uint32_t txn) {
  return s->level->rule == ISO_RULE_MIXED &&
         iso_history_isolation(s->view->h, s->txn[txn]) == ISO_ISOLATION_READ_COMMITTED;
}

/* What a transaction read from these, each version of a key once. */
static bool take_reads(iso_polygraph *s, uint32_t reader) {
  const iso_view *v = s->view;
  size_t first = s->links.count;
  for (uint32_t i = v->read_first[s->txn[reader]]; i < v->read_first[s->txn[reader] + 1]; i++) {
    const iso_external_read *read = &v->reads[i];
    uint32_t from = read->from == ISO_INITIAL ? ISO_INITIAL : find(s, read->from);
    if (from == ISO_NO_TXN || from == reader) continue;
    if (from == ISO_INITIAL && !has_rival(s, reader, read->key)) continue;
    /* Under read committed it matters what was read before what. */
    bool known = false, each = is_read_committed(s, reader);
    for (size_t k = first; !each && k < s->links.count; k++) {
      known |= s->links.items[k].from == from && s->links.items[k].key == read->key;
    }
    if (!known && !iso_vec_push(&s->links, link_of(ISO_EDGE_WR, from, reader, read->key, read->op))) return false;
  }
  return true;
}

/* What list reads say about the order of the writers of each key. */
static bool take_lists(iso_polygraph *s) {
  const iso_polygraph_write *w = s->writes.items;
  if (s->versions == NULL || s->versions->first == NULL) return true;
  for (size_t i = 0; i < s->writes.count; i++) {
    for (size_t k = i + 1; k < s->writes.count && w[k].key == w[i].key; k++) {
      uint32_t key = w[i].key, op = s->versions->longest[key];
      bool forth = iso_versions_before(s->view, s->versions, key, s->txn[w[i].txn], s->txn[w[k].txn]);
      bool back = !forth && iso_versions_before(s->view, s->versions, key, s->txn[w[k].txn], s->txn[w[i].txn]);
      uint32_t from = forth ? w[i].txn : w[k].txn, to = forth ? w[k].txn : w[i].txn;
      if ((forth || back) && !iso_vec_push(&s->links, link_of(ISO_EDGE_WW, from, to, key, op))) return false;
    }
  }
  return true;
}

/* Session order and real time, every pair. */
static bool take_orders(iso_polygraph *s) {
  for (uint32_t a = 0; a < s->count; a++) {
    for (uint32_t b = 0; b < s->count; b++) {
      if (a == b) continue;
      bool so = s->level->session_order && iso_polygraph_so(s, a, b);
      bool rt = s->level->real_time && iso_polygraph_rt(s, a, b);
      if (so && !iso_vec_push(&s->links, link_of(ISO_EDGE_SO, a, b, ISO_NO_KEY, ISO_NO_OP))) return false;
      if (rt && !iso_vec_push(&s->links, link_of(ISO_EDGE_RT, a, b, ISO_NO_KEY, ISO_NO_OP))) return false;
    }
  }
  return true;
}

isoproof_status iso_polygraph_make(const iso_view *view, const iso_strong_level *level, const iso_versions *versions,
                                   const uint32_t *txns, size_t count, bool spelled_out, iso_polygraph *out,
                                   isoproof_error *error) {
  *out = (iso_polygraph){.view = view, .level = level, .versions = versions};
  bool made = take_txns(out, txns, count) && take_writes(out) && take_pairs(out);
  for (uint32_t i = 0; made && i < out->count; i++) made = take_reads(out, i);
  made = made && take_lists(out) && (!spelled_out || take_orders(out));
  if (made) return ISOPROOF_OK;
  iso_polygraph_free(out);
  return iso_fail_memory(error);
}
