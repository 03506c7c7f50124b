/* An order of single operations on registers from the times of clusters, or the two clusters that contradict it. */
#include "check/strong/single.h"

#include <stdlib.h>

#include "history/real_time.h"

/* A write, or the initial version of a key, and its reads. */
typedef struct cluster {
  int64_t first_end, last_start;
  uint32_t ends_first, starts_last; /* the operations that do; ISO_NO_TXN where that is the initial version */
  uint32_t writer;                  /* ISO_NO_TXN for the initial version */
  uint32_t key;
  int64_t point; /* where the write stands in time */
} cluster;

/* A cluster in the order of its key. */
typedef struct ranked {
  int64_t at;
  uint32_t cluster, kind; /* the initial version first; then, of those at one moment, backward before forward */
} ranked;

typedef struct placed {
  int64_t point;
  uint32_t rank; /* of its cluster, twice, and 1 more for a read */
  uint32_t txn;
} placed;

typedef struct finder {
  const iso_event_graph *e;
  const iso_view *v;
  const isoproof_history *h;
  isoproof_task *task;
  uint32_t writers, clusters;
  cluster *all;          /* of writers in the order of view->write_key, then the initial versions of the keys */
  uint32_t *first_of;    /* keys + 1: places in `order` */
  ranked *order;         /* by key, then as they take effect */
  uint32_t *rank;        /* by cluster */
  placed *place;         /* by transaction that takes part */
  uint32_t place_count;
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

/* The cluster of an operation; false for a transaction that has none. */
static bool cluster_of(const finder *f, uint32_t txn, uint32_t *number) {
  const iso_view *v = f->v;
  if (v->write_first[txn] < v->write_first[txn + 1]) {
    *number = v->write_first[txn];
    return true;
  }
  if (v->read_first[txn] == v->read_first[txn + 1]) return false;
  const iso_external_read *read = &v->reads[v->read_first[txn]];
  *number = read->from == ISO_INITIAL ? f->writers + read->key : v->write_first[read->from];
  return true;
}

static void gather(finder *f) {
  const iso_view *v = f->v;
  for (uint32_t i = 0; i < f->clusters; i++) {
    bool initial = i >= f->writers;
    f->all[i] = (cluster){.first_end = initial ? INT64_MIN : INT64_MAX,
                          .last_start = INT64_MIN,
                          .ends_first = ISO_NO_TXN,
                          .starts_last = ISO_NO_TXN,
                          .writer = ISO_NO_TXN,
                          .key = initial ? i - f->writers : v->write_key[i]};
  }
  for (uint32_t txn = 0; txn < f->h->txns; txn++) {
    uint32_t number;
    if (!v->counts[txn] || !cluster_of(f, txn, &number)) continue;
    cluster *c = &f->all[number];
    int64_t start = iso_real_start(f->h, txn), end = iso_real_end(f->h, txn);
    if (number < f->writers && (c->ends_first == ISO_NO_TXN || end < c->first_end)) {
      c->first_end = end;
      c->ends_first = txn;
    }
    if (c->starts_last == ISO_NO_TXN || start > c->last_start) {
      c->last_start = start;
      c->starts_last = txn;
    }
    if (v->write_first[txn] < v->write_first[txn + 1]) c->writer = txn;
  }
}

static int by_moment(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if ((x->kind == 0) != (y->kind == 0)) return x->kind == 0 ? -1 : 1;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

/* A cluster whose operations all overlap takes effect when the last of them has begun, at the earliest; any other one
 * has taken effect when the first of its operations has ended. */
static ranked ranked_of(const finder *f, uint32_t number) {
  const cluster *c = &f->all[number];
  bool forward = c->first_end < c->last_start;
  return (ranked){.at = forward ? c->first_end : c->last_start,
                  .cluster = number,
                  .kind = number >= f->writers ? 0 : forward ? 2 : 1};
}

static void rank(finder *f) {
  for (uint32_t i = 0; i < f->clusters; i++) f->first_of[f->all[i].key + 1] += f->all[i].starts_last != ISO_NO_TXN;
  for (uint32_t key = 0; key < f->h->keys; key++) f->first_of[key + 1] += f->first_of[key];
  for (uint32_t i = 0; i < f->clusters; i++) {
    if (f->all[i].starts_last != ISO_NO_TXN) f->order[f->first_of[f->all[i].key]++] = ranked_of(f, i);
  }
  for (uint32_t key = f->h->keys; key > 0; key--) f->first_of[key] = f->first_of[key - 1];
  f->first_of[0] = 0;
  for (uint32_t key = 0; key < f->h->keys; key++) {
    uint32_t first = f->first_of[key], count = f->first_of[key + 1] - first;
    if (count > 1) qsort(f->order + first, count, sizeof *f->order, by_moment);
  }
  for (uint32_t i = 0; i < f->first_of[f->h->keys]; i++) f->rank[f->order[i].cluster] = i;
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* The clusters contradict each other, or one contradicts itself. */
static isoproof_status blame(finder *f, const cluster *a, const cluster *b, isoproof_error *error) {
  uint32_t txns[] = {a->writer, a->ends_first, a->starts_last, b->writer, b->ends_first, b->starts_last};
  enum { COUNT = sizeof txns / sizeof *txns };
  f->out->violated = true;
  qsort(txns, COUNT, sizeof *txns, by_number);
  for (int i = 0; i < COUNT; i++) {
    if (txns[i] == ISO_NO_TXN || (i > 0 && txns[i] == txns[i - 1])) continue;
    if (!iso_vec_push(f->suspects, txns[i])) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

/* Goes through the clusters of a key in their order.  A write stands where everything before it has begun; who ended
 * before that must come before something that is before it.  The times of what is there already say why. */
static isoproof_status sweep(finder *f, uint32_t key, isoproof_error *error) {
  int64_t begun = INT64_MIN;
  const cluster *latest = NULL;
  for (uint32_t i = f->first_of[key]; i < f->first_of[key + 1]; i++) {
    cluster *c = &f->all[f->order[i].cluster];
    int64_t start = c->writer == ISO_NO_TXN ? INT64_MIN : iso_real_start(f->h, c->writer);
    bool initial = c->writer == ISO_NO_TXN;
    if (!initial && c->first_end < start) return blame(f, c, c, error);
    if (!initial && c->first_end < begun) return blame(f, latest, c, error);
    c->point = start > begun ? start : begun;
    if (latest == NULL || c->last_start > begun) {
      begun = c->last_start;
      latest = c;
    }
  }
  return ISOPROOF_OK;
}

static int by_point(const void *a, const void *b) {
  const placed *x = a, *y = b;
  if (x->point != y->point) return x->point < y->point ? -1 : 1;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

/* Gives every operation a moment between its start and its end, in the order of its key, and sorts by it. */
static void put_in_order(finder *f) {
  for (uint32_t txn = 0; txn < f->h->txns; txn++) {
    uint32_t number;
    if (!f->v->counts[txn]) continue;
    placed p = {.point = iso_real_start(f->h, txn), .txn = txn};
    if (cluster_of(f, txn, &number)) {
      const cluster *c = &f->all[number];
      if (c->point > p.point) p.point = c->point;
      p.rank = 2 * f->rank[number] + (c->writer != txn);
    }
    f->place[f->place_count++] = p;
  }
  if (f->place_count > 1) qsort(f->place, f->place_count, sizeof *f->place, by_point);
  for (uint32_t i = 0; i < f->place_count; i++) f->out->when[f->place[i].txn] = i;
}

static isoproof_status find(finder *f, isoproof_error *error) {
  gather(f);
  ISO_TRY(iso_task_check(f->task, error));
  rank(f);
  for (uint32_t key = 0; key < f->h->keys && !f->out->violated; key++) {
    if ((key & 1023) == 0) ISO_TRY(iso_task_check(f->task, error));
    ISO_TRY(sweep(f, key, error));
  }
  if (f->out->violated) return ISOPROOF_OK;
  f->out->when = iso_alloc_zero(f->e->count, sizeof *f->out->when);
  f->place = iso_alloc(f->v->taking_part, sizeof *f->place);
  if (f->out->when == NULL || f->place == NULL) return iso_fail_memory(error);
  put_in_order(f);
  return iso_task_check(f->task, error);
}

isoproof_status iso_single_order_find(const iso_event_graph *events, isoproof_task *task, iso_single_order *order,
                                      iso_txn_set *suspects, isoproof_error *error) {
  const iso_view *v = events->view;
  *order = (iso_single_order){.applies = is_single(v)};
  if (!order->applies) return ISOPROOF_OK;
  finder f = {.e = events, .v = v, .h = v->h, .task = task, .out = order, .suspects = suspects};
  f.writers = v->write_first[v->h->txns];
  f.clusters = f.writers + v->h->keys;
  f.all = iso_alloc(f.clusters, sizeof *f.all);
  f.order = iso_alloc(f.clusters, sizeof *f.order);
  f.rank = iso_alloc(f.clusters, sizeof *f.rank);
  f.first_of = iso_alloc_zero((size_t)v->h->keys + 1, sizeof *f.first_of);
  bool made = f.all != NULL && f.order != NULL && f.rank != NULL && f.first_of != NULL;
  isoproof_status status = made ? find(&f, error) : iso_fail_memory(error);
  free(f.all);
  free(f.order);
  free(f.rank);
  free(f.first_of);
  free(f.place);
  if (status != ISOPROOF_OK) iso_single_order_free(order);
  return status;
}

void iso_single_order_free(iso_single_order *order) {
  free(order->when);
  order->when = NULL;
}
