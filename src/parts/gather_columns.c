/* A history of a few transactions, from the columns of all. */
#include <stdlib.h>

#include "parts/ops.h"

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static int by_word(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Ascending, each once. */
static size_t sort_txns(uint32_t *txns, size_t count) {
  size_t kept = 0;
  if (count > 0) qsort(txns, count, sizeof *txns, by_number);
  for (size_t i = 0; i < count; i++) {
    if (kept == 0 || txns[kept - 1] != txns[i]) txns[kept++] = txns[i];
  }
  return kept;
}

typedef struct {
  const isoproof_history *h;
  ISO_VEC(uint64_t) written; /* key and value of what the transactions wrote, sorted */
  iso_bytes out;
} columns;

static uint64_t word_of(const isoproof_history *h, uint32_t op) {
  return (uint64_t)h->op_key[op] << 32 | h->op_value[op];
}

static bool find_written(columns *c, const uint32_t *txns, size_t count) {
  const isoproof_history *h = c->h;
  for (size_t i = 0; i < count; i++) {
    for (uint32_t op = h->txn_first_op[txns[i]]; op < h->txn_first_op[txns[i] + 1]; op++) {
      if (h->op_kind[op] == ISOPROOF_OP_WRITE && !iso_vec_push(&c->written, word_of(h, op))) return false;
    }
  }
  if (c->written.count > 0) qsort(c->written.items, c->written.count, sizeof *c->written.items, by_word);
  return true;
}

/* Whether it is a write, or shows what is still there. */
static bool is_kept(const columns *c, uint32_t op) {
  uint64_t word = word_of(c->h, op);
  if (c->h->op_kind[op] == ISOPROOF_OP_WRITE || c->h->op_value[op] == ISO_VALUE_NIL) return true;
  return c->written.count > 0 && bsearch(&word, c->written.items, c->written.count, sizeof word, by_word) != NULL;
}

/* As a run of a shipment (parts/ship.h). */
static void put_txn(columns *c, uint32_t txn) {
  const isoproof_history *h = c->h;
  uint32_t first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  uint16_t count = 0;
  for (uint32_t op = first; op < end; op++) count = (uint16_t)(count + is_kept(c, op));
  if (count == 0) return;
  iso_put_u32(&c->out, txn);
  iso_put(&c->out, &count, sizeof count);
  for (uint32_t op = first; op < end; op++) {
    uint16_t place = (uint16_t)(op - first);
    if (!is_kept(c, op)) continue;
    iso_put(&c->out, &h->op_kind[op], 1);
    iso_put(&c->out, &place, sizeof place);
    iso_put_u32(&c->out, h->key_name[h->op_key[op]]);
    iso_put_u32(&c->out, h->op_value[op]);
  }
}

/* ---- without the others ---- */

static isoproof_status add_txn(const columns *c, isoproof_builder *builder, uint32_t session, uint32_t txn, bool empty,
                               isoproof_error *error) {
  const isoproof_history *h = c->h;
  ISO_TRY(isoproof_builder_begin(builder, session, (isoproof_txn_status)h->txn_status[txn], error));
  if (h->txn_start_opt != NULL && h->txn_end_opt != NULL)
    ISO_TRY(isoproof_builder_times(builder, h->txn_start_opt[txn], h->txn_end_opt[txn], error));
  for (uint32_t op = h->txn_first_op[txn]; !empty && op < h->txn_first_op[txn + 1]; op++) {
    if (!is_kept(c, op)) continue;
    ISO_TRY(isoproof_builder_op(builder, (isoproof_op_kind)h->op_kind[op],
                                iso_history_scalar(h, h->key_name[h->op_key[op]]),
                                iso_history_scalar(h, h->op_value[op]), error));
  }
  return ISOPROOF_OK;
}

/* The transactions of each session, in its order; with those before the last one of it as empty ones, or not. */
static isoproof_status add_txns(const columns *c, isoproof_builder *builder, const uint32_t *txns, size_t count,
                                bool padded, isoproof_error *error) {
  const isoproof_history *h = c->h;
  size_t next = 0;
  for (uint32_t s = 0; s < h->sessions; s++) {
    uint32_t session, txn = h->session_first_txn[s];
    ISO_TRY(isoproof_builder_session(builder, iso_history_scalar(h, h->session_name[s]), &session, error));
    for (; next < count && txns[next] < h->session_first_txn[s + 1]; next++) {
      for (; padded && txn < txns[next]; txn++) ISO_TRY(add_txn(c, builder, session, txn, true, error));
      ISO_TRY(add_txn(c, builder, session, txns[next], false, error));
      txn = txns[next] + 1;
    }
  }
  return ISOPROOF_OK;
}

isoproof_status iso_excerpt(const isoproof_history *whole, uint32_t *txns, size_t count, bool padded,
                            isoproof_history **history, isoproof_error *error) {
  columns c = {.h = whole};
  isoproof_builder *builder;
  count = sort_txns(txns, count);
  ISO_TRY(isoproof_builder_new(&builder, error));
  isoproof_status status = find_written(&c, txns, count) ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = add_txns(&c, builder, txns, count, padded, error);
  if (status == ISOPROOF_OK) status = isoproof_builder_finish(builder, history, error);
  isoproof_builder_free(builder);
  if (status == ISOPROOF_OK) {
    (*history)->format = whole->format;
    (*history)->initial_is_zero = whole->initial_is_zero;
  }
  iso_vec_free(&c.written);
  return status;
}

isoproof_status iso_gather_columns(const isoproof_history *whole, uint32_t *txns, size_t count, isoproof_task *task,
                                   isoproof_history **history, isoproof_error *error) {
  columns c = {.h = whole};
  count = sort_txns(txns, count);
  iso_put_u32(&c.out, ISOPROOF_OK);
  bool good = find_written(&c, txns, count);
  for (size_t i = 0; good && i < count; i++) put_txn(&c, txns[i]);
  isoproof_status status = good && !c.out.failed ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = iso_gather(whole, NULL, &c.out, 1, task, history, error);
  iso_vec_free(&c.written);
  iso_bytes_free(&c.out);
  return status;
}
