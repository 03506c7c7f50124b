/* Dependencies from the sums that reads of counters show. */
#include "elle/infer/counters.h"

#include <stdlib.h>
#include <string.h>

typedef ISO_VEC(uint32_t) numbers;

bool iso_counter_number(const isoproof_history *h, uint32_t op, int64_t *number) {
  iso_value value = h->op_value[op];
  *number = 0;
  if (value == ISO_VALUE_NIL) return true;
  return value != ISO_VALUE_NONE && iso_pool_integer(&h->pool, value, number);
}

/* Adds up what may have been added; an aborted increment counts for nothing unless it takes away. */
static void add_up(iso_counters *c) {
  const isoproof_history *h = c->h;
  for (uint32_t t = 0; t < h->txns; t++) {
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) {
      int64_t number;
      uint32_t key = h->op_key[op];
      if (h->op_kind[op] == ISOPROOF_OP_WRITE) c->shrinks[key] = 1;
      if (h->op_kind[op] != ISOPROOF_OP_INCREMENT) continue;
      if (!iso_counter_number(h, op, &number) || number < 0) c->shrinks[key] = 1;
      if (h->txn_status[t] == ISOPROOF_TXN_ABORTED) continue;
      if (__builtin_add_overflow(c->total[key], number, &c->total[key])) c->shrinks[key] = 1;
    }
  }
}

typedef struct own {
  uint32_t txn;
  bool read;
  int64_t added;
} own;

static bool collect_reads(iso_counters *c, own *owns) {
  const isoproof_history *h = c->h;
  for (uint32_t t = 0; t < h->txns; t++) {
    if (!c->counts[t]) continue;
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) {
      int64_t number;
      own *o = &owns[h->op_key[op]];
      bool reads = h->op_kind[op] == ISOPROOF_OP_READ_COUNTER, adds = h->op_kind[op] == ISOPROOF_OP_INCREMENT;
      if ((!reads && !adds) || !iso_counter_number(h, op, &number)) continue;
      if (o->txn != t) *o = (own){t, false, 0};
      if (adds) {
        if (__builtin_add_overflow(o->added, number, &o->added)) c->shrinks[h->op_key[op]] = 1;
      } else if (!o->read) {
        iso_counter_read read = {h->op_key[op], t, op, 0};
        o->read = true;
        if (__builtin_sub_overflow(number, o->added, &read.value)) c->shrinks[h->op_key[op]] = 1;
        if (!iso_vec_push(&c->reads, read)) return false;
      }
    }
  }
  return true;
}

