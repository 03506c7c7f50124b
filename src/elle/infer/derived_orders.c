/* A fixpoint over reachability, in blocks of 64 writers at a time. */
#include "elle/infer/derived_orders.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 };
#define USUAL_BUDGET UINT64_C(300000000)

/* A read of a version that somebody wrote. */
typedef struct seen {
  uint32_t key, reader, writer, version, op;
} seen;

typedef struct derivation {
  const iso_registers *r;
  const iso_dependency_graph *g;
  iso_derived_orders *out;
  uint32_t *first, *to;   /* rows of the edges that paths are made of: WW, WR, and derived orders */
  uint32_t *order;        /* the nodes, each after those that lead to it */
  uint32_t *place;        /* by node: where it is in the order */
  uint64_t *bits;         /* by node: which sources of the block at hand lead to it */
  uint64_t *key_bits;     /* by key: which of them write it */
  uint64_t *version_bits; /* by operation: which of them were found to come before that write */
  uint32_t *served;       /* by operation: the round in which that write was last served */
  ISO_VEC(seen) reads;
  ISO_VEC(uint32_t) sources; /* transactions that write, in order */
  uint64_t steps, budget;
} derivation;

/* ---- paths ---- */

static bool is_part(const iso_dependency_graph *g, uint32_t node, uint32_t edge) {
  return node >= g->txns || (g->kind[edge] & (ISO_DEPENDENCY_ANY_WW | ISO_DEPENDENCY_ANY_WR)) != 0;
}

static isoproof_status make_rows(derivation *d, isoproof_error *error) {
  const iso_dependency_graph *g = d->g;
  size_t count = (size_t)g->first[g->nodes] + d->out->pairs.count;
  free(d->first);
  free(d->to);
  d->first = iso_alloc_zero((size_t)g->nodes + 2, sizeof *d->first);
  d->to = iso_alloc(count, sizeof *d->to);
  if (d->first == NULL || d->to == NULL || count >= UINT32_MAX) return iso_fail_memory(error);
  uint32_t *next = d->first + 1;
  for (uint32_t v = 0; v < g->nodes; v++) {
    for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) next[v + 1] += is_part(g, v, e);
  }
  for (size_t i = 0; i < d->out->pairs.count; i++) next[d->out->pairs.items[i].before + 1]++;
  for (uint32_t v = 0; v < g->nodes; v++) next[v + 1] += next[v];
  for (uint32_t v = 0; v < g->nodes; v++) {
    for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
      if (is_part(g, v, e)) d->to[next[v]++] = g->to[e];
    }
  }
  for (size_t i = 0; i < d->out->pairs.count; i++) {
    const iso_derived_order *pair = &d->out->pairs.items[i];
    d->to[next[pair->before]++] = pair->after;
  }
  return ISOPROOF_OK;
}

/* Orders the nodes; false when they are on a cycle, which is a contradiction that others will tell. */
static bool sort_nodes(derivation *d) {
  uint32_t count = 0, nodes = d->g->nodes, *waits = d->place;
  memset(waits, 0, (size_t)nodes * sizeof *waits);
  for (uint32_t e = 0; e < d->first[nodes]; e++) waits[d->to[e]]++;
  for (uint32_t v = 0; v < nodes; v++) {
    if (waits[v] == 0) d->order[count++] = v;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t v = d->order[i];
    for (uint32_t e = d->first[v]; e < d->first[v + 1]; e++) {
      if (--waits[d->to[e]] == 0) d->order[count++] = d->to[e];
    }
  }
  for (uint32_t i = 0; i < count; i++) d->place[d->order[i]] = i;
  return count == nodes;
}

/* ---- one round ---- */

static bool writes(const isoproof_history *h, uint32_t txn) {
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) return true;
  }
  return false;
}

static bool collect_sources(derivation *d) {
  d->sources.count = 0;
  for (uint32_t i = 0; i < d->g->nodes; i++) {
    uint32_t v = d->order[i];
    if (v >= d->g->txns || !d->r->counts[v] || !writes(d->r->h, v)) continue;
    if (!iso_vec_push(&d->sources, v)) return false;
  }
  return true;
}

