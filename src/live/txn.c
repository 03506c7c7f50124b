/* Copies transactions out of batches into blocks of their own, and writes them into builders again. */
#include "live/txn.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "history/real_time.h"

isoproof_status iso_live_carry(const iso_live_carrier *carrier, iso_value value, iso_value *out,
                               isoproof_error *error) {
  if (value <= ISO_VALUE_NIL || value >= ISO_VALUE_COUNTED) {
    *out = value;
    return ISOPROOF_OK;
  }
  return iso_pool_add(carrier->to, iso_pool_scalar(&carrier->from, value), out, error);
}

/* ---- in ---- */

/* The first statement of the batch that belongs to the transaction or a later one. */
static uint32_t find_statement(const isoproof_history *h, uint32_t txn) {
  uint32_t low = 0, high = h->statement_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (h->statements[middle].txn < txn)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool is_list_read(const isoproof_history *h, uint32_t op) {
  return iso_kind_is_list((isoproof_op_kind)h->op_kind[op]);
}

static iso_live_shape measure(const isoproof_history *h, uint32_t txn) {
  iso_live_shape s = {.ops = h->txn_first_op[txn + 1] - h->txn_first_op[txn]};
  if (h->list_first != NULL) {
    for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
      uint32_t count = 0;
      if (is_list_read(h, op)) iso_history_list(h, op, &count);
      s.elements += count;
    }
  }
  s.first_statement = find_statement(h, txn);
  for (uint32_t i = s.first_statement; i < h->statement_count && h->statements[i].txn == txn; i++) {
    s.statements++;
    s.rows += h->statements[i].op_count;
  }
  s.ops += s.statements;
  return s;
}

iso_live_txn *iso_live_txn_allocate(const iso_live_shape *s) {
  size_t bytes = sizeof(iso_live_txn) + s->statements * sizeof(iso_live_statement) + s->rows * sizeof(iso_row_value) +
                 s->ops * sizeof(iso_live_op) + s->elements * sizeof(iso_value);
  iso_live_txn *t = iso_alloc(1, bytes);
  if (t == NULL) return NULL;
  *t = (iso_live_txn){.references = 1, .info = iso_txn_unset(), .bytes = bytes};
  t->statements = (iso_live_statement *)(t + 1);
  t->rows = (iso_row_value *)(t->statements + s->statements);
  t->ops = (iso_live_op *)(t->rows + s->rows);
  t->elements = (iso_value *)(t->ops + s->ops);
  return t;
}

void iso_live_txn_drop(iso_live_txn *txn) {
  if (txn != NULL && --txn->references == 0) free(txn);
}

typedef struct copier {
  const isoproof_history *h;
  iso_live_carrier carrier;
  const uint32_t *keys;
  iso_live_txn *t;
  uint32_t elements, statements, rows; /* written so far */
} copier;

static isoproof_status copy_info(copier *c, uint32_t txn, isoproof_error *error) {
  const isoproof_history *h = c->h;
  iso_txn_info *info = &c->t->info;
  info->status = (isoproof_txn_status)h->txn_status[txn];
  if (h->txn_id_opt != NULL) {
    isoproof_txn shown = {.struct_size = sizeof shown};
    info->has_id = isoproof_history_txn_at(h, txn, &shown) && shown.has_id;
    info->id = info->has_id ? shown.id : 0;
  }
  if (h->txn_start_opt != NULL) info->start = h->txn_start_opt[txn], info->end = h->txn_end_opt[txn];
  if (h->txn_start_index_opt != NULL) info->start_index = h->txn_start_index_opt[txn];
  if (h->txn_end_index_opt != NULL) info->end_index = h->txn_end_index_opt[txn];
  if (h->txn_node_opt != NULL) ISO_TRY(iso_live_carry(&c->carrier, h->txn_node_opt[txn], &info->node, error));
  if (h->txn_error_opt != NULL) ISO_TRY(iso_live_carry(&c->carrier, h->txn_error_opt[txn], &info->error, error));
  if (h->txn_name_opt != NULL) ISO_TRY(iso_live_carry(&c->carrier, h->txn_name_opt[txn], &info->name, error));
  info->isolation = iso_history_isolation(h, txn);
  bool timed = h->txn_start_opt != NULL || h->txn_start_index_opt != NULL;
  c->t->real_start = timed ? iso_real_start(h, txn) : INT64_MIN;
  c->t->real_end = timed ? iso_real_end(h, txn) : INT64_MAX;
  return ISOPROOF_OK;
}

static isoproof_status copy_op(copier *c, uint32_t op, isoproof_error *error) {
  const isoproof_history *h = c->h;
  iso_live_op *to = &c->t->ops[c->t->op_count++];
  *to = (iso_live_op){.kind = h->op_kind[op], .form = (uint8_t)iso_history_form(h, op)};
  to->key = c->keys[h->op_key[op]];
  iso_value value = h->op_value[op];
  if (!is_list_read(h, op) || value == ISO_VALUE_NIL || value == ISO_VALUE_NONE)
    return iso_live_carry(&c->carrier, value, &to->value, error);
  const iso_value *list = iso_history_list(h, op, &to->count);
  to->first = c->elements;
  for (uint32_t i = 0; i < to->count; i++) {
    ISO_TRY(iso_live_carry(&c->carrier, list[i], &c->t->elements[c->elements++], error));
  }
  return ISOPROOF_OK;
}

