/* Reads of a set as a chain, and trees of auxiliary nodes over its elements. */
#include "elle/infer/sets.h"

#include <stdlib.h>
#include <string.h>

#include "history/resolve.h"

const uint32_t *iso_sets_writers(const iso_sets *s, uint32_t op, uint32_t *count) {
  const isoproof_history *h = s->h;
  iso_value value = h->op_value[op];
  if (iso_history_list(h, op, count) == NULL) {
    *count = 0;
    return NULL;
  }
  if ((value & ISO_VALUE_INTERNED) == 0) return s->resolution->list_writer + h->list_first[h->op_key[op]];
  return s->resolution->odd_writer + h->odd_first[value & ~ISO_VALUE_INTERNED];
}

static int by_number(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
  return (x[1] > y[1]) - (x[1] < y[1]);
}

/* Marks the additions of elements that one operation alone adds, aborted ones not counted. */
static bool mark_unique(iso_sets *s) {
  const isoproof_history *h = s->h;
  ISO_VEC(uint64_t) adds = {NULL, 0, 0}; /* pairs: key and value, operation */
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_ADD) continue;
    if (!iso_vec_push(&adds, (uint64_t)h->op_key[op] << 32 | h->op_value[op]) || !iso_vec_push(&adds, (uint64_t)op)) {
      iso_vec_free(&adds);
      return false;
    }
  }
  if (adds.count > 2) qsort(adds.items, adds.count / 2, 2 * sizeof(uint64_t), by_number);
  for (size_t i = 0; i < adds.count; i += 2) {
    bool same =
        (i >= 2 && adds.items[i - 2] == adds.items[i]) || (i + 2 < adds.count && adds.items[i + 2] == adds.items[i]);
    uint32_t op = (uint32_t)adds.items[i + 1];
    s->unique[op] = !same && s->counts[s->op_txn[op]];
    s->ambiguous |= same;
  }
  iso_vec_free(&adds);
  return true;
}

static int by_size(const void *a, const void *b) {
  const iso_set_read *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->size != y->size) return x->size < y->size ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

/* The number of unique elements of a read, and how many of them are in the chain. */
static void count_elements(const iso_sets *s, uint32_t op, uint32_t *size, uint32_t *known) {
  uint32_t count;
  const uint32_t *writers = iso_sets_writers(s, op, &count);
  *size = *known = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (writers[i] >= s->h->ops || !s->unique[writers[i]]) continue;
    (*size)++;
    *known += s->level[writers[i]] != 0;
  }
}

static bool collect_reads(iso_sets *s) {
  const isoproof_history *h = s->h;
  for (uint32_t op = 0; op < h->ops; op++) {
    bool read = h->op_kind[op] == ISOPROOF_OP_READ_SET && h->op_value[op] != ISO_VALUE_NONE;
    if (!read || !s->counts[s->op_txn[op]]) continue;
    iso_set_read one = {h->op_key[op], op, 0, 0};
    uint32_t known;
    count_elements(s, op, &one.size, &known);
    if (!iso_vec_push(&s->reads, one)) return false;
  }
  if (s->reads.count > 1) qsort(s->reads.items, s->reads.count, sizeof *s->reads.items, by_size);
  return true;
}

/* Puts the reads of each key into a chain, smaller ones first; what does not contain the chain so far is left out. */
static void make_chains(iso_sets *s) {
  uint32_t chain = 0; /* elements of the chain so far */
  for (size_t i = 0; i < s->reads.count; i++) {
    iso_set_read *read = &s->reads.items[i];
    uint32_t size, known, count;
    if (i == 0 || s->reads.items[i - 1].key != read->key) chain = 0;
    count_elements(s, read->op, &size, &known);
    if (known != chain) {
      read->level = ISO_OFF_CHAIN;
      continue;
    }
    if (size > chain) s->levels[read->key]++;
    read->level = s->levels[read->key];
    const uint32_t *writers = iso_sets_writers(s, read->op, &count);
    for (uint32_t k = 0; k < count; k++) {
      if (writers[k] >= s->h->ops || !s->unique[writers[k]] || s->level[writers[k]] != 0) continue;
      s->level[writers[k]] = read->level;
    }
    chain = size;
  }
}

isoproof_status iso_sets_make(isoproof_history *history, const uint8_t *counts, isoproof_task *task, iso_sets *s,
                              isoproof_error *error) {
  memset(s, 0, sizeof *s);
  s->h = history;
  s->counts = counts;
  ISO_TRY(iso_history_resolve(history, task, &s->resolution, error));
  ISO_TRY(iso_history_op_txns(history, &s->op_txn, error));
  s->unique = iso_alloc_zero(history->ops, 1);
  s->level = iso_alloc_zero(history->ops, sizeof *s->level);
  s->levels = iso_alloc_zero(history->keys, sizeof *s->levels);
  bool made = s->unique != NULL && s->level != NULL && s->levels != NULL && mark_unique(s) && collect_reads(s);
  if (!made) {
    iso_sets_free(s);
    return iso_fail_memory(error);
  }
  make_chains(s);
  return ISOPROOF_OK;
}

