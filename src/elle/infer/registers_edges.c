/* Dependencies between transactions from the versions of registers. */
#include <stdlib.h>
#include <string.h>

#include "elle/infer/registers.h"

typedef ISO_VEC(uint32_t) numbers;

/* The last write of a transaction to the key, in the order in which versions were entered. */
typedef struct place {
  uint32_t version, txn;
  uint32_t entered;  /* as in iso_registers, 0 none */
  uint32_t left;     /* ISO_NO_MOMENT none */
  uint32_t least;    /* of `left`, from here to the end */
  uint32_t least_at; /* where that is */
  uint32_t second;   /* the least but for that one */
} place;

typedef struct fanner {
  const iso_registers *r;
  iso_dependency_list *edges;
  ISO_VEC(place) places; /* of one key */
  uint32_t *place_of;    /* by operation: where a last write is among the places of its key */
  uint8_t *last;         /* by operation: the last write of somebody who counts */
  uint32_t tree;         /* auxiliary nodes over the places, 0 when there are none yet */
  numbers readers;       /* touches of a key by the version they found */
  numbers sources, targets;
} fanner;

static int by_entrance(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->entered != y->entered) return x->entered < y->entered ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

static bool make_places(fanner *f, uint32_t key) {
  const iso_registers *r = f->r;
  f->places.count = 0;
  f->tree = 0;
  for (uint32_t i = r->touch_first[key]; i < r->touch_first[key + 1]; i++) {
    const iso_touch *touch = &r->touches[i];
    if (!touch->wrote) continue;
    place p = {touch->out, touch->txn, 0, ISO_NO_MOMENT, 0, 0, 0};
    if (r->left != NULL) p.entered = r->entered[touch->out], p.left = r->left[touch->out];
    if (!iso_vec_push(&f->places, p)) return false;
  }
  if (f->places.count > 1) qsort(f->places.items, f->places.count, sizeof *f->places.items, by_entrance);
  uint32_t least = ISO_NO_MOMENT, second = ISO_NO_MOMENT, at = UINT32_MAX;
  for (uint32_t i = (uint32_t)f->places.count; i-- > 0;) {
    place *p = &f->places.items[i];
    f->place_of[p->version] = i;
    if (p->left < least) {
      second = least;
      least = p->left;
      at = i;
    } else if (p->left < second) {
      second = p->left;
    }
    p->least = least;
    p->least_at = at;
    p->second = second;
  }
  return true;
}

/* ---- one before a range ---- */

/* A tree over the places, made when the first wide range of the key is met: node n stands for everything below it. */
static void make_tree(fanner *f) {
  uint32_t count = (uint32_t)f->places.count, base = f->edges->nodes;
  for (uint32_t i = 0; i < count; i++) (void)iso_dependency_node(f->edges);
  if (f->edges->failed) return;
  for (uint32_t i = 1; i < count; i++) {
    for (uint32_t child = 2 * i; child <= 2 * i + 1; child++) {
      uint32_t node = child >= count ? f->places.items[child - count].txn : base + child;
      iso_dependency_add(f->edges, base + i, node, ISO_PASSAGE);
    }
  }
  f->tree = base;
}

static void attach_piece(fanner *f, uint32_t source, uint32_t node, iso_dependency_set kind) {
  uint32_t count = (uint32_t)f->places.count;
  iso_dependency_add(f->edges, source, node >= count ? f->places.items[node - count].txn : f->tree + node, kind);
}

static void attach_range(fanner *f, uint32_t source, uint32_t low, uint32_t high, iso_dependency_set kind) {
  enum { NARROW = 8 };
  uint32_t count = (uint32_t)f->places.count;
  if (low >= high) return;
  if (high - low <= NARROW) {
    for (uint32_t i = low; i < high; i++) iso_dependency_add(f->edges, source, f->places.items[i].txn, kind);
    return;
  }
  if (f->tree == 0) make_tree(f);
  if (f->edges->failed) return;
  for (low += count, high += count; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) attach_piece(f, source, low++, kind);
    if (high % 2 == 1) attach_piece(f, source, --high, kind);
  }
}

/* `source` before the writers in a range, but for two places: its own, and that of the version itself. */
static void attach(fanner *f, uint32_t source, uint32_t own, uint32_t itself, uint32_t low, uint32_t high,
                   iso_dependency_set kind) {
  uint32_t first = own < itself ? own : itself, second = own < itself ? itself : own;
  if (first >= low && first < high) {
    attach_range(f, source, low, first, kind);
    low = first + 1;
  }
  if (second >= low && second < high) {
    attach_range(f, source, low, second, kind);
    low = second + 1;
  }
  attach_range(f, source, low, high, kind);
}

