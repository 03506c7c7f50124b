/* Dependencies between transactions from the versions of registers. */
#include <stdlib.h>
#include <string.h>

#include "elle/infer/registers.h"

typedef ISO_VEC(uint32_t) numbers;

/* The last write of a transaction to the key, in the order in which versions were entered. */
typedef struct place {
  uint32_t version, txn;
  uint32_t entered;  /* as in iso_registers, 0 none */
  uint32_t left;     /* ISO_NO_INSTANT none */
  uint32_t least;    /* of `left`, from here to the end */
  uint32_t least_at; /* where that is */
  uint32_t second;   /* the least but for that one, and where */
  uint32_t second_at;
} place;

typedef struct edge_maker {
  const iso_registers *r;
  iso_dependency_list *edges;
  ISO_VEC(place) places; /* of one key */
  uint32_t *place_of;    /* by operation: where a last write is among the places of its key */
  uint32_t *walk;        /* by version: the walk that met it last */
  uint32_t walks;
  uint32_t tree;   /* auxiliary nodes over the places, 0 when there are none yet */
  numbers readers; /* accesses of a key by the version they found */
  numbers sources, targets;
  numbers between; /* versions on the way to them */
} edge_maker;

static int by_entrance(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->entered != y->entered) return x->entered < y->entered ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

static bool make_places(edge_maker *m, uint32_t key) {
  const iso_registers *r = m->r;
  m->places.count = 0;
  m->tree = 0;
  for (uint32_t i = r->access_first[key]; i < r->access_first[key + 1]; i++) {
    const iso_key_access *access = &r->accesses[i];
    if (!access->wrote) continue;
    place p = {access->written, access->txn, 0, ISO_NO_INSTANT, 0, 0, 0, 0};
    if (r->left != NULL) p.entered = r->entered[access->written], p.left = r->left[access->written];
    if (!iso_vec_push(&m->places, p)) return false;
  }
  if (m->places.count > 1) qsort(m->places.items, m->places.count, sizeof *m->places.items, by_entrance);
  uint32_t least = ISO_NO_INSTANT, second = ISO_NO_INSTANT, at = UINT32_MAX, second_at = UINT32_MAX;
  for (uint32_t i = (uint32_t)m->places.count; i-- > 0;) {
    place *p = &m->places.items[i];
    m->place_of[p->version] = i;
    if (p->left < least) {
      second = least;
      second_at = at;
      least = p->left;
      at = i;
    } else if (p->left < second) {
      second = p->left;
      second_at = i;
    }
    p->least = least;
    p->least_at = at;
    p->second = second;
    p->second_at = second_at;
  }
  return true;
}

/* ---- one before a range ---- */

/* A tree over the places, made when the first wide range of the key is met: node n stands for everything below it. */
static void make_tree(edge_maker *m) {
  uint32_t count = (uint32_t)m->places.count, base = m->edges->nodes;
  for (uint32_t i = 0; i < count; i++) (void)iso_dependency_node(m->edges);
  if (m->edges->failed) return;
  for (uint32_t i = 1; i < count; i++) {
    for (uint32_t child = 2 * i; child <= 2 * i + 1; child++) {
      uint32_t node = child >= count ? m->places.items[child - count].txn : base + child;
      iso_dependency_add(m->edges, base + i, node, ISO_PASSAGE);
    }
  }
  m->tree = base;
}

static void attach_piece(edge_maker *m, uint32_t source, uint32_t node, iso_dependency_set kind) {
  uint32_t count = (uint32_t)m->places.count;
  iso_dependency_add(m->edges, source, node >= count ? m->places.items[node - count].txn : m->tree + node, kind);
}

static void attach_range(edge_maker *m, uint32_t source, uint32_t low, uint32_t high, iso_dependency_set kind) {
  enum { NARROW = 8 };
  uint32_t count = (uint32_t)m->places.count;
  if (low >= high) return;
  if (high - low <= NARROW) {
    for (uint32_t i = low; i < high; i++) iso_dependency_add(m->edges, source, m->places.items[i].txn, kind);
    return;
  }
  if (m->tree == 0) make_tree(m);
  if (m->edges->failed) return;
  for (low += count, high += count; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) attach_piece(m, source, low++, kind);
    if (high % 2 == 1) attach_piece(m, source, --high, kind);
  }
}

