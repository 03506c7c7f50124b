/* Operations in runs per transaction and part, and lists once per key. */
#include "parts/ship.h"

#include <stdlib.h>

#include "base/pages.h"

iso_piece iso_piece_of(const isoproof_history *h) {
  return (iso_piece){.op_kind = h->op_kind,
                     .op_key = h->op_key,
                     .op_value = h->op_value,
                     .txn_first_op = h->txn_first_op,
                     .key_name = h->key_name,
                     .list_first = h->list_first,
                     .list_values = h->list_values,
                     .odd_first = h->odd_first,
                     .odd_values = h->odd_values,
                     .end_txn = h->txns,
                     .end_key = h->keys,
                     .keys = h->keys,
                     .in_file = h->map != NULL};
}

typedef struct {
  const iso_piece *p;
  uint32_t parts, only;
  iso_bytes *to;
  uint32_t *run_txn; /* by part: the transaction of its last run, + 1 */
  size_t *run_at;    /* where that run begins */
  uint64_t bytes;
} shipper;

/* The elements of an odd list, behind its operation. */
static void put_elements(shipper *s, iso_bytes *to, uint32_t odd, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    iso_put_u32(to, iso_piece_code(s->p, s->p->odd_values[s->p->odd_first[odd] + i]));
  }
  s->bytes += count * sizeof(uint32_t);
}

static void open_run(shipper *s, iso_bytes *to, size_t slot, uint32_t txn) {
  uint32_t number = s->p->number != NULL ? s->p->number[txn] : txn;
  uint16_t none = 0;
  s->run_txn[slot] = txn + 1;
  s->run_at[slot] = to->count;
  iso_put_u32(to, number);
  iso_put(to, &none, sizeof none);
  s->bytes += ISO_SHIPPED_RUN;
}

static void count_op(iso_bytes *to, size_t run) {
  uint16_t count;
  memcpy(&count, to->items + run + sizeof(uint32_t), sizeof count);
  count++;
  memcpy(to->items + run + sizeof(uint32_t), &count, sizeof count);
}

static void ship_op(shipper *s, uint32_t txn, uint32_t op) {
  const iso_piece *p = s->p;
  iso_value key = iso_piece_code(p, p->key_name[p->op_key[op]]), value = p->op_value[op];
  uint32_t part = iso_part_of(key, s->parts);
  if (s->only != ISO_ALL_PARTS && s->only != part) return;
  size_t slot = s->only != ISO_ALL_PARTS ? 0 : part;
  iso_bytes *to = &s->to[slot];
  if (s->run_txn[slot] != txn + 1) open_run(s, to, slot, txn);
  bool list = iso_kind_is_list((isoproof_op_kind)p->op_kind[op]);
  bool odd = list && value >= ISO_VALUE_INTERNED && value != ISO_VALUE_NONE;
  uint32_t elements =
      odd ? (uint32_t)(p->odd_first[(value & ~ISO_VALUE_INTERNED) + 1] - p->odd_first[value & ~ISO_VALUE_INTERNED]) : 0;
  uint8_t *room = iso_put_room(to, ISO_SHIPPED_OP);
  if (room == NULL || to->failed) return;
  uint16_t place = (uint16_t)(op - p->txn_first_op[txn] + (p->place != NULL ? p->place[txn] : 0));
  iso_value told = odd ? elements | ISO_VALUE_INTERNED : list ? value : iso_piece_code(p, value);
  room[0] = p->op_kind[op];
  memcpy(room + 1, &place, sizeof place);
  memcpy(room + 3, &key, sizeof key);
  memcpy(room + 7, &told, sizeof told);
  count_op(to, s->run_at[slot]);
  s->bytes += ISO_SHIPPED_OP;
  if (odd) put_elements(s, to, value & ~ISO_VALUE_INTERNED, elements);
}

