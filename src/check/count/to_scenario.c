/* From an instance to its scenario: what is known, and the cycle or the two cases that follow from it. */
#include "check/count/counting.h"
#include "history/real_time.h"

typedef struct {
  const iso_view *view;
  const iso_versions *versions;
  const iso_strong_level *level;
  iso_scenario *s;
  bool failed;
} builder;

static iso_link link_of(iso_edge_kind kind, uint32_t from, uint32_t to, uint32_t key) {
  return (iso_link){.kind = kind,
                    .from = from,
                    .to = to,
                    .key = key,
                    .version = ISO_NO_TXN,
                    .read_op = ISO_NO_OP,
                    .reason = ISO_ORDER_NONE,
                    .order_op = ISO_NO_OP};
}

/* ---- what is known ---- */

/* Keeps the transactions ascending. */
static void add_txn(builder *b, uint32_t txn) {
  if (txn >= b->view->h->txns) return;
  size_t place = b->s->txns.count;
  while (place > 0 && b->s->txns.items[place - 1] > txn) place--;
  if (place > 0 && b->s->txns.items[place - 1] == txn) return;
  if (!iso_vec_push(&b->s->txns, txn)) {
    b->failed = true;
    return;
  }
  for (size_t i = b->s->txns.count - 1; i > place; i--) b->s->txns.items[i] = b->s->txns.items[i - 1];
  b->s->txns.items[place] = txn;
}

static void add_known(builder *b, iso_link link) {
  for (size_t i = 0; i < b->s->known.count; i++) {
    const iso_link *old = &b->s->known.items[i];
    if (old->kind == link.kind && old->from == link.from && old->to == link.to && old->key == link.key) return;
  }
  add_txn(b, link.from);
  add_txn(b, link.to);
  if (!iso_vec_push(&b->s->known, link)) b->failed = true;
}

static void add_read(builder *b, uint32_t version, uint32_t reader, uint32_t op) {
  iso_link link = link_of(ISO_EDGE_WR, version, reader, b->view->h->op_key[op]);
  link.read_op = op;
  add_known(b, link);
}

static bool is_in_time(const builder *b, uint32_t from, uint32_t to) {
  const isoproof_history *h = b->view->h;
  return b->level->real_time && from < h->txns && iso_real_end(h, from) < iso_real_start(h, to);
}

/* Says why `link->version` came before what link->to wrote. */
static void add_reason(builder *b, iso_link *link) {
  uint32_t version = link->version, to = link->to;
  link->reason = iso_replaced_because(b->view, b->versions, b->level, link->key, version, to, &link->order_op);
  if (link->reason == ISO_ORDER_NONE && is_in_time(b, version, to)) link->reason = ISO_ORDER_RT;
  if (link->reason == ISO_ORDER_WR) add_read(b, version, to, link->order_op);
  if (link->reason == ISO_ORDER_SO) add_known(b, link_of(ISO_EDGE_SO, version, to, ISO_NO_KEY));
  if (link->reason == ISO_ORDER_RT) add_known(b, link_of(ISO_EDGE_RT, version, to, ISO_NO_KEY));
  if (link->reason != ISO_ORDER_LIST) return;
  iso_link order = link_of(ISO_EDGE_WW, version, to, link->key);
  order.reason = ISO_ORDER_LIST;
  order.order_op = link->order_op;
  add_known(b, order);
}

/* The reader missed what `writer` wrote. */
static iso_link missed(builder *b, uint32_t read, uint32_t writer) {
  const iso_external_read *r = &b->view->reads[read];
  uint32_t reader = iso_op_txn(&b->view->op_index, r->op);
  iso_link link = link_of(ISO_EDGE_RW, reader, writer, r->key);
  link.version = r->from;
  link.read_op = r->op;
  add_read(b, r->from, reader, r->op);
  add_reason(b, &link);
  return link;
}

static iso_link saw(builder *b, uint32_t read) {
  const iso_external_read *r = &b->view->reads[read];
  uint32_t reader = iso_op_txn(&b->view->op_index, r->op);
  iso_link link = link_of(ISO_EDGE_WR, r->from, reader, r->key);
  link.read_op = r->op;
  add_known(b, link);
  return link;
}

/* ---- cases ---- */

/* A leaf with a cycle, which begins where its first transaction is. */
static void add_leaf(builder *b, const iso_link *cycle, uint32_t count) {
  iso_branch leaf = {.is_leaf = true, .first_link = (uint32_t)b->s->links.count, .links = count};
  uint32_t start = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (cycle[i].from < cycle[start].from) start = i;
  }
  bool good = iso_vec_push(&b->s->cases, leaf);
  for (uint32_t i = 0; i < count; i++) good = good && iso_vec_push(&b->s->links, cycle[(start + i) % count]);
  if (!good) b->failed = true;
}

/* Whichever of the two came first, the other one missed it. */
static void tell_lost_update(builder *b, const iso_occurrence *one) {
  iso_link miss[2];
  for (unsigned i = 0; i < 2; i++) miss[i] = missed(b, one->reads[i], one->txns[1 - i]);
  iso_branch root = {.before = one->txns[0], .after = one->txns[1], .key = miss[0].key, .then = {1, 2}};
  if (!iso_vec_push(&b->s->cases, root)) b->failed = true;
  for (unsigned first = 0; first < 2; first++) {
    iso_link order = link_of(ISO_EDGE_WW, one->txns[first], one->txns[1 - first], root.key);
    order.reason = ISO_ORDER_ASSUMED;
    iso_link cycle[] = {order, miss[1 - first]};
    add_leaf(b, cycle, 2);
  }
}

static void tell_write_skew(builder *b, const iso_occurrence *one) {
  iso_link cycle[] = {missed(b, one->reads[0], one->txns[1]), missed(b, one->reads[1], one->txns[0])};
  add_leaf(b, cycle, 2);
}

static void tell_long_fork(builder *b, const iso_occurrence *one) {
  iso_link cycle[] = {saw(b, one->reads[0]), missed(b, one->reads[1], one->txns[1]), saw(b, one->reads[2]),
                      missed(b, one->reads[3], one->txns[0])};
  add_leaf(b, cycle, 4);
}

static void tell_stale_read(builder *b, const iso_occurrence *one) {
  iso_link ended = link_of(ISO_EDGE_RT, one->txns[0], one->txns[1], ISO_NO_KEY);
  add_known(b, ended);
  iso_link cycle[] = {ended, missed(b, one->reads[0], one->txns[0])};
  add_leaf(b, cycle, 2);
}

static const struct {
  iso_anomaly anomaly;
  void (*tell)(builder *b, const iso_occurrence *one);
} tellers[] = {{ISO_ANOMALY_LOST_UPDATE, tell_lost_update},
               {ISO_ANOMALY_WRITE_SKEW, tell_write_skew},
               {ISO_ANOMALY_LONG_FORK, tell_long_fork},
               {ISO_ANOMALY_STALE_READ, tell_stale_read}};

bool iso_occurrence_scenario(const iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                             iso_anomaly anomaly, const iso_occurrence *one, iso_scenario *out) {
  *out = (iso_scenario){.level = level, .refuted = true};
  builder b = {.view = view, .versions = versions, .level = level, .s = out};
  for (size_t i = 0; i < sizeof tellers / sizeof *tellers; i++) {
    if (tellers[i].anomaly == anomaly) tellers[i].tell(&b, one);
  }
  if (b.failed) iso_scenario_free(out);
  return !b.failed;
}
