/* Cuts a part out of a history and builds it as a history of its own. */
#include "history/subset.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "history/builder.h"
#include "history/columns.h"
#include "history/resolve.h"
#include "history/row_versions.h"

typedef struct {
  const isoproof_history *h;
  const iso_resolution *resolution;
  const uint32_t *op_txn;
  const uint8_t *keep_txn, *keep_op;
  uint8_t *key_changed;       /* by key: some operation that changes it is left out */
  uint8_t *key_used;          /* by key: an operation on it alone is kept, or a statement that returned or counted it */
  iso_row_versions *versions; /* where rows are counted */
  uint32_t next_statement;
  ISO_VEC(iso_row_value) rows; /* scratch */
  isoproof_builder *builder;
  ISO_VEC(iso_value) list; /* scratch */
} carver;

static bool is_kept(const carver *c, uint32_t op) { return c->keep_op[op] && c->keep_txn[c->op_txn[op]]; }

/* Whether what a read or an element shows is still there; what nobody wrote is no worse than before. */
static bool is_there(const carver *c, uint32_t writer) { return writer >= c->h->ops || is_kept(c, writer); }

/* The same scalar in the pool of the new history. */
static isoproof_status carry(carver *c, iso_value value, iso_value *out, isoproof_error *error) {
  if (value == ISO_VALUE_NONE || value <= ISO_VALUE_NIL) {
    *out = value;
    return ISOPROOF_OK;
  }
  return iso_pool_add(iso_builder_pool(c->builder), iso_history_scalar(c->h, value), out, error);
}

/* Where the elements of a list or set read came from. */
static const uint32_t *element_writers(const carver *c, uint32_t op) {
  iso_value value = c->h->op_value[op];
  if (value < ISO_VALUE_INLINE_LIMIT) return c->resolution->list_writer + c->h->list_first[c->h->op_key[op]];
  return c->resolution->odd_writer + c->h->odd_first[value & ~ISO_VALUE_INTERNED];
}

static isoproof_status carry_list(carver *c, uint32_t op, iso_value key, isoproof_error *error) {
  uint32_t count;
  const iso_value *list = iso_history_list(c->h, op, &count);
  const uint32_t *writers = count > 0 ? element_writers(c, op) : NULL;
  bool predicate = c->h->op_kind[op] == ISOPROOF_OP_READ_PREDICATE;
  c->list.count = 0;
  for (uint32_t i = 0; i < count; i++) {
    iso_value value;
    if (!predicate && !is_there(c, writers[i])) continue;
    ISO_TRY(carry(c, list[i], &value, error));
    if (!iso_vec_push(&c->list, value)) return iso_fail_memory(error);
  }
  return iso_builder_list(c->builder, (isoproof_op_kind)c->h->op_kind[op], key, c->list.items, c->list.count, error);
}

/* A read of which nothing sensible would be left. */
static bool is_orphan(const carver *c, uint32_t op) {
  if (c->h->op_value[op] == ISO_VALUE_NONE) return false;
  switch ((isoproof_op_kind)c->h->op_kind[op]) {
  case ISOPROOF_OP_READ:
    return !is_there(c, c->resolution->writer[op]);
  case ISOPROOF_OP_READ_COUNTER:
  case ISOPROOF_OP_READ_PREDICATE:
    return c->key_changed[c->h->op_key[op]];
  default:
    return false;
  }
}

static isoproof_status carry_source(carver *c, uint32_t op, isoproof_error *error) {
  bool there = c->h->op_statement_opt != NULL && op < c->h->ops && c->h->op_statement_opt[op] != 0;
  return there ? iso_builder_source(c->builder, c->h->op_statement_opt[op], error) : ISOPROOF_OK;
}

