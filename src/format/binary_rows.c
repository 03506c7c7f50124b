/* What a binary file says of rows: every statement observes just the rows that it could match, as its answer has it. */
#include <stdlib.h>

#include "base/vector.h"
#include "format/binary.h"
#include "history/columns.h"

static isoproof_status bad(const isoproof_history *h, isoproof_error *error, const char *column, uint64_t at,
                           const char *expected) {
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, (iso_place){h->file, 0, 0, -1},
                     "section %s, element %llu: expected %s", column, (unsigned long long)at, expected);
}

static bool is_integer(const isoproof_history *h, iso_value code) {
  int64_t integer;
  return iso_pool_integer(&h->pool, code, &integer);
}

/* Whether kind and value of an operation are those of its form. */
static bool form_ok(const isoproof_history *h, uint32_t op) {
  bool writes = h->op_kind[op] == ISOPROOF_OP_WRITE, reads = h->op_kind[op] == ISOPROOF_OP_READ;
  bool of_row = is_integer(h, h->key_name[h->op_key[op]]);
  switch (h->op_form_opt[op]) {
  case ISO_ROW_NONE:
    return true;
  case ISO_ROW_INSERT:
  case ISO_ROW_UPDATE:
  case ISO_ROW_UPSERT:
    return of_row && writes && is_integer(h, h->op_value[op]);
  case ISO_ROW_DELETE:
    return of_row && writes && h->op_value[op] == ISO_VALUE_NIL;
  case ISO_ROW_MISSED_UPDATE:
  case ISO_ROW_MISSED_DELETE:
    return of_row && reads && h->op_value[op] == ISO_VALUE_NIL;
  case ISO_ROW_PREDICATE:
  case ISO_ROW_COUNT:
    return of_row && reads;
  default:
    return false;
  }
}

static isoproof_status check_forms(const isoproof_history *h, isoproof_error *error) {
  uint64_t observed = 0, listed = 0;
  for (uint32_t op = 0; h->op_form_opt != NULL && op < h->ops; op++) {
    if (!form_ok(h, op)) return bad(h, error, "OP_FORM", op, "a form that fits the operation");
    observed += h->op_form_opt[op] >= ISO_ROW_PREDICATE;
  }
  for (uint32_t i = 0; i < h->statement_count; i++) listed += h->statements[i].op_count;
  if (observed != listed) return bad(h, error, "STATEMENTS", h->statement_count, "a statement for each observation");
  for (uint32_t key = 0; h->key_initial_opt != NULL && key < h->keys; key++) {
    bool row = is_integer(h, h->key_initial_opt[key]) && is_integer(h, h->key_name[key]);
    if (h->key_initial_opt[key] != ISO_VALUE_NIL && !row)
      return bad(h, error, "KEY_INITIAL", key, "an integer, or nil");
  }
  return ISOPROOF_OK;
}

/* Whether the fields of a statement are sound by themselves, and stand behind those of the one before. */
static bool statement_ok(const isoproof_history *h, const iso_statement *s, uint32_t *txn, uint64_t *op) {
  bool keys = (s->conditions & ISO_CONDITION_KEYS) != 0, values = (s->conditions & ISO_CONDITION_VALUES) != 0,
       rest = (s->conditions & ISO_CONDITION_REST) != 0, counts = s->form == ISO_ROW_COUNT;
  if ((!counts && s->form != ISO_ROW_PREDICATE) || s->answered > 1 || s->reserved != 0) return false;
  if (s->conditions > ISO_CONDITIONS_ALL || (!keys && (s->key_low != 0 || s->key_high != 0))) return false;
  if (!values && (s->value_low != 0 || s->value_high != 0)) return false;
  if (rest ? s->divisor < 1 || s->rest < 0 || s->rest >= s->divisor : s->divisor != 0 || s->rest != 0) return false;
  if (s->counted < 0 || (s->counted > 0 && (!counts || !s->answered))) return false;
  if (s->txn < *txn || s->txn >= h->txns || s->first_op < *op || s->first_op < h->txn_first_op[s->txn]) return false;
  *txn = s->txn;
  *op = (uint64_t)s->first_op + s->op_count;
  return *op <= h->txn_first_op[s->txn + 1] && (s->op_count == 0 || h->op_form_opt != NULL);
}

/* The observations of a statement are of the rows [first, end), in their order; one that was returned may be there
 * several times. */
static bool observations_ok(const isoproof_history *h, const iso_statement *s, const iso_seen_row *rows, size_t first,
                            size_t end) {
  iso_predicate predicate = iso_history_predicate(h, s);
  iso_value missing = iso_predicate_has_values(&predicate) ? ISO_VALUE_UNMATCHED : ISO_VALUE_NIL;
  if (s->form == ISO_ROW_COUNT && s->counted > 0) missing = ISO_VALUE_COUNTED;
  size_t next = first;
  bool again = false; /* the row before was returned, and may come again */
  for (uint32_t op = s->first_op; op < s->first_op + s->op_count; op++) {
    int64_t value = 0;
    size_t known;
    if (h->op_form_opt[op] != s->form) return false;
    bool returned = h->op_value[op] != missing;
    bool repeated = again && returned && h->op_key[op] == rows[next - 1].number;
    if (!repeated && (next == end || h->op_key[op] != rows[next].number)) return false;
    if (!repeated) next++;
    again = returned;
    if (!returned) continue;
    bool good = s->form == ISO_ROW_PREDICATE && h->op_value[op] < ISO_VALUE_COUNTED &&
                iso_pool_integer(&h->pool, h->op_value[op], &value) &&
                iso_predicate_matches(&predicate, rows[next - 1].key, value) &&
                (iso_history_contents(h, h->op_key[op], h->op_value[op], &known) == NULL ||
                 iso_history_meets(h, &predicate, h->op_key[op], h->op_value[op]));
    if (!good) return false;
  }
  return next == end;
}

static isoproof_status check_statements(const isoproof_history *h, const iso_seen_row *rows, size_t count,
                                        isoproof_error *error) {
  uint32_t txn = 0;
  uint64_t op = 0;
  for (uint32_t i = 0; i < h->statement_count; i++) {
    const iso_statement *s = &h->statements[i];
    size_t first, end;
    if (!statement_ok(h, s, &txn, &op))
      return bad(h, error, "STATEMENTS", i, "a sound statement behind the one before");
    iso_history_covered(rows, count, s, &first, &end);
    if (!observations_ok(h, s, rows, first, end)) {
      return bad(h, error, "STATEMENTS", i, "an observation of every row that it could match, and no other");
    }
  }
  return ISOPROOF_OK;
}

isoproof_status iso_binary_validate_rows(const isoproof_history *h, isoproof_error *error) {
  if (!iso_history_has_rows(h)) return ISOPROOF_OK;
  if (h->initial_is_zero) return bad(h, error, "OP_FORM", 0, "nil as the initial version");
  ISO_TRY(check_forms(h, error));
  size_t count;
  iso_seen_row *rows = iso_history_seen_rows(h, &count);
  if (rows == NULL) return iso_fail_memory(error);
  isoproof_status status = check_statements(h, rows, count, error);
  free(rows);
  return status;
}
