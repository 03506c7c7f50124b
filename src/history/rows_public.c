/* Rows as isoproof/history.h shows them: every argument checked. */
#include <stdlib.h>

#include "base/abi.h"
#include "history/builder_internal.h"

#define ISO_X(name, text, writes)                                                                                      \
  _Static_assert((int)ISO_ROW_##name == (int)ISOPROOF_ROW_##name, "the numbers of forms are public");
ISO_ROW_FORM_LIST(ISO_X)
#undef ISO_X

bool isoproof_history_statement_of(const isoproof_history *h, uint64_t op, isoproof_statement *out) {
  if (op >= h->ops || iso_history_form(h, (uint32_t)op) == ISO_ROW_NONE) return false;
  isoproof_statement made = {.struct_size = sizeof made,
                             .form = (isoproof_row_form)h->op_form_opt[op],
                             .answered = true,
                             .first_op = op,
                             .op_count = 1};
  const iso_statement *s = iso_history_statement(h, (uint32_t)op);
  if (s != NULL) {
    made.has_keys = (s->conditions & ISO_CONDITION_KEYS) != 0;
    made.has_values = (s->conditions & ISO_CONDITION_VALUES) != 0;
    made.has_rest = (s->conditions & ISO_CONDITION_REST) != 0;
    made.key_low = s->key_low, made.key_high = s->key_high;
    made.value_low = s->value_low, made.value_high = s->value_high;
    made.divisor = s->divisor, made.rest = s->rest;
    made.counted = s->counted;
    made.first_op = s->first_op, made.op_count = s->op_count;
  }
  return ISO_STRUCT_GIVE(out, made);
}

isoproof_status isoproof_builder_row(isoproof_builder *builder, isoproof_row_form form, int64_t key, int64_t value,
                                     isoproof_error *error) {
  iso_value key_code, value_code = ISO_VALUE_NIL;
  if (form <= ISOPROOF_ROW_NONE || form >= ISOPROOF_ROW_PREDICATE) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "form %d is not one of single rows", (int)form);
  }
  ISO_TRY(iso_pool_add_i64(&builder->pool, key, &key_code, error));
  if (form < ISOPROOF_ROW_DELETE) ISO_TRY(iso_pool_add_i64(&builder->pool, value, &value_code, error));
  return iso_builder_row(builder, (iso_row_form)form, key_code, value_code, error);
}

isoproof_status isoproof_builder_statement(isoproof_builder *builder, const isoproof_statement *statement,
                                           const int64_t *keys, const int64_t *values, size_t count,
                                           isoproof_error *error) {
  isoproof_statement known = {.struct_size = sizeof known};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_statement, &known, statement, error));
  bool counts = known.form == ISOPROOF_ROW_COUNT;
  if (!counts && known.form != ISOPROOF_ROW_PREDICATE) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "form %d is not one of statements", (int)known.form);
  }
  if ((counts || !known.answered) && count > 0) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "only a read by predicate that was answered returns rows");
  }
  iso_predicate predicate = {.of_keys = known.has_keys,
                             .of_values = known.has_values,
                             .of_rest = known.has_rest,
                             .key_low = known.key_low,
                             .key_high = known.key_high,
                             .value_low = known.value_low,
                             .value_high = known.value_high,
                             .divisor = known.divisor,
                             .rest = known.rest};
  iso_row_value *rows = iso_alloc(count, sizeof *rows);
  if (rows == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < count; i++) rows[i] = (iso_row_value){keys[i], values[i]};
  isoproof_status status = iso_builder_statement(builder, (iso_row_form)known.form, &predicate, known.answered, rows,
                                                 count, counts ? known.counted : 0, error);
  free(rows);
  return status;
}

isoproof_status isoproof_builder_initial_row(isoproof_builder *builder, int64_t key, int64_t value,
                                             isoproof_error *error) {
  return iso_builder_initial_row(builder, key, value, error);
}