/* What the row that was put into the builder last has in its columns. */
static isoproof_status carry_contents(carver *c, uint32_t key, iso_value version, bool initial, isoproof_error *error) {
  size_t count;
  const iso_content *contents = iso_history_contents(c->h, key, version, &count);
  for (size_t i = 0; i < count; i++) {
    iso_value column, content;
    ISO_TRY(carry(c, contents[i].column, &column, error));
    ISO_TRY(carry(c, contents[i].content, &content, error));
    ISO_TRY(initial ? iso_builder_initial_content(c->builder, column, content, error)
                    : iso_builder_content(c->builder, column, content, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status carry_conditions(carver *c, const iso_predicate *predicate, isoproof_error *error) {
  for (uint32_t i = 0; i < predicate->where_count; i++) {
    const iso_condition *from = &c->h->conditions[predicate->first_where + i];
    iso_value column, operand;
    ISO_TRY(carry(c, from->column, &column, error));
    ISO_TRY(carry(c, from->operand, &operand, error));
    ISO_TRY(iso_builder_condition(c->builder, column, (iso_comparison)from->comparison, operand, from->or_next != 0,
                                  error));
  }
  return ISOPROOF_OK;
}

static isoproof_status carry_op(carver *c, uint32_t op, isoproof_error *error) {
  const isoproof_history *h = c->h;
  iso_value key, value = h->op_value[op];
  if (!c->keep_op[op] || is_orphan(c, op)) return ISOPROOF_OK;
  ISO_TRY(carry(c, h->key_name[h->op_key[op]], &key, error));
  bool list = iso_kind_is_list((isoproof_op_kind)h->op_kind[op]);
  if (list && value != ISO_VALUE_NIL && value != ISO_VALUE_NONE) return carry_list(c, op, key, error);
  ISO_TRY(carry(c, value, &value, error));
  iso_row_form form = iso_history_form(h, op);
  if (form != ISO_ROW_NONE) {
    ISO_TRY(iso_builder_row(c->builder, form, key, value, error));
    ISO_TRY(carry_source(c, op, error));
    return carry_contents(c, h->op_key[op], h->op_value[op], false, error);
  }
  ISO_TRY(iso_builder_op(c->builder, (isoproof_op_kind)h->op_kind[op], key, value, error));
  return carry_source(c, op, error);
}

static bool returned_row(const isoproof_history *h, uint32_t op, iso_row_value *row) {
  return h->op_value[op] != ISO_VALUE_NIL && iso_pool_integer(&h->pool, h->op_value[op], &row->value) &&
         iso_pool_integer(&h->pool, h->key_name[h->op_key[op]], &row->key);
}

static bool is_carried(const carver *c, uint32_t op) { return c->keep_op[op] && !is_orphan(c, op); }

/* Whether it is certain how a row was counted, whatever version was seen: all of them match (*matches), or none. */
static bool is_counted_alike(const carver *c, const iso_predicate *predicate, uint32_t key, bool *matches) {
  const isoproof_history *h = c->h;
  const iso_row_versions *v = c->versions;
  *matches = iso_version_matches(h, predicate, key, iso_history_initial(h, key));
  for (uint32_t i = v->first[key]; i < v->first[key + 1]; i++) {
    if (iso_version_matches(h, predicate, key, iso_history_version(h, v->write[i])) != *matches) return false;
  }
  return true;
}

/* A statement observes every row that there is: where one of its observations is left out, so is the row, or else the
 * statement.  A count goes without a row that counted for certain. */
static isoproof_status carry_statement(carver *c, const iso_statement *s, isoproof_error *error) {
  iso_predicate predicate = iso_history_predicate(c->h, s);
  int64_t counted = s->counted;
  c->rows.count = 0;
  for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
    iso_row_value row;
    bool carried = is_carried(c, op), matches = false;
    if (!carried && c->key_used[c->h->op_key[op]]) return ISOPROOF_OK;
    if (!carried && c->h->op_value[op] == ISO_VALUE_COUNTED) {
      if (!is_counted_alike(c, &predicate, c->h->op_key[op], &matches) || (matches && counted == 0)) return ISOPROOF_OK;
      counted -= matches;
    }
    if (carried && returned_row(c->h, op, &row) && !iso_vec_push(&c->rows, row)) return iso_fail_memory(error);
  }
  ISO_TRY(iso_builder_statement(c->builder, (iso_row_form)s->form, &predicate, s->answered != 0, c->rows.items,
                                c->rows.count, counted, error));
  if (s->op_count > 0) ISO_TRY(carry_source(c, s->first_op, error));
  return carry_conditions(c, &predicate, error);
}

/* Which keys there will be, and the rows at the start. */
static isoproof_status carry_rows(carver *c, isoproof_error *error) {
  const isoproof_history *h = c->h;
  if (h->statement_count > 0) ISO_TRY(iso_row_versions_make(h, &c->versions, error));
  for (uint32_t op = 0; op < h->ops; op++) {
    bool observed = iso_history_form(h, op) >= ISO_ROW_PREDICATE;
    iso_row_value row;
    if (!is_kept(c, op) || is_orphan(c, op)) continue;
    bool counted = h->op_value[op] == ISO_VALUE_COUNTED;
    if (!observed || counted || returned_row(h, op, &row)) c->key_used[h->op_key[op]] = 1;
  }
  for (uint32_t key = 0; h->key_initial_opt != NULL && key < h->keys; key++) {
    int64_t name, value;
    if (!c->key_used[key] || h->key_initial_opt[key] == ISO_VALUE_NIL) continue;
    if (!iso_pool_integer(&h->pool, h->key_name[key], &name)) continue;
    if (!iso_pool_integer(&h->pool, h->key_initial_opt[key], &value)) continue;
    ISO_TRY(iso_builder_initial_row(c->builder, name, value, error));
    ISO_TRY(carry_contents(c, key, h->key_initial_opt[key], true, error));
  }
  return ISOPROOF_OK;
}

/* The operations of a transaction, each statement in one piece. */
static isoproof_status carry_ops(carver *c, uint32_t txn, isoproof_error *error) {
  const isoproof_history *h = c->h;
  uint32_t op = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  while (c->next_statement < h->statement_count && h->statements[c->next_statement].txn < txn) c->next_statement++;
  for (;;) {
    const iso_statement *s = c->next_statement < h->statement_count ? &h->statements[c->next_statement] : NULL;
    if (s != NULL && s->txn == txn && s->first_op == op) {
      ISO_TRY(carry_statement(c, s, error));
      op += s->op_count;
      c->next_statement++;
    } else if (op < end) {
      ISO_TRY(carry_op(c, op++, error));
    } else {
      return ISOPROOF_OK;
    }
  }
}

static isoproof_status carry_txn(carver *c, uint32_t txn, isoproof_error *error) {
  const isoproof_history *h = c->h;
  iso_txn_info info = iso_txn_unset();
  iso_value name;
  uint32_t session;
  info.status = (isoproof_txn_status)h->txn_status[txn];
  if (h->txn_id_opt != NULL) {
    isoproof_txn shown = {.struct_size = sizeof shown};
    info.has_id = isoproof_history_txn_at(h, txn, &shown) && shown.has_id;
    info.id = info.has_id ? shown.id : 0;
  }
  if (h->txn_start_opt != NULL) info.start = h->txn_start_opt[txn], info.end = h->txn_end_opt[txn];
  if (h->txn_start_index_opt != NULL) info.start_index = h->txn_start_index_opt[txn];
  if (h->txn_end_index_opt != NULL) info.end_index = h->txn_end_index_opt[txn];
  if (h->txn_node_opt != NULL) ISO_TRY(carry(c, h->txn_node_opt[txn], &info.node, error));
  if (h->txn_error_opt != NULL) ISO_TRY(carry(c, h->txn_error_opt[txn], &info.error, error));
  if (h->txn_name_opt != NULL) ISO_TRY(carry(c, h->txn_name_opt[txn], &info.name, error));
  info.isolation = iso_history_isolation(h, txn);
  ISO_TRY(carry(c, h->session_name[h->txn_session[txn]], &name, error));
  ISO_TRY(iso_builder_session(c->builder, name, &session, error));
  ISO_TRY(iso_builder_begin(c->builder, session, &info, NULL, error));
  return carry_ops(c, txn, error);
}

static isoproof_status carve(carver *c, isoproof_task *task, isoproof_history **out, isoproof_error *error) {
  const isoproof_history *h = c->h;
  iso_builder_origin(c->builder, h->format, ISO_POSITION_NONE, h->initial_is_zero);
  for (uint32_t op = 0; op < h->ops; op++) {
    if (!isoproof_op_kind_observes((isoproof_op_kind)h->op_kind[op]) && !is_kept(c, op))
      c->key_changed[h->op_key[op]] = 1;
  }
  for (uint32_t i = 0; i < h->fact_count; i++) {
    isoproof_scalar name = iso_history_scalar(h, h->facts[i].name), value = iso_history_scalar(h, h->facts[i].value);
    char *text = strndup(name.text, name.length);
    if (text == NULL) return iso_fail_memory(error);
    isoproof_status status = iso_builder_fact(c->builder, text, value.text, value.length, error);
    free(text);
    if (status != ISOPROOF_OK) return status;
  }
  if (iso_history_has_rows(h)) ISO_TRY(carry_rows(c, error));
  for (uint32_t key = 0; h->key_label_opt != NULL && key < h->keys; key++) {
    iso_value name, label;
    if (h->key_label_opt[key] == ISO_VALUE_NIL) continue;
    ISO_TRY(carry(c, h->key_name[key], &name, error));
    ISO_TRY(carry(c, h->key_label_opt[key], &label, error));
    ISO_TRY(iso_builder_label(c->builder, name, label, error));
  }
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    if ((txn & 0xfff) == 0) ISO_TRY(iso_task_check(task, error));
    if (c->keep_txn[txn]) ISO_TRY(carry_txn(c, txn, error));
  }
  return isoproof_builder_finish(c->builder, out, error);
}

isoproof_status iso_history_subset(isoproof_history *history, const uint8_t *keep_txn, const uint8_t *keep_op,
                                   isoproof_task *task, isoproof_history **out, isoproof_error *error) {
  carver c = {.h = history, .keep_txn = keep_txn, .keep_op = keep_op};
  ISO_TRY(iso_history_resolve(history, task, &c.resolution, error));
  ISO_TRY(iso_history_op_txns(history, &c.op_txn, error));
  ISO_TRY(isoproof_builder_new(&c.builder, error));
  c.key_changed = iso_alloc_zero(history->keys, sizeof *c.key_changed);
  c.key_used = iso_alloc_zero(history->keys, sizeof *c.key_used);
  bool made = c.key_changed != NULL && c.key_used != NULL;
  isoproof_status status = made ? carve(&c, task, out, error) : iso_fail_memory(error);
  free(c.key_changed);
  free(c.key_used);
  iso_row_versions_free(c.versions);
  iso_vec_free(&c.rows);
  iso_vec_free(&c.list);
  isoproof_builder_free(c.builder);
  return status;
}
