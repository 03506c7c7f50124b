/* Windows around reads that find another value, each put in order all at once. */
#include "check/order/value_mend.h"

#include <stdlib.h>

#include "check/order/value_window.h"

/* Whether somebody from an iso_value_access on reads the key before it is written. */
static bool is_read_on(const iso_value_line *w, uint32_t key, uint32_t at) {
  for (; at < w->first[key + 1]; at++) {
    if (w->at[at].read != ISO_NO_CLASS) return true;
    if (w->at[at].write != ISO_NO_CLASS) return false;
  }
  return false;
}

/* The number of a class in the window. */
static uint32_t number_class(iso_value_line *w, iso_value_window *window, uint32_t of) {
  if (of == ISO_NO_CLASS) return ISO_NO_CLASS;
  if (w->class_number[of] == 0) w->class_number[of] = ++window->classes;
  return w->class_number[of] - 1;
}

/* The number of a key in the window [low, high). */
static bool number_key(iso_value_line *w, iso_value_window *window, uint32_t key, iso_value_bounds b,
                       uint32_t *number) {
  if (w->key_number[key] == 0) {
    uint32_t first = iso_value_line_find(w, key, w->order[b.low]),
             end = iso_value_line_find(w, key, w->order[b.high - 1]) + 1;
    first += w->pos[w->at[first].txn] < b.low;
    iso_value_window_key k = {.wanted = ISO_NO_CLASS};
    k.now = number_class(w, window, iso_value_line_class(w, key, first));
    if (is_read_on(w, key, end)) k.wanted = number_class(w, window, iso_value_line_class(w, key, end));
    if (!iso_vec_push(&window->keys, k)) return false;
    w->key_number[key] = (uint32_t)window->keys.count;
  }
  *number = w->key_number[key] - 1;
  return true;
}

static bool add_txn(iso_value_line *w, iso_value_window *window, uint32_t txn, iso_value_bounds b) {
  uint32_t before = w->near[0][txn];
  iso_value_window_txn t = {.first = (uint32_t)window->accesses.count, .before = ISO_NO_TXN, .ends = UINT32_MAX};
  if (before != ISO_NO_TXN && w->pos[before] >= b.low) t.before = w->pos[before] - b.low;
  if (w->ends != NULL) t.starts = w->e->tick_before[txn], t.ends = w->ends[txn];
  for (uint32_t k = w->txn_first[txn]; k < w->txn_first[txn + 1]; k++) {
    const iso_value_access *a = &w->at[w->txn_at[k]];
    iso_value_window_access one = {.read = number_class(w, window, a->read),
                                   .write = number_class(w, window, a->write)};
    if (!number_key(w, window, w->txn_key[k], b, &one.key) || !iso_vec_push(&window->accesses, one)) return false;
  }
  t.end = (uint32_t)window->accesses.count;
  return iso_vec_push(&window->txns, t);
}

/* Forgets the numbers. */
static void clear_numbers(iso_value_line *w, iso_value_bounds b) {
  for (uint32_t q = b.low; q < b.high; q++) {
    uint32_t txn = w->order[q];
    for (uint32_t k = w->txn_first[txn]; k < w->txn_first[txn + 1]; k++) {
      uint32_t key = w->txn_key[k], i = w->txn_at[k], end = i + 1;
      w->key_number[key] = 0;
      const iso_value_access *a = &w->at[i];
      w->class_number[iso_value_line_class(w, key, i)] = w->class_number[iso_value_line_class(w, key, end)] = 0;
      if (a->read != ISO_NO_CLASS) w->class_number[a->read] = 0;
    }
  }
}

/* Puts the transactions of the window into another order. */
static void reorder(iso_value_line *w, iso_value_bounds b, const uint32_t *order, uint32_t *txns) {
  uint32_t count = b.high - b.low;
  for (uint32_t i = 0; i < count; i++) txns[i] = w->order[b.low + order[i]];
  for (uint32_t i = 0; i < count; i++) iso_value_line_move(w, txns[i], b.low + i);
  w->fresh.count = 0;
}

/* Tries to put those around a broken read in order. */
static isoproof_status mend_around(iso_value_line *w, const iso_broken_read *read, uint32_t size, uint64_t *steps,
                                   bool *found, isoproof_error *error) {
  const uint64_t most = UINT64_C(1) << 24;
  uint32_t here = w->pos[read->txn];
  uint32_t shift = size / 4 + iso_value_line_draw(w, size / 2);
  iso_value_bounds b = {.low = here > shift ? here - shift : 0};
  b.high = w->count - b.low > size ? b.low + size : w->count;
  iso_value_window window = {.most_steps = *steps < most ? *steps : most};
  uint32_t *order = iso_alloc(2 * ((size_t)b.high - b.low), sizeof *order);
  bool made = order != NULL;
  for (uint32_t q = b.low; made && q < b.high; q++) made = add_txn(w, &window, w->order[q], b);
  clear_numbers(w, b);
  isoproof_status status = made ? iso_value_window_solve(&window, order, found, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK && *found) reorder(w, b, order, order + window.txns.count);
  *steps -= window.steps < *steps ? window.steps : *steps;
  free(order);
  iso_value_window_free(&window);
  return status;
}

isoproof_status iso_value_mend(iso_value_line *w, uint64_t *steps, isoproof_task *task, isoproof_error *error) {
  enum { SMALL = 32, LARGE = 4096 };
  if (!iso_value_line_find_broken(w)) return iso_fail_memory(error);
  for (size_t i = 0; *steps > 0 && i < w->broken.count; i++) {
    const iso_broken_read read = w->broken.items[i];
    bool found = false;
    for (uint32_t size = SMALL; size <= LARGE && !found && *steps > 0 && iso_value_line_is_broken(w, &read);
         size *= 2) {
      ISO_TRY(mend_around(w, &read, size, steps, &found, error));
      ISO_TRY(iso_task_check(task, error));
    }
  }
  return ISOPROOF_OK;
}
