/* A part from what was shipped to it: count, number the keys, put operations in their places, let lists share. */
#include <stdlib.h>
#include <string.h>

#include "history/numbering.h"
#include "parts/part.h"

/* The longest list that is known of a key: bytes of a shipment, wherever they lie. */
typedef struct {
  const uint8_t *values;
  uint32_t count;
} list;

typedef struct {
  const iso_part_frame *frame;
  const iso_shipment *shipments;
  size_t count;
  isoproof_task *task;
  iso_part *part;
  isoproof_history *h;
  iso_numbering keys;
  uint32_t *next; /* by transaction: where its next operation goes */
  list *given;    /* by key: what the shipment at hand has */
  list *longest;  /* by key: what reads showed */
  ISO_VEC(iso_value) odd;
  ISO_VEC(uint64_t) odd_first;
} assembler;

typedef struct {
  uint8_t kind;
  uint16_t place;
  iso_value key, value;
} shipped_op;

static isoproof_status broken(isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_INTERNAL, "operations did not arrive as they were sent");
}

static shipped_op take_op(iso_taker *in) {
  shipped_op op = {.kind = 0};
  const uint8_t *bytes = iso_take_bytes(in, ISO_SHIPPED_OP);
  if (bytes == NULL) return op;
  op.kind = bytes[0];
  memcpy(&op.place, bytes + 1, sizeof op.place);
  memcpy(&op.key, bytes + 3, sizeof op.key);
  memcpy(&op.value, bytes + 7, sizeof op.value);
  return op;
}

static bool is_odd(const shipped_op *op) {
  return iso_kind_is_list((isoproof_op_kind)op->kind) && op->value >= ISO_VALUE_INTERNED && op->value != ISO_VALUE_NONE;
}

/* Calls for every operation of the shipments, in the order of their coming. */
typedef isoproof_status (*visit)(assembler *a, uint32_t txn, const shipped_op *op, const uint8_t *elements,
                                 isoproof_error *error);

