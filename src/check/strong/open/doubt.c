/* The reads of a history that do not say which version they saw, taken out of its resolution while a level is decided.
 */
#include <stdlib.h>
#include <string.h>

#include "check/strong/open/open_reads.h"
#include "history/effect.h"
#include "history/repeated.h"
#include "history/resolve.h"

/* An optional transaction that takes no part; it counts as one until the view is made again. */
enum { RULED_OUT = 2 };

static int by_op(const void *a, const void *b) {
  const iso_doubt_read *x = a, *y = b;
  return (x->op > y->op) - (x->op < y->op);
}

static bool is_doubtful(const iso_doubt *d, const iso_repeated *repeated, uint32_t op) {
  const isoproof_history *h = d->history;
  iso_value value = h->op_value[op];
  if (h->op_kind[op] != ISOPROOF_OP_READ || value == ISO_VALUE_NONE || d->resolution->writer[op] == ISO_FROM_NOBODY) {
    return false;
  }
  bool open = value == ISO_VALUE_NIL || value == ISO_VALUE_UNMATCHED || value == ISO_VALUE_COUNTED;
  if (open && d->resolution->rows != NULL) return true;
  return iso_repeated_has(repeated, h->op_key[op], value);
}

/* ---- transactions that may take part ---- */

/* Whether reads below own writes show them, and no read shows what nobody wrote. */
static bool is_sound(const iso_doubt *d, uint32_t txn) {
  const isoproof_history *h = d->history;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_READ || h->op_value[op] == ISO_VALUE_NONE) continue;
    if (d->resolution->writer[op] == ISO_FROM_NOBODY) return false;
    uint32_t own = op;
    while (own > h->txn_first_op[txn] &&
           !(h->op_kind[own - 1] == ISOPROOF_OP_WRITE && h->op_key[own - 1] == h->op_key[op])) {
      own--;
    }
    bool has_own = own > h->txn_first_op[txn];
    if (has_own && !iso_history_read_fits(h, op, iso_history_version(h, own - 1))) return false;
  }
  return true;
}

/* Whether some write of it is one that an open read may have observed. */
static bool is_observable(const iso_doubt *d, const iso_repeated *repeated, uint32_t txn) {
  const isoproof_history *h = d->history;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
    if (d->resolution->rows != NULL || iso_repeated_has(repeated, h->op_key[op], iso_history_version(h, op))) {
      return true;
    }
  }
  return false;
}

/* Marks a transaction, and whoever it is known to have read from. */
static bool mark(iso_doubt *d, const uint8_t *counts, uint32_t txn, uint32_t *stack) {
  const isoproof_history *h = d->history;
  uint32_t depth = 0;
  stack[depth++] = txn;
  d->optional[txn] = 1;
  while (depth > 0) {
    uint32_t at = stack[--depth];
    for (uint32_t op = h->txn_first_op[at]; op < h->txn_first_op[at + 1]; op++) {
      uint32_t write = h->op_kind[op] == ISOPROOF_OP_READ ? d->resolution->writer[op] : ISO_NO_OP;
      if (write >= h->ops) continue;
      uint32_t from = d->op_txn[write];
      if (counts[from] || d->optional[from] || h->txn_status[from] != ISOPROOF_TXN_UNKNOWN) continue;
      d->optional[from] = 1;
      stack[depth++] = from;
    }
  }
  return true;
}

