/* What a single read of a list or a set gives away. */
#include <stdlib.h>

#include "check/within/scan.h"

/* The writers of the elements of a list or set read. */
static const uint32_t *element_writers(const iso_scan_shared *shared, uint32_t op, uint32_t *count) {
  const isoproof_history *h = shared->h;
  if (iso_history_list(h, op, count) == NULL) return NULL;
  iso_value value = h->op_value[op];
  if (value < ISO_VALUE_INLINE_LIMIT) return shared->resolution->list_writer + h->list_first[h->op_key[op]];
  return shared->resolution->odd_writer + h->odd_first[value & ~ISO_VALUE_INTERNED];
}

/* Judges the elements that no read may show, wherever they stand (at most one finding a pattern), and returns how many
 * the transaction itself had put there before. */
static uint32_t judge_elements(iso_scan *scan, uint32_t txn, uint32_t op, const uint32_t *writers, uint32_t count) {
  const iso_scan_shared *shared = scan->shared;
  bool thin_air = false, aborted = false, future = false;
  uint32_t own = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t seen = writers[i];
    if (seen == ISO_FROM_SEVERAL) continue;
    if (seen == ISO_FROM_NOBODY) {
      if (!thin_air) iso_scan_found(scan, ISO_TAP_A, op, ISO_NO_OP, ISO_NO_OP, i);
      thin_air = true;
    } else if (iso_op_txn(&shared->op_index, seen) == txn) {
      own += seen < op;
      if (seen > op && !future) iso_scan_found(scan, ISO_TAP_C, op, seen, ISO_NO_OP, i);
      future |= seen > op;
    } else if (shared->h->txn_status[iso_op_txn(&shared->op_index, seen)] == ISOPROOF_TXN_ABORTED) {
      if (!aborted) iso_scan_found(scan, ISO_TAP_B, op, seen, ISO_NO_OP, i);
      aborted = true;
    }
  }
  return own;
}

static bool holds(const uint32_t *writers, uint32_t count, uint32_t write) {
  for (uint32_t i = 0; i < count; i++) {
    if (writers[i] == write) return true;
  }
  return false;
}

/* The first own append before `op` that the read does not show. */
static uint32_t missing_append(const iso_scan_shared *shared, uint32_t txn, uint32_t op, const uint32_t *writers,
                               uint32_t count) {
  const isoproof_history *h = shared->h;
  for (uint32_t own = h->txn_first_op[txn]; own < op; own++) {
    if (h->op_kind[own] != ISOPROOF_OP_APPEND || h->op_key[own] != h->op_key[op]) continue;
    if (!holds(writers, count, own)) return own;
  }
  return ISO_NO_OP;
}

/* The reader's own appends, seen from the end of the list: all of them, the latest last.  Returns how many elements
 * are left when its own at the end are taken away. */
static uint32_t judge_own(iso_scan *scan, uint32_t txn, uint32_t op, const uint32_t *writers, uint32_t count,
                          uint32_t own, const iso_key_state *state) {
  const iso_scan_shared *shared = scan->shared;
  uint32_t left = count;
  while (left > 0 && writers[left - 1] < shared->h->ops && iso_op_txn(&shared->op_index, writers[left - 1]) == txn)
    left--;
  if (state->own_write == ISO_NO_OP) return left;
  uint32_t last = left < count ? writers[count - 1] : ISO_NO_OP;
  uint32_t missing = own < state->own_writes ? missing_append(shared, txn, op, writers, count) : ISO_NO_OP;
  if (left == count || (missing != ISO_NO_OP && last == state->own_write)) {
    uint32_t seen = left > 0 && writers[left - 1] < shared->h->ops ? writers[left - 1] : ISO_FROM_INITIAL;
    iso_scan_found(scan, ISO_TAP_D, op, seen, missing != ISO_NO_OP ? missing : state->own_write, 0);
  } else if (last < op && last != state->own_write) {
    iso_scan_found(scan, ISO_TAP_E, op, last, state->own_write, count - 1);
  }
  return left;
}

/* The version that a list read observes is its last element that is not the reader's own. */
void iso_scan_list_read(iso_scan *scan, uint32_t txn, uint32_t op) {
  const iso_scan_shared *shared = scan->shared;
  uint32_t count;
  const uint32_t *writers = element_writers(shared, op, &count);
  iso_key_state *state = iso_scan_key(scan, shared->h->op_key[op]);
  /* Most reads show a sound part of the stored list, and none of the reader's own appends: nothing to look for. */
  bool stored = shared->h->op_value[op] < ISO_VALUE_INLINE_LIMIT;
  bool plain = stored && state->appends == 0 && shared->sound != NULL && count <= shared->sound[state->key];
  uint32_t own = plain ? 0 : judge_elements(scan, txn, op, writers, count);
  uint32_t left = judge_own(scan, txn, op, writers, count, own, state);
  if (left == 0) {
    iso_scan_saw(scan, state, op, ISO_FROM_INITIAL);
    return;
  }
  uint32_t seen = writers[left - 1];
  if (seen >= shared->h->ops || shared->h->txn_status[iso_op_txn(&shared->op_index, seen)] == ISOPROOF_TXN_ABORTED)
    return;
  if (iso_scan_overwritten(shared, seen)) {
    iso_scan_found(scan, ISO_TAP_F, op, seen, iso_scan_next_write(shared, seen), left - 1);
  }
  iso_scan_saw(scan, state, op, iso_op_txn(&shared->op_index, seen));
}

