#include "infer/sets.h"

#include <stdlib.h>
#include <string.h>

#include "history/resolve.h"

const uint32_t *iso_sets_writers(const iso_sets *s, uint32_t op, uint32_t *count) {
  const isolde_history *h = s->h;
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
  const isolde_history *h = s->h;
  ISO_VEC(uint64_t) adds = {NULL, 0, 0}; /* pairs: key and value, operation */
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] != ISOLDE_OP_ADD) continue;
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
  const isolde_history *h = s->h;
  for (uint32_t op = 0; op < h->ops; op++) {
    bool read = h->op_kind[op] == ISOLDE_OP_READ_SET && h->op_value[op] != ISO_VALUE_NONE;
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

isolde_status iso_sets_make(isolde_history *history, const uint8_t *counts, isolde_task *task, iso_sets *s,
                            isolde_error *error) {
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
  return ISOLDE_OK;
}

void iso_sets_free(iso_sets *s) {
  free(s->unique);
  free(s->level);
  free(s->levels);
  iso_vec_free(&s->reads);
  memset(s, 0, sizeof *s);
}

/* ---- edges ---- */

/* The nodes of a key: seen[i] is after everything that level i shows, missed[i] before everything it does not. */
typedef struct chain {
  uint32_t *first; /* by key: seen[0]; missed[0] comes levels + 1 later */
} chain;

static uint32_t seen_node(const iso_sets *s, const chain *c, uint32_t key, uint32_t level) {
  (void)s;
  return c->first[key] + level;
}

static uint32_t missed_node(const iso_sets *s, const chain *c, uint32_t key, uint32_t level) {
  return c->first[key] + s->levels[key] + 1 + level;
}

static void make_nodes(const iso_sets *s, chain *c, iso_deps_list *edges) {
  for (uint32_t k = 0; k < s->h->keys && !edges->failed; k++) {
    c->first[k] = edges->nodes;
    for (uint32_t i = 0; i < 2 * (s->levels[k] + 1); i++) (void)iso_deps_node(edges);
    for (uint32_t i = 0; i < s->levels[k] && !edges->failed; i++) {
      iso_deps_add(edges, seen_node(s, c, k, i), seen_node(s, c, k, i + 1), ISO_PASS);
      iso_deps_add(edges, missed_node(s, c, k, i), missed_node(s, c, k, i + 1), ISO_PASS);
    }
  }
}

/* Additions: of level i before what shows level i; after what shows less. */
static void addition_edges(const iso_sets *s, const chain *c, iso_deps_list *edges) {
  for (uint32_t op = 0; op < s->h->ops; op++) {
    if (!s->unique[op]) continue;
    uint32_t key = s->h->op_key[op], level = s->level[op], txn = s->op_txn[op];
    uint32_t last = s->levels[key];
    if (level > 0) iso_deps_add(edges, txn, seen_node(s, c, key, level), ISO_DEP_WR);
    iso_deps_add(edges, missed_node(s, c, key, level > 0 ? level - 1 : last), txn, ISO_PASS);
  }
}

/* A read that does not fit: every element of the key by itself. */
static bool odd_read_edges(const iso_sets *s, const iso_set_read *read, uint8_t *shown, iso_deps_list *edges) {
  uint32_t count, txn = s->op_txn[read->op];
  const uint32_t *writers = iso_sets_writers(s, read->op, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (writers[i] >= s->h->ops || !s->unique[writers[i]]) continue;
    shown[writers[i]] = 1;
    iso_deps_add(edges, s->op_txn[writers[i]], txn, ISO_DEP_WR);
  }
  for (uint32_t op = 0; op < s->h->ops; op++) {
    bool missed = s->unique[op] && s->h->op_key[op] == read->key && !shown[op];
    if (missed) iso_deps_add(edges, txn, s->op_txn[op], ISO_DEP_RW);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (writers[i] < s->h->ops) shown[writers[i]] = 0;
  }
  return !edges->failed;
}

static isolde_status read_edges(const iso_sets *s, const chain *c, uint8_t *shown, isolde_task *task,
                                iso_deps_list *edges, isolde_error *error) {
  for (size_t i = 0; i < s->reads.count; i++) {
    const iso_set_read *read = &s->reads.items[i];
    uint32_t txn = s->op_txn[read->op];
    if (read->level == ISO_OFF_CHAIN) {
      ISO_TRY(iso_task_check(task, error));
      if (!odd_read_edges(s, read, shown, edges)) return iso_fail_memory(error);
      continue;
    }
    iso_deps_add(edges, seen_node(s, c, read->key, read->level), txn, ISO_PASS);
    iso_deps_add(edges, txn, missed_node(s, c, read->key, read->level), ISO_DEP_RW);
  }
  return ISOLDE_OK;
}

isolde_status iso_sets_edges(const iso_sets *s, isolde_task *task, iso_deps_list *edges, isolde_error *error) {
  chain c = {iso_alloc(s->h->keys, sizeof *c.first)};
  uint8_t *shown = iso_alloc_zero(s->h->ops, 1);
  isolde_status status = c.first != NULL && shown != NULL ? ISOLDE_OK : iso_fail_memory(error);
  if (status == ISOLDE_OK) {
    make_nodes(s, &c, edges);
    if (edges->failed) status = iso_fail_memory(error);
  }
  if (status == ISOLDE_OK) {
    addition_edges(s, &c, edges);
    status = read_edges(s, &c, shown, task, edges, error);
  }
  free(c.first);
  free(shown);
  return status;
}
