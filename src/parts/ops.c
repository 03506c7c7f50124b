/* Operations of a part as a shipment, with what others wrote left out. */
#include "parts/ops.h"

#include <stdlib.h>
#include <string.h>

#include "history/resolve.h"

typedef struct {
  const iso_part *part;
  iso_op_index index;
  const uint8_t *kept; /* by transaction; NULL: all are */
  iso_bytes *out;
} teller;

/* Whether what a read or an element shows is still there; what nobody wrote is no worse than before. */
static bool is_there(const teller *t, uint32_t writer) {
  if (t->kept == NULL || writer >= t->part->h->ops) return true;
  return t->kept[iso_op_txn(&t->index, writer)] != 0;
}

static void put_head(const teller *t, uint32_t op, iso_value value) {
  const isoproof_history *h = t->part->h;
  iso_value key = h->key_name[h->op_key[op]];
  iso_put(t->out, &h->op_kind[op], 1);
  iso_put(t->out, &t->part->place[op], sizeof *t->part->place);
  iso_put_u32(t->out, key);
  iso_put_u32(t->out, value);
}

static const uint32_t *writers_of(const teller *t, uint32_t op, uint32_t count) {
  const isoproof_history *h = t->part->h;
  const iso_resolution *r = t->part->view.resolution;
  iso_value value = h->op_value[op];
  if (count == 0) return NULL;
  return value < ISO_VALUE_INLINE_LIMIT ? r->list_writer + h->list_first[h->op_key[op]]
                                        : r->odd_writer + h->odd_first[value & ~ISO_VALUE_INTERNED];
}

/* Without the last element that others appended, a read would show the version of somebody else: then it is left out.
 */
static bool put_list(const teller *t, uint32_t txn, uint32_t op) {
  uint32_t count, kept = 0;
  const iso_value *elements = iso_history_list(t->part->h, op, &count);
  const uint32_t *writers = writers_of(t, op, count);
  uint32_t last = count;
  while (last > 0 && writers[last - 1] < t->part->h->ops && iso_op_txn(&t->index, writers[last - 1]) == txn) last--;
  if (last > 0 && !is_there(t, writers[last - 1])) return false;
  for (uint32_t i = 0; i < count; i++) kept += is_there(t, writers[i]);
  put_head(t, op, kept | ISO_VALUE_INTERNED);
  for (uint32_t i = 0; i < count; i++) {
    if (is_there(t, writers[i])) iso_put_u32(t->out, elements[i]);
  }
  return true;
}

/* Whether the operation was put down. */
static bool put_op(const teller *t, uint32_t txn, uint32_t op) {
  const isoproof_history *h = t->part->h;
  iso_value value = h->op_value[op];
  bool list = iso_kind_is_list((isoproof_op_kind)h->op_kind[op]);
  if (list && value != ISO_VALUE_NIL && value != ISO_VALUE_NONE) return put_list(t, txn, op);
  bool read = h->op_kind[op] == ISOPROOF_OP_READ && value != ISO_VALUE_NONE;
  if (read && !is_there(t, t->part->view.resolution->writer[op])) return false;
  put_head(t, op, value);
  return true;
}

static void put_txn(const teller *t, uint32_t txn) {
  const isoproof_history *h = t->part->h;
  uint16_t count = 0;
  if (h->txn_first_op[txn] == h->txn_first_op[txn + 1]) return;
  iso_put_u32(t->out, txn);
  size_t head = t->out->count;
  iso_put(t->out, &count, sizeof count);
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++)
    count = (uint16_t)(count + put_op(t, txn, op));
  if (!t->out->failed) memcpy(t->out->items + head, &count, sizeof count);
}

isoproof_status iso_part_tell_ops(const iso_member *m, iso_part *part, iso_bytes *out, isoproof_error *error) {
  bool all = m->head.txns_wanted == UINT32_MAX;
  uint8_t *kept = all ? NULL : iso_alloc_zero(m->txns, 1);
  teller t = {.part = part, .kept = kept, .out = out};
  if (!all && kept == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_history_op_index(part->h, &t.index, error);
  for (uint32_t i = 0; !all && i < m->head.txns_wanted; i++) {
    uint32_t txn;
    memcpy(&txn, m->wanted + i * sizeof txn, sizeof txn);
    if (txn < m->txns) kept[txn] = 1;
  }
  for (uint32_t txn = 0; status == ISOPROOF_OK && txn < m->txns; txn++) {
    if (all || kept[txn]) put_txn(&t, txn);
  }
  free(kept);
  return status;
}