static int by_value(const void *a, const void *b) {
  iso_value x = *(const iso_value *)a, y = *(const iso_value *)b;
  return (x > y) - (x < y);
}

static bool contains(const iso_value *sorted, size_t count, iso_value value) {
  return count > 0 && bsearch(&value, sorted, count, sizeof value, by_value) != NULL;
}

/* A sorted copy of the elements of a read, perhaps without those in scan->own. */
static void copy_elements(iso_scan *scan, uint32_t op, bool without_own, iso_value *items, size_t *length) {
  uint32_t count;
  const iso_value *values = iso_history_list(scan->shared->h, op, &count);
  *length = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (without_own && contains(scan->own.items, scan->own.count, values[i])) continue;
    items[(*length)++] = values[i];
  }
  if (*length > 1) qsort(items, *length, sizeof *items, by_value);
}

/* A sorted copy of what the transaction adds to a key, before or after. */
static bool copy_own(iso_scan *scan, uint32_t txn, uint32_t key) {
  const isoproof_history *h = scan->shared->h;
  scan->own.count = 0;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_ADD || h->op_key[op] != key) continue;
    if (!iso_vec_push(&scan->own, h->op_value[op])) return false;
  }
  if (scan->own.count > 1) qsort(scan->own.items, scan->own.count, sizeof *scan->own.items, by_value);
  return true;
}

/* Whether two reads of a set in one transaction show different elements of others.  What the transaction adds itself
 * at any time is left aside. */
static bool others_differ(iso_scan *scan, uint32_t op, uint32_t earlier) {
  uint32_t count, earlier_count;
  (void)iso_history_list(scan->shared->h, op, &count);
  (void)iso_history_list(scan->shared->h, earlier, &earlier_count);
  scan->here.count = scan->there.count = 0;
  if (!iso_vec_reserve(&scan->here, count + 1) || !iso_vec_reserve(&scan->there, earlier_count + 1)) {
    scan->findings.failed = true;
    return false;
  }
  copy_elements(scan, op, true, scan->here.items, &scan->here.count);
  copy_elements(scan, earlier, true, scan->there.items, &scan->there.count);
  size_t i = 0, j = 0;
  while (i < scan->here.count && j < scan->there.count && scan->here.items[i] == scan->there.items[j]) {
    iso_value same = scan->here.items[i];
    while (i < scan->here.count && scan->here.items[i] == same) i++; /* a set written with repetitions is a set */
    while (j < scan->there.count && scan->there.items[j] == same) j++;
  }
  return i < scan->here.count || j < scan->there.count;
}

/* The first own addition before `op` that the read does not show. */
static uint32_t missing_addition(iso_scan *scan, uint32_t txn, uint32_t op) {
  const isoproof_history *h = scan->shared->h;
  uint32_t count;
  (void)iso_history_list(h, op, &count);
  scan->here.count = 0;
  if (!iso_vec_reserve(&scan->here, count + 1)) {
    scan->findings.failed = true;
    return ISO_NO_OP;
  }
  copy_elements(scan, op, false, scan->here.items, &scan->here.count);
  for (uint32_t own = h->txn_first_op[txn]; own < op; own++) {
    if (h->op_kind[own] != ISOPROOF_OP_ADD || h->op_key[own] != h->op_key[op]) continue;
    if (!contains(scan->here.items, scan->here.count, h->op_value[own])) return own;
  }
  return ISO_NO_OP;
}

/* A set has no last element.  Its elements are judged one by one; and as elements are never removed, what the reader
 * added must show, and what others added must be the same in every read of a transaction. */
void iso_scan_set_read(iso_scan *scan, uint32_t txn, uint32_t op) {
  const iso_scan_shared *shared = scan->shared;
  uint32_t count;
  const uint32_t *writers = element_writers(shared, op, &count);
  iso_key_state *state = iso_scan_key(scan, shared->h->op_key[op]);
  judge_elements(scan, txn, op, writers, count);
  if (state->own_write != ISO_NO_OP) {
    uint32_t missing = missing_addition(scan, txn, op);
    if (missing != ISO_NO_OP) iso_scan_found(scan, ISO_TAP_D, op, ISO_FROM_INITIAL, missing, 0);
  }
  if (state->first_read == ISO_NO_OP) {
    state->first_read = op;
    return;
  }
  if (state->varied || shared->h->op_value[op] == shared->h->op_value[state->first_read]) return;
  if (!copy_own(scan, txn, shared->h->op_key[op])) {
    scan->findings.failed = true;
  } else if (others_differ(scan, op, state->first_read)) {
    state->varied = true;
    iso_scan_found(scan, ISO_TAP_J, op, ISO_NO_OP, state->first_read, 0);
  }
}
