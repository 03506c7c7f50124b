/* The versions of each key by value, and what their order says of those who wrote and read them. */
#include "check/order/value_hints.h"

#include <stdlib.h>

/* A version; those of a key stand together, by value. */
typedef struct {
  int64_t value;
  uint32_t txn, slot; /* who wrote it, and its place in view->write_key; NO_SLOT where nobody can read it */
} version;

#define NO_SLOT UINT32_MAX

typedef struct {
  const iso_event_graph *e;
  const iso_view *v;
  uint32_t *last_op;   /* by slot: the write */
  size_t *first, *end; /* by key: its versions */
  version *versions;
  uint32_t *next;  /* by slot: the transaction that wrote the next larger value that was written once */
  uint32_t *start; /* by key: the one that wrote the smallest */
  iso_hints *hints;
  bool failed;
} lister;

static void hint(lister *l, uint32_t from, uint32_t to) {
  if (!iso_vec_push(&l->hints->items, ((iso_hint){from, to}))) l->failed = true;
}

static int by_value(const void *a, const void *b) {
  const version *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->slot > y->slot) - (x->slot < y->slot);
}

/* The last write of a transaction to a key is the version that it leaves. */
static void read_values(lister *l) {
  const iso_view *v = l->v;
  const isoproof_history *h = v->h;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
      if (h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
      l->first[h->op_key[op] + 2]++;
      if (v->counts[txn]) l->last_op[iso_view_slot(v, txn, h->op_key[op])] = op;
    }
  }
}

/* All writes of numbers count, as one that nobody can see may be what makes a value one that was written twice. */
static void sort_versions(lister *l) {
  const iso_view *v = l->v;
  const isoproof_history *h = v->h;
  uint32_t keys = h->keys;
  size_t *next = l->first + 1;
  for (uint32_t key = 0; key < keys; key++) next[key + 1] += next[key];
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
      version one = {.txn = txn, .slot = NO_SLOT};
      if (h->op_kind[op] != ISOPROOF_OP_WRITE || !iso_pool_integer(&h->pool, h->op_value[op], &one.value)) continue;
      uint32_t slot = v->counts[txn] ? iso_view_slot(v, txn, h->op_key[op]) : NO_SLOT;
      if (slot != NO_SLOT && l->last_op[slot] == op) one.slot = slot;
      l->versions[next[h->op_key[op]]++] = one;
    }
  }
  for (uint32_t key = 0; key < keys; key++) {
    l->end[key] = next[key];
    size_t count = l->end[key] - l->first[key];
    if (count > 1) qsort(l->versions + l->first[key], count, sizeof *l->versions, by_value);
  }
}

/* From whoever wrote a value that was written once to all who wrote the values up to the next such one. */
static void link_versions(lister *l, uint32_t key) {
  const iso_event_graph *e = l->e;
  uint32_t last = ISO_NO_TXN, last_slot = 0;
  for (size_t i = l->first[key], end; i < l->end[key]; i = end) {
    for (end = i + 1; end < l->end[key] && l->versions[end].value == l->versions[i].value;) end++;
    for (size_t k = i; k < end; k++) {
      uint32_t txn = l->versions[k].txn;
      if (l->versions[k].slot == NO_SLOT) continue;
      if (last != ISO_NO_TXN && last != txn) hint(l, iso_event_commit(e, last), iso_event_version(e, txn));
    }
    if (end > i + 1 || l->versions[i].slot == NO_SLOT) continue;
    if (last == ISO_NO_TXN) l->start[key] = l->versions[i].txn;
    if (last != ISO_NO_TXN) l->next[last_slot] = l->versions[i].txn;
    last = l->versions[i].txn;
    last_slot = l->versions[i].slot;
  }
}

/* Whoever reads a version comes before the next one is written. */
static void link_readers(lister *l) {
  const iso_view *v = l->v;
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      const iso_external_read *read = &v->reads[i];
      bool initial = read->from == ISO_INITIAL;
      uint32_t next = initial ? l->start[read->key] : l->next[iso_view_slot(v, read->from, read->key)];
      if (next == ISO_NO_TXN || next == txn) continue;
      hint(l, iso_event_begin(l->e, txn), iso_event_commit(l->e, next));
    }
  }
}

/* The transaction that wrote the largest of the values below that were written once; ISO_NO_TXN where there is none. */
static uint32_t writer_below(const lister *l, uint32_t key, int64_t value) {
  enum { FAR = 64 };
  size_t low = l->first[key], high = l->end[key];
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (l->versions[middle].value < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const version *all = l->versions + l->first[key];
  size_t count = l->end[key] - l->first[key];
  for (size_t i = low - l->first[key], steps = 0; i-- > 0 && steps < FAR; steps++) {
    bool once = (i == 0 || all[i - 1].value != all[i].value) && (i + 1 == count || all[i + 1].value != all[i].value);
    if (once && all[i].slot != NO_SLOT) return all[i].txn;
  }
  return ISO_NO_TXN;
}

/* Reads of which it is not known what they observed come after the next smaller value, too. */
static void link_open_reads(lister *l) {
  const iso_view *v = l->v;
  const isoproof_history *h = v->h;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    if (!v->counts[txn]) continue;
    for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
      int64_t value;
      if (h->op_kind[op] != ISOPROOF_OP_READ || v->resolution->writer[op] != ISO_NO_OP) continue;
      if (!iso_pool_integer(&h->pool, h->op_value[op], &value)) continue;
      uint32_t from = writer_below(l, h->op_key[op], value);
      if (from != ISO_NO_TXN && from != txn) hint(l, iso_event_commit(l->e, from), iso_event_begin(l->e, txn));
    }
  }
}

static bool allocate(lister *l) {
  const iso_view *v = l->v;
  const isoproof_history *h = v->h;
  size_t slots = v->write_first[h->txns], keys = h->keys, writes = 0;
  for (uint32_t op = 0; op < h->ops; op++) writes += h->op_kind[op] == ISOPROOF_OP_WRITE;
  l->last_op = iso_alloc(slots, sizeof *l->last_op);
  l->first = iso_alloc_zero(keys + 2, sizeof *l->first);
  l->end = iso_alloc(keys, sizeof *l->end);
  l->versions = iso_alloc(writes, sizeof *l->versions);
  l->next = iso_alloc(slots, sizeof *l->next);
  l->start = iso_alloc(keys, sizeof *l->start);
  bool made = l->last_op != NULL && l->first != NULL && l->end != NULL && l->versions != NULL && l->next != NULL &&
              l->start != NULL;
  for (size_t i = 0; made && i < slots; i++) l->next[i] = ISO_NO_TXN;
  for (size_t i = 0; made && i < keys; i++) l->start[i] = ISO_NO_TXN;
  return made;
}

static void lister_free(lister *l) {
  free(l->last_op);
  free(l->first);
  free(l->end);
  free(l->versions);
  free(l->next);
  free(l->start);
}

isoproof_status iso_hints_list(const iso_event_graph *e, iso_hints *hints, isoproof_task *task, isoproof_error *error) {
  lister l = {.e = e, .v = e->view, .hints = hints};
  bool made = allocate(&l);
  if (made) {
    read_values(&l);
    sort_versions(&l);
    for (uint32_t key = 0; key < l.v->h->keys; key++) link_versions(&l, key);
    link_open_reads(&l);
    hints->versions = hints->items.count;
    link_readers(&l);
  }
  lister_free(&l);
  return made && !l.failed ? iso_task_check(task, error) : iso_fail_memory(error);
}

void iso_hints_free(iso_hints *hints) { iso_vec_free(&hints->items); }
