/* The version order of each key from the longest read of it. */
#include "elle/infer/lists.h"

#include <stdlib.h>
#include <string.h>

#include "history/resolve.h"

static bool is_list_read(const iso_lists *l, uint32_t op) {
  return l->h->op_kind[op] == ISOPROOF_OP_READ_LIST && l->h->op_value[op] != ISO_VALUE_NONE;
}

static bool is_odd(iso_value value) { return value != ISO_VALUE_NONE && (value & ISO_VALUE_INTERNED) != 0; }
static uint32_t odd_number(iso_value value) { return value & ~ISO_VALUE_INTERNED; }
static uint32_t odd_length(const isoproof_history *h, uint32_t odd) {
  return (uint32_t)(h->odd_first[odd + 1] - h->odd_first[odd]);
}

/* Finds the longest read of each key. */
static bool find_lengths(iso_lists *l) {
  const isoproof_history *h = l->h;
  l->length = iso_alloc_zero(h->keys, sizeof *l->length);
  if (l->length == NULL) return false;
  if (h->odd_lists > 0) {
    l->odd_order = iso_alloc(h->keys, sizeof *l->odd_order);
    l->agreement = iso_alloc_zero(h->keys, sizeof *l->agreement);
    if (l->odd_order == NULL || l->agreement == NULL) return false;
    memset(l->odd_order, 0xff, (size_t)h->keys * sizeof *l->odd_order);
  }
  for (uint32_t t = 0; t < h->txns; t++) {
    if (!l->counts[t]) continue;
    for (uint32_t op = h->txn_first_op[t]; op < h->txn_first_op[t + 1]; op++) {
      iso_value value = h->op_value[op];
      uint32_t key = h->op_key[op];
      if (!is_list_read(l, op) || value == ISO_VALUE_NIL) continue;
      uint32_t length = is_odd(value) ? odd_length(h, odd_number(value)) : value;
      bool longer = length > l->length[key];
      /* Of two orders of the same length the shared one is the better witness. */
      bool better = length == l->length[key] && !is_odd(value) && l->odd_order != NULL;
      if (!longer && !better) continue;
      l->length[key] = length;
      if (l->odd_order != NULL) l->odd_order[key] = is_odd(value) ? odd_number(value) : ISO_NO_OP;
    }
  }
  return true;
}

const uint32_t *iso_lists_order(const iso_lists *l, uint32_t key, const iso_value **values) {
  const isoproof_history *h = l->h;
  bool odd = l->odd_order != NULL && l->odd_order[key] != ISO_NO_OP;
  if (h->list_first == NULL || l->length[key] == 0) {
    *values = NULL;
    return NULL;
  }
  uint64_t first = odd ? h->odd_first[l->odd_order[key]] : h->list_first[key];
  *values = (odd ? h->odd_values : h->list_values) + first;
  return (odd ? l->resolution->odd_writer : l->resolution->list_writer) + first;
}

/* How far the list of each key agrees with an order that is odd. */
static void find_agreements(iso_lists *l) {
  const isoproof_history *h = l->h;
  for (uint32_t k = 0; l->agreement != NULL && k < h->keys; k++) {
    const iso_value *values;
    if (l->odd_order[k] == ISO_NO_OP) {
      l->agreement[k] = l->length[k];
      continue;
    }
    (void)iso_lists_order(l, k, &values);
    uint64_t shared = h->list_first[k + 1] - h->list_first[k];
    uint32_t i = 0;
    while (i < l->length[k] && i < shared && values[i] == h->list_values[h->list_first[k] + i]) i++;
    l->agreement[k] = i;
  }
}

/* Enters one element of an order and says what it is. */
static void judge_element(iso_lists *l, uint32_t writer, uint64_t *at, uint64_t first, iso_list_prefix *prefix) {
  if (writer >= l->h->ops) {
    prefix->garbage++;
  } else if (l->place[writer] != 0) {
    prefix->repeated++;
  } else if (l->counts[l->op_txn[writer]]) {
    l->order[*at] = writer;
    l->place[writer] = (uint32_t)(*at - first) + 1;
    (*at)++;
    prefix->counted++;
  } else {
    l->place[writer] = ISO_NOT_COUNTED;
    prefix->aborted += l->h->txn_status[l->op_txn[writer]] == ISOPROOF_TXN_ABORTED;
  }
}

/* Enters the order of a key; where not every element counts, the prefixes are written down. */
static bool enter_order(iso_lists *l, uint32_t key, uint64_t *at) {
  const iso_value *values;
  const uint32_t *writers = iso_lists_order(l, key, &values);
  uint64_t first = *at;
  uint32_t length = l->length[key];
  iso_list_prefix prefix = {0, 0, 0, 0};
  l->order_first[key] = first;
  l->prefix_first[key] = ISO_ALL_COUNTED;
  for (uint32_t i = 0; i < length; i++) {
    judge_element(l, writers[i], at, first, &prefix);
    if (prefix.counted == i + 1) continue;
    if (l->prefix_first[key] == ISO_ALL_COUNTED) {
      l->prefix_first[key] = l->prefix.count;
      if (!iso_vec_reserve(&l->prefix, (size_t)length + 1)) return false;
      for (uint32_t k = 0; k <= i; k++) l->prefix.items[l->prefix.count++] = (iso_list_prefix){k, 0, 0, 0};
    }
    l->prefix.items[l->prefix.count++] = prefix;
  }
  return true;
}