/* `source` before the writers in a range, but for two places: its own, and that of the version itself. */
static void attach(edge_maker *m, uint32_t source, uint32_t own, uint32_t itself, uint32_t low, uint32_t high,
                   iso_dependency_set kind) {
  uint32_t first = own < itself ? own : itself, second = own < itself ? itself : own;
  if (first >= low && first < high) {
    attach_range(m, source, low, first, kind);
    low = first + 1;
  }
  if (second >= low && second < high) {
    attach_range(m, source, low, second, kind);
    low = second + 1;
  }
  attach_range(m, source, low, high, kind);
}

static uint32_t first_entered(const edge_maker *m, uint32_t instant) {
  uint32_t low = 0, high = (uint32_t)m->places.count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    uint32_t entered = m->places.items[middle].entered;
    if (entered == 0 || entered - 1 < instant) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* `source` before whoever wrote the versions that come next after `version` in real time, or after the initial one.
 * What comes after those follows from them. */
static void attach_next(edge_maker *m, uint32_t key, uint32_t source, uint32_t own, uint32_t version,
                        iso_dependency_set kind) {
  const iso_registers *r = m->r;
  uint32_t count = (uint32_t)m->places.count, low = 0;
  bool initial = version == r->h->ops + key;
  if (!initial && (r->left == NULL || r->left[version] == ISO_NO_INSTANT)) return;
  if (!initial) low = first_entered(m, r->left[version]);
  if (low == count) return;
  const place *p = &m->places.items[low];
  bool itself = p->least_at < count && m->places.items[p->least_at].version == version;
  uint32_t least = itself ? p->second : p->least, least_at = itself ? p->second_at : p->least_at;
  uint32_t high = least == ISO_NO_INSTANT ? count : first_entered(m, least);
  uint32_t place_itself = !initial && r->installed[version] ? m->place_of[version] : UINT32_MAX;
  attach(m, source, own, place_itself, low, high > low ? high : low, kind);
  if (least_at < count && least_at >= high) {
    iso_dependency_add(m->edges, source, m->places.items[least_at].txn, kind);
  }
}

/* ---- pairs of versions ---- */

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* The writers of the versions that are known to come after one, ascending, each once.  A version that nobody installed
 * stands for what comes after it. */
static bool find_targets(edge_maker *m, uint32_t version) {
  const iso_registers *r = m->r;
  m->targets.count = m->between.count = 0;
  if (r->after_first[version] == r->after_first[version + 1]) return true;
  m->walks++;
  if (!iso_vec_push(&m->between, version)) return false;
  for (size_t i = 0; i < m->between.count; i++) {
    uint32_t from = m->between.items[i];
    for (uint32_t e = r->after_first[from]; e < r->after_first[from + 1]; e++) {
      uint32_t after = r->after[e];
      if (r->installed[after]) {
        if (!iso_vec_push(&m->targets, r->op_txn[after])) return false;
      } else if (m->walk[after] != m->walks) {
        m->walk[after] = m->walks;
        if (!iso_vec_push(&m->between, after)) return false;
      }
    }
  }
  if (m->targets.count > 1) qsort(m->targets.items, m->targets.count, sizeof(uint32_t), by_number);
  size_t kept = 0;
  for (size_t i = 0; i < m->targets.count; i++) {
    if (i == 0 || m->targets.items[i] != m->targets.items[i - 1]) m->targets.items[kept++] = m->targets.items[i];
  }
  m->targets.count = kept;
  return true;
}

/* Readers of one version before the writers of what comes after it. */
static bool readers_before_writers(edge_maker *m, size_t first, size_t end) {
  const iso_registers *r = m->r;
  uint32_t version = r->accesses[m->readers.items[first]].read;
  m->sources.count = 0;
  for (size_t i = first; i < end; i++) {
    if (!iso_vec_push(&m->sources, r->accesses[m->readers.items[i]].txn)) return false;
  }
  if (!find_targets(m, version)) return false;
  iso_dependency_add_bipartite(m->edges, m->sources.items, m->sources.count, m->targets.items, m->targets.count,
                               ISO_DEPENDENCY_RW);
  return true;
}

static int by_pair(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Sorts accesses by the version found, keeping the order of transactions. */
static bool sort_readers(edge_maker *m, uint32_t key) {
  const iso_registers *r = m->r;
  ISO_VEC(uint64_t) sorted = {NULL, 0, 0};
  bool made = true;
  m->readers.count = 0;
  for (uint32_t i = r->access_first[key]; made && i < r->access_first[key + 1]; i++) {
    if (r->accesses[i].read != ISO_NO_VERSION) made = iso_vec_push(&sorted, (uint64_t)r->accesses[i].read << 32 | i);
  }
  if (sorted.count > 1) qsort(sorted.items, sorted.count, sizeof *sorted.items, by_pair);
  for (size_t i = 0; made && i < sorted.count; i++) made = iso_vec_push(&m->readers, (uint32_t)sorted.items[i]);
  iso_vec_free(&sorted);
  return made;
}

static bool key_edges(edge_maker *m, uint32_t key) {
  const iso_registers *r = m->r;
  if (!make_places(m, key) || !sort_readers(m, key)) return false;
  for (uint32_t i = r->access_first[key]; i < r->access_first[key + 1]; i++) {
    const iso_key_access *access = &r->accesses[i];
    uint32_t own = access->wrote ? m->place_of[access->written] : UINT32_MAX;
    if (access->read != ISO_NO_VERSION) attach_next(m, key, access->txn, own, access->read, ISO_DEPENDENCY_RW);
    if (!access->wrote) continue;
    attach_next(m, key, access->txn, own, access->written, ISO_DEPENDENCY_WW);
    if (!find_targets(m, access->written)) return false;
    iso_dependency_add_bipartite(m->edges, &access->txn, 1, m->targets.items, m->targets.count, ISO_DEPENDENCY_WW);
  }
  for (size_t i = 0; i < m->readers.count;) {
    size_t end = i + 1;
    uint32_t version = r->accesses[m->readers.items[i]].read;
    while (end < m->readers.count && r->accesses[m->readers.items[end]].read == version) end++;
    if (!readers_before_writers(m, i, end)) return false;
    i = end;
  }
  return true;
}

static isoproof_status make_edges(edge_maker *m, isoproof_task *task, isoproof_error *error) {
  const iso_registers *r = m->r;
  const isoproof_history *h = r->h;
  m->place_of = iso_alloc(h->ops, sizeof *m->place_of);
  m->walk = iso_alloc_zero(r->versions, sizeof *m->walk);
  if (m->place_of == NULL || m->walk == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < r->access_first[h->keys]; i++) {
    const iso_key_access *access = &r->accesses[i];
    bool installed = access->read != ISO_NO_VERSION && r->installed[access->read];
    if (installed) iso_dependency_add(m->edges, r->op_txn[access->read], access->txn, ISO_DEPENDENCY_WR);
  }
  for (uint32_t k = 0; k < h->keys; k++) {
    if ((k & 1023) == 0) ISO_TRY(iso_task_check(task, error));
    if (r->cyclic[k] == 0 && !key_edges(m, k)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_registers_edges(const iso_registers *registers, isoproof_task *task, iso_dependency_list *edges,
                                    isoproof_error *error) {
  edge_maker m = {.r = registers, .edges = edges};
  isoproof_status status = make_edges(&m, task, error);
  iso_vec_free(&m.places);
  free(m.place_of);
  free(m.walk);
  iso_vec_free(&m.between);
  iso_vec_free(&m.readers);
  iso_vec_free(&m.sources);
  iso_vec_free(&m.targets);
  return status;
}
