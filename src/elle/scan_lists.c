/* Non-cycle anomalies of lists. */
#include "elle/scan_lists.h"

#include <stdlib.h>
#include <string.h>

/* What a transaction knows of a key on its way through its operations. */
typedef struct state {
  uint32_t txn;     /* whose state it is */
  uint32_t read;    /* the latest read; ISO_NO_OP none */
  uint32_t append;  /* the latest append since; ISO_NO_OP none */
  uint32_t appends; /* how many since that read */
  uint32_t later;   /* the smallest place of the appends that are still to come */
  uint32_t later_op;
} state;

/* A read of a list by somebody who appends to it afterwards. */
typedef struct update {
  uint32_t op, key, length;
  const iso_value *list;
} update;

typedef struct scan {
  const iso_lists *l;
  iso_noncycle_anomalies *found;
  state *states;      /* by key */
  uint32_t *previous; /* by operation of the transaction: the append to the key before it */
  size_t previous_capacity;
  uint8_t *replaced;   /* by operation: an append with another one to its key after it in its transaction */
  uint32_t *first_odd; /* by key, where there are odd lists: the first read of another order */
  ISO_VEC(update) updates;
} scan;

static void add(const scan *s, iso_anomaly anomaly, uint64_t count, uint32_t op, uint32_t other, uint32_t element) {
  iso_noncycle_anomalies_add(s->found, anomaly, count,
                             (iso_noncycle_anomaly){(uint32_t)anomaly, op, other, s->l->h->op_key[op], element});
}

static state *state_of(scan *s, uint32_t txn, uint32_t key) {
  state *st = &s->states[key];
  if (st->txn != txn) *st = (state){txn, ISO_NO_OP, ISO_NO_OP, 0, UINT32_MAX, ISO_NO_OP};
  return st;
}

/* ---- within a transaction ---- */

static const iso_value *elements_of(const iso_lists *l, uint32_t op, uint32_t *count) {
  *count = 0;
  return iso_history_list(l->h, op, count);
}

/* Whether a read shows what the transaction must expect: its earlier read and its own appends since, or at least its
 * appends at the end. */
static bool is_expected(scan *s, const state *st, uint32_t first_op, uint32_t op) {
  const isoproof_history *h = s->l->h;
  uint32_t now, before = 0;
  const iso_value *list = elements_of(s->l, op, &now), *old = NULL;
  if (now < st->appends) return false;
  if (st->read != ISO_NO_OP) {
    old = elements_of(s->l, st->read, &before);
    if (now != before + st->appends) return false;
    /* Prefixes of one stored list need no comparison. */
    if (before > 0 && old != list && memcmp(old, list, before * sizeof *old) != 0) return false;
  }
  uint32_t own = st->append;
  for (uint32_t i = 0; i < st->appends; i++) {
    if (list[now - 1 - i] != h->op_value[own]) return false;
    own = s->previous[own - first_op];
  }
  return true;
}

/* The own append that comes only after the read and is in it; ISO_NO_OP when there is none. */
static uint32_t future_append(const scan *s, const state *st, uint32_t op) {
  const iso_lists *l = s->l;
  uint32_t elements, count, txn = l->op_txn[op];
  if (st->later_op == ISO_NO_OP) return ISO_NO_OP;
  if (iso_lists_read(l, op, &elements)) {
    bool seen = st->later < iso_lists_prefix(l, l->h->op_key[op], elements).counted;
    return seen ? st->later_op : ISO_NO_OP;
  }
  const uint32_t *writers = iso_lists_appends(l, op, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (writers[i] < l->h->ops && writers[i] > op && l->op_txn[writers[i]] == txn) return writers[i];
  }
  return ISO_NO_OP;
}