static bool enter_orders(iso_lists *l) {
  const isoproof_history *h = l->h;
  uint64_t total = 0, at = 0;
  for (uint32_t k = 0; k < h->keys; k++) total += l->length[k];
  l->order_first = iso_alloc((size_t)h->keys + 1, sizeof *l->order_first);
  l->prefix_first = iso_alloc(h->keys, sizeof *l->prefix_first);
  l->order = iso_alloc(total, sizeof *l->order);
  l->place = iso_alloc_zero(h->ops, sizeof *l->place);
  if (l->order_first == NULL || l->prefix_first == NULL || l->order == NULL || l->place == NULL) return false;
  for (uint32_t k = 0; k < h->keys; k++) {
    if (!enter_order(l, k, &at)) return false;
  }
  l->order_first[h->keys] = at;
  return true;
}

static isoproof_status make(iso_lists *l, const iso_dependency_list *orders, isoproof_task *task,
                            isoproof_error *error) {
  if (!find_lengths(l)) return iso_fail_memory(error);
  ISO_TRY(iso_lists_choose(l, orders, task, error));
  find_agreements(l);
  return enter_orders(l) ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_lists_make(isoproof_history *history, const uint8_t *counts, const iso_dependency_list *orders,
                               isoproof_task *task, iso_lists *lists, isoproof_error *error) {
  memset(lists, 0, sizeof *lists);
  lists->h = history;
  lists->counts = counts;
  ISO_TRY(iso_history_resolve(history, task, &lists->resolution, error));
  ISO_TRY(iso_history_op_txns(history, &lists->op_txn, error));
  isoproof_status status = make(lists, orders, task, error);
  if (status != ISOPROOF_OK) iso_lists_free(lists);
  return status;
}

void iso_lists_free(iso_lists *lists) {
  free(lists->length);
  free(lists->odd_order);
  free(lists->agreement);
  free(lists->order_first);
  free(lists->order);
  free(lists->place);
  free(lists->prefix_first);
  iso_vec_free(&lists->prefix);
  memset(lists, 0, sizeof *lists);
}

iso_list_prefix iso_lists_prefix(const iso_lists *l, uint32_t key, uint32_t elements) {
  if (l->prefix_first[key] == ISO_ALL_COUNTED) return (iso_list_prefix){elements, 0, 0, 0};
  return l->prefix.items[l->prefix_first[key] + elements];
}

bool iso_lists_read(const iso_lists *l, uint32_t op, uint32_t *elements) {
  const isoproof_history *h = l->h;
  uint32_t key = h->op_key[op];
  iso_value value = h->op_value[op];
  *elements = 0;
  if (!is_list_read(l, op)) return false;
  if (value == ISO_VALUE_NIL) return true;
  if (!is_odd(value)) {
    *elements = value;
    return value <= (l->agreement != NULL ? l->agreement[key] : l->length[key]);
  }
  uint32_t odd = odd_number(value), length = odd_length(h, odd);
  const iso_value *values, *read = h->odd_values + h->odd_first[odd];
  *elements = length;
  if (l->odd_order != NULL && l->odd_order[key] == odd) return true;
  if (length > l->length[key]) return false;
  (void)iso_lists_order(l, key, &values);
  return length == 0 || memcmp(values, read, length * sizeof *read) == 0;
}

bool iso_lists_version(const iso_lists *l, uint32_t op, uint32_t *version) {
  uint32_t elements, key = l->h->op_key[op], txn = l->op_txn[op];
  if (!iso_lists_read(l, op, &elements)) return false;
  *version = iso_lists_prefix(l, key, elements).counted;
  while (*version > 0 && iso_lists_writer(l, key, *version) == txn) (*version)--;
  return true;
}

const uint32_t *iso_lists_appends(const iso_lists *l, uint32_t op, uint32_t *count) {
  const isoproof_history *h = l->h;
  *count = 0;
  if (iso_history_list(h, op, count) == NULL) return NULL;
  return is_odd(h->op_value[op]) ? l->resolution->odd_writer + h->odd_first[odd_number(h->op_value[op])]
                                 : l->resolution->list_writer + h->list_first[h->op_key[op]];
}

/* Whether the elements of another order show nothing of what comes after a version: not the next one, or, after the
 * last one, nothing that the order does not show. */
static bool misses_after(const iso_lists *l, uint32_t key, uint32_t version, const uint32_t *appends, uint32_t count) {
  bool last = version == iso_lists_last_version(l, key);
  uint32_t next = last ? ISO_NO_OP : l->order[l->order_first[key] + version];
  for (uint32_t i = 0; i < count; i++) {
    bool counted = appends[i] < l->h->ops && l->counts[l->op_txn[appends[i]]];
    if (counted && (last ? l->place[appends[i]] == 0 : appends[i] == next)) return false;
  }
  return true;
}

bool iso_lists_missed_after(const iso_lists *l, uint32_t op, uint32_t *version) {
  uint32_t count, txn = l->op_txn[op];
  if (iso_lists_version(l, op, version)) return true;
  const uint32_t *appends = iso_lists_appends(l, op, &count);
  for (uint32_t i = count; appends != NULL && i-- > 0;) {
    uint32_t from = appends[i];
    if (from >= l->h->ops || l->op_txn[from] == txn || !l->counts[l->op_txn[from]]) continue;
    *version = l->place[from];
    return *version > 0 && misses_after(l, l->h->op_key[op], *version, appends, count);
  }
  return false;
}