static isoproof_status copy_statement(copier *c, const iso_statement *s, isoproof_error *error) {
  const isoproof_history *h = c->h;
  iso_live_op *op = &c->t->ops[c->t->op_count++];
  iso_live_statement *to = &c->t->statements[c->statements];
  *op = (iso_live_op){.kind = ISOPROOF_OP_READ, .form = s->form, .value = ISO_VALUE_NIL, .first = c->statements++};
  *to = (iso_live_statement){.predicate = iso_statement_predicate(s),
                             .counted = s->counted,
                             .answered = s->answered != 0,
                             .first_row = c->rows};
  for (uint32_t i = s->first_op; i < s->first_op + s->op_count; i++) {
    iso_row_value row;
    if (h->op_value[i] == ISO_VALUE_NIL || !iso_pool_integer(&h->pool, h->op_value[i], &row.value)) continue;
    if (!iso_pool_integer(&h->pool, h->key_name[h->op_key[i]], &row.key))
      return iso_fail(error, ISOPROOF_ERR_INTERNAL, "a row without a number");
    c->t->rows[c->rows++] = row;
    to->row_count++;
  }
  return ISOPROOF_OK;
}

static isoproof_status copy_ops(copier *c, uint32_t txn, uint32_t next, isoproof_error *error) {
  const isoproof_history *h = c->h;
  uint32_t op = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  for (;;) {
    const iso_statement *s = next < h->statement_count ? &h->statements[next] : NULL;
    if (s != NULL && s->txn == txn && s->first_op == op) {
      ISO_TRY(copy_statement(c, s, error));
      op += s->op_count;
      next++;
    } else if (op < end) {
      ISO_TRY(copy_op(c, op++, error));
    } else {
      return ISOPROOF_OK;
    }
  }
}

isoproof_status iso_live_txn_copy(const isoproof_history *batch, uint32_t txn, iso_pool *pool, const uint32_t *keys,
                                  iso_live_txn **out, isoproof_error *error) {
  iso_live_shape s = measure(batch, txn);
  copier c = {.h = batch, .carrier = {.from = batch->pool, .to = pool}, .keys = keys, .t = iso_live_txn_allocate(&s)};
  if (c.t == NULL) return iso_fail_memory(error);
  isoproof_status status = copy_info(&c, txn, error);
  if (status == ISOPROOF_OK) status = copy_ops(&c, txn, s.first_statement, error);
  if (status != ISOPROOF_OK)
    iso_live_txn_drop(c.t);
  else
    *out = c.t;
  return status;
}

/* ---- out ---- */

isoproof_status iso_live_txn_begin(const iso_live_txn *txn, const iso_pool *pool, uint32_t session,
                                   isoproof_builder *builder, isoproof_error *error) {
  iso_live_carrier carrier = {.from = iso_pool_look(pool), .to = iso_builder_pool(builder)};
  iso_txn_info info = txn->info;
  ISO_TRY(iso_live_carry(&carrier, info.node, &info.node, error));
  ISO_TRY(iso_live_carry(&carrier, info.error, &info.error, error));
  ISO_TRY(iso_live_carry(&carrier, info.name, &info.name, error));
  return iso_builder_begin(builder, session, &info, NULL, error);
}

static isoproof_status put_elements(const iso_value *elements, uint32_t count, isoproof_op_kind kind, iso_value key,
                                    const iso_live_carrier *carrier, isoproof_builder *builder, isoproof_error *error) {
  iso_value small[64], *list = count <= 64 ? small : iso_alloc(count, sizeof *list);
  if (list == NULL) return iso_fail_memory(error);
  isoproof_status status = ISOPROOF_OK;
  for (uint32_t i = 0; status == ISOPROOF_OK && i < count; i++) {
    status = iso_live_carry(carrier, elements[i], &list[i], error);
  }
  if (status == ISOPROOF_OK) status = iso_builder_list(builder, kind, key, list, count, error);
  if (list != small) free(list);
  return status;
}

isoproof_status iso_live_put_list(const iso_value *elements, uint32_t count, iso_value key, const iso_pool *pool,
                                  isoproof_builder *builder, isoproof_error *error) {
  iso_live_carrier carrier = {.from = iso_pool_look(pool), .to = iso_builder_pool(builder)};
  ISO_TRY(iso_live_carry(&carrier, key, &key, error));
  return put_elements(elements, count, ISOPROOF_OP_READ_LIST, key, &carrier, builder, error);
}

isoproof_status iso_live_txn_op(const iso_live_txn *txn, const iso_live_op *op, const iso_pool *pool,
                                const iso_value *keys, isoproof_builder *builder, isoproof_error *error) {
  iso_live_carrier carrier = {.from = iso_pool_look(pool), .to = iso_builder_pool(builder)};
  if (op->form == ISO_ROW_PREDICATE || op->form == ISO_ROW_COUNT) {
    const iso_live_statement *s = &txn->statements[op->first];
    return iso_builder_statement(builder, (iso_row_form)op->form, &s->predicate, s->answered,
                                 op->form == ISO_ROW_COUNT ? NULL : txn->rows + s->first_row, s->row_count, s->counted,
                                 error);
  }
  iso_value key, value;
  ISO_TRY(iso_live_carry(&carrier, keys[op->key], &key, error));
  ISO_TRY(iso_live_carry(&carrier, op->value, &value, error));
  bool list = iso_kind_is_list((isoproof_op_kind)op->kind);
  if (list && op->value != ISO_VALUE_NIL && op->value != ISO_VALUE_NONE)
    return put_elements(txn->elements + op->first, op->count, (isoproof_op_kind)op->kind, key, &carrier, builder,
                        error);
  if (op->form != ISO_ROW_NONE) return iso_builder_row(builder, (iso_row_form)op->form, key, value, error);
  return iso_builder_op(builder, (isoproof_op_kind)op->kind, key, value, error);
}
