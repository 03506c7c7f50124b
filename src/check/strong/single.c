/* Transactions of one operation as timed operations, and the order of clusters as places of events. */
#include "check/strong/single.h"

#include <stdlib.h>

#include "history/clusters.h"
#include "history/real_time.h"

typedef struct finder {
  const iso_event_graph *e;
  const iso_view *v;
  iso_timed_op *ops;
  uint32_t *txn; /* of each */
  uint32_t *order;
  uint32_t count;
  iso_single_order *out;
  iso_txn_set *suspects;
} finder;

static bool is_single(const iso_view *v) {
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    uint32_t operations = v->read_first[txn + 1] - v->read_first[txn] + v->write_first[txn + 1] - v->write_first[txn];
    if (v->counts[txn] && operations > 1) return false;
  }
  return true;
}

/* The writes of the view are numbered one after the other, and so are the clusters. */
static void gather(finder *f) {
  const iso_view *v = f->v;
  uint32_t writes = v->write_first[v->h->txns];
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    iso_timed_op op = {.start = iso_real_start(v->h, txn), .end = iso_real_end(v->h, txn)};
    op.is_write = v->write_first[txn] < v->write_first[txn + 1];
    if (!v->counts[txn] || (!op.is_write && v->read_first[txn] == v->read_first[txn + 1])) continue;
    if (op.is_write) {
      op.cluster = v->write_first[txn];
      op.key = v->write_key[op.cluster];
    } else {
      const iso_external_read *read = &v->reads[v->read_first[txn]];
      op.key = read->key;
      op.cluster = read->from == ISO_INITIAL ? writes + read->key : v->write_first[read->from];
    }
    f->txn[f->count] = txn;
    f->ops[f->count++] = op;
  }
}

/* Transactions without operations stand where they began, as far as the order of the others tells. */
static void place(finder *f) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < f->count; i++) f->out->when[f->txn[f->order[i]]] = ++at;
}

static isoproof_status find(finder *f, isoproof_task *task, isoproof_error *error) {
  gather(f);
  iso_cluster_verdict verdict;
  iso_timed_ops ops = {
      .items = f->ops, .count = f->count, .keys = f->v->h->keys, .writes = f->v->write_first[f->v->h->txns]};
  ISO_TRY(iso_clusters_judge(&ops, task, f->order, &verdict, error));
  f->out->violated = verdict.violated;
  for (uint32_t i = 0; i < verdict.blamed_count; i++) {
    if (!iso_vec_push(f->suspects, f->txn[verdict.blamed[i]])) return iso_fail_memory(error);
  }
  if (verdict.violated) return ISOPROOF_OK;
  f->out->when = iso_alloc_zero(f->e->count, sizeof *f->out->when);
  if (f->out->when == NULL) return iso_fail_memory(error);
  place(f);
  return ISOPROOF_OK;
}

isoproof_status iso_single_order_find(const iso_event_graph *events, isoproof_task *task, iso_single_order *order,
                                      iso_txn_set *suspects, isoproof_error *error) {
  finder f = {.e = events, .v = events->view, .out = order, .suspects = suspects};
  *order = (iso_single_order){.violated = false};
  if (!is_single(f.v)) return ISOPROOF_OK;
  f.ops = iso_alloc(f.v->taking_part, sizeof *f.ops);
  f.txn = iso_alloc(f.v->taking_part, sizeof *f.txn);
  f.order = iso_alloc(f.v->taking_part, sizeof *f.order);
  bool made = f.ops != NULL && f.txn != NULL && f.order != NULL;
  isoproof_status status = made ? find(&f, task, error) : iso_fail_memory(error);
  free(f.ops);
  free(f.txn);
  free(f.order);
  if (status != ISOPROOF_OK) iso_single_order_free(order);
  return status;
}

void iso_single_order_free(iso_single_order *order) {
  free(order->when);
  order->when = NULL;
}
