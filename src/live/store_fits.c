/* Whether a transaction, carried out in a state, sees what it saw. */
#include "live/store.h"

/* ---- what the transaction itself did before ---- */

/* The last own change of a row; NULL where there is none. */
static const iso_store_change *own_row(const iso_store *store, int64_t key) {
  for (size_t i = store->own.count; i-- > 0;) {
    const iso_store_change *own = &store->own.items[i];
    if (own->key == key) return own;
  }
  return NULL;
}

static bool note_own(iso_store *store, const iso_live_op *op) {
  iso_store_change own = {.present = op->value != ISO_VALUE_NIL, .key = iso_store_key(store, op)};
  own.value = iso_store_value(store, op);
  return iso_vec_push(&store->own, own);
}

/* ---- rows ---- */

static bool row_is(const iso_store *store, int64_t key, bool present, int64_t value) {
  const iso_store_change *own = own_row(store, key);
  if (own != NULL) return own->present == present && (!present || own->value == value);
  const iso_row_node *row = iso_row_map_find(&store->rows, key, 0);
  return (row != NULL) == present && (!present || row->value == value);
}

static bool point_fits(const iso_store *store, const iso_live_op *op, const iso_row_map *ignored,
                       iso_store_want *want) {
  bool present = op->value != ISO_VALUE_NIL;
  int64_t key = iso_store_key(store, op), value = iso_store_value(store, op);
  if (op->value == ISO_VALUE_NONE || row_is(store, key, present, value)) return true;
  if (present && ignored != NULL && iso_row_map_find(ignored, key, value) != NULL) return true;
  *want = (iso_store_want){.known = present, .key = key, .value = value};
  return false;
}

/* By how many the own changes of the transaction make the number of rows differ that a predicate picks. */
static int64_t own_difference(const iso_store *store, const iso_predicate *predicate) {
  int64_t difference = 0;
  for (size_t i = 0; i < store->own.count; i++) {
    const iso_store_change *own = &store->own.items[i];
    if (own_row(store, own->key) != own) continue;
    const iso_row_node *row = iso_row_map_find(&store->rows, own->key, 0);
    difference += own->present && iso_predicate_matches(predicate, own->key, own->value);
    difference -= row != NULL && iso_predicate_matches(predicate, own->key, row->value);
  }
  return difference;
}

/* Whether a predicate picks that many rows. */
static bool picks(iso_store *store, const iso_predicate *predicate, int64_t expected) {
  int64_t count = 0;
  expected -= own_difference(store, predicate);
  if (!predicate->of_keys && !iso_predicate_has_values(predicate)) return expected == (int64_t)store->rows.count;
  iso_store_cursor cursor = {.store = store, .predicate = predicate};
  while (count <= expected && iso_store_next(&cursor)) count++;
  return count == expected;
}

bool iso_statement_shows(const iso_live_txn *txn, const iso_live_statement *s, const iso_row_map *pairs) {
  for (uint32_t i = 0; pairs != NULL && i < s->row_count; i++) {
    const iso_row_value *row = &txn->rows[s->first_row + i];
    if (iso_row_map_find(pairs, row->key, row->value) != NULL) return true;
  }
  return false;
}

static bool statement_fits(iso_store *store, const iso_live_txn *txn, const iso_live_op *op, const iso_row_map *ignored,
                           iso_store_want *want) {
  const iso_live_statement *s = &txn->statements[op->first];
  if (!s->answered || iso_statement_shows(txn, s, ignored)) return true;
  *want = (iso_store_want){0};
  if (op->form == ISO_ROW_COUNT) return picks(store, &s->predicate, s->counted);
  for (uint32_t i = 0; i < s->row_count; i++) {
    const iso_row_value *row = &txn->rows[s->first_row + i];
    if (row_is(store, row->key, true, row->value)) continue;
    *want = (iso_store_want){.known = true, .key = row->key, .value = row->value};
    return false;
  }
  return picks(store, &s->predicate, s->row_count); /* a row that was returned twice does not fit */
}

/* ---- all together ---- */

static bool op_fits(iso_store *store, const iso_live_txn *txn, const iso_live_op *op, const iso_row_map *ignored,
                    iso_store_want *want) {
  *want = (iso_store_want){0};
  bool statement = op->form == ISO_ROW_PREDICATE || op->form == ISO_ROW_COUNT;
  return statement ? statement_fits(store, txn, op, ignored, want) : point_fits(store, op, ignored, want);
}

bool iso_store_fits(iso_store *store, const iso_live_txn *txn, const iso_row_map *ignored, iso_store_want *want,
                    bool *failed) {
  store->own.count = 0;
  for (uint32_t i = 0; i < txn->op_count; i++) {
    const iso_live_op *op = &txn->ops[i];
    if (iso_live_op_observes(op)) {
      if (!op_fits(store, txn, op, ignored, want)) return false;
    } else if (!note_own(store, op)) {
      *failed = true;
      return false;
    }
  }
  return true;
}

/* ---- two transactions ---- */

/* Whether a write of a row changes what the predicate picks, as the row is now. */
static bool changes(const iso_store *store, const iso_predicate *predicate, const iso_live_op *write) {
  int64_t key = iso_store_key(store, write);
  const iso_row_node *row = iso_row_map_find(&store->rows, key, 0);
  if (row != NULL && iso_predicate_matches(predicate, key, row->value)) return true;
  return write->value != ISO_VALUE_NIL && iso_predicate_matches(predicate, key, iso_store_value(store, write));
}

static bool op_minds(const iso_store *store, const iso_live_txn *reader, const iso_live_op *read,
                     const iso_live_op *write) {
  bool statement = read->form == ISO_ROW_PREDICATE || read->form == ISO_ROW_COUNT;
  if (!statement) return read->key == write->key;
  return changes(store, &reader->statements[read->first].predicate, write);
}

bool iso_store_disturbs(const iso_store *store, const iso_live_txn *writer, const iso_live_txn *reader) {
  for (uint32_t i = 0; i < writer->op_count; i++) {
    if (iso_live_op_observes(&writer->ops[i])) continue;
    for (uint32_t j = 0; j < reader->op_count; j++) {
      const iso_live_op *read = &reader->ops[j];
      if (iso_live_op_observes(read) && op_minds(store, reader, read, &writer->ops[i])) return true;
    }
  }
  return false;
}

bool iso_txns_overwrite(const iso_live_txn *a, const iso_live_txn *b) {
  for (uint32_t i = 0; i < a->op_count; i++) {
    if (iso_live_op_observes(&a->ops[i])) continue;
    for (uint32_t j = 0; j < b->op_count; j++) {
      if (!iso_live_op_observes(&b->ops[j]) && a->ops[i].key == b->ops[j].key) return true;
    }
  }
  return false;
}
