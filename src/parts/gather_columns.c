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
  return c->written.count > 0 &&
         bsearch(&word, c->written.items, c->written.count, sizeof word, by_word) != NULL;
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