static void scan_read(scan *s, uint32_t txn, uint32_t first_op, uint32_t op, uint32_t future) {
  state *st = state_of(s, txn, s->l->h->op_key[op]);
  if (future != ISO_NO_OP) {
    add(s, ISO_ANOMALY_FUTURE_READ, 1, op, future, 0);
  } else if ((st->read != ISO_NO_OP || st->appends > 0) && !is_expected(s, st, first_op, op)) {
    add(s, ISO_ANOMALY_INTERNAL, 1, op, st->append != ISO_NO_OP ? st->append : st->read, 0);
  }
  st->read = op;
  st->append = ISO_NO_OP;
  st->appends = 0;
}

/* Backwards: what is still to come; forwards: what is known.  The first read of a key before its first append is a read
 * of the version that the transaction updates. */
static bool scan_txn(scan *s, uint32_t txn) {
  const iso_lists *l = s->l;
  const isoproof_history *h = l->h;
  uint32_t first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  if (end - first > s->previous_capacity) {
    size_t wanted = (size_t)(end - first) * 2;
    uint32_t *grown = iso_realloc(s->previous, wanted, sizeof *grown);
    if (grown == NULL) return false;
    s->previous = grown;
    s->previous_capacity = wanted;
  }
  for (uint32_t op = end; op-- > first;) {
    s->previous[op - first] = ISO_NO_OP;
    if (h->op_kind[op] == ISOPROOF_OP_READ_LIST && h->op_value[op] != ISO_VALUE_NONE) {
      s->previous[op - first] = future_append(s, state_of(s, txn, h->op_key[op]), op);
    } else if (h->op_kind[op] == ISOPROOF_OP_APPEND) {
      state *st = state_of(s, txn, h->op_key[op]);
      s->replaced[op] = st->later_op != ISO_NO_OP;
      uint32_t place = l->place[op] != 0 ? l->place[op] - 1 : UINT32_MAX - 1;
      if (place < st->later || st->later_op == ISO_NO_OP) st->later = place, st->later_op = op;
    }
  }
  if (!l->counts[txn]) return true;
  for (uint32_t op = first; op < end; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_READ_LIST && h->op_value[op] != ISO_VALUE_NONE) {
      state *st = state_of(s, txn, h->op_key[op]);
      bool first_read = st->read == ISO_NO_OP && st->appends == 0;
      if (first_read && st->later_op != ISO_NO_OP) {
        update one = {op, h->op_key[op], 0, NULL};
        one.list = elements_of(l, op, &one.length);
        if (!iso_vec_push(&s->updates, one)) return false;
      }
      scan_read(s, txn, first, op, s->previous[op - first]);
    } else if (h->op_kind[op] == ISOPROOF_OP_APPEND) {
      state *st = state_of(s, txn, h->op_key[op]);
      s->previous[op - first] = st->append;
      st->append = op;
      st->appends++;
    }
  }
  return true;
}

/* ---- between a read and what it saw ---- */

static int by_value(const void *a, const void *b) {
  iso_value x = *(const iso_value *)a, y = *(const iso_value *)b;
  return (x > y) - (x < y);
}

/* Whether a list of its own shows an element twice. */
static bool repeats(const iso_value *list, uint32_t count, bool *failed) {
  if (count < 2) return false;
  iso_value *sorted = iso_alloc(count, sizeof *sorted);
  if (sorted == NULL) {
    *failed = true;
    return false;
  }
  memcpy(sorted, list, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_value);
  bool found = false;
  for (uint32_t i = 1; i < count && !found; i++) found = sorted[i] == sorted[i - 1];
  free(sorted);
  return found;
}

