/* The builder: collects sessions, transactions and operations in columns, in order of arrival. */
#include "history/builder_internal.h"

#include <stdlib.h>
#include <string.h>

static iso_lazy lazy(int64_t blank) { return (iso_lazy){.blank = blank}; }

isoproof_status iso_builder_start(isoproof_builder *builder, isoproof_error *error) {
  memset(builder, 0, sizeof *builder);
  builder->format = ISOPROOF_FORMATS;
  builder->most_ops = ISO_MAX_OPS;
  builder->txn_id = lazy(INT64_MIN);
  builder->txn_start = lazy(ISOPROOF_NO_TIME);
  builder->txn_end = lazy(ISOPROOF_NO_TIME);
  builder->txn_start_index = lazy(-1);
  builder->txn_end_index = lazy(-1);
  builder->txn_node = lazy(ISO_VALUE_NIL);
  builder->txn_error = lazy(ISO_VALUE_NIL);
  builder->txn_name = lazy(ISO_VALUE_NIL);
  builder->txn_isolation = lazy(ISO_ISOLATION_NONE);
  builder->session_file = lazy(ISO_VALUE_NIL);
  iso_numbering_init(&builder->keys);
  iso_numbering_init(&builder->sessions);
  return iso_pool_init(&builder->pool, error);
}

void iso_builder_clear(isoproof_builder *builder) {
  iso_lazy *columns[] = {&builder->txn_id,        &builder->txn_start,   &builder->txn_end,   &builder->txn_start_index,
                         &builder->txn_end_index, &builder->txn_node,    &builder->txn_error, &builder->txn_isolation,
                         &builder->txn_name,      &builder->session_file};
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) free(columns[i]->items);
  for (size_t i = 0; i < builder->lists.count; i++) free(builder->lists.items[i].items);
  free(builder->lists.items);
  free(builder->odd_first.items);
  free(builder->odd_values.items);
  free(builder->facts.items);
  free(builder->op_kind.items);
  free(builder->op_key.items);
  free(builder->op_value.items);
  free(builder->op_form.items);
  free(builder->op_statement.items);
  free(builder->statements.items);
  free(builder->returned.items);
  free(builder->initial_rows.items);
  free(builder->conditions.items);
  free(builder->contents.items);
  free(builder->labels.items);
  free(builder->runs.items);
  free(builder->txn_session.items);
  free(builder->txn_status.items);
  free(builder->file);
  iso_numbering_free(&builder->keys);
  iso_numbering_free(&builder->sessions);
  iso_pool_free(&builder->pool);
  memset(builder, 0, sizeof *builder);
}

