/* Which transactions of unknown outcome did commit: a search from the committed ones along the writes they read. */
#include "history/effect.h"

#include <stdlib.h>

#include "base/vector.h"
#include "history/resolve.h"

typedef struct {
  const isoproof_history *h;
  const iso_resolution *resolution;
  const uint32_t *op_txn;
  uint8_t *counts;
  ISO_VEC(uint32_t) work; /* promoted; their reads are still to be followed */
  uint32_t *followed;     /* by key: how much of its longest list was followed */
} promotion;

static bool promote(promotion *p, uint32_t write) {
  if (write >= p->h->ops) return true; /* nobody's */
  uint32_t txn = p->op_txn[write];
  if (p->counts[txn] || p->h->txn_status[txn] != ISOPROOF_TXN_UNKNOWN) return true;
  p->counts[txn] = 1;
  return iso_vec_push(&p->work, txn);
}

static bool promote_all(promotion *p, const uint32_t *writers, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    if (!promote(p, writers[i])) return false;
  }
  return true;
}

/* Reads of one key mostly see prefixes of one list: each element of it is followed once. */
static bool follow_list(promotion *p, uint32_t op) {
  const isoproof_history *h = p->h;
  uint32_t count, key = h->op_key[op];
  if (iso_history_list(h, op, &count) == NULL || count == 0) return true;
  if ((h->op_value[op] & ISO_VALUE_INTERNED) != 0) {
    return promote_all(p, p->resolution->odd_writer + h->odd_first[h->op_value[op] & ~ISO_VALUE_INTERNED], count);
  }
  uint32_t before = p->followed[key];
  if (count <= before) return true;
  p->followed[key] = count;
  return promote_all(p, p->resolution->list_writer + h->list_first[key] + before, count - before);
}

static bool follow(promotion *p, uint32_t txn) {
  const isoproof_history *h = p->h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    isoproof_op_kind kind = (isoproof_op_kind)h->op_kind[op];
    if (iso_kind_is_list(kind) ? !follow_list(p, op) : !promote(p, p->resolution->writer[op])) return false;
  }
  return true;
}

/* Among `counts` while they are followed: known before the search began. */
enum { KNOWN = 2 };

static isoproof_status run(promotion *p, isoproof_history *history, isoproof_task *task, isoproof_error *error) {
  ISO_TRY(iso_history_resolve(history, task, &p->resolution, error));
  ISO_TRY(iso_history_op_txns(history, &p->op_txn, error));
  p->followed = iso_alloc_zero(history->keys, sizeof *p->followed);
  if (p->followed == NULL) return iso_fail_memory(error);
  for (uint32_t t = 0; t < history->txns; t++) {
    bool known = p->counts[t] == KNOWN;
    p->counts[t] = p->counts[t] != 0;
    if (known && !follow(p, t)) return iso_fail_memory(error);
  }
  while (p->work.count > 0) {
    if (!follow(p, p->work.items[--p->work.count])) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_history_effect_spread(isoproof_history *history, isoproof_task *task, uint8_t *counts,
                                          isoproof_error *error) {
  promotion p = {.h = history, .counts = counts};
  for (uint32_t t = 0; t < history->txns; t++) counts[t] = counts[t] != 0 ? KNOWN : 0;
  isoproof_status status = run(&p, history, task, error);
  iso_vec_free(&p.work);
  free(p.followed);
  return status;
}

isoproof_status iso_history_effect(isoproof_history *history, isoproof_task *task, uint8_t **counts,
                                   isoproof_error *error) {
  uint8_t *made = iso_alloc(history->txns, 1);
  if (made == NULL) return iso_fail_memory(error);
  for (uint32_t t = 0; t < history->txns; t++) made[t] = history->txn_status[t] == ISOPROOF_TXN_COMMITTED;
  isoproof_status status = history->unknown > 0 ? iso_history_effect_spread(history, task, made, error) : ISOPROOF_OK;
  if (status == ISOPROOF_OK) {
    *counts = made;
  } else {
    free(made);
  }
  return status;
}
