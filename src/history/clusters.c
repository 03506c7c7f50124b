/* An order of single operations on registers from the times of clusters, or the two clusters that contradict it. */
#include "history/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

#define NO_OP UINT32_MAX

/* A write, or the initial version of a key, and its reads. */
typedef struct cluster {
  int64_t first_end, last_start;
  int64_t point;                           /* where the write stands in time */
  uint32_t ends_first, starts_last, write; /* operations; NO_OP where that is the initial version */
  uint32_t key;
} cluster;

/* A cluster in the order of its key. */
typedef struct ranked {
  int64_t at;
  uint32_t cluster, kind; /* the initial version first; then, of those at one moment, backward before forward */
} ranked;

typedef struct placed {
  int64_t point;
  uint32_t rank; /* of its cluster, twice, and 1 more for a read */
  uint32_t op;
} placed;

typedef struct finder {
  const iso_timed_ops *ops;
  isoproof_task *task;
  uint32_t clusters;
  cluster *all;
  uint32_t *first_of; /* keys + 1: places in `order` */
  ranked *order;      /* by key, then as they take effect */
  uint32_t *rank;     /* by cluster */
  placed *place;
  iso_cluster_verdict *out;
} finder;

static void gather(finder *f) {
  const iso_timed_ops *ops = f->ops;
  for (uint32_t i = 0; i < f->clusters; i++) {
    f->all[i] = (cluster){.first_end = i < ops->writes ? INT64_MAX : INT64_MIN,
                          .last_start = INT64_MIN,
                          .ends_first = NO_OP,
                          .starts_last = NO_OP,
                          .write = NO_OP};
  }
  for (uint32_t i = 0; i < ops->count; i++) {
    const iso_timed_op *op = &ops->items[i];
    cluster *c = &f->all[op->cluster];
    c->key = op->key;
    if (op->is_write) c->write = i;
    if (op->cluster < ops->writes && (c->ends_first == NO_OP || op->end < c->first_end)) {
      c->first_end = op->end;
      c->ends_first = i;
    }
    if (c->starts_last == NO_OP || op->start > c->last_start) {
      c->last_start = op->start;
      c->starts_last = i;
    }
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
  bool forward = c->first_end < c->last_start, initial = number >= f->ops->writes;
  uint32_t kind = forward ? 2 : 1;
  return (ranked){.at = forward ? c->first_end : c->last_start, .cluster = number, .kind = initial ? 0 : kind};
}

static bool is_empty(const cluster *c) { return c->starts_last == NO_OP; }

static void rank(finder *f) {
  uint32_t keys = f->ops->keys;
  for (uint32_t i = 0; i < f->clusters; i++) f->first_of[f->all[i].key + 1] += !is_empty(&f->all[i]);
  for (uint32_t key = 0; key < keys; key++) f->first_of[key + 1] += f->first_of[key];
  for (uint32_t i = 0; i < f->clusters; i++) {
    if (!is_empty(&f->all[i])) f->order[f->first_of[f->all[i].key]++] = ranked_of(f, i);
  }
  for (uint32_t key = keys; key > 0; key--) f->first_of[key] = f->first_of[key - 1];
  f->first_of[0] = 0;
  for (uint32_t key = 0; key < keys; key++) {
    uint32_t first = f->first_of[key], count = f->first_of[key + 1] - first;
    if (count > 1) qsort(f->order + first, count, sizeof *f->order, by_moment);
  }
  for (uint32_t i = 0; i < f->first_of[keys]; i++) f->rank[f->order[i].cluster] = i;
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* The clusters contradict each other, or one contradicts itself. */
static void blame(finder *f, const cluster *a, const cluster *b) {
  uint32_t ops[ISO_CLUSTER_BLAMED] = {a->write, a->ends_first, a->starts_last, b->write, b->ends_first, b->starts_last};
  iso_cluster_verdict *out = f->out;
  out->violated = true;
  qsort(ops, ISO_CLUSTER_BLAMED, sizeof *ops, by_number);
  for (int i = 0; i < ISO_CLUSTER_BLAMED; i++) {
    if (ops[i] == NO_OP || (i > 0 && ops[i] == ops[i - 1])) continue;
    out->blamed[out->blamed_count++] = ops[i];
  }
}

/* Goes through the clusters of a key in their order.  A write stands where everything before it has begun.  Whatever
 * ended before that must come before something that stands before it: a contradiction, for the other one is there
 * because it must come first, or is the initial version. */
static void sweep(finder *f, uint32_t key) {
  int64_t begun = INT64_MIN;
  const cluster *latest = NULL;
  for (uint32_t i = f->first_of[key]; i < f->first_of[key + 1] && !f->out->violated; i++) {
    cluster *c = &f->all[f->order[i].cluster];
    bool initial = c->write == NO_OP;
    int64_t start = initial ? INT64_MIN : f->ops->items[c->write].start;
    if (!initial && c->first_end < start) {
      blame(f, c, c); /* a read ended before its write began */
    } else if (!initial && c->first_end < begun) {
      blame(f, latest, c);
    }
    c->point = start > begun ? start : begun;
    if (latest == NULL || c->last_start > begun) {
      begun = c->last_start;
      latest = c;
    }
  }
}

static int by_point(const void *a, const void *b) {
  const placed *x = a, *y = b;
  if (x->point != y->point) return x->point < y->point ? -1 : 1;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

/* Gives every operation a moment between its start and its end, in the order of its key, and sorts by it. */
static void put_in_order(finder *f, uint32_t *order) {
  const iso_timed_ops *ops = f->ops;
  for (uint32_t i = 0; i < ops->count; i++) {
    const iso_timed_op *op = &ops->items[i];
    const cluster *c = &f->all[op->cluster];
    f->place[i] = (placed){.point = op->start > c->point ? op->start : c->point,
                           .rank = 2 * f->rank[op->cluster] + !op->is_write,
                           .op = i};
  }
  if (ops->count > 1) qsort(f->place, ops->count, sizeof *f->place, by_point);
  for (uint32_t i = 0; i < ops->count; i++) order[i] = f->place[i].op;
}

static isoproof_status find(finder *f, uint32_t *order, isoproof_error *error) {
  gather(f);
  ISO_TRY(iso_task_check(f->task, error));
  rank(f);
  for (uint32_t key = 0; key < f->ops->keys && !f->out->violated; key++) {
    if ((key & 1023) == 0) ISO_TRY(iso_task_check(f->task, error));
    sweep(f, key);
  }
  if (f->out->violated || order == NULL) return ISOPROOF_OK;
  f->place = iso_alloc(f->ops->count, sizeof *f->place);
  if (f->place == NULL) return iso_fail_memory(error);
  put_in_order(f, order);
  return iso_task_check(f->task, error);
}

isoproof_status iso_clusters_judge(const iso_timed_ops *ops, isoproof_task *task, uint32_t *order,
                                   iso_cluster_verdict *verdict, isoproof_error *error) {
  memset(verdict, 0, sizeof *verdict);
  finder f = {.ops = ops, .task = task, .clusters = ops->writes + ops->keys, .out = verdict};
  f.all = iso_alloc(f.clusters, sizeof *f.all);
  f.order = iso_alloc(f.clusters, sizeof *f.order);
  f.rank = iso_alloc(f.clusters, sizeof *f.rank);
  f.first_of = iso_alloc_zero((size_t)ops->keys + 1, sizeof *f.first_of);
  bool made = f.all != NULL && f.order != NULL && f.rank != NULL && f.first_of != NULL;
  isoproof_status status = made ? find(&f, order, error) : iso_fail_memory(error);
  free(f.all);
  free(f.order);
  free(f.rank);
  free(f.first_of);
  free(f.place);
  return status;
}
