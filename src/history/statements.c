/* Statements that observe many rows: taking them in, and finding the statement of an observation. */
#include <stdlib.h>
#include <string.h>

#include "history/builder_internal.h"
#include "history/columns.h"

/* ---- taking them in ---- */

static isoproof_status check_row(const iso_predicate *p, const iso_row_value *row, isoproof_error *error) {
  if (iso_predicate_matches(p, row->key, row->value)) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_FORMAT,
                  "row %lld with value %lld was returned, which the predicate does not pick", (long long)row->key,
                  (long long)row->value);
}

static isoproof_status code_row(isoproof_builder *b, int64_t key, int64_t value, iso_raw_row *row,
                                isoproof_error *error) {
  iso_value name;
  ISO_TRY(iso_pool_add_i64(&b->pool, key, &name, error));
  ISO_TRY(iso_numbering_add(&b->keys, name, &row->key, error));
  return iso_pool_add_i64(&b->pool, value, &row->value, error);
}

isoproof_status iso_builder_statement(isoproof_builder *b, iso_row_form form, const iso_predicate *predicate,
                                      bool answered, const iso_row_value *rows, size_t count, int64_t counted,
                                      isoproof_error *error) {
  if (!b->open) return iso_fail(error, ISOPROOF_ERR_USAGE, "an operation outside a transaction");
  if (predicate->of_rest && (predicate->divisor < 1 || predicate->rest < 0 || predicate->rest >= predicate->divisor)) {
    return iso_fail(error, ISOPROOF_ERR_FORMAT, "expected a divisor of at least 1 and a rest below it");
  }
  if (form == ISO_ROW_COUNT && answered && counted < 0) {
    return iso_fail(error, ISOPROOF_ERR_FORMAT, "expected a number of rows, found %lld", (long long)counted);
  }
  if (count > UINT32_MAX || b->statements.count >= ISO_MAX_OPS) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %u statements or rows", ISO_MAX_OPS);
  }
  iso_raw_statement raw = {.is = {.form = (uint8_t)form, .answered = answered, .counted = answered ? counted : 0},
                           .run = (uint32_t)(b->runs.count - 1),
                           .number = (uint32_t)b->statements.count,
                           .first_row = b->returned.count,
                           .row_count = (uint32_t)count};
  raw.is.first_op = (uint32_t)b->op_kind.count;
  iso_statement_set_predicate(&raw.is, predicate);
  for (size_t i = 0; i < count; i++) {
    iso_raw_row row;
    ISO_TRY(check_row(predicate, &rows[i], error));
    ISO_TRY(code_row(b, rows[i].key, rows[i].value, &row, error));
    if (!iso_vec_push(&b->returned, row)) return iso_fail_memory(error);
  }
  b->last_is_statement = true;
  return iso_vec_push(&b->statements, raw) ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_builder_initial_row(isoproof_builder *b, int64_t key, int64_t value, isoproof_error *error) {
  iso_raw_row row;
  ISO_TRY(code_row(b, key, value, &row, error));
  return iso_vec_push(&b->initial_rows, row) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- counts of rows that are nowhere else ---- */

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static bool has_key_between(const int64_t *keys, size_t count, int64_t low, int64_t high) {
  size_t first = 0, end = count;
  while (first < end) {
    size_t middle = first + (end - first) / 2;
    if (keys[middle] < low) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first < count && keys[first] <= high;
}

static isoproof_status name_row(isoproof_builder *b, int64_t key, isoproof_error *error) {
  iso_value name;
  uint32_t number;
  ISO_TRY(iso_pool_add_i64(&b->pool, key, &name, error));
  return iso_numbering_add(&b->keys, name, &number, error);
}

static bool counts_rows(const iso_statement *s) { return s->form == ISO_ROW_COUNT && s->answered && s->counted > 0; }

isoproof_status iso_builder_name_counted(isoproof_builder *b, isoproof_error *error) {
  size_t left = b->statements.count, count = 0;
  while (left > 0 && !counts_rows(&b->statements.items[left - 1].is)) left--;
  if (left == 0) return ISOPROOF_OK;
  int64_t *keys = iso_alloc((size_t)b->keys.count + 1, sizeof *keys);
  if (keys == NULL) return iso_fail_memory(error);
  iso_pool_view pool = iso_pool_look(&b->pool);
  for (uint32_t i = 0; i < b->keys.count; i++) count += iso_pool_integer(&pool, b->keys.names[i], &keys[count]);
  if (count > 1) qsort(keys, count, sizeof *keys, ascending);
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < left && status == ISOPROOF_OK; i++) {
    const iso_statement *s = &b->statements.items[i].is;
    bool bounded = (s->conditions & ISO_CONDITION_KEYS) != 0;
    int64_t low = bounded ? s->key_low : INT64_MIN, high = bounded ? s->key_high : INT64_MAX;
    if (!counts_rows(s) || low > high || has_key_between(keys, count, low, high)) continue;
    status = name_row(b, bounded ? low : 0, error);
  }
  free(keys);
  return status;
}

/* ---- looking at them ---- */

const iso_statement *iso_history_statement(const isoproof_history *h, uint32_t op) {
  uint32_t low = 0, high = h->statement_count; /* the last one that begins at or before the operation */
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (h->statements[middle].first_op <= op) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return NULL;
  const iso_statement *s = &h->statements[low - 1];
  return op - s->first_op < s->op_count ? s : NULL;
}

bool iso_history_same_statement(const isoproof_history *h, uint32_t op, uint32_t other) {
  if (h->statement_count == 0 || h->op_form_opt[op] < ISO_ROW_PREDICATE || h->op_form_opt[other] < ISO_ROW_PREDICATE) {
    return false;
  }
  const iso_statement *s = iso_history_statement(h, op);
  return s != NULL && other - s->first_op < s->op_count;
}

bool iso_history_read_fits(const isoproof_history *h, uint32_t read, iso_value version) {
  iso_value value = h->op_value[read];
  if (value != ISO_VALUE_UNMATCHED) return value == ISO_VALUE_COUNTED || value == version;
  int64_t key, number;
  const iso_statement *s = iso_history_statement(h, read);
  if (s == NULL || version == ISO_VALUE_NIL || !iso_pool_integer(&h->pool, version, &number)) return true;
  iso_predicate predicate = iso_history_predicate(h, s);
  return !iso_pool_integer(&h->pool, h->key_name[h->op_key[read]], &key) ||
         !iso_predicate_matches(&predicate, key, number) || !iso_history_meets(h, &predicate, h->op_key[read], version);
}