/* Sets or clears the bits of the keys that the sources of a block write. */
static void mark_keys(derivation *d, size_t first, size_t end, bool on) {
  const isoproof_history *h = d->r->h;
  for (size_t i = first; i < end; i++) {
    uint32_t txn = d->sources.items[i];
    for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
      if (h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
      d->key_bits[h->op_key[op]] = on ? d->key_bits[h->op_key[op]] | UINT64_C(1) << (i - first) : 0;
    }
  }
}

static void spread(derivation *d, size_t first, size_t end) {
  uint32_t nodes = d->g->nodes, begin = d->place[d->sources.items[first]];
  for (size_t i = first; i < end; i++) d->bits[d->sources.items[i]] = UINT64_C(1) << (i - first);
  for (uint32_t i = begin; i < nodes; i++) {
    uint32_t v = d->order[i];
    uint64_t bits = d->bits[v];
    if (bits == 0) continue;
    for (uint32_t e = d->first[v]; e < d->first[v + 1]; e++) d->bits[d->to[e]] |= bits;
  }
  d->steps += (nodes - begin) + (uint64_t)d->first[nodes] / 2;
}

/* The last write of a transaction to a key. */
static uint32_t last_write(const isoproof_history *h, uint32_t txn, uint32_t key) {
  for (uint32_t op = h->txn_first_op[txn + 1]; op-- > h->txn_first_op[txn];) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE && h->op_key[op] == key) return op;
  }
  return ISO_NO_OP;
}

static bool judge_read(derivation *d, const seen *s, size_t first) {
  uint64_t found = d->bits[s->reader] & d->key_bits[s->key] & ~d->bits[s->writer] & ~d->version_bits[s->version];
  for (; found != 0; found &= found - 1) {
    unsigned bit = (unsigned)__builtin_ctzll(found);
    uint32_t before = d->sources.items[first + bit];
    if (before == s->reader || before == s->writer) continue;
    iso_derived_order pair = {before, s->writer, last_write(d->r->h, before, s->key), s->version, s->op};
    d->version_bits[s->version] |= UINT64_C(1) << bit;
    if (!iso_vec_push(&d->out->pairs, pair)) return false;
  }
  return true;
}

/* Writers that come late in the order are asked about first: who comes before them follows from them, mostly. */
static isoproof_status round_of(derivation *d, isoproof_task *task, isoproof_error *error) {
  uint32_t round = d->out->rounds;
  if (!collect_sources(d)) return iso_fail_memory(error);
  for (size_t end = d->sources.count; end > 0 && d->steps <= d->budget;) {
    size_t first = (end - 1) / BLOCK * BLOCK;
    ISO_TRY(iso_task_check(task, error));
    mark_keys(d, first, end, true);
    spread(d, first, end);
    for (size_t i = 0; i < d->reads.count; i++) {
      const seen *s = &d->reads.items[i];
      bool possible = (d->bits[s->reader] & d->key_bits[s->key]) != 0 && d->served[s->version] != round;
      if (possible && !judge_read(d, s, first)) return iso_fail_memory(error);
    }
    d->steps += d->reads.count;
    for (size_t i = 0; i < d->reads.count; i++) {
      uint32_t version = d->reads.items[i].version;
      if (d->version_bits[version] != 0) d->served[version] = round;
      d->version_bits[version] = 0;
    }
    mark_keys(d, first, end, false);
    memset(d->bits, 0, (size_t)d->g->nodes * sizeof *d->bits);
    end = first;
  }
  return ISOPROOF_OK;
}

/* ---- rounds ---- */

static bool collect_reads(derivation *d) {
  const iso_registers *r = d->r;
  for (uint32_t i = 0; i < r->access_first[r->h->keys]; i++) {
    const iso_key_access *access = &r->accesses[i];
    if (access->read >= r->h->ops || !r->counts[r->op_txn[access->read]]) continue;
    seen one = {access->key, access->txn, r->op_txn[access->read], access->read, access->read_op};
    if (one.reader != one.writer && !iso_vec_push(&d->reads, one)) return false;
  }
  return true;
}

