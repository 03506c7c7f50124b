/* Contents of columns by version, and conditions on them. */
#include "history/columns.h"

#include <stdlib.h>

#include "history/builder_internal.h"

/* ---- looking ---- */

static size_t first_condition(const isoproof_history *h, uint32_t statement) {
  size_t low = 0, high = h->condition_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (h->conditions[middle].statement < statement) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

iso_predicate iso_history_predicate(const isoproof_history *h, const iso_statement *s) {
  iso_predicate made = iso_statement_predicate(s);
  if ((s->conditions & ISO_CONDITION_COLUMNS) == 0) return made;
  uint32_t number = (uint32_t)(s - h->statements);
  size_t first = first_condition(h, number), end = first;
  while (end < h->condition_count && h->conditions[end].statement == number) end++;
  made.first_where = (uint32_t)first;
  made.where_count = (uint32_t)(end - first);
  return made;
}

static int by_version(const iso_content *c, uint32_t key, iso_value version) {
  if (c->key != key) return c->key < key ? -1 : 1;
  return (c->version > version) - (c->version < version);
}

const iso_content *iso_history_contents(const isoproof_history *h, uint32_t key, iso_value version, size_t *count) {
  size_t low = 0, high = h->content_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (by_version(&h->contents[middle], key, version) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  size_t end = low;
  while (end < h->content_count && by_version(&h->contents[end], key, version) == 0) end++;
  *count = end - low;
  return end > low ? &h->contents[low] : NULL;
}

bool iso_comparison_takes(iso_comparison comparison, isoproof_scalar_type type) {
  if (comparison >= ISO_COMPARE_IS_NULL) return type == ISOPROOF_NIL;
  bool equality = comparison == ISO_COMPARE_EQUAL || comparison == ISO_COMPARE_UNEQUAL;
  return type == ISOPROOF_INTEGER || (equality && type == ISOPROOF_STRING);
}

bool iso_comparison_holds(const iso_pool_view *pool, iso_comparison comparison, iso_value content, iso_value operand) {
  int64_t a, b;
  if (comparison == ISO_COMPARE_IS_NULL) return content == ISO_VALUE_NIL;
  if (content == ISO_VALUE_NIL) return false;
  if (comparison == ISO_COMPARE_IS_NOT_NULL) return true;
  bool numbers = iso_pool_integer(pool, content, &a), number = iso_pool_integer(pool, operand, &b);
  if (numbers != number) return false;
  switch (comparison) {
  case ISO_COMPARE_EQUAL:
    return content == operand;
  case ISO_COMPARE_UNEQUAL:
    return content != operand;
  case ISO_COMPARE_LESS:
    return numbers && a < b;
  case ISO_COMPARE_LESS_EQUAL:
    return numbers && a <= b;
  case ISO_COMPARE_GREATER:
    return numbers && a > b;
  case ISO_COMPARE_GREATER_EQUAL:
    return numbers && a >= b;
  default:
    return false;
  }
}

bool iso_history_meets(const isoproof_history *h, const iso_predicate *predicate, uint32_t key, iso_value version) {
  if (predicate->where_count == 0) return true;
  size_t count;
  const iso_content *contents = iso_history_contents(h, key, version, &count);
  bool before = false; /* an alternative before was met */
  for (uint32_t i = 0; i < predicate->where_count; i++) {
    const iso_condition *c = &h->conditions[predicate->first_where + i];
    iso_value content = ISO_VALUE_NIL;
    for (size_t n = 0; n < count; n++) {
      if (contents[n].column == c->column) content = contents[n].content;
    }
    before = before || iso_comparison_holds(&h->pool, (iso_comparison)c->comparison, content, c->operand);
    if (c->or_next) continue;
    if (!before) return false;
    before = false;
  }
  return true;
}

/* ---- taking them in ---- */

static isoproof_status add_content(isoproof_builder *b, uint32_t key, iso_value version, iso_value column,
                                   iso_value content, isoproof_error *error) {
  iso_content made = {.key = key, .version = version, .column = column, .content = content};
  return iso_vec_push(&b->contents, made) ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_builder_content(isoproof_builder *b, iso_value column, iso_value content, isoproof_error *error) {
  size_t last = b->op_kind.count;
  if (last == 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "contents of no row");
  return add_content(b, b->op_key.items[last - 1], b->op_value.items[last - 1], column, content, error);
}

isoproof_status iso_builder_initial_content(isoproof_builder *b, iso_value column, iso_value content,
                                            isoproof_error *error) {
  size_t last = b->initial_rows.count;
  if (last == 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "contents of no row");
  return add_content(b, b->initial_rows.items[last - 1].key, b->initial_rows.items[last - 1].value, column, content,
                     error);
}

isoproof_status iso_builder_condition(isoproof_builder *b, iso_value column, iso_comparison comparison,
                                      iso_value operand, bool or_next, isoproof_error *error) {
  if (b->statements.count == 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "a condition of no statement");
  if (b->conditions.count >= ISO_MAX_OPS) return iso_fail(error, ISOPROOF_ERR_LIMIT, "too many conditions");
  iso_raw_statement *raw = &b->statements.items[b->statements.count - 1];
  iso_condition made = {.column = column, .operand = operand, .comparison = (uint8_t)comparison, .or_next = or_next};
  if (raw->where_count == 0) raw->first_where = (uint32_t)b->conditions.count;
  raw->where_count++;
  raw->is.conditions |= ISO_CONDITION_COLUMNS;
  return iso_vec_push(&b->conditions, made) ? ISOPROOF_OK : iso_fail_memory(error);
}

static int by_place(const void *a, const void *b) {
  const iso_content *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->version != y->version) return x->version < y->version ? -1 : 1;
  return (x->column > y->column) - (x->column < y->column);
}

/* Sorted, each once. */
static isoproof_status take_contents(isoproof_builder *b, isoproof_history *h, isoproof_error *error) {
  size_t kept = 0, count = b->contents.count;
  iso_content *all = b->contents.items;
  if (count == 0) return ISOPROOF_OK;
  if (count > UINT32_MAX) return iso_fail(error, ISOPROOF_ERR_LIMIT, "too many contents of columns");
  qsort(all, count, sizeof *all, by_place);
  for (size_t i = 0; i < count; i++) {
    if (kept > 0 && by_place(&all[kept - 1], &all[i]) == 0) {
      if (all[kept - 1].content == all[i].content) continue;
      char key[64];
      isoproof_scalar_format(iso_history_scalar(h, h->key_name[all[i].key]), key, sizeof key);
      return iso_fail(error, ISOPROOF_ERR_FORMAT, "a value of row %s comes with different contents of one column", key);
    }
    all[kept++] = all[i];
  }
  h->contents = all;
  h->content_count = (uint32_t)kept;
  b->contents.items = NULL;
  return ISOPROOF_OK;
}

/* In the order of the statements. */
static isoproof_status take_conditions(const isoproof_builder *b, isoproof_history *h, isoproof_error *error) {
  if (b->conditions.count == 0) return ISOPROOF_OK;
  h->conditions = iso_alloc(b->conditions.count, sizeof *h->conditions);
  if (h->conditions == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < b->statements.count; i++) {
    const iso_raw_statement *raw = &b->statements.items[i];
    for (uint32_t n = 0; n < raw->where_count; n++) {
      iso_condition *made = &h->conditions[h->condition_count++];
      *made = b->conditions.items[raw->first_where + n];
      made->statement = (uint32_t)i;
    }
  }
  return ISOPROOF_OK;
}

/* A row that was returned has contents that match, where they are known. */
static isoproof_status check_returned(const isoproof_history *h, isoproof_error *error) {
  for (uint32_t i = 0; i < h->statement_count; i++) {
    const iso_statement *s = &h->statements[i];
    if ((s->conditions & ISO_CONDITION_COLUMNS) == 0 || s->form != ISO_ROW_PREDICATE) continue;
    iso_predicate predicate = iso_history_predicate(h, s);
    for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
      iso_value value = h->op_value[op];
      size_t known;
      if (value == ISO_VALUE_NIL || value == ISO_VALUE_UNMATCHED) continue;
      if (iso_history_contents(h, h->op_key[op], value, &known) == NULL) continue;
      if (iso_history_meets(h, &predicate, h->op_key[op], value)) continue;
      char key[64];
      isoproof_scalar_format(iso_history_scalar(h, h->key_name[h->op_key[op]]), key, sizeof key);
      return iso_fail(error, ISOPROOF_ERR_FORMAT, "row %s was returned, which the predicate does not pick", key);
    }
  }
  return ISOPROOF_OK;
}

/* ---- what keys are called ---- */

isoproof_status iso_builder_label(isoproof_builder *b, iso_value key, iso_value label, isoproof_error *error) {
  return iso_vec_push(&b->labels, ((iso_raw_label){key, label})) ? ISOPROOF_OK : iso_fail_memory(error);
}

static int by_code(const void *a, const void *b) {
  const iso_raw_label *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->label > y->label) - (x->label < y->label);
}

isoproof_status iso_builder_take_labels(isoproof_builder *b, isoproof_history *h, isoproof_error *error) {
  if (b->labels.count == 0) return ISOPROOF_OK;
  h->key_label_opt = iso_alloc(h->keys, sizeof *h->key_label_opt);
  if (h->key_label_opt == NULL) return iso_fail_memory(error);
  qsort(b->labels.items, b->labels.count, sizeof *b->labels.items, by_code);
  for (uint32_t key = 0; key < h->keys; key++) {
    size_t low = 0, high = b->labels.count;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (b->labels.items[middle].key <= h->key_name[key]) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    bool named = low > 0 && b->labels.items[low - 1].key == h->key_name[key];
    h->key_label_opt[key] = named ? b->labels.items[low - 1].label : ISO_VALUE_NIL;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_builder_take_columns(isoproof_builder *b, isoproof_history *h, isoproof_error *error) {
  ISO_TRY(take_contents(b, h, error));
  ISO_TRY(take_conditions(b, h, error));
  return check_returned(h, error);
}