static isoproof_status visit_run(assembler *a, iso_taker *in, visit each, isoproof_error *error) {
  uint32_t txn = iso_take_u32(in);
  uint16_t ops;
  iso_take(in, &ops, sizeof ops);
  if (in->failed || txn >= a->frame->txns) return broken(error);
  for (uint16_t i = 0; i < ops; i++) {
    shipped_op op = take_op(in);
    const uint8_t *elements = NULL;
    if (is_odd(&op)) elements = iso_take_bytes(in, (size_t)(op.value & ~ISO_VALUE_INTERNED) * sizeof(iso_value));
    if (in->failed) return broken(error);
    ISO_TRY(each(a, txn, &op, elements, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status visit_shipment(assembler *a, const iso_shipment *shipment, visit each, isoproof_error *error) {
  enum { RUNS_PER_LOOK = 1 << 16 };
  iso_taker in = iso_take_from(shipment->ops.items, shipment->ops.count);
  for (uint32_t runs = 0; in.at < in.end; runs++) {
    if (runs % RUNS_PER_LOOK == 0) ISO_TRY(iso_task_check(a->task, error));
    ISO_TRY(visit_run(a, &in, each, error));
  }
  return ISOPROOF_OK;
}

/* ---- first pass: how many operations each transaction has here, and which keys there are ---- */

static isoproof_status count_op(assembler *a, uint32_t txn, const shipped_op *op, const uint8_t *elements,
                                isoproof_error *error) {
  uint32_t number;
  (void)elements;
  if (a->h->ops == ISO_MAX_OPS) return iso_fail(error, ISOPROOF_ERR_LIMIT, "too many operations for one part");
  a->h->txn_first_op[txn + 1]++;
  a->h->ops++;
  return iso_numbering_add(&a->keys, op->key, &number, error);
}

static isoproof_status count_ops(assembler *a, isoproof_error *error) {
  isoproof_history *h = a->h;
  h->txns = a->frame->txns;
  h->initial_is_zero = a->frame->initial_is_zero;
  h->txn_first_op = iso_alloc_zero((size_t)h->txns + 1, sizeof *h->txn_first_op);
  h->txn_status = iso_alloc(h->txns, 1);
  if (h->txn_first_op == NULL || h->txn_status == NULL) return iso_fail_memory(error);
  memcpy(h->txn_status, a->frame->txn_status, h->txns);
  for (size_t i = 0; i < a->count; i++) ISO_TRY(visit_shipment(a, &a->shipments[i], count_op, error));
  for (uint32_t t = 0; t < h->txns; t++) h->txn_first_op[t + 1] += h->txn_first_op[t];
  h->keys = (uint32_t)a->keys.count;
  return ISOPROOF_OK;
}

/* ---- lists ---- */

static isoproof_status take_lists(assembler *a, const iso_shipment *shipment, isoproof_error *error) {
  iso_taker in = iso_take_from(shipment->lists.items, shipment->lists.count);
  while (in.at < in.end) {
    iso_value key = iso_take_u32(&in);
    uint32_t count = iso_take_u32(&in), number;
    const uint8_t *values = iso_take_bytes(&in, (size_t)count * sizeof(iso_value));
    if (in.failed) return broken(error);
    ISO_TRY(iso_numbering_add(&a->keys, key, &number, error));
    if (number >= a->h->keys) return broken(error); /* nobody reads it */
    a->given[number] = (list){values, count};
  }
  return ISOPROOF_OK;
}

/* The first `count` elements agree. */
static bool agree(const list *x, const uint8_t *values, uint32_t count) {
  return count == 0 || x->values == values || memcmp(x->values, values, count * sizeof(iso_value)) == 0;
}

static bool keep_odd(assembler *a, const uint8_t *elements, uint32_t count, iso_value *value) {
  if (!iso_vec_reserve(&a->odd, count) || !iso_vec_push(&a->odd_first, a->odd.count)) return false;
  if (count > 0) memcpy(a->odd.items + a->odd.count, elements, count * sizeof(iso_value));
  a->odd.count += count;
  *value = (iso_value)(a->odd_first.count - 1) | ISO_VALUE_INTERNED;
  return true;
}

/* What a list read becomes: the length of a prefix of the longest list of its key, or an odd one. */
static isoproof_status place_list(assembler *a, uint32_t key, const shipped_op *op, const uint8_t *elements,
                                  iso_value *value, isoproof_error *error) {
  list *longest = &a->longest[key];
  uint32_t count = op->value & ~ISO_VALUE_INTERNED;
  *value = op->value;
  if (op->value == ISO_VALUE_NIL || op->value == ISO_VALUE_NONE || op->value == 0) return ISOPROOF_OK;
  if (elements == NULL) {
    if (count > a->given[key].count) return broken(error);
    elements = a->given[key].values;
  }
  uint32_t both = count < longest->count ? count : longest->count;
  if (agree(longest, elements, both)) {
    *value = count;
    if (count > longest->count) *longest = (list){elements, count};
    return ISOPROOF_OK;
  }
  return keep_odd(a, elements, count, value) ? ISOPROOF_OK : iso_fail_memory(error);
}

static bool make_lists(assembler *a) {
  isoproof_history *h = a->h;
  uint64_t total = 0;
  h->list_first = iso_alloc((size_t)h->keys + 1, sizeof *h->list_first);
  if (h->list_first == NULL) return false;
  for (uint32_t k = 0; k < h->keys; k++) {
    h->list_first[k] = total;
    total += a->longest[k].count;
  }
  h->list_first[h->keys] = total;
  h->list_values = iso_alloc(total, sizeof *h->list_values);
  if (h->list_values == NULL || !iso_vec_push(&a->odd_first, a->odd.count)) return false;
  for (uint32_t k = 0; k < h->keys; k++) {
    if (a->longest[k].count == 0) continue;
    memcpy(h->list_values + h->list_first[k], a->longest[k].values, a->longest[k].count * sizeof(iso_value));
  }
  h->odd_lists = (uint32_t)a->odd_first.count - 1;
  h->odd_first = a->odd_first.items;
  h->odd_values = a->odd.items;
  a->odd_first.items = NULL;
  a->odd.items = NULL;
  return true;
}

/* ---- second pass: everything in its place ---- */

static isoproof_status place_op(assembler *a, uint32_t txn, const shipped_op *op, const uint8_t *elements,
                                isoproof_error *error) {
  isoproof_history *h = a->h;
  uint32_t at = a->next[txn]++, key;
  ISO_TRY(iso_numbering_add(&a->keys, op->key, &key, error));
  h->op_kind[at] = op->kind;
  h->op_key[at] = key;
  h->op_value[at] = op->value;
  a->part->place[at] = op->place;
  if (op->kind >= ISOPROOF_OP_KINDS) return broken(error);
  if (!iso_kind_is_list((isoproof_op_kind)op->kind)) return ISOPROOF_OK;
  if (a->longest == NULL) return broken(error);
  return place_list(a, key, op, elements, &h->op_value[at], error);
}

static isoproof_status place_ops(assembler *a, isoproof_error *error) {
  isoproof_history *h = a->h;
  h->op_kind = iso_alloc(h->ops, sizeof *h->op_kind);
  h->op_key = iso_alloc(h->ops, sizeof *h->op_key);
  h->op_value = iso_alloc(h->ops, sizeof *h->op_value);
  a->part->place = iso_alloc(h->ops, sizeof *a->part->place);
  a->next = iso_alloc(h->txns, sizeof *a->next);
  a->given = iso_alloc_zero(h->keys, sizeof *a->given);
  a->longest = iso_alloc_zero(h->keys, sizeof *a->longest);
  bool made = h->op_kind != NULL && h->op_key != NULL && h->op_value != NULL && a->part->place != NULL &&
              a->next != NULL && a->given != NULL && a->longest != NULL;
  if (!made) return iso_fail_memory(error);
  memcpy(a->next, h->txn_first_op, h->txns * sizeof *a->next);
  for (size_t i = 0; a->frame->common_lists && i < a->count; i++) ISO_TRY(take_lists(a, &a->shipments[i], error));
  for (size_t i = 0; i < a->count; i++) {
    if (!a->frame->common_lists) ISO_TRY(take_lists(a, &a->shipments[i], error));
    ISO_TRY(visit_shipment(a, &a->shipments[i], place_op, error));
  }
  h->key_name = iso_alloc(h->keys, sizeof *h->key_name);
  if (h->key_name == NULL || !make_lists(a)) return iso_fail_memory(error);
  if (h->keys > 0) memcpy(h->key_name, a->keys.names, h->keys * sizeof *h->key_name);
  return ISOPROOF_OK;
}

isoproof_status iso_part_make(const iso_part_frame *frame, const iso_shipment *shipments, size_t count,
                              isoproof_task *task, iso_part *part, isoproof_error *error) {
  memset(part, 0, sizeof *part);
  part->h = iso_history_new();
  if (part->h == NULL) return iso_fail_memory(error);
  assembler a = {.frame = frame, .shipments = shipments, .count = count, .task = task, .part = part, .h = part->h};
  iso_numbering_init(&a.keys);
  isoproof_status status = count_ops(&a, error);
  if (status == ISOPROOF_OK) status = place_ops(&a, error);
  iso_numbering_free(&a.keys);
  free(a.next);
  free(a.given);
  free(a.longest);
  iso_vec_free(&a.odd);
  iso_vec_free(&a.odd_first);
  if (status == ISOPROOF_OK) iso_history_count(part->h);
  if (status != ISOPROOF_OK) iso_part_free(part);
  return status;
}