static int by_value(const void *a, const void *b) {
  const iso_counter_read *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

isoproof_status iso_counters_make(const isoproof_history *history, const uint8_t *counts, iso_counters *c,
                                  isoproof_error *error) {
  memset(c, 0, sizeof *c);
  c->h = history;
  c->counts = counts;
  c->shrinks = iso_alloc_zero(history->keys, 1);
  c->total = iso_alloc_zero(history->keys, sizeof *c->total);
  own *owns = iso_alloc(history->keys, sizeof *owns);
  bool made = c->shrinks != NULL && c->total != NULL && owns != NULL;
  if (made) {
    for (uint32_t k = 0; k < history->keys; k++) owns[k] = (own){UINT32_MAX, false, 0};
    add_up(c);
    made = collect_reads(c, owns);
  }
  free(owns);
  if (!made) {
    iso_counters_free(c);
    return iso_fail_memory(error);
  }
  if (c->reads.count > 1) qsort(c->reads.items, c->reads.count, sizeof *c->reads.items, by_value);
  return ISOPROOF_OK;
}

void iso_counters_free(iso_counters *c) {
  iso_vec_free(&c->reads);
  free(c->shrinks);
  free(c->total);
  memset(c, 0, sizeof *c);
}

/* The readers of one value before those of the next larger one, by way of somebody who added: an anti-dependency on
 * that one, who then was read from. */
static void level_edges(const iso_counters *c, size_t first, size_t end, iso_dependency_list *edges) {
  uint32_t between = 0;
  bool has_between = false;
  for (size_t i = first; i < end;) {
    size_t next = i + 1;
    while (next < end && c->reads.items[next].value == c->reads.items[i].value) next++;
    for (size_t k = i; has_between && k < next; k++)
      iso_dependency_add(edges, between, c->reads.items[k].txn, ISO_DEPENDENCY_WR);
    if (next < end) {
      uint32_t node = iso_dependency_node(edges);
      if (has_between) iso_dependency_add(edges, between, node, ISO_PASSAGE);
      for (size_t k = i; k < next; k++) iso_dependency_add(edges, c->reads.items[k].txn, node, ISO_DEPENDENCY_RW);
      between = node;
      has_between = true;
    }
    i = next;
  }
}

/* Who added something to a key: key << 32 | transaction, sorted, each once. */
static bool collect_adders(const iso_counters *c, uint64_t **out, size_t *count) {
  const isoproof_history *h = c->h;
  ISO_VEC(uint64_t) adders = {NULL, 0, 0};
  for (uint32_t t = 0; t < h->txns; t++) {
    if (!c->counts[t]) continue;
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) {
      int64_t number;
      bool adds = h->op_kind[op] == ISOPROOF_OP_INCREMENT && iso_counter_number(h, op, &number) && number > 0;
      if (adds && !iso_vec_push(&adders, (uint64_t)h->op_key[op] << 32 | t)) {
        iso_vec_free(&adders);
        return false;
      }
    }
  }
  *out = adders.items;
  *count = adders.count;
  return true;
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static bool take_reads(const iso_counters *c, size_t first, size_t end, int64_t value, numbers *out) {
  out->count = 0;
  for (size_t i = first; i < end; i++) {
    if (c->reads.items[i].value == value && !iso_vec_push(out, c->reads.items[i].txn)) return false;
  }
  return true;
}

/* Who saw nothing before all adders, all adders before who saw everything. */
static bool extreme_edges(const iso_counters *c, size_t first, size_t end, const numbers *adders, numbers *readers,
                          iso_dependency_list *edges) {
  uint32_t key = c->reads.items[first].key;
  if (!take_reads(c, first, end, 0, readers)) return false;
  iso_dependency_add_bipartite(edges, readers->items, readers->count, adders->items, adders->count, ISO_DEPENDENCY_RW);
  if (c->total[key] == 0) return true;
  /* A reader that had added before saw the rest: what it added itself was taken away. */
  if (!take_reads(c, first, end, c->total[key], readers)) return false;
  iso_dependency_add_bipartite(edges, adders->items, adders->count, readers->items, readers->count, ISO_DEPENDENCY_WR);
  return true;
}

isoproof_status iso_counters_edges(const iso_counters *c, iso_dependency_list *edges, isoproof_error *error) {
  uint64_t *all = NULL;
  size_t all_count = 0, at = 0;
  numbers adders = {NULL, 0, 0}, readers = {NULL, 0, 0};
  bool made = collect_adders(c, &all, &all_count);
  if (made && all_count > 1) qsort(all, all_count, sizeof *all, by_number);
  for (size_t i = 0; made && i < c->reads.count;) {
    uint32_t key = c->reads.items[i].key;
    size_t end = i + 1;
    while (end < c->reads.count && c->reads.items[end].key == key) end++;
    adders.count = 0;
    while (at < all_count && all[at] >> 32 < key) at++;
    for (; made && at < all_count && all[at] >> 32 == key; at++) {
      bool again = adders.count > 0 && adders.items[adders.count - 1] == (uint32_t)all[at];
      if (!again) made = iso_vec_push(&adders, (uint32_t)all[at]);
    }
    if (made && !c->shrinks[key]) {
      level_edges(c, i, end, edges);
      made = extreme_edges(c, i, end, &adders, &readers, edges);
    }
    i = end;
  }
  free(all);
  iso_vec_free(&adders);
  iso_vec_free(&readers);
  return made && !edges->failed ? ISOPROOF_OK : iso_fail_memory(error);
}
