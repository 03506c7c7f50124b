/* The judge's own reading of rows and predicates. */
#include "verify/rows.h"

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

bool iso_verify_meets(const isoproof_history *h, const iso_statement *s, uint32_t key, iso_value version) {
  int64_t name, value;
  if (version == ISO_VALUE_NIL) return false;
  if (!iso_pool_integer(&h->pool, h->key_name[key], &name) || !iso_pool_integer(&h->pool, version, &value))
    return false;
  if ((s->conditions & ISO_CONDITION_KEYS) != 0 && (name < s->key_low || name > s->key_high)) return false;
  if ((s->conditions & ISO_CONDITION_VALUES) != 0 && (value < s->value_low || value > s->value_high)) return false;
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