/* A read of another order: every element by itself. */
static void judge_other_order(scan *s, uint32_t op) {
  const iso_lists *l = s->l;
  const isoproof_history *h = l->h;
  uint32_t count;
  const iso_value *list = elements_of(l, op, &count);
  const uint32_t *writers = iso_lists_appends(l, op, &count);
  if (list == NULL || writers == NULL) return;
  uint32_t longest = s->first_odd != NULL ? s->first_odd[h->op_key[op]] : ISO_NO_OP;
  add(s, ISO_ANOMALY_INCOMPATIBLE_ORDER, 1, op, longest, 0);
  for (uint32_t i = 0; i < count; i++) {
    if (writers[i] >= h->ops) {
      add(s, ISO_ANOMALY_GARBAGE_READ, 1, op, ISO_NO_OP, i);
    } else if (h->txn_status[l->op_txn[writers[i]]] == ISOPROOF_TXN_ABORTED) {
      add(s, ISO_ANOMALY_G1A, 1, op, writers[i], i);
    }
  }
  if (repeats(list, count, &s->found->failed)) add(s, ISO_ANOMALY_DUPLICATE_ELEMENTS, 1, op, ISO_NO_OP, 0);
  uint32_t last = count > 0 ? writers[count - 1] : ISO_NO_OP;
  bool intermediate = last < h->ops && l->op_txn[last] != l->op_txn[op] && s->replaced[last];
  if (intermediate && l->counts[l->op_txn[last]]) add(s, ISO_ANOMALY_G1B, 1, op, last, count - 1);
}

/* The first element of the order of a key that makes `which` of its prefixes positive; the last one does. */
static uint32_t first_such(const iso_lists *l, uint32_t key, uint32_t elements, size_t which) {
  uint32_t low = 0, high = elements; /* not yet at low, already at high */
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2, number;
    iso_list_prefix prefix = iso_lists_prefix(l, key, middle);
    memcpy(&number, (const char *)&prefix + which, sizeof number);
    if (number > 0) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return high - 1;
}

static void judge_read(scan *s, uint32_t op) {
  const iso_lists *l = s->l;
  uint32_t elements, key = l->h->op_key[op];
  if (!iso_lists_read(l, op, &elements)) {
    judge_other_order(s, op);
    return;
  }
  if (elements == 0) return;
  iso_list_prefix seen = iso_lists_prefix(l, key, elements), but_last = iso_lists_prefix(l, key, elements - 1);
  const iso_value *values;
  const uint32_t *writers = iso_lists_order(l, key, &values);
  if (seen.aborted > 0) {
    uint32_t i = first_such(l, key, elements, offsetof(iso_list_prefix, aborted));
    add(s, ISO_ANOMALY_G1A, seen.aborted, op, writers[i], i);
  }
  if (seen.garbage > 0) {
    add(s, ISO_ANOMALY_GARBAGE_READ, seen.garbage, op, ISO_NO_OP,
        first_such(l, key, elements, offsetof(iso_list_prefix, garbage)));
  }
  if (seen.repeated > 0) {
    uint32_t i = first_such(l, key, elements, offsetof(iso_list_prefix, repeated));
    add(s, ISO_ANOMALY_DUPLICATE_ELEMENTS, 1, op, writers[i], i);
  } else if (seen.garbage > 1 && repeats(values, elements, &s->found->failed)) {
    add(s, ISO_ANOMALY_DUPLICATE_ELEMENTS, 1, op, ISO_NO_OP, 0);
  }
  uint32_t last = writers[elements - 1];
  if (seen.counted == but_last.counted || !s->replaced[last] || l->op_txn[last] == l->op_txn[op]) return;
  add(s, ISO_ANOMALY_G1B, 1, op, last, elements - 1);
}

/* ---- between the writes of a key ---- */

static void scan_dirty_updates(scan *s) {
  const iso_lists *l = s->l;
  const isoproof_history *h = l->h;
  for (uint32_t k = 0; k < h->keys; k++) {
    if (l->prefix_first[k] == ISO_ALL_COUNTED) continue;
    const iso_value *values;
    const uint32_t *writers = iso_lists_order(l, k, &values);
    uint32_t aborted = ISO_NO_OP;
    for (uint32_t i = 0; i < l->length[k]; i++) {
      if (writers[i] >= h->ops) continue;
      uint8_t status = h->txn_status[l->op_txn[writers[i]]];
      if (status == ISOPROOF_TXN_ABORTED) aborted = writers[i];
      if (status != ISOPROOF_TXN_COMMITTED || aborted == ISO_NO_OP) continue;
      add(s, ISO_ANOMALY_DIRTY_UPDATE, 1, writers[i], aborted, i);
      aborted = ISO_NO_OP;
    }
  }
}