static uint32_t first_entered(const fanner *f, uint32_t moment) {
  uint32_t low = 0, high = (uint32_t)f->places.count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    uint32_t entered = f->places.items[middle].entered;
    if (entered == 0 || entered - 1 < moment) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* `source` before whoever wrote the versions that come next after `version` in real time, or after the initial one.
 * What comes after those follows from them. */
static void attach_next(fanner *f, uint32_t key, uint32_t source, uint32_t own, uint32_t version,
                        iso_dependency_set kind) {
  const iso_registers *r = f->r;
  uint32_t count = (uint32_t)f->places.count, low = 0;
  bool initial = version == r->h->ops + key;
  if (!initial && (r->left == NULL || r->left[version] == ISO_NO_MOMENT)) return;
  if (!initial) low = first_entered(f, r->left[version]);
  if (low == count) return;
  const place *p = &f->places.items[low];
  bool itself = p->least_at < count && f->places.items[p->least_at].version == version;
  uint32_t least = itself ? p->second : p->least;
  uint32_t high = least == ISO_NO_MOMENT ? count : first_entered(f, least);
  uint32_t place_itself = !initial && version < r->h->ops && f->last[version] ? f->place_of[version] : UINT32_MAX;
  attach(f, source, own, place_itself, low, high > low ? high : low, kind);
  if (!itself && p->least_at < count && p->least_at >= high) {
    iso_dependency_add(f->edges, source, f->places.items[p->least_at].txn, kind);
  }
}

/* ---- pairs of versions ---- */

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* The writers of the versions that are known to come after one, ascending, each once. */
static bool find_targets(fanner *f, uint32_t version) {
  const iso_registers *r = f->r;
  f->targets.count = 0;
  for (uint32_t e = r->after_first[version]; e < r->after_first[version + 1]; e++) {
    uint32_t after = r->after[e];
    if (after < r->h->ops && f->last[after] && !iso_vec_push(&f->targets, r->op_txn[after])) return false;
  }
  if (f->targets.count > 1) qsort(f->targets.items, f->targets.count, sizeof(uint32_t), by_number);
  size_t kept = 0;
  for (size_t i = 0; i < f->targets.count; i++) {
    if (i == 0 || f->targets.items[i] != f->targets.items[i - 1]) f->targets.items[kept++] = f->targets.items[i];
  }
  f->targets.count = kept;
  return true;
}

/* Readers of one version before the writers of what comes after it. */
static bool fan_readers(fanner *f, size_t first, size_t end) {
  const iso_registers *r = f->r;
  uint32_t version = r->touches[f->readers.items[first]].in;
  f->sources.count = 0;
  for (size_t i = first; i < end; i++) {
    if (!iso_vec_push(&f->sources, r->touches[f->readers.items[i]].txn)) return false;
  }
  if (!find_targets(f, version)) return false;
  iso_dependency_add_bipartite(f->edges, f->sources.items, f->sources.count, f->targets.items, f->targets.count,
                               ISO_DEPENDENCY_RW);
  return true;
}

static int by_pair(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Sorts touches by the version found, keeping the order of transactions. */
static bool sort_readers(fanner *f, uint32_t key) {
  const iso_registers *r = f->r;
  ISO_VEC(uint64_t) sorted = {NULL, 0, 0};
  bool made = true;
  f->readers.count = 0;
  for (uint32_t i = r->touch_first[key]; made && i < r->touch_first[key + 1]; i++) {
    if (r->touches[i].in != ISO_NO_VERSION) made = iso_vec_push(&sorted, (uint64_t)r->touches[i].in << 32 | i);
  }
  if (sorted.count > 1) qsort(sorted.items, sorted.count, sizeof *sorted.items, by_pair);
  for (size_t i = 0; made && i < sorted.count; i++) made = iso_vec_push(&f->readers, (uint32_t)sorted.items[i]);
  iso_vec_free(&sorted);
  return made;
}

static bool key_edges(fanner *f, uint32_t key) {
  const iso_registers *r = f->r;
  if (!make_places(f, key) || !sort_readers(f, key)) return false;
  for (uint32_t i = r->touch_first[key]; i < r->touch_first[key + 1]; i++) {
    const iso_touch *touch = &r->touches[i];
    uint32_t own = touch->wrote ? f->place_of[touch->out] : UINT32_MAX;
    if (touch->in != ISO_NO_VERSION) attach_next(f, key, touch->txn, own, touch->in, ISO_DEPENDENCY_RW);
    if (!touch->wrote) continue;
    attach_next(f, key, touch->txn, own, touch->out, ISO_DEPENDENCY_WW);
    if (!find_targets(f, touch->out)) return false;
    iso_dependency_add_bipartite(f->edges, &touch->txn, 1, f->targets.items, f->targets.count, ISO_DEPENDENCY_WW);
  }
  for (size_t i = 0; i < f->readers.count;) {
    size_t end = i + 1;
    uint32_t version = r->touches[f->readers.items[i]].in;
    while (end < f->readers.count && r->touches[f->readers.items[end]].in == version) end++;
    if (!fan_readers(f, i, end)) return false;
    i = end;
  }
  return true;
}

static isoproof_status make_edges(fanner *f, isoproof_task *task, isoproof_error *error) {
  const iso_registers *r = f->r;
  const isoproof_history *h = r->h;
  f->place_of = iso_alloc(h->ops, sizeof *f->place_of);
  f->last = iso_alloc_zero(h->ops, 1);
  if (f->place_of == NULL || f->last == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < r->touch_first[h->keys]; i++) {
    if (r->touches[i].wrote) f->last[r->touches[i].out] = 1;
  }
  for (uint32_t i = 0; i < r->touch_first[h->keys]; i++) {
    const iso_touch *touch = &r->touches[i];
    bool from_last = touch->in < h->ops && f->last[touch->in];
    if (from_last) iso_dependency_add(f->edges, r->op_txn[touch->in], touch->txn, ISO_DEPENDENCY_WR);
  }
  for (uint32_t k = 0; k < h->keys; k++) {
    if ((k & 1023) == 0) ISO_TRY(iso_task_check(task, error));
    if (r->cyclic[k] == 0 && !key_edges(f, k)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_registers_edges(const iso_registers *registers, isoproof_task *task, iso_dependency_list *edges,
                                    isoproof_error *error) {
  fanner f = {.r = registers, .edges = edges};
  isoproof_status status = make_edges(&f, task, error);
  iso_vec_free(&f.places);
  free(f.place_of);
  free(f.last);
  iso_vec_free(&f.readers);
  iso_vec_free(&f.sources);
  iso_vec_free(&f.targets);
  return status;
}
