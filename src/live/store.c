/* The state that transactions leave: carrying them out, and taking them back. */
#include "live/store.h"

#include <stdlib.h>

void iso_store_free(iso_store *store) {
  iso_row_map_free(&store->rows);
  iso_row_map_free(&store->by_value);
  iso_vec_free(&store->own);
}

bool iso_store_copy(iso_store *to, const iso_store *from) {
  *to = (iso_store){.names = from->names, .pool = from->pool, .has_by_value = from->has_by_value};
  bool made = iso_row_map_copy(&to->rows, &from->rows) && iso_row_map_copy(&to->by_value, &from->by_value);
  if (!made) iso_store_free(to);
  return made;
}

uint64_t iso_store_bytes(const iso_store *store) { return store->rows.bytes + store->by_value.bytes; }

/* ---- numbers ---- */

static bool integer_of(const iso_store *store, iso_value code, int64_t *number) {
  if (code < ISO_VALUE_INLINE_LIMIT) {
    *number = (int64_t)code;
    return true;
  }
  iso_pool_view view = iso_pool_look(store->pool);
  return iso_pool_integer(&view, code, number);
}

static bool is_row(const iso_store *store, const iso_live_op *op) {
  int64_t number;
  if (!integer_of(store, store->names->names[op->key], &number)) return false;
  return op->value == ISO_VALUE_NIL || op->value == ISO_VALUE_NONE || integer_of(store, op->value, &number);
}

bool iso_store_knows(const iso_store *store, const iso_live_op *op) {
  if (op->kind == ISOPROOF_OP_READ)
    return op->form == ISO_ROW_PREDICATE || op->form == ISO_ROW_COUNT || is_row(store, op);
  /* Who removes a row says so. */
  return op->kind == ISOPROOF_OP_WRITE && is_row(store, op) && op->value != ISO_VALUE_NONE &&
         (op->value == ISO_VALUE_NIL) == (op->form == ISO_ROW_DELETE);
}

int64_t iso_store_key(const iso_store *store, const iso_live_op *op) {
  int64_t number = 0;
  integer_of(store, store->names->names[op->key], &number);
  return number;
}

int64_t iso_store_value(const iso_store *store, const iso_live_op *op) {
  int64_t number = 0;
  integer_of(store, op->value, &number);
  return number;
}

/* ---- changes ---- */

static bool set_row(iso_store *store, int64_t key, bool present, int64_t value) {
  const iso_row_node *old = store->has_by_value ? iso_row_map_find(&store->rows, key, 0) : NULL;
  if (old != NULL) iso_row_map_remove(&store->by_value, old->value, key);
  if (!present) {
    iso_row_map_remove(&store->rows, key, 0);
    return true;
  }
  if (store->has_by_value && !iso_row_map_put(&store->by_value, value, key, 0)) return false;
  return iso_row_map_put(&store->rows, key, 0, value);
}

/* Carries out one operation; *change is how the row was before. */
static bool apply_op(iso_store *store, const iso_live_op *op, iso_store_change *change) {
  *change = (iso_store_change){.key = iso_store_key(store, op)};
  const iso_row_node *old = iso_row_map_find(&store->rows, change->key, 0);
  change->present = old != NULL;
  change->value = old != NULL ? old->value : 0;
  return set_row(store, change->key, op->value != ISO_VALUE_NIL, iso_store_value(store, op));
}

bool iso_store_apply(iso_store *store, const iso_live_txn *txn, iso_store_undo *undo) {
  uint32_t writes = 0;
  for (uint32_t i = 0; i < txn->op_count; i++) writes += !iso_live_op_observes(&txn->ops[i]);
  *undo = (iso_store_undo){0};
  if (writes == 0) return true;
  undo->items = iso_alloc(writes, sizeof *undo->items);
  bool good = undo->items != NULL;
  for (uint32_t i = 0; good && i < txn->op_count; i++) {
    if (!iso_live_op_observes(&txn->ops[i])) good = apply_op(store, &txn->ops[i], &undo->items[undo->count++]);
  }
  return good;
}

bool iso_store_revert(iso_store *store, iso_store_undo *undo) {
  bool good = true;
  for (uint32_t i = undo->count; good && i-- > 0;) {
    const iso_store_change *change = &undo->items[i];
    good = set_row(store, change->key, change->present, change->value);
  }
  free(undo->items);
  *undo = (iso_store_undo){0};
  return good;
}

/* ---- rows by predicate ---- */

/* Somebody asks for values without saying where: from now on the rows are there by value, too. */
static bool need_by_value(iso_store *store) {
  if (store->has_by_value) return true;
  for (const iso_row_node *row = store->rows.first[0]; row != NULL; row = row->next[0]) {
    if (iso_row_map_put(&store->by_value, row->value, row->major, 0)) continue;
    iso_row_map_free(&store->by_value);
    return false; /* then without */
  }
  return store->has_by_value = true;
}

static void begin(iso_store_cursor *c) {
  const iso_predicate *p = c->predicate;
  c->begun = true;
  c->by_value = p->of_values && !p->of_keys && need_by_value(c->store);
  if (c->by_value)
    c->node = iso_row_map_from(&c->store->by_value, p->value_low);
  else
    c->node = p->of_keys ? iso_row_map_from(&c->store->rows, p->key_low) : c->store->rows.first[0];
}

bool iso_store_next(iso_store_cursor *c) {
  const iso_predicate *p = c->predicate;
  if (!c->begun) begin(c);
  while (c->node != NULL) {
    const iso_row_node *node = c->node;
    c->row = c->by_value ? (iso_row_value){node->minor, node->major} : (iso_row_value){node->major, node->value};
    c->node = node->next[0];
    if (c->by_value ? c->row.value > p->value_high : p->of_keys && c->row.key > p->key_high) break;
    if (iso_predicate_matches(p, c->row.key, c->row.value)) return true;
  }
  c->node = NULL;
  return false;
}