isoproof_status isoproof_builder_new(isoproof_builder **builder, isoproof_error *error) {
  isoproof_builder *made = malloc(sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_builder_start(made, error);
  if (status != ISOPROOF_OK) {
    free(made);
    return status;
  }
  *builder = made;
  return ISOPROOF_OK;
}

void isoproof_builder_free(isoproof_builder *builder) {
  if (builder == NULL) return;
  iso_builder_clear(builder);
  free(builder);
}

void iso_builder_origin(isoproof_builder *builder, isoproof_format format, iso_position_kind positions,
                        bool initial_is_zero) {
  builder->format = format;
  builder->positions = positions;
  builder->initial_is_zero = initial_is_zero;
}

isoproof_status iso_builder_file(isoproof_builder *builder, const char *name, isoproof_error *error) {
  char *copy = strdup(name);
  if (copy == NULL) return iso_fail_memory(error);
  free(builder->file);
  builder->file = copy;
  return ISOPROOF_OK;
}

iso_pool *iso_builder_pool(isoproof_builder *builder) { return &builder->pool; }
void iso_builder_ambiguous_reads(isoproof_builder *builder) { builder->ambiguous_reads = true; }
void iso_builder_limit(isoproof_builder *builder, uint32_t most_ops) { builder->most_ops = most_ops; }

void iso_builder_expect(isoproof_builder *builder, uint64_t ops) {
  if (ops > builder->most_ops) ops = builder->most_ops;
  /* Without memory for all of it, the columns grow as operations come. */
  bool reserved = iso_vec_reserve(&builder->op_kind, ops) && iso_vec_reserve(&builder->op_key, ops) &&
                  iso_vec_reserve(&builder->op_value, ops);
  (void)reserved;
}

static bool lazy_set(iso_lazy *column, size_t at, int64_t value) {
  if (value == column->blank && at >= column->count) return true;
  if (at >= column->capacity &&
      !iso_vec_grow((void **)&column->items, &column->capacity, at + 1, sizeof *column->items)) {
    return false;
  }
  while (column->count <= at) column->items[column->count++] = column->blank;
  column->items[at] = value;
  return true;
}

isoproof_status iso_builder_session(isoproof_builder *builder, iso_value name, uint32_t *session,
                                    isoproof_error *error) {
  return iso_numbering_add(&builder->sessions, name, session, error);
}

isoproof_status iso_builder_session_file(isoproof_builder *builder, uint32_t session, const char *name,
                                         isoproof_error *error) {
  iso_value text;
  ISO_TRY(iso_pool_add_text(&builder->pool, ISOPROOF_STRING, name, strlen(name), &text, error));
  return lazy_set(&builder->session_file, session, text) ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status add_run(isoproof_builder *builder, uint32_t txn, uint64_t position, isoproof_error *error) {
  iso_op_run run = {txn, (uint32_t)builder->op_kind.count, position};
  if (!iso_vec_push(&builder->runs, run)) return iso_fail_memory(error);
  builder->open = true;
  return ISOPROOF_OK;
}

isoproof_status iso_builder_update(isoproof_builder *builder, uint32_t txn, const iso_txn_info *info,
                                   isoproof_error *error) {
  builder->txn_status.items[txn] = (uint8_t)info->status;
  if (lazy_set(&builder->txn_id, txn, info->has_id ? info->id : INT64_MIN) &&
      lazy_set(&builder->txn_start, txn, info->start) && lazy_set(&builder->txn_end, txn, info->end) &&
      lazy_set(&builder->txn_start_index, txn, info->start_index) &&
      lazy_set(&builder->txn_end_index, txn, info->end_index) && lazy_set(&builder->txn_node, txn, info->node) &&
      lazy_set(&builder->txn_error, txn, info->error) && lazy_set(&builder->txn_isolation, txn, info->isolation) &&
      lazy_set(&builder->txn_name, txn, info->name)) {
    return ISOPROOF_OK;
  }
  return iso_fail_memory(error);
}

isoproof_status iso_builder_isolation(isoproof_builder *builder, uint32_t txn, iso_txn_isolation isolation,
                                      isoproof_error *error) {
  return lazy_set(&builder->txn_isolation, txn, isolation) ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_builder_begin(isoproof_builder *builder, uint32_t session, const iso_txn_info *info, uint32_t *txn,
                                  isoproof_error *error) {
  size_t number = builder->txn_session.count;
  if (number >= ISO_MAX_TXNS) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %u transactions", (unsigned)ISO_MAX_TXNS);
  }
  if (!iso_vec_reserve(&builder->txn_session, 1) || !iso_vec_reserve(&builder->txn_status, 1)) {
    return iso_fail_memory(error);
  }
  ISO_TRY(add_run(builder, (uint32_t)number, info->position, error));
  builder->txn_session.items[builder->txn_session.count++] = session;
  builder->txn_status.items[builder->txn_status.count++] = (uint8_t)info->status;
  if (txn != NULL) *txn = (uint32_t)number;
  return iso_builder_update(builder, (uint32_t)number, info, error);
}

isoproof_status iso_builder_reopen(isoproof_builder *builder, uint32_t txn, uint64_t position, isoproof_error *error) {
  if (txn >= builder->txn_session.count) {
    return iso_fail(error, ISOPROOF_ERR_INTERNAL, "transaction %u was never begun", txn);
  }
  return add_run(builder, txn, position, error);
}

/* Fills the column of forms up, and makes room in it. */
static isoproof_status reserve_forms(isoproof_builder *builder, size_t count, isoproof_error *error) {
  size_t missing = builder->op_kind.count - builder->op_form.count;
  if (!iso_vec_reserve(&builder->op_form, missing + count)) return iso_fail_memory(error);
  if (missing > 0) memset(builder->op_form.items + builder->op_form.count, ISO_ROW_NONE, missing);
  builder->op_form.count += missing;
  return ISOPROOF_OK;
}

/* Makes room for `count` operations in the columns. */
static isoproof_status reserve_ops(isoproof_builder *builder, size_t count, isoproof_error *error) {
  builder->last_is_statement = false;
  if (!builder->open) return iso_fail(error, ISOPROOF_ERR_USAGE, "an operation outside a transaction");
  if (count > builder->most_ops - builder->op_kind.count) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %u operations in one history", builder->most_ops);
  }
  if (!iso_vec_reserve(&builder->op_kind, count) || !iso_vec_reserve(&builder->op_key, count) ||
      !iso_vec_reserve(&builder->op_value, count)) {
    return iso_fail_memory(error);
  }
  return builder->op_form.count == 0 ? ISOPROOF_OK : reserve_forms(builder, count, error);
}

isoproof_status iso_builder_source(isoproof_builder *builder, uint32_t number, isoproof_error *error) {
  if (builder->last_is_statement) {
    builder->statements.items[builder->statements.count - 1].source = number;
    builder->has_sources = true;
    return ISOPROOF_OK;
  }
  size_t missing = builder->op_kind.count - builder->op_statement.count;
  if (builder->op_kind.count == 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "the statement of no operation");
  if (!iso_vec_reserve(&builder->op_statement, missing)) return iso_fail_memory(error);
  if (missing > 0) memset(builder->op_statement.items + builder->op_statement.count, 0, missing * sizeof(uint32_t));
  builder->op_statement.count += missing;
  builder->op_statement.items[builder->op_statement.count - 1] = number;
  return ISOPROOF_OK;
}

static void put_op(isoproof_builder *builder, isoproof_op_kind kind, uint32_t key, iso_value value) {
  builder->op_kind.items[builder->op_kind.count++] = (uint8_t)kind;
  builder->op_key.items[builder->op_key.count++] = key;
  builder->op_value.items[builder->op_value.count++] = value;
}

isoproof_status iso_builder_op(isoproof_builder *builder, isoproof_op_kind kind, iso_value key, iso_value value,
                               isoproof_error *error) {
  uint32_t number;
  ISO_TRY(reserve_ops(builder, 1, error));
  ISO_TRY(iso_numbering_add(&builder->keys, key, &number, error));
  put_op(builder, kind, number, value);
  return ISOPROOF_OK;
}

isoproof_status iso_builder_ops(isoproof_builder *builder, const iso_op_add *ops, size_t count, isoproof_error *error) {
  ISO_TRY(reserve_ops(builder, count, error));
  uint32_t *keys = builder->op_key.items + builder->op_key.count;
  iso_value *values = builder->op_value.items + builder->op_value.count;
  uint8_t *kinds = builder->op_kind.items + builder->op_kind.count;
  for (size_t i = 0; i < count; i++) {
    values[i] = ops[i].value;
    ISO_TRY(iso_numbering_add(&builder->keys, ops[i].key, &keys[i], error));
  }
  /* In a loop of its own: a store of a byte may change anything, as far as the compiler knows. */
  for (size_t i = 0; i < count; i++) kinds[i] = ops[i].kind;
  builder->op_kind.count += count;
  builder->op_key.count += count;
  builder->op_value.count += count;
  return ISOPROOF_OK;
}

isoproof_status iso_builder_row(isoproof_builder *builder, iso_row_form form, iso_value key, iso_value value,
                                isoproof_error *error) {
  bool misses = form == ISO_ROW_MISSED_UPDATE || form == ISO_ROW_MISSED_DELETE;
  ISO_TRY(iso_builder_op(builder, misses ? ISOPROOF_OP_READ : ISOPROOF_OP_WRITE, key, value, error));
  ISO_TRY(reserve_forms(builder, 0, error));
  builder->op_form.items[builder->op_form.count - 1] = (uint8_t)form;
  return ISOPROOF_OK;
}

isoproof_status iso_builder_bulk(isoproof_builder *builder, const uint8_t *kinds, const uint64_t *keys,
                                 const uint64_t *values, size_t count, isoproof_error *error) {
  ISO_TRY(reserve_ops(builder, count, error));
  uint32_t *out_key = builder->op_key.items + builder->op_key.count;
  iso_value *out_value = builder->op_value.items + builder->op_value.count;
  bool zero_is_initial = builder->initial_is_zero;
  for (size_t i = 0; i < count; i++) {
    if (keys[i] < builder->keys.direct_count && builder->keys.direct[keys[i]] != 0) {
      out_key[i] = builder->keys.direct[keys[i]] - 1;
    } else {
      iso_value code;
      ISO_TRY(iso_pool_add_u64(&builder->pool, keys[i], &code, error));
      ISO_TRY(iso_numbering_add(&builder->keys, code, &out_key[i], error));
    }
    uint64_t value = values[i];
    if (value < ISO_VALUE_INLINE_LIMIT) {
      bool initial = value == 0 && zero_is_initial && kinds[i] == ISOPROOF_OP_READ;
      out_value[i] = initial ? ISO_VALUE_NIL : (iso_value)value;
    } else {
      ISO_TRY(iso_pool_add_u64(&builder->pool, value, &out_value[i], error));
    }
  }
  if (count > 0) memcpy(builder->op_kind.items + builder->op_kind.count, kinds, count);
  builder->op_kind.count += count;
  builder->op_key.count += count;
  builder->op_value.count += count;
  return ISOPROOF_OK;
}

/* The longest list of a key, made when the key has none yet; NULL when memory is out. */
static iso_list *list_of(isoproof_builder *builder, uint32_t key) {
  if (key >= builder->lists.count) {
    size_t missing = (size_t)key + 1 - builder->lists.count;
    if (!iso_vec_reserve(&builder->lists, missing)) return NULL;
    memset(builder->lists.items + builder->lists.count, 0, missing * sizeof *builder->lists.items);
    builder->lists.count += missing;
  }
  return &builder->lists.items[key];
}

static isoproof_status add_odd_list(isoproof_builder *builder, const iso_value *values, size_t count, iso_value *code,
                                    isoproof_error *error) {
  size_t number = builder->odd_first.count;
  if (number >= ISO_VALUE_NIL) return iso_fail(error, ISOPROOF_ERR_LIMIT, "too many lists that extend no other");
  if (!iso_vec_push(&builder->odd_first, (uint64_t)builder->odd_values.count)) return iso_fail_memory(error);
  if (!iso_vec_reserve(&builder->odd_values, count)) return iso_fail_memory(error);
  if (count > 0) memcpy(builder->odd_values.items + builder->odd_values.count, values, count * sizeof *values);
  builder->odd_values.count += count;
  *code = ISO_VALUE_INTERNED | (iso_value)number;
  return ISOPROOF_OK;
}

isoproof_status iso_builder_list(isoproof_builder *builder, isoproof_op_kind kind, iso_value key,
                                 const iso_value *values, size_t count, isoproof_error *error) {
  uint32_t number;
  if (count >= ISO_VALUE_INLINE_LIMIT) return iso_fail(error, ISOPROOF_ERR_LIMIT, "a list of %zu elements", count);
  ISO_TRY(reserve_ops(builder, 1, error));
  ISO_TRY(iso_numbering_add(&builder->keys, key, &number, error));
  iso_list *longest = list_of(builder, number);
  if (longest == NULL) return iso_fail_memory(error);
  size_t shared = count < longest->count ? count : longest->count;
  iso_value code = (iso_value)count;
  if (shared > 0 && memcmp(values, longest->items, shared * sizeof *values) != 0) {
    ISO_TRY(add_odd_list(builder, values, count, &code, error));
  } else if (count > longest->count) {
    if (count > longest->capacity &&
        !iso_vec_grow((void **)&longest->items, &longest->capacity, count, sizeof *longest->items)) {
      return iso_fail_memory(error);
    }
    memcpy(longest->items + shared, values + shared, (count - shared) * sizeof *values);
    longest->count = count;
  }
  put_op(builder, kind, number, code);
  return ISOPROOF_OK;
}

isoproof_status iso_builder_fact(isoproof_builder *builder, const char *name, const char *value, size_t length,
                                 isoproof_error *error) {
  iso_fact fact;
  ISO_TRY(iso_pool_add_text(&builder->pool, ISOPROOF_STRING, name, strlen(name), &fact.name, error));
  ISO_TRY(iso_pool_add_text(&builder->pool, ISOPROOF_STRING, value, length, &fact.value, error));
  return iso_vec_push(&builder->facts, fact) ? ISOPROOF_OK : iso_fail_memory(error);
}