/* Whoever has an unknown outcome and is not known to take part, but may have been observed. */
static isoproof_status find_optional(iso_doubt *d, const iso_repeated *repeated, isoproof_task *task,
                                     isoproof_error *error) {
  isoproof_history *h = d->history;
  uint8_t *counts;
  bool any = false;
  if (h->unknown == 0) return ISOPROOF_OK;
  ISO_TRY(iso_history_effect(h, task, &counts, error));
  uint32_t *stack = iso_alloc(h->txns, sizeof *stack);
  d->optional = iso_alloc_zero(h->txns, 1);
  bool made = stack != NULL && d->optional != NULL;
  for (uint32_t txn = 0; made && txn < h->txns; txn++) {
    if (h->txn_status[txn] != ISOPROOF_TXN_UNKNOWN || counts[txn] || d->optional[txn]) continue;
    if (is_observable(d, repeated, txn)) any = mark(d, counts, txn, stack);
  }
  for (uint32_t txn = 0; any && txn < h->txns; txn++) d->optional[txn] = d->optional[txn] && is_sound(d, txn);
  free(stack);
  free(counts);
  if (!made) return iso_fail_memory(error);
  if (any) return ISOPROOF_OK;
  free(d->optional);
  d->optional = NULL;
  return ISOPROOF_OK;
}

void iso_doubt_rule_out(iso_doubt *d, uint32_t txn) {
  d->optional[txn] = RULED_OUT;
  d->moved = true;
}

isoproof_status iso_doubt_update(iso_doubt *d, isoproof_task *task, isoproof_error *error) {
  uint8_t *counts;
  d->moved = false;
  if (d->optional == NULL) return ISOPROOF_OK;
  ISO_TRY(iso_history_effect(d->history, task, &counts, error));
  for (uint32_t txn = 0; txn < d->history->txns; txn++) {
    if (counts[txn] || d->optional[txn] == RULED_OUT) d->optional[txn] = 0;
  }
  free(counts);
  return ISOPROOF_OK;
}

/* ---- reads ---- */

static bool add_read(iso_doubt *d, uint32_t op) {
  uint32_t *writer = &d->resolution->writer[op];
  if (!iso_vec_push(&d->reads, ((iso_doubt_read){op, *writer}))) return false;
  *writer = ISO_UNSETTLED;
  return true;
}

/* Takes doubtful reads out of the resolution, and then all those of optional transactions. */
static isoproof_status take_out(iso_doubt *d, const iso_repeated *repeated, isoproof_task *task,
                                isoproof_error *error) {
  const isoproof_history *h = d->history;
  for (uint32_t op = 0; op < h->ops; op++) {
    if (is_doubtful(d, repeated, op) && !add_read(d, op)) return iso_fail_memory(error);
  }
  ISO_TRY(find_optional(d, repeated, task, error));
  if (d->optional == NULL) return ISOPROOF_OK;
  for (uint32_t op = 0; op < h->ops; op++) {
    bool read = h->op_kind[op] == ISOPROOF_OP_READ && d->resolution->writer[op] < ISO_UNSETTLED;
    if (read && d->optional[d->op_txn[op]] && !add_read(d, op)) return iso_fail_memory(error);
  }
  if (d->reads.count > 1) qsort(d->reads.items, d->reads.count, sizeof *d->reads.items, by_op);
  return ISOPROOF_OK;
}

isoproof_status iso_doubt_make(isoproof_history *history, isoproof_task *task, iso_doubt *d, isoproof_error *error) {
  memset(d, 0, sizeof *d);
  d->history = history;
  const iso_resolution *resolution;
  iso_repeated repeated = {.items = NULL};
  ISO_TRY(iso_history_resolve(history, task, &resolution, error));
  ISO_TRY(iso_history_op_txns(history, &d->op_txn, error));
  d->resolution = history->resolution;
  if (resolution->counts.duplicate_writes > 0) ISO_TRY(iso_repeated_find(history, &repeated, error));
  isoproof_status status = take_out(d, &repeated, task, error);
  iso_repeated_free(&repeated);
  if (status != ISOPROOF_OK) iso_doubt_end(d, false);
  return status;
}

void iso_doubt_end(iso_doubt *d, bool keep) {
  for (size_t i = 0; i < d->reads.count; i++) {
    const iso_doubt_read *read = &d->reads.items[i];
    uint32_t *writer = &d->resolution->writer[read->op];
    if (!keep || *writer == ISO_UNSETTLED) *writer = read->guessed;
  }
  iso_vec_free(&d->reads);
  free(d->optional);
  d->optional = NULL;
}
