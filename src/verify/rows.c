/* The judge's own reading of rows and predicates. */
#include "verify/rows.h"

#include <string.h>

iso_value iso_verify_initial(const isoproof_history *h, uint32_t key) {
  return h->key_initial_opt == NULL ? ISO_VALUE_NIL : h->key_initial_opt[key];
}

/* The statement that lists the operation among its observations. */
static const iso_statement *statement_of(const isoproof_history *h, uint32_t op) {
  uint32_t low = 0, high = h->statement_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const iso_statement *s = &h->statements[middle];
    if (op >= s->first_op && op < s->first_op + s->op_count) return s;
    if (op < s->first_op) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return NULL;
}

/* What the version has in a column; nil where nothing is said. */
static iso_value content_of(const isoproof_history *h, uint32_t key, iso_value version, iso_value column) {
  uint32_t low = 0, high = h->content_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const iso_content *c = &h->contents[middle];
    if (c->key == key && c->version == version && c->column == column) return c->content;
    bool before = c->key != key ? c->key < key : c->version != version ? c->version < version : c->column < column;
    if (before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return ISO_VALUE_NIL;
}

/* SQL: whatever is compared with NULL is unknown, and what is unknown is not met. */
static bool is_met(const isoproof_history *h, const iso_condition *c, iso_value content) {
  isoproof_scalar has = iso_history_scalar(h, content), asked = iso_history_scalar(h, c->operand);
  if (c->comparison == ISO_COMPARE_IS_NULL) return has.type == ISOPROOF_NIL;
  if (c->comparison == ISO_COMPARE_IS_NOT_NULL) return has.type != ISOPROOF_NIL;
  if (has.type != asked.type) return false;
  if (has.type == ISOPROOF_STRING) {
    bool same = has.length == asked.length && memcmp(has.text, asked.text, has.length) == 0;
    return c->comparison == ISO_COMPARE_EQUAL ? same : c->comparison == ISO_COMPARE_UNEQUAL && !same;
  }
  if (has.type != ISOPROOF_INTEGER) return false;
  int order = (has.integer > asked.integer) - (has.integer < asked.integer);
  switch ((iso_comparison)c->comparison) {
  case ISO_COMPARE_EQUAL:
    return order == 0;
  case ISO_COMPARE_UNEQUAL:
    return order != 0;
  case ISO_COMPARE_LESS:
    return order < 0;
  case ISO_COMPARE_LESS_EQUAL:
    return order <= 0;
  case ISO_COMPARE_GREATER:
    return order > 0;
  case ISO_COMPARE_GREATER_EQUAL:
    return order >= 0;
  default:
    return false;
  }
}

static bool meets_columns(const isoproof_history *h, const iso_statement *s, uint32_t key, iso_value version) {
  uint32_t number = (uint32_t)(s - h->statements), low = 0, high = h->condition_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (h->conditions[middle].statement < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bool some = false;
  for (; low < h->condition_count && h->conditions[low].statement == number; low++) {
    const iso_condition *c = &h->conditions[low];
    some = some || is_met(h, c, content_of(h, key, version, c->column));
    if (c->or_next == 1) continue;
    if (!some) return false;
    some = false;
  }
  return true;
}

bool iso_verify_meets(const isoproof_history *h, const iso_statement *s, uint32_t key, iso_value version) {
  int64_t name, value;
  if (version == ISO_VALUE_NIL) return false;
  if (!iso_pool_integer(&h->pool, h->key_name[key], &name) || !iso_pool_integer(&h->pool, version, &value))
    return false;
  if ((s->conditions & ISO_CONDITION_KEYS) != 0 && (name < s->key_low || name > s->key_high)) return false;
  if ((s->conditions & ISO_CONDITION_VALUES) != 0 && (value < s->value_low || value > s->value_high)) return false;
  if ((s->conditions & ISO_CONDITION_COLUMNS) != 0 && !meets_columns(h, s, key, version)) return false;
  if ((s->conditions & ISO_CONDITION_REST) == 0) return true;
  int64_t rest = value % s->divisor;
  if (rest < 0) rest += s->divisor;
  return rest == s->rest;
}

bool iso_verify_shows(const isoproof_history *h, uint32_t read, iso_value version) {
  iso_value value = h->op_value[read];
  if (value == ISO_VALUE_COUNTED) return true; /* which rows were counted is not known: see the whole statement */
  if (value != ISO_VALUE_UNMATCHED) return value == version;
  const iso_statement *s = statement_of(h, read);
  return s != NULL && !iso_verify_meets(h, s, h->op_key[read], version);
}

bool iso_verify_in_order(const isoproof_history *h, uint32_t before, uint32_t after) {
  const iso_statement *s = before < after ? statement_of(h, before) : NULL;
  return before < after && (s == NULL || after >= s->first_op + s->op_count);
}