void iso_sets_free(iso_sets *s) {
  free(s->unique);
  free(s->level);
  free(s->levels);
  iso_vec_free(&s->reads);
  memset(s, 0, sizeof *s);
}

/* ---- edges ---- */

/* The unique additions of each key in the order of their levels, those that nobody saw last.  A read of a level saw
 * those up to a place and missed the others, but for its own transaction's.  Over the places of a key stand two trees
 * of auxiliary nodes: an addition leads up to all that contain its place, from which readers are reached; and readers
 * lead down from those that cover what they missed.  No reader passes a node that contains a place of its own, so that
 * a cycle of two transactions never needs one node twice. */
typedef struct places {
  uint32_t *first;    /* keys + 1 */
  uint32_t *addition; /* operations */
  uint32_t *place;    /* by operation: within its key */
  uint32_t *seen;     /* by key: node 0 of its tree upwards, of 2 n; node 0 is not used */
  uint32_t *missed;   /* the same downwards */
} places;

static void places_free(places *p) {
  free(p->first);
  free(p->addition);
  free(p->place);
  free(p->seen);
  free(p->missed);
}

/* Levels count from 1; what nobody saw comes after all of them. */
static uint32_t rank_of(const iso_sets *s, uint32_t op) {
  return s->level[op] > 0 ? s->level[op] : s->levels[s->h->op_key[op]] + 1;
}

