/* What a binary file says of columns: conditions of statements, and contents of versions. */
#include "format/binary.h"
#include "format/jsonl.h"
#include "history/columns.h"

static isoproof_status bad(const isoproof_history *h, isoproof_error *error, const char *column, uint64_t at,
                           const char *expected) {
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, (iso_place){h->file, 0, 0, -1},
                     "section %s, element %llu: expected %s", column, (unsigned long long)at, expected);
}

/* The type of a code that may be anything; false: it is none. */
static bool type_of(const isoproof_history *h, iso_value code, isoproof_scalar_type *type) {
  if (code > ISO_VALUE_NIL && (code & ~ISO_VALUE_INTERNED) >= h->pool.count) return false;
  *type = iso_history_scalar(h, code).type;
  return true;
}

static bool is_text(const isoproof_history *h, iso_value code) {
  isoproof_scalar_type type;
  return type_of(h, code, &type) && type == ISOPROOF_STRING;
}

static bool condition_ok(const isoproof_history *h, uint32_t i) {
  const iso_condition *c = &h->conditions[i], *next = i + 1 < h->condition_count ? c + 1 : NULL;
  isoproof_scalar_type type;
  if (c->statement >= h->statement_count || (i > 0 && c->statement < c[-1].statement)) return false;
  if ((h->statements[c->statement].conditions & ISO_CONDITION_COLUMNS) == 0) return false;
  if (!is_text(h, c->column) || !type_of(h, c->operand, &type) || c->comparison >= ISO_COMPARISONS) return false;
  if (!iso_comparison_takes((iso_comparison)c->comparison, type) || c->or_next > 1 || c->reserved != 0) return false;
  if (!c->or_next) return true;
  /* Alternatives are those of one column for equality. */
  return next != NULL && next->statement == c->statement && next->column == c->column &&
         c->comparison == ISO_COMPARE_EQUAL && next->comparison == ISO_COMPARE_EQUAL;
}

static isoproof_status check_conditions(const isoproof_history *h, isoproof_error *error) {
  uint32_t next = 0;
  for (uint32_t i = 0; i < h->condition_count; i++) {
    if (!condition_ok(h, i)) return bad(h, error, "CONDITIONS", i, "a condition of a statement that has some");
  }
  for (uint32_t s = 0; s < h->statement_count; s++) {
    bool has = next < h->condition_count && h->conditions[next].statement == s;
    if (has != ((h->statements[s].conditions & ISO_CONDITION_COLUMNS) != 0)) {
      return bad(h, error, "STATEMENTS", s, "conditions on columns where it says so");
    }
    while (next < h->condition_count && h->conditions[next].statement == s) next++;
  }
  return ISOPROOF_OK;
}

/* Whether it stands behind the one before. */
static bool is_behind(const iso_content *a, const iso_content *b) {
  if (a->key != b->key) return a->key < b->key;
  return a->version != b->version ? a->version < b->version : a->column < b->column;
}

static bool content_ok(const isoproof_history *h, uint32_t i) {
  const iso_content *c = &h->contents[i];
  isoproof_scalar_type type;
  int64_t integer;
  if (c->key >= h->keys || (i > 0 && !is_behind(c - 1, c)) || !is_text(h, c->column)) return false;
  if (!type_of(h, c->version, &type) || type != ISOPROOF_INTEGER) return false;
  if (!iso_pool_integer(&h->pool, h->key_name[c->key], &integer) || !type_of(h, c->content, &type)) return false;
  return type == ISOPROOF_NIL || type == ISOPROOF_INTEGER || type == ISOPROOF_STRING;
}

isoproof_status iso_binary_validate_columns(const isoproof_history *h, isoproof_error *error) {
  for (uint32_t i = 0; i < h->content_count; i++) {
    if (!content_ok(h, i)) return bad(h, error, "CONTENTS", i, "the content of a column, behind the one before");
  }
  for (uint32_t key = 0; h->key_label_opt != NULL && key < h->keys; key++) {
    if (h->key_label_opt[key] != ISO_VALUE_NIL && !is_text(h, h->key_label_opt[key])) {
      return bad(h, error, "KEY_LABEL", key, "a text, or nil");
    }
  }
  for (uint32_t op = 0; h->op_statement_opt != NULL && op < h->ops; op++) {
    if (h->op_statement_opt[op] > ISO_JSONL_FACTS) return bad(h, error, "OP_STATEMENT", op, "the number of a fact");
  }
  return check_conditions(h, error);
}