/* What was read of a mapped file does not count as memory of this process any more. */
static void let_go_of_ops(const iso_piece *p, uint32_t first, uint32_t end) {
  iso_pages_let_go(p->op_kind, first, end);
  iso_pages_let_go(p->op_key, (size_t)first * 4, (size_t)end * 4);
  iso_pages_let_go(p->op_value, (size_t)first * 4, (size_t)end * 4);
}

static isoproof_status ship_txn(shipper *s, uint32_t txn, isoproof_error *error) {
  uint32_t first = s->p->txn_first_op[txn], end = s->p->txn_first_op[txn + 1];
  uint64_t before = s->p->place != NULL ? s->p->place[txn] : 0;
  if (end - first + before > ISO_MOST_OPS_PER_TXN) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "a transaction has more than %d operations", ISO_MOST_OPS_PER_TXN);
  }
  for (uint32_t op = first; op < end; op++) ship_op(s, txn, op);
  return ISOPROOF_OK;
}

static isoproof_status ship_all(shipper *s, uint64_t most, uint32_t *txn, isoproof_task *task, isoproof_error *error) {
  enum { OPS_AT_A_TIME = 1 << 20, TXNS_AT_A_TIME = 4096 };
  const iso_piece *p = s->p;
  uint32_t released = p->txn_first_op[*txn];
  for (; *txn < p->end_txn && s->bytes < most; (*txn)++) {
    if (*txn % TXNS_AT_A_TIME == 0) ISO_TRY(iso_task_check(task, error));
    ISO_TRY(ship_txn(s, *txn, error));
    uint32_t end = p->txn_first_op[*txn + 1];
    if (!p->in_file || end - released < OPS_AT_A_TIME) continue;
    let_go_of_ops(p, released, end);
    iso_pages_let_go(p->txn_first_op, 0, (size_t)*txn * sizeof *p->txn_first_op);
    released = end;
  }
  if (p->in_file) let_go_of_ops(p, released, p->txn_first_op[*txn]);
  return ISOPROOF_OK;
}

static isoproof_status check_sent(const iso_bytes *to, size_t slots, isoproof_error *error) {
  for (size_t i = 0; i < slots; i++) {
    if (to[i].failed) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_ship_ops(const iso_piece *piece, uint32_t parts, uint32_t only, uint64_t most, uint32_t *txn,
                             iso_bytes *to, isoproof_task *task, isoproof_error *error) {
  size_t slots = only == ISO_ALL_PARTS ? parts : 1;
  shipper s = {.p = piece, .parts = parts, .only = only, .to = to};
  s.run_txn = iso_alloc_zero(slots, sizeof *s.run_txn);
  s.run_at = iso_alloc_zero(slots, sizeof *s.run_at);
  bool made = s.run_txn != NULL && s.run_at != NULL;
  isoproof_status status = made ? ship_all(&s, most, txn, task, error) : iso_fail_memory(error);
  free(s.run_txn);
  free(s.run_at);
  return status == ISOPROOF_OK ? check_sent(to, slots, error) : status;
}

isoproof_status iso_ship_lists(const iso_piece *p, uint32_t parts, uint32_t only, iso_bytes *to,
                               isoproof_error *error) {
  size_t slots = only == ISO_ALL_PARTS ? parts : 1;
  for (uint32_t k = p->first_key; p->list_first != NULL && k < p->end_key; k++) {
    uint64_t first = p->list_first[k], end = p->list_first[k + 1];
    if (first == end) continue;
    iso_value key = iso_piece_code(p, p->key_name[k]);
    uint32_t part = iso_part_of(key, parts);
    if (only != ISO_ALL_PARTS && only != part) continue;
    iso_bytes *out = &to[only != ISO_ALL_PARTS ? 0 : part];
    iso_put_u32(out, key);
    iso_put_u32(out, (uint32_t)(end - first));
    for (uint64_t i = first; i < end; i++) iso_put_u32(out, iso_piece_code(p, p->list_values[i]));
  }
  return check_sent(to, slots, error);
}