static int by_version(const void *a, const void *b) {
  const update *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->length != y->length) return x->length < y->length ? -1 : 1;
  int order = x->length == 0 || x->list == y->list ? 0 : memcmp(x->list, y->list, x->length * sizeof *x->list);
  if (order != 0) return order;
  return (x->op > y->op) - (x->op < y->op);
}

static bool same_version(const update *x, const update *y) {
  if (x->key != y->key || x->length != y->length) return false;
  return x->length == 0 || x->list == y->list || memcmp(x->list, y->list, x->length * sizeof *x->list) == 0;
}

/* Each update of a version but the first one. */
static void scan_lost_updates(scan *s) {
  if (s->updates.count > 1) qsort(s->updates.items, s->updates.count, sizeof *s->updates.items, by_version);
  for (size_t i = 0; i < s->updates.count;) {
    const update *first = &s->updates.items[i];
    size_t end = i + 1;
    for (; end < s->updates.count && same_version(first, &s->updates.items[end]); end++) {
      add(s, ISO_ANOMALY_LOST_UPDATE, 1, first->op, s->updates.items[end].op, 0);
    }
    i = end;
  }
}

/* A read of the order that is taken for the order of each key, to set beside those of another one. */
static bool find_first_reads(scan *s) {
  const iso_lists *l = s->l;
  if (l->odd_order == NULL) return true;
  s->first_odd = iso_alloc(l->h->keys, sizeof *s->first_odd);
  if (s->first_odd == NULL) return false;
  memset(s->first_odd, 0xff, (size_t)l->h->keys * sizeof *s->first_odd);
  for (uint32_t op = 0; op < l->h->ops; op++) {
    uint32_t elements;
    if (l->h->op_kind[op] != ISOPROOF_OP_READ_LIST || !l->counts[l->op_txn[op]]) continue;
    bool longest = iso_lists_read(l, op, &elements) && elements == l->length[l->h->op_key[op]];
    if (longest && s->first_odd[l->h->op_key[op]] == ISO_NO_OP) s->first_odd[l->h->op_key[op]] = op;
  }
  return true;
}

static isoproof_status run(scan *s, isoproof_task *task, isoproof_error *error) {
  const isoproof_history *h = s->l->h;
  s->states = iso_alloc(h->keys, sizeof *s->states);
  s->replaced = iso_alloc_zero(h->ops, 1);
  s->previous_capacity = 64;
  s->previous = iso_alloc(s->previous_capacity, sizeof *s->previous);
  if (s->states == NULL || s->replaced == NULL || s->previous == NULL || !find_first_reads(s)) {
    return iso_fail_memory(error);
  }
  memset(s->states, 0xff, (size_t)h->keys * sizeof *s->states);
  for (uint32_t t = 0; t < h->txns; t++) {
    if ((t & 8191) == 0) ISO_TRY(iso_task_check(task, error));
    if (!scan_txn(s, t)) return iso_fail_memory(error);
  }
  for (uint32_t t = 0; t < h->txns; t++) {
    if (!s->l->counts[t]) continue;
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) {
      bool read = h->op_kind[op] == ISOPROOF_OP_READ_LIST && h->op_value[op] != ISO_VALUE_NONE;
      if (read) judge_read(s, op);
    }
  }
  scan_dirty_updates(s);
  scan_lost_updates(s);
  return s->found->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

isoproof_status iso_elle_scan_lists(const iso_lists *lists, isoproof_task *task, iso_noncycle_anomalies *found,
                                    isoproof_error *error) {
  scan s = {.l = lists, .found = found};
  isoproof_status status = run(&s, task, error);
  free(s.states);
  free(s.previous);
  free(s.replaced);
  free(s.first_odd);
  iso_vec_free(&s.updates);
  return status;
}