static isoproof_status run(derivation *d, isoproof_task *task, isoproof_error *error) {
  const isoproof_history *h = d->r->h;
  d->order = iso_alloc(d->g->nodes, sizeof *d->order);
  d->place = iso_alloc(d->g->nodes, sizeof *d->place);
  d->bits = iso_alloc_zero(d->g->nodes, sizeof *d->bits);
  d->key_bits = iso_alloc_zero(h->keys, sizeof *d->key_bits);
  d->version_bits = iso_alloc_zero(h->ops, sizeof *d->version_bits);
  d->served = iso_alloc_zero(h->ops, sizeof *d->served);
  bool made = d->order != NULL && d->place != NULL && d->bits != NULL && d->key_bits != NULL;
  made = made && d->version_bits != NULL && d->served != NULL && collect_reads(d);
  if (!made) return iso_fail_memory(error);
  for (;;) {
    size_t before = d->out->pairs.count;
    d->out->rounds++;
    ISO_TRY(make_rows(d, error));
    if (!sort_nodes(d)) return ISOPROOF_OK;
    ISO_TRY(round_of(d, task, error));
    d->out->gave_up = d->steps > d->budget;
    if (d->out->gave_up || d->out->pairs.count == before) return ISOPROOF_OK;
  }
}

isoproof_status iso_derived_orders_find(const iso_registers *registers, const iso_dependency_graph *graph,
                                        uint64_t budget, isoproof_task *task, iso_derived_orders *derived_orders,
                                        isoproof_error *error) {
  derivation d = {.r = registers, .g = graph, .out = derived_orders, .budget = budget != 0 ? budget : USUAL_BUDGET};
  memset(derived_orders, 0, sizeof *derived_orders);
  isoproof_status status = run(&d, task, error);
  free(d.first);
  free(d.to);
  free(d.order);
  free(d.place);
  free(d.bits);
  free(d.key_bits);
  free(d.version_bits);
  free(d.served);
  iso_vec_free(&d.reads);
  iso_vec_free(&d.sources);
  if (status != ISOPROOF_OK) iso_derived_orders_free(derived_orders);
  return status;
}

void iso_derived_orders_free(iso_derived_orders *derived_orders) {
  iso_vec_free(&derived_orders->pairs);
  memset(derived_orders, 0, sizeof *derived_orders);
}

/* ---- edges ---- */

static int by_version(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Who read each version: version << 32 | transaction, sorted. */
static bool collect_readers(const iso_registers *r, uint64_t **out, size_t *count) {
  ISO_VEC(uint64_t) readers = {NULL, 0, 0};
  for (uint32_t i = 0; i < r->access_first[r->h->keys]; i++) {
    const iso_key_access *access = &r->accesses[i];
    if (access->read >= r->h->ops) continue;
    if (!iso_vec_push(&readers, (uint64_t)access->read << 32 | access->txn)) {
      iso_vec_free(&readers);
      return false;
    }
  }
  if (readers.count > 1) qsort(readers.items, readers.count, sizeof *readers.items, by_version);
  *out = readers.items;
  *count = readers.count;
  return true;
}

static void pair_edges(const iso_derived_order *pair, const uint64_t *readers, size_t count,
                       iso_dependency_list *edges) {
  size_t low = 0, high = count;
  iso_dependency_add(edges, pair->before, pair->after, ISO_DEPENDENCY_WW);
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (readers[middle] >> 32 < pair->before_op) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < count && readers[low] >> 32 == pair->before_op; low++) {
    iso_dependency_add(edges, (uint32_t)readers[low], pair->after, ISO_DEPENDENCY_RW);
  }
}

isoproof_status iso_derived_orders_edges(const iso_derived_orders *derived_orders, const iso_registers *r,
                                         const iso_dependency_graph *g, iso_dependency_list *edges,
                                         isoproof_error *error) {
  uint64_t *readers = NULL;
  size_t count = 0;
  edges->nodes = g->nodes;
  for (uint32_t v = 0; v < g->nodes; v++) {
    for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) iso_dependency_add(edges, v, g->to[e], g->kind[e]);
  }
  if (!collect_readers(r, &readers, &count)) return iso_fail_memory(error);
  for (size_t i = 0; i < derived_orders->pairs.count; i++)
    pair_edges(&derived_orders->pairs.items[i], readers, count, edges);
  free(readers);
  return edges->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}