static int by_rank(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Sorts the additions of every key by rank. */
static bool sort_additions(const iso_sets *s, places *p) {
  uint32_t keys = s->h->keys;
  uint64_t *ranked = iso_alloc(p->first[keys], sizeof *ranked);
  if (ranked == NULL) return false;
  for (uint32_t i = 0; i < p->first[keys]; i++) ranked[i] = (uint64_t)rank_of(s, p->addition[i]) << 32 | p->addition[i];
  for (uint32_t key = 0; key < keys; key++) {
    uint32_t first = p->first[key], end = p->first[key + 1];
    if (end - first > 1) qsort(ranked + first, end - first, sizeof *ranked, by_rank);
    for (uint32_t i = first; i < end; i++) {
      p->addition[i] = (uint32_t)ranked[i];
      p->place[p->addition[i]] = i - first;
    }
  }
  free(ranked);
  return true;
}

static bool find_places(const iso_sets *s, places *p) {
  const isoproof_history *h = s->h;
  memset(p, 0, sizeof *p);
  p->first = iso_alloc_zero((size_t)h->keys + 1, sizeof *p->first);
  p->place = iso_alloc(h->ops, sizeof *p->place);
  p->seen = iso_alloc(h->keys, sizeof *p->seen);
  p->missed = iso_alloc(h->keys, sizeof *p->missed);
  if (p->first == NULL || p->place == NULL || p->seen == NULL || p->missed == NULL) return false;
  for (uint32_t op = 0; op < h->ops; op++) p->first[h->op_key[op] + 1] += s->unique[op];
  for (uint32_t key = 0; key < h->keys; key++) p->first[key + 1] += p->first[key];
  p->addition = iso_alloc(p->first[h->keys], sizeof *p->addition);
  uint32_t *next = iso_alloc(h->keys, sizeof *next);
  bool made = p->addition != NULL && next != NULL;
  if (made && h->keys > 0) memcpy(next, p->first, h->keys * sizeof *next);
  for (uint32_t op = 0; made && op < h->ops; op++) {
    if (s->unique[op]) p->addition[next[h->op_key[op]]++] = op;
  }
  free(next);
  return made && sort_additions(s, p);
}

/* The trees, and the additions at their leaves. */
static void make_trees(const iso_sets *s, places *p, iso_dependency_list *edges) {
  for (uint32_t key = 0; key < s->h->keys && !edges->failed; key++) {
    uint32_t first = p->first[key], count = p->first[key + 1] - first;
    p->seen[key] = edges->nodes;
    p->missed[key] = p->seen[key] + 2 * count;
    for (uint32_t i = 0; i < 4 * count && !edges->failed; i++) (void)iso_dependency_node(edges);
    for (uint32_t i = 2; i < 2 * count && !edges->failed; i++) {
      iso_dependency_add(edges, p->seen[key] + i, p->seen[key] + i / 2, ISO_PASSAGE);
      iso_dependency_add(edges, p->missed[key] + i / 2, p->missed[key] + i, ISO_PASSAGE);
    }
    for (uint32_t i = 0; i < count && !edges->failed; i++) {
      uint32_t op = p->addition[first + i], txn = s->op_txn[op];
      if (s->level[op] > 0) iso_dependency_add(edges, txn, p->seen[key] + count + i, ISO_DEPENDENCY_WR);
      iso_dependency_add(edges, p->missed[key] + count + i, txn, ISO_PASSAGE);
    }
  }
}

/* A reader, and the places [low, high) of its key, none of them its own: seen, or missed. */
static void add_range(const places *p, uint32_t txn, uint32_t key, uint32_t low, uint32_t high, bool seen,
                      iso_dependency_list *edges) {
  uint32_t count = p->first[key + 1] - p->first[key];
  for (low += count, high += count; low < high; low /= 2, high /= 2) {
    uint32_t nodes[2] = {low % 2 == 1 ? low++ : 0, high % 2 == 1 ? --high : 0};
    for (int i = 0; i < 2; i++) {
      if (nodes[i] == 0) continue;
      if (seen) iso_dependency_add(edges, p->seen[key] + nodes[i], txn, ISO_PASSAGE);
      if (!seen) iso_dependency_add(edges, txn, p->missed[key] + nodes[i], ISO_DEPENDENCY_RW);
    }
  }
}

typedef struct own_places {
  uint32_t *items;
  size_t count, capacity;
} own_places;

static int by_place(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The places of a key that a transaction added itself, ascending. */
static bool find_own(const iso_sets *s, const places *p, uint32_t txn, uint32_t key, own_places *own) {
  const isoproof_history *h = s->h;
  own->count = 0;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (!s->unique[op] || h->op_key[op] != key) continue;
    if (!iso_vec_push(own, p->place[op])) return false;
  }
  if (own->count > 1) qsort(own->items, own->count, sizeof *own->items, by_place);
  return true;
}

/* The same for places [low, high) but for those of its own. */
static void add_places(const places *p, uint32_t txn, uint32_t key, uint32_t low, uint32_t high, bool seen,
                       const own_places *own, iso_dependency_list *edges) {
  for (size_t i = 0; i < own->count && own->items[i] < high; i++) {
    if (own->items[i] < low) continue;
    add_range(p, txn, key, low, own->items[i], seen, edges);
    low = own->items[i] + 1;
  }
  add_range(p, txn, key, low, high, seen, edges);
}

/* How many places of a key a level shows. */
static uint32_t shown_places(const iso_sets *s, const places *p, uint32_t key, uint32_t level) {
  uint32_t low = p->first[key], high = p->first[key + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (rank_of(s, p->addition[middle]) <= level) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - p->first[key];
}

/* A read that does not fit: every element of the key by itself. */
static bool odd_read_edges(const iso_sets *s, const iso_set_read *read, uint8_t *shown, iso_dependency_list *edges) {
  uint32_t count, txn = s->op_txn[read->op];
  const uint32_t *writers = iso_sets_writers(s, read->op, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (writers[i] >= s->h->ops || !s->unique[writers[i]]) continue;
    shown[writers[i]] = 1;
    iso_dependency_add(edges, s->op_txn[writers[i]], txn, ISO_DEPENDENCY_WR);
  }
  for (uint32_t op = 0; op < s->h->ops; op++) {
    bool missed = s->unique[op] && s->h->op_key[op] == read->key && !shown[op];
    if (missed) iso_dependency_add(edges, txn, s->op_txn[op], ISO_DEPENDENCY_RW);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (writers[i] < s->h->ops) shown[writers[i]] = 0;
  }
  return !edges->failed;
}

static isoproof_status read_edges(const iso_sets *s, const places *p, uint8_t *shown, own_places *own,
                                  isoproof_task *task, iso_dependency_list *edges, isoproof_error *error) {
  for (size_t i = 0; i < s->reads.count; i++) {
    const iso_set_read *read = &s->reads.items[i];
    uint32_t txn = s->op_txn[read->op], key = read->key;
    if (read->level == ISO_OFF_CHAIN) {
      ISO_TRY(iso_task_check(task, error));
      if (!odd_read_edges(s, read, shown, edges)) return iso_fail_memory(error);
      continue;
    }
    uint32_t end = shown_places(s, p, key, read->level), all = p->first[key + 1] - p->first[key];
    if (!find_own(s, p, txn, key, own)) return iso_fail_memory(error);
    add_places(p, txn, key, 0, end, true, own, edges);
    add_places(p, txn, key, end, all, false, own, edges);
  }
  return edges->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

isoproof_status iso_sets_edges(const iso_sets *s, isoproof_task *task, iso_dependency_list *edges,
                               isoproof_error *error) {
  places p;
  own_places own = {NULL, 0, 0};
  uint8_t *shown = iso_alloc_zero(s->h->ops, 1);
  isoproof_status status = find_places(s, &p) && shown != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    make_trees(s, &p, edges);
    status = edges->failed ? iso_fail_memory(error) : read_edges(s, &p, shown, &own, task, edges, error);
  }
  places_free(&p);
  iso_vec_free(&own);
  free(shown);
  return status;
}
